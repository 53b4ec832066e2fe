/* SPDX-License-Identifier: Apache-2.0 */
/* Symbolic results of the group's program. */
#ifndef WICK_ENGINE_PLAN_CHECK_PROGRAM_H
#define WICK_ENGINE_PLAN_CHECK_PROGRAM_H

#include "plan_check_values.h"

/* Verifies that each STORE writes the value that its record computes, to the record's address. Records the stores
 * (plan_check_order.h). */
bool wk__plan_check_program(wk__plan_check_state *c);

#endif
