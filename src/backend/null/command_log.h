/* SPDX-License-Identifier: Apache-2.0 */
/* How the null backend writes down an order. The caller holds no lock; false when memory is short. */
#ifndef WICK_BACKEND_NULL_PLAN_H
#define WICK_BACKEND_NULL_PLAN_H

#include "null.h"

bool wk__null_log_append_work(const wk__work *work);
/* uploads, copies, downloads; sync has no bytes */
bool wk__null_log_append_bytes(int order, int64_t bytes);

/* NULL, or what is wrong with the order, of a family that the device has. */
const char *wk__work_check(const wk__work *work);

#endif
