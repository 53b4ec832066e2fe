/* SPDX-License-Identifier: Apache-2.0 */
/* Who reads an element before it is written and who after. */
#ifndef WICK_ENGINE_PLAN_CHECK_READS_H
#define WICK_ENGINE_PLAN_CHECK_READS_H

#include "plan_check_values.h"

/* All stores being noted (plan_check_order.h): what is read of memory that is written has been read before or is read
 * after, as the calls say. */
bool wk__plan_check_reads(wk__plan_check_state *c);

#endif
