/* SPDX-License-Identifier: Apache-2.0 */
/* May a group's output take the memory of a value? One function per condition, each with its reason;
 * output_memory.c acts on them. */
#ifndef WICK_ENGINE_REUSE_H
#define WICK_ENGINE_REUSE_H

#include "engine/op_queue.h"

/* How many of the value's references are these records' inputs and bases. */
int wk__uses_in(wk__record **record, int records, const wk__value *value);
/* Nobody reads the value after this group. */
bool wk__last_use(wk__record **record, int records, const wk__value *value);
/* Nobody reads the value after this group, and its memory is ours to give away. */
bool wk__dies_here(wk__record **record, int records, const wk__value *value);
/* May the group write `operand` where the value lies that it may read meanwhile? */
bool wk__may_overwrite(const wk__lowering *b, int operand, const wk__value *value);
/* Do two operands of a group see, at each position of the space, the same element? */
bool wk__same_access(const wk__operand *a, const wk__operand *b);
/* Is operand `in` stored as it was loaded, elsewhere than in `out`? Such a number is read when it is stored: by then
 * `out`, if it had the memory of `in`, might have been written over it. */
bool wk__stored_as_loaded(const wk__program *g, int in, int out);

#endif
