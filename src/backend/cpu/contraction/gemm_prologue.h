/* SPDX-License-Identifier: Apache-2.0 */
/* Fused prologues: a program computes B, which is not in memory. For each macrotile of C its columns of B are computed
 * into a buffer, and packed or read from there like any operand. The program's inputs may be narrower, such as i8
 * weights, and B is never written to memory.
 *
 *     B: steps of the sum x columns of C         buffer
 *     +-----+-----+-----+                        column | contiguous steps | gap
 *     |     |#####|     |                        column | contiguous steps | gap
 *     |     |#####|     |  some blocks of        ...
 *     |     |     |     |  the sum at a time
 *     +-----+-----+-----+
 *              the columns of a macrotile
 *
 * B's steps are contiguous, like w.T if w is (outputs, inputs), so the program accesses memory in long runs. */
#ifndef WICK_CPU_GEMM_PROLOGUE_H
#define WICK_CPU_GEMM_PROLOGUE_H

#include "matmul.h"

/* A compiled prologue, usable for any number of macrotiles. */
typedef struct wk__gemm_prologue {
    wk__program group; /* copy of the plan's program with the strides of the buffer */
    wk__cpu_program program;
} wk__gemm_prologue;

/* Fills in plan->b_program if the program stores only `b`, the plan's operand B, in a supported layout; else returns
 * false. */
bool wk__gemm_b_program_init(wk__gemm_plan *plan, const wk__operand *b, const wk__program *group);
/* Chooses how much of B the buffer holds and B's strides there. Requires the block size of the sum. */
void wk__gemm_b_program_layout(wk__gemm_plan *plan);

/* Requires wk__gemm_prologue_end() even if preparing fails. */
wk_code wk__gemm_prologue_prepare(wk__gemm_prologue *prologue, const wk__gemm_plan *plan, wk__fail *fail);
/* Computes the macrotile's columns of B from step `l` on into `buffer`, as many steps as fit. */
wk_code wk__gemm_prologue_run(const wk__gemm_plan *plan, const wk__gemm_macrotile *macrotile, int64_t l, char *buffer,
                              wk__fail *fail);
void wk__gemm_prologue_end(wk__gemm_prologue *prologue);

#endif
