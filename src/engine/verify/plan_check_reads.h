/* SPDX-License-Identifier: Apache-2.0 */
/* Order of reads relative to writes. */
#ifndef WICK_ENGINE_PLAN_CHECK_READS_H
#define WICK_ENGINE_PLAN_CHECK_READS_H

#include "plan_check_values.h"

/* After all stores have been recorded (plan_check_order.h): verifies that each read of memory that is also written
 * happens before or after the write, as in program order. */
bool wk__plan_check_reads(wk__plan_check_state *c);

#endif
