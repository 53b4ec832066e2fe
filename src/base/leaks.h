/* SPDX-License-Identifier: Apache-2.0 */
/* What the program keeps by a count of its own (a retain, or for want of a scope), for WICK_LOG=leaks: told
 * when the process ends. */
#ifndef WICK_BASE_LEAKS_H
#define WICK_BASE_LEAKS_H

#include "handle.h"

/* One count more on this object, from the call at `site`; one fewer. Cheap when nobody listens. */
void wk__leaks_add(const wk__handle *handle, wk_site site);
void wk__leaks_remove(const wk__handle *handle);
/* The newest count comes from this place, which is better known than whoever added it did. */
void wk__leaks_set_site(const wk__handle *handle, wk_site site);

#endif
