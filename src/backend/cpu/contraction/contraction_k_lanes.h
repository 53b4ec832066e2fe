/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions whose sums are long and whose results are small: what is summed are places that both factors have, as
 * in the gradient of a convolution by w,
 *
 *     C[o, c, u] = sum over n, t of g[n, o, t] x[n, c, t + u - 1]
 *
 * A matrix product of that would have a lane of a vector for each c and u, of which there may be few (9 of a depthwise
 * convolution), and would pack both factors, x once for each u. Here lanes are neighbouring places t
 * (wk__k_lanes_tile): A is read as it is, B from a padded copy (padded.h), which all taps u share. Each element of C
 * has a vector of sums, whose lanes are added up at the end.
 *
 * A task makes a piece of C: some rows o, some channels c with all their taps; it goes through what is summed once.
 * The lanes of an element are summed in an order that shape and CPU decide, however C is cut. */
#ifndef WICK_CPU_CONTRACTION_DOTS_H
#define WICK_CPU_CONTRACTION_DOTS_H

#include "backend/backend.h"
#include "gemm.h"
#include "padded.h"

typedef struct wk__k_lanes_plan {
    wk__padded b;
    const wk__gemm_microkernels *class;
    int row; /* index of the result on which only A depends; -1: there is none */
    int64_t rows;
    wk__padded_list batch, outer; /* of the result; summed, and no place */
    int64_t piece_rows, piece_channels, row_parts, channel_parts;
    int64_t block;       /* places of the first axis that are copied at a time, ... */
    int64_t outer_block; /* ... and, where they are all, of how many outer numbers */
} wk__k_lanes_plan;

/* False: the contraction cannot be computed so. */
bool wk__k_lanes_plan_init(wk__k_lanes_plan *p, const wk__work_args *kernel);
/* Is that faster than packing both factors? */
bool wk__k_lanes_is_profitable(const wk__k_lanes_plan *p);
/* Without a tail. */
wk_code wk__k_lanes_run(const wk__k_lanes_plan *p, wk__fail *fail);

/* ---- shared by the files contraction_dots*.c --------------------------------------------------------------------- */

enum { WK__K_LANES_RUNS = 512 /* of a block, at most: tables of them are on the stack */ };

int64_t wk__k_lanes_ntasks(const wk__k_lanes_plan *p);
/* Multiplications. */
double wk__k_lanes_fmas(const wk__k_lanes_plan *p);

#endif
