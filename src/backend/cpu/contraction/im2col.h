/* SPDX-License-Identifier: Apache-2.0 */
/* Packs a factor of a contraction whose elements are not equally spaced into the panels that gemm_macrotile.c reads:
 * for convolutions this is im2col of one block at a time, in cache.
 *
 *     lines    rows of A or columns of B: indices of a list, of which the last is the innermost
 *     steps    summed indices: another list */
#ifndef WICK_BACKEND_CPU_CONTRACTION_IM2COL_H
#define WICK_BACKEND_CPU_CONTRACTION_IM2COL_H

#include "backend/contraction.h"
#include "gemm.h"

/* One index of a list: its extent, and what a step adds to the element offset and to the numerators of the coordinates
 * (backend/contraction.h). */
typedef struct wk__im2col_index {
    int64_t extent, stride;
    int64_t coefficient[WK__MAX_AFFINE];
} wk__im2col_index;

typedef struct wk__im2col_indices {
    int count;
    wk__im2col_index index[WK__MAX_DIMS];
} wk__im2col_indices;

typedef struct wk__im2col {
    const char *start; /* of the operand; NULL if its memory has no host address */
    int64_t size;      /* bytes per element */
    int64_t offset;    /* of the element with all indices 0, without coordinates */
    int coordinates;
    wk__affine_index coordinate[WK__MAX_AFFINE];
    wk__im2col_indices batch, lines, steps;
} wk__im2col;

typedef struct wk__im2col_block {
    int64_t batch, line, line_end, step, steps;
    /* lines per panel; those of the last are rounded up to a multiple of panel_unit, with zeros */
    int width, panel_unit;
    const wk__gemm_microkernels *class; /* of the panels */
    bool same_bits;                     /* packing does not convert elements */
} wk__im2col_block;

/* Returns true if each run of steps is a matrix and runs are long. */
bool wk__im2col_is_matrix(const wk__im2col *gather);
/* Returns the address of an element of the first line. */
const char *wk__im2col_address(const wk__im2col *gather, int64_t batch, int64_t step);
/* Appends an index, merging it with the last one if both are contiguous. */
void wk__im2col_add_index(wk__im2col_indices *list, const wk__im2col_index *index, int coordinates);
/* Packs the block's panels, like wk__gemm_pack for a matrix. */
void wk__im2col_pack(const wk__im2col *gather, wk__gemm_pack *pack, void *out, const wk__im2col_block *block);

#endif
