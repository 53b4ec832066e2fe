/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a group before it is run: does the program that the planner made of the records, in the order in which
 * backends walk it and with the memory that output_memory.c chose, read only what the order of the calls says, and
 * leave behind what they say?
 *
 *     plan_check.c         what is looked at, in which order; the verdict
 *     plan_check_workspace.c  memory for all of it, numbers that stand for values, the places that are visited
 *     plan_check_values.c  what each record computes by itself
 *     plan_check_program.c what the group's program computes
 *     plan_check_memory.c  whose memory is whose, and who needs it afterwards
 *     plan_check_order.c   who writes which element when, and who comes last
 *     plan_check_reads.c   whether everybody reads it before or after, as the calls say
 *     plan_check_pieces.c  pieces of a product and the boxes of its epilogue
 *
 * It shares no condition with the planner. A value is a number that stands for how it came about (a hash of instruction
 * and operands), so nothing is computed and any device will do. Addresses are the real ones. docs/design.md, section
 * 12, has the order that a plan may rely on.
 *
 * Up to WK__PLAN_CHECK_PLACES elements all are visited; of larger spaces the first and the last few of each dimension,
 * dimensions of one size alike. What is refused then is wrong all the same; what is accepted has been sampled.
 * */
#ifndef WICK_ENGINE_PLAN_CHECK_H
#define WICK_ENGINE_PLAN_CHECK_H

#include "engine/op_queue.h"

/* Checks one group of `every` from now on: for tests that run a plan a million times, which would take minutes. */
void wk__plan_check_every(int64_t every);
bool wk__plan_check_is_due(void);

/* The group as it is about to run: built, with memory, not yet flattened; `work` is what the device will be given.
 * WK_ERR_INTERNAL names the rule that is broken, the calls, and the first element at fault. Without host memory to work
 * in it checks nothing. */
wk_code wk__plan_check(wk__lowering *b, const wk__work *work, wk__fail *fail);

#endif
