/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions that are read from a padded copy. One factor, B, has coordinates, and each steps with one index of the
 * result at most, its place:
 *
 *     C[o, t] = sum over c, u of w[o, c, u] x[c, t + u - 1]
 *
 * Then the rows of B that belong to the taps u are one row of x, read from different elements on. So nothing is
 * gathered: x is copied once, between zeros (padded.h), and tiles read each of their rows where it begins
 * (wk__indirect_tile). Gathering would copy each element of x for every tap.
 *
 * Tiles have the height of a matrix product's; their columns are vectors of neighbouring places, none of which reaches
 * beyond the last place of a row, and lie in C as they are:
 *
 *     rows of 10 places, vectors of 4      0 1 2 3 | 4 5 6 7 | 8 9 - -
 *
 * A task makes all rows of C of a range of places. Blocks of the sum are those of a product of matrices, so bits are,
 * too, and none depend on how places are cut. */
#ifndef WICK_CPU_CONTRACTION_PADDED_H
#define WICK_CPU_CONTRACTION_PADDED_H

#include "backend/backend.h"
#include "im2col.h"
#include "matmul.h"
#include "padded.h"

typedef struct wk__indirect_plan {
    wk__padded b;
    const wk__gemm_microkernels *class;
    int row; /* index of the result on which only A depends; -1: there is none */
    int64_t rows, steps, k_block;
    wk__padded_list batch;
    bool packs_a; /* A has no one step along the sum */
    wk__im2col a; /* it, without coordinates: how it is packed; */
    wk__gemm_pack *pack;
    int64_t a_row, a_step;             /* or how it is read in place */
    int64_t piece_places, place_parts; /* of the first axis, in one piece */
} wk__indirect_plan;

/* False: the contraction cannot be computed so. */
bool wk__indirect_plan_init(wk__indirect_plan *p, const wk__work_args *kernel);
/* Times of that and of gathering, in multiplications of a vector's lane. Is it faster? */
double wk__indirect_cost(const wk__indirect_plan *p);
double wk__indirect_im2col_cost(const wk__indirect_plan *p);
bool wk__indirect_is_profitable(const wk__indirect_plan *p);
/* With its tail, or NULL. */
wk_code wk__indirect_run(const wk__indirect_plan *p, const wk__program *tail, wk__fail *fail);
/* The boxes on which that runs the tail, piece by piece; none: on all of C afterwards. */
void wk__indirect_epilogue_boxes(const wk__indirect_plan *p, const wk__program *tail, wk__epilogue_box_visit *visit,
                                 void *user);

/* ---- shared by the files contraction_padded*.c ------------------------------------------------------------------- */

enum {
    WK__PADDED_VECTORS = 512,                              /* of a piece, at most: the table of them is on the stack */
    WK__PADDED_STEPS = WK__GEMM_K_BYTES / WK__PADDED_SIZE, /* of a block of the sum, at most: as of any product */
};

int64_t wk__indirect_ntasks(const wk__indirect_plan *p);
/* Elements of the result. */
double wk__indirect_positions(const wk__indirect_plan *p);

#endif
