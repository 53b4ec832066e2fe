/* SPDX-License-Identifier: Apache-2.0 */
/* Prologues of products: B is not in memory, a program computes it. Each piece of C has its columns of B computed into
 * a buffer, from where they are packed or read like any operand; what lies in memory may be narrower, as weights of i8
 * are, and B is never written there.
 *
 *     B: steps of the sum x columns of C         buffer
 *     +-----+-----+-----+                        column | steps, side by side | gap
 *     |     |#####|     |                        column | steps, side by side | gap
 *     |     |#####|     |  some blocks of        ...
 *     |     |     |     |  the sum at a time
 *     +-----+-----+-----+
 *              the columns of a piece
 *
 * B has its steps side by side, as w.T has where w is (outputs, inputs): the program then walks memory in long runs. */
#ifndef WICK_CPU_PROLOGUE_H
#define WICK_CPU_PROLOGUE_H

#include "matmul.h"

/* A program that is ready for any number of pieces. */
typedef struct wk__gemm_prologue {
    wk__program group; /* as wk__gemm_b_program has it, but for where it stores */
    wk__cpu_program program;
} wk__gemm_prologue;

/* Fills in plan->before: the group stores `b`, the plan's operand B, and nothing else. False: not in a way that can be
 * computed so. */
bool wk__gemm_b_program_init(wk__gemm_plan *plan, const wk__operand *b, const wk__program *group);
/* How much of B the buffer holds, and how B is walked there. Blocks of the sum have been chosen. */
void wk__gemm_b_program_layout(wk__gemm_plan *plan);

/* It has to be ended even when preparing fails. */
wk_code wk__gemm_prologue_prepare(wk__gemm_prologue *prologue, const wk__gemm_plan *plan, wk__fail *fail);
/* The piece's columns of B from step `l` on, as many steps as there is room for, into `buffer`. */
wk_code wk__gemm_prologue_run(const wk__gemm_plan *plan, const wk__gemm_macrotile *piece, int64_t l, char *buffer,
                              wk__fail *fail);
void wk__gemm_prologue_end(wk__gemm_prologue *prologue);

#endif
