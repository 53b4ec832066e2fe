/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions for reusing the memory of a value for a group's output: one function per condition, with its reason.
 * output_memory.c applies them. */
#ifndef WICK_ENGINE_REUSE_H
#define WICK_ENGINE_REUSE_H

#include "engine/op_queue.h"

/* Returns how many references to the value are inputs or `prior` of these records. */
int wk__uses_in(wk__record **record, int records, const wk__value *value);
/* Returns true if the value is not read after this group. */
bool wk__last_use(wk__record **record, int records, const wk__value *value);
/* Returns true if the value is not read after this group and its memory may be reused. */
bool wk__dies_here(wk__record **record, int records, const wk__value *value);
/* Returns true if the group may write `operand` to the memory of the value, which it may also read. */
bool wk__may_overwrite(const wk__lowering *b, int operand, const wk__value *value);
/* Returns true if two operands of a group access the same element at each position of the space. */
bool wk__same_access(const wk__operand *a, const wk__operand *b);
/* Returns true if operand `in` is stored unchanged to another operand than `out`. Such a value is read only when it is
 * stored; if `out` had the memory of `in`, it might have been overwritten by then. */
bool wk__stored_as_loaded(const wk__program *g, int in, int out);

#endif
