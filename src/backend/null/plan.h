/* SPDX-License-Identifier: Apache-2.0 */
/* How the null backend writes down an order. The caller holds no lock; false when memory is short. */
#ifndef WICK_BACKEND_NULL_PLAN_H
#define WICK_BACKEND_NULL_PLAN_H

#include "null.h"

bool wk__null_note_run(const wk__group *group);
bool wk__null_note_matmul(const wk__matmul *product);
bool wk__null_note_kernel(const wk__kernel *kernel);
/* uploads, copies, downloads; sync has no bytes */
bool wk__null_note_bytes(wk__null_order order, int64_t bytes);

/* NULL, or what is wrong with the order. */
const char *wk__null_check_group(const wk__group *group);
const char *wk__null_check_matmul(const wk__matmul *product);
const char *wk__null_check_kernel(const wk__kernel *kernel);

#endif
