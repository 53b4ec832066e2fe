/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions that read one factor indirectly, from a padded copy. The factor B has coordinates, each of which depends
 * on at most one result index, its position:
 *
 *     C[o, t] = sum over c, u of w[o, c, u] x[c, t + u - 1]
 *
 * The rows of B for the taps u are then one row of x, read from different start elements. So nothing is gathered: x is
 * copied once with zero padding (padded.h), and tiles read each row from its start (wk__indirect_tile). Gathering would
 * copy each element of x once per tap.
 *
 * Tiles have the height of a matrix product's; their columns are vectors of adjacent positions, none of which extends
 * past the last position of a row, stored contiguously in C:
 *
 *     rows of 10 positions, vectors of 4      0 1 2 3 | 4 5 6 7 | 8 9 - -
 *
 * A task computes all rows of C for a range of positions. The sum is divided into blocks like a matrix product's, so
 * results have the same bits, independent of how positions are divided. */
#ifndef WICK_BACKEND_CPU_CONTRACTION_CONTRACTION_INDIRECT_H
#define WICK_BACKEND_CPU_CONTRACTION_CONTRACTION_INDIRECT_H

#include "backend/backend.h"
#include "matmul.h"
#include "padded_roles.h"

typedef struct wk__indirect_plan {
    wk__padded b;
    const wk__gemm_microkernels *class;
    wk__padded_roles roles;
    int64_t k_block; /* steps per block of the sum */
    bool packs_a;    /* A has several strides along the sum: it is packed, */
    wk__gemm_pack *pack;
    int64_t a_row, a_step;             /* or else read in place with these strides */
    int64_t piece_places, place_parts; /* of the first axis: positions per piece, and pieces */
} wk__indirect_plan;

/* Returns false if the contraction does not have this form. */
bool wk__indirect_plan_init(wk__indirect_plan *p, const wk__work_args *kernel);
/* Return the estimated time of this and of gathering, in multiplications of one vector lane, and whether this is
 * faster. */
double wk__indirect_cost(const wk__indirect_plan *p);
double wk__indirect_im2col_cost(const wk__indirect_plan *p);
bool wk__indirect_is_profitable(const wk__indirect_plan *p);
/* Runs with an epilogue, or NULL. */
wk_code wk__indirect_run(const wk__indirect_plan *p, const wk__program *epilogue, wk__fail *fail);
/* Enumerates the boxes on which wk__indirect_run() runs the epilogue; none: it runs on all of C afterwards. */
void wk__indirect_epilogue_boxes(const wk__indirect_plan *p, const wk__program *epilogue, wk__epilogue_box_visit *visit,
                                 void *user);

/* ---- shared by the files contraction_indirect*.c ----------------------------------------------------------------- */

enum {
    WK__PADDED_VECTORS = 512,                              /* per piece, because their table is on the stack */
    WK__PADDED_STEPS = WK__GEMM_K_BYTES / WK__PADDED_SIZE, /* per block of the sum, as in any product */
};

int64_t wk__indirect_ntasks(const wk__indirect_plan *p);
/* Returns the number of elements of the result per row. */
double wk__indirect_positions(const wk__indirect_plan *p);

#endif
