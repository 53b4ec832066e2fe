/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of memory, such as strings, that a call returns to the program. The innermost scope owns such a block; outside
 * any scope the object that it describes owns it. */
#ifndef WICK_BASE_ATTACHED_H
#define WICK_BASE_ATTACHED_H

#include "handle.h"

/* A block that an object owns, in a list of that object. Any thread may add one. */
typedef struct wk__attached wk__attached;
struct wk__attached {
    wk__attached *before;
    void *block;
};

/* Makes the innermost scope own a block of wk__alloc; without a scope the list owns it. Returns the block; NULL on
 * allocation failure, not recorded, with the block freed. */
const void *wk__attach(wk_site site, _Atomic(wk__attached *) *list, void *block);
/* Frees a list and its blocks. */
void wk__attached_free(_Atomic(wk__attached *) *list);

#endif
