/* SPDX-License-Identifier: Apache-2.0 */
/* Whose memory is whose: before the group, while it runs, and afterwards. */
#ifndef WICK_ENGINE_PLAN_CHECK_MEMORY_H
#define WICK_ENGINE_PLAN_CHECK_MEMORY_H

#include "plan_check_values.h"

/* Lists the values that the records name, and the pieces of memory that they are in. False: more than there
 * is room for. */
bool wk__plan_check_list(wk__plan_check_state *c);
/* Nothing is read that nobody has computed or whose memory went to something else, and what lost its memory to an
 * output has no reader after this group. */
bool wk__plan_check_owners(wk__plan_check_state *c);
/* Is the value in its memory when the group is done? */
bool wk__plan_check_survives(const wk__plan_check_state *c, int value);

#endif
