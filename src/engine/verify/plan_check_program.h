/* SPDX-License-Identifier: Apache-2.0 */
/* What the group's program computes. */
#ifndef WICK_ENGINE_PLAN_CHECK_PROGRAM_H
#define WICK_ENGINE_PLAN_CHECK_PROGRAM_H

#include "plan_check_values.h"

/* What each STORE writes is what its record computes, at the record's place in memory. Notes the stores
 * (plan_check_order.h). */
bool wk__plan_check_program(wk__plan_check_state *c);

#endif
