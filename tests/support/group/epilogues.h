/* SPDX-License-Identifier: Apache-2.0 */
/* Products with epilogues that GPU backends compute, as cases. Some tests run them on devices, others only compile
 * their source. */
#ifndef TESTS_SUPPORT_GROUP_EPILOGUES_H
#define TESTS_SUPPORT_GROUP_EPILOGUES_H

#include "backend/backend.h"

/* Products, by the kernels that compute them; convolutions without tiles are computed element by element. */
typedef enum epilogue_product {
    EPILOGUE_OF_SMALL,      /* batched, with one factor broadcast */
    EPILOGUE_OF_BLOCKS,     /* with partial blocks at the edges */
    EPILOGUE_OF_TRANSPOSED, /* neighbouring elements of the result are rows */
    EPILOGUE_OF_DOT,
    EPILOGUE_OF_CONVOLUTION,
    EPILOGUE_OF_PARTS,             /* few elements with long sums, which may be split */
    EPILOGUE_OF_CONVOLUTION_TILES, /* enough rows and columns for tiles */
    EPILOGUE_OF_CONVOLUTION_PARTS, /* tiles and split sums */
    EPILOGUE_PRODUCTS
} epilogue_product;

typedef enum epilogue_kind {
    EPILOGUE_RELU,     /* out = max(c + row, 0) */
    EPILOGUE_SEVERAL,  /* c is kept; out = c x column, where neighbouring elements are rows; also c in another dtype */
    EPILOGUE_IN_PLACE, /* x += c */
    EPILOGUE_SHARED,   /* out = c + c, where out is stored over c */
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
    wk__memory memory[EPILOGUE_MEMORIES]; /* of the result, the factors and the epilogue's other operands */
    int64_t bytes[EPILOGUE_MEMORIES];
    char *host[EPILOGUE_MEMORIES]; /* initial contents */
} epilogue_case;

/* Returns NULL if products of this dtype do not exist. */
epilogue_case *epilogue_case_new(epilogue_product product, epilogue_kind kind, wk_dtype dtype);
/* Allocates memory of the device and uploads the initial contents. */
wk_code epilogue_case_upload(epilogue_case *c, const wk__backend *backend, void *device, wk__fail *fail);
/* Downloads all memory into new arrays and frees the device memory. */
wk_code epilogue_case_fetch(epilogue_case *c, const wk__backend *backend, void *device, char *got[EPILOGUE_MEMORIES],
                            wk__fail *fail);
void epilogue_case_free(epilogue_case *c);

#endif
