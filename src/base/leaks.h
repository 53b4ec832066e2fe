/* SPDX-License-Identifier: Apache-2.0 */
/* Leak report of WICK_LOG=leaks: lists references that user code owns without a scope (wk_retain, or created outside
 * any scope) when the process exits. All calls return immediately if the log is off. Threads: any. */
#ifndef WICK_BASE_LEAKS_H
#define WICK_BASE_LEAKS_H

#include "handle.h"

/* Adds or removes one reference to this object, attributed to the call at `site`. */
void wk__leaks_add(const wk__handle *handle, wk_site site);
void wk__leaks_remove(const wk__handle *handle);
/* Attributes the newest reference to `site`, if the caller knows it better than wk__leaks_add() did. */
void wk__leaks_set_site(const wk__handle *handle, wk_site site);

#endif
