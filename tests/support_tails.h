/* SPDX-License-Identifier: Apache-2.0 */
/* Products with tails that GPU backends compute, as cases: some tests run them on devices, others only have a compiler
 * take their text. */
#ifndef TESTS_SUPPORT_TAILS_H
#define TESTS_SUPPORT_TAILS_H

#include "../src/backend/backend.h"

/* Products by the kernels that make them; a convolution is made element by element. */
typedef enum tail_product {
    TAIL_OF_SMALL,  /* in batches, one factor broadcast */
    TAIL_OF_BLOCKS, /* whose last blocks are not whole */
    TAIL_OF_TURNED, /* neighbours in the result are rows */
    TAIL_OF_DOT,
    TAIL_OF_CONVOLUTION,
    TAIL_OF_PARTS,             /* of few elements, but long sums, which may be cut */
    TAIL_OF_CONVOLUTION_TILES, /* with enough rows and columns for tiles */
    TAIL_OF_CONVOLUTION_PARTS, /* both */
    TAIL_PRODUCTS
} tail_product;

typedef enum tail_kind {
    TAIL_RELU,     /* out = max(c + row, 0) */
    TAIL_SEVERAL,  /* c is kept; out = c x column, whose neighbours are rows; and c in another dtype */
    TAIL_IN_PLACE, /* x += c */
    TAIL_SHARED,   /* out = c + c, where c is */
    TAIL_ITSELF,   /* c = c + row */
    TAIL_PLACES,   /* c is kept; out = c + table[index of the column] + position */
    TAIL_KINDS
} tail_kind;

enum { TAIL_MEMORIES = 8 };

typedef struct tail_case {
    tail_product product;
    tail_kind kind;
    wk_dtype dtype;
    wk__work work;
    wk__kernel kernel;
    wk__sum sum;
    wk__group tail;
    int memories;
    wk__memory memory[TAIL_MEMORIES]; /* of the result, of the factors, of the tail's other operands */
    int64_t bytes[TAIL_MEMORIES];
    char *host[TAIL_MEMORIES]; /* what the device gets */
} tail_case;

/* NULL: there is no such product of that dtype. */
tail_case *tail_case_new(tail_product product, tail_kind kind, wk_dtype dtype);
/* Takes memory of the device and fills it with what the case has. */
wk_code tail_case_place(tail_case *c, const wk__backend *backend, void *device, wk__fail *fail);
/* Copies all of that memory into new arrays, and gives it back. */
wk_code tail_case_fetch(tail_case *c, const wk__backend *backend, void *device, char *got[TAIL_MEMORIES],
                        wk__fail *fail);
void tail_case_free(tail_case *c);

#endif
