/* SPDX-License-Identifier: Apache-2.0 */
/* Writing to the command log of the null backend. Thread-safe; return false on allocation failure. */
#ifndef WICK_BACKEND_NULL_COMMAND_LOG_H
#define WICK_BACKEND_NULL_COMMAND_LOG_H

#include "null.h"

bool wk__null_log_append_work(const wk__work *work);
/* For uploads, copies and downloads; a sync has 0 bytes. */
bool wk__null_log_append_bytes(int command, int64_t bytes);

#endif
