/* SPDX-License-Identifier: Apache-2.0 */
/* Plan checker (debug builds): verifies a group before it runs. The lowered program, in any order in which backends may
 * run it and with the memory that output_memory.c assigned, must read exactly the values that the calls in program
 * order would read, and leave the same results in memory.
 *
 *     plan_check.c            sequence of checks; the result
 *     plan_check_workspace.c  memory, hash tables, sampling of elements
 *     plan_check_values.c     symbolic values of each record alone
 *     plan_check_program.c    symbolic values of the group's program
 *     plan_check_memory.c     ownership of memory, and readers after the group
 *     plan_check_order.c      order of writes, and the final contents of each element
 *     plan_check_reads.c      order of reads relative to writes
 *     plan_check_pieces.c     boxes of a contraction's epilogue
 *
 * It shares no condition with the planner. Values are symbolic: a hash of the instruction and its operands, so nothing
 * is computed and any device will do. Addresses are the real ones. docs/contributing/plan-checker.md defines the orders
 * that a plan may rely on.
 *
 * Spaces of up to WK__PLAN_CHECK_PLACES elements are checked completely. Larger ones are sampled: the first and the
 * last few indices of each dimension, the same for dimensions of the same size. A reported error is an error in any
 * case.
 *
 * Threads: the thread that flushes. */
#ifndef WICK_ENGINE_PLAN_CHECK_H
#define WICK_ENGINE_PLAN_CHECK_H

#include "engine/op_queue.h"

/* For tests that run a plan very often: from now on checks one of every `every` groups. */
void wk__plan_check_every(int64_t every);
bool wk__plan_check_is_due(void);

/* Checks a lowered group that has memory and is about to be submitted, before its dimensions are merged; `work` is the
 * work that the device will receive. A WK_ERR_INTERNAL failure names the violated rule, the calls and the first wrong
 * element. Checks nothing if the workspace cannot be allocated. */
wk_code wk__plan_check(wk__lowering *b, const wk__work *work, wk__fail *fail);

#endif
