/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions with long sums and small results, vectorised along the sum. Both factors depend on the summed positions,
 * as in the gradient of a convolution by w,
 *
 *     C[o, c, u] = sum over n, t of g[n, o, t] x[n, c, t + u - 1]
 *
 * A matrix product would use a vector lane per c and u, of which there may be few (9 for a depthwise convolution), and
 * pack both factors, x once per u. Here lanes are adjacent positions t (wk__k_lanes_tile): A is read in place, B from a
 * padded copy (padded.h) shared by all taps u. Each element of C has a vector of partial sums, whose lanes are added at
 * the end.
 *
 * A task computes a piece of C, some rows o and some channels c with all their taps, in one pass over the sum. The
 * summation order depends on shape and CPU only, not on how C is divided. */
#ifndef WICK_BACKEND_CPU_CONTRACTION_CONTRACTION_K_LANES_H
#define WICK_BACKEND_CPU_CONTRACTION_CONTRACTION_K_LANES_H

#include "backend/backend.h"
#include "gemm.h"
#include "padded.h"

typedef struct wk__k_lanes_plan {
    wk__padded b;
    const wk__gemm_microkernels *class;
    int row; /* result index on which only A depends; -1: none */
    int64_t rows;
    wk__padded_list batch, outer; /* result indices; summed indices without coordinates */
    int64_t piece_rows, piece_channels, row_parts, channel_parts;
    int64_t block;       /* positions of the first axis copied at a time, */
    int64_t outer_block; /* and, if those are all, for how many outer indices */
} wk__k_lanes_plan;

/* Returns false if the contraction does not have this form. */
bool wk__k_lanes_plan_init(wk__k_lanes_plan *p, const wk__work_args *kernel);
/* Returns true if this is faster than packing both factors. */
bool wk__k_lanes_is_profitable(const wk__k_lanes_plan *p);
/* Runs without an epilogue. */
wk_code wk__k_lanes_run(const wk__k_lanes_plan *p, wk__fail *fail);

/* ---- shared by the files contraction_k_lanes*.c ------------------------------------------------------------------ */

enum { WK__K_LANES_RUNS = 512 /* per block, because tables of them are on the stack */ };

int64_t wk__k_lanes_ntasks(const wk__k_lanes_plan *p);
/* Returns the number of multiplications. */
double wk__k_lanes_fmas(const wk__k_lanes_plan *p);

#endif
