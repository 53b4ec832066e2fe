/* SPDX-License-Identifier: Apache-2.0 */
/* Ownership of memory: before, during and after the group. */
#ifndef WICK_ENGINE_PLAN_CHECK_MEMORY_H
#define WICK_ENGINE_PLAN_CHECK_MEMORY_H

#include "plan_check_values.h"

/* Lists the values that the records refer to, and the buffers that they are in. Returns false if there are too many. */
bool wk__plan_check_list(wk__plan_check_state *c);
/* Verifies that every operand has been computed and still has its memory, and that values whose memory an output took
 * over have no readers after this group. */
bool wk__plan_check_owners(wk__plan_check_state *c);
/* Returns true if the value is in its memory after the group. */
bool wk__plan_check_survives(const wk__plan_check_state *c, int value);

#endif
