/* SPDX-License-Identifier: Apache-2.0 */
/* Products with tails that GPU backends compute, as cases: some tests run them on devices, others only have a compiler
 * take their text. */
#ifndef TESTS_SUPPORT_TAILS_H
#define TESTS_SUPPORT_TAILS_H

#include "backend/backend.h"

/* Products by the kernels that make them; a convolution is made element by element. */
typedef enum epilogue_product {
    EPILOGUE_OF_SMALL,      /* in batches, one factor broadcast */
    EPILOGUE_OF_BLOCKS,     /* whose last blocks are not whole */
    EPILOGUE_OF_TRANSPOSED, /* neighbours in the result are rows */
    EPILOGUE_OF_DOT,
    EPILOGUE_OF_CONVOLUTION,
    EPILOGUE_OF_PARTS,             /* of few elements, but long sums, which may be cut */
    EPILOGUE_OF_CONVOLUTION_TILES, /* with enough rows and columns for tiles */
    EPILOGUE_OF_CONVOLUTION_PARTS, /* both */
    EPILOGUE_PRODUCTS
} epilogue_product;

typedef enum epilogue_kind {
    EPILOGUE_RELU,     /* out = max(c + row, 0) */
    EPILOGUE_SEVERAL,  /* c is kept; out = c x column, whose neighbours are rows; and c in another dtype */
    EPILOGUE_IN_PLACE, /* x += c */
    EPILOGUE_SHARED,   /* out = c + c, where c is */
    EPILOGUE_ITSELF,   /* c = c + row */
    EPILOGUE_PLACES,   /* c is kept; out = c + table[index of the column] + position */
    EPILOGUE_KINDS
} epilogue_kind;

enum { EPILOGUE_MEMORIES = 8 };

typedef struct epilogue_case {
    epilogue_product product;
    epilogue_kind kind;
    wk_dtype dtype;
    wk__work work;
    wk__work_args kernel;
    wk__contraction sum;
    wk__program tail;
    int memories;
    wk__memory memory[EPILOGUE_MEMORIES]; /* of the result, of the factors, of the tail's other operands */
    int64_t bytes[EPILOGUE_MEMORIES];
    char *host[EPILOGUE_MEMORIES]; /* what the device gets */
} epilogue_case;

/* NULL: there is no such product of that dtype. */
epilogue_case *epilogue_case_new(epilogue_product product, epilogue_kind kind, wk_dtype dtype);
/* Takes memory of the device and fills it with what the case has. */
wk_code epilogue_case_upload(epilogue_case *c, const wk__backend *backend, void *device, wk__fail *fail);
/* Copies all of that memory into new arrays, and gives it back. */
wk_code epilogue_case_fetch(epilogue_case *c, const wk__backend *backend, void *device, char *got[EPILOGUE_MEMORIES],
                            wk__fail *fail);
void epilogue_case_free(epilogue_case *c);

#endif
