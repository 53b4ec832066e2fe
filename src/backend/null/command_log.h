/* SPDX-License-Identifier: Apache-2.0 */
/* Writing to the command log of the null backend. Thread-safe; return false on allocation failure. */
#ifndef WICK_BACKEND_NULL_PLAN_H
#define WICK_BACKEND_NULL_PLAN_H

#include "null.h"

bool wk__null_log_append_work(const wk__work *work);
/* For uploads, copies and downloads; a sync has 0 bytes. */
bool wk__null_log_append_bytes(int order, int64_t bytes);

/* Returns NULL, or a description of what is invalid in work of a supported family. Also used outside this backend. */
const char *wk__work_check(const wk__work *work);

#endif
