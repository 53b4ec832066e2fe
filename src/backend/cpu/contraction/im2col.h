/* SPDX-License-Identifier: Apache-2.0 */
/* Packing a factor of a contraction whose elements are not equally spaced, in the panels that gemm_macrotile.c wants:
 * for convolutions this is im2col of one block at a time, in cache.
 *
 *     lines    rows of A or columns of B: a place in a list of indices, the last of which is the innermost
 *     steps    what is summed: a place in another list */
#ifndef WICK_CPU_GATHER_H
#define WICK_CPU_GATHER_H

#include "backend/contraction.h"
#include "gemm.h"

/* One index of a list: how often it steps, and what a step adds to the place of the element and to the numerators of
 * the coordinates (../contraction.h). */
typedef struct wk__im2col_index {
    int64_t extent, stride;
    int64_t coefficient[WK__MAX_AFFINE];
} wk__im2col_index;

typedef struct wk__im2col_indices {
    int count;
    wk__im2col_index index[WK__MAX_DIMS];
} wk__im2col_indices;

typedef struct wk__im2col {
    const char *start; /* of the operand; NULL: its memory has no address */
    int64_t size;      /* bytes of an element */
    int64_t offset;    /* of the element where all indices are 0, but for what coordinates add */
    int coordinates;
    wk__affine_index coordinate[WK__MAX_AFFINE];
    wk__im2col_indices batch, lines, steps;
} wk__im2col;

typedef struct wk__im2col_block {
    int64_t batch, line, line_end, step, steps;
    int width, panel_unit; /* lines of a panel; those of the last are rounded up to a multiple of `unit`, with zeros */
    const wk__gemm_microkernels *class; /* of the panels */
    bool same_bits;                     /* elements have the same bits there as in memory */
} wk__im2col_block;

/* Is it a matrix for each run of steps, and are those long? */
bool wk__im2col_is_matrix(const wk__im2col *gather);
/* The address of an element of the first line. */
const char *wk__im2col_address(const wk__im2col *gather, int64_t batch, int64_t step);
/* Appends an index, merged with the last one where both are walked as one. */
void wk__im2col_add_index(wk__im2col_indices *list, const wk__im2col_index *index, int coordinates);
/* Writes the block's panels one after the other, as `pack` would write those of a matrix. */
void wk__im2col_pack(const wk__im2col *gather, wk__gemm_pack *pack, void *out, const wk__im2col_block *block);

#endif
