/* SPDX-License-Identifier: Apache-2.0 */
/* Depthwise convolutions: contractions in which each plane of the result sums the taps of a single plane of B.
 *
 *     C[n, c, t] = sum over u of w[c, u] x[n, c, t + u - 1]
 *
 * Nothing is shared between planes, so a tile of a matrix product would have one row. Instead each plane of B is copied
 * with zero padding (padded.h), and a function sums all taps for a few rows of the plane at a time (wk__plane in
 * gemm.h). A plane of the result is a combination of all result indices that are not positions; a task computes a range
 * of the innermost of them, or of the rows of one plane that is large. Each element is summed by one thread, in an
 * order that depends on the taps only. */
#ifndef WICK_BACKEND_CPU_CONTRACTION_CONTRACTION_PLANES_H
#define WICK_BACKEND_CPU_CONTRACTION_CONTRACTION_PLANES_H

#include "gemm.h"
#include "padded.h"

typedef struct wk__planes_plan {
    wk__padded b;
    const wk__gemm_microkernels *class;
    int line; /* innermost result index that is not a position; -1: none */
    int64_t lines;
    wk__padded_list batch;             /* the other ones */
    int64_t piece_lines, line_parts;   /* planes per task, and number of such ranges */
    int64_t piece_places, place_parts; /* of the first axis: positions per task, and number of such ranges */
} wk__planes_plan;

/* Returns false if the contraction does not have this form. */
bool wk__planes_plan_init(wk__planes_plan *p, const wk__work_args *kernel);
/* Returns true if this is faster than gathering. */
bool wk__planes_is_profitable(const wk__planes_plan *p);
/* Runs with an epilogue, or NULL. */
wk_code wk__planes_run(const wk__planes_plan *p, const wk__program *epilogue, wk__fail *fail);
/* Enumerates the boxes on which wk__planes_run() runs the epilogue; none: it runs on all of C afterwards. */
void wk__planes_epilogue_boxes(const wk__planes_plan *p, const wk__program *epilogue, wk__epilogue_box_visit *visit,
                               void *user);

#endif
