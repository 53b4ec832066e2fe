/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing a flush with its twins, once the planned run is over. */
#ifndef WICK_ENGINE_COMPARE_H
#define WICK_ENGINE_COMPARE_H

#include "base/text.h"
#include "shadow.h"

/* Where what anybody can see is not what its twin is. */
typedef struct wk__difference {
    wk__shadow *twin;
    wk__record *record; /* that writes it, or of what was there before the first that reads it */
    wk__text what;      /* "element [0, 2] is 6, and 20 when ...": behind the name of the op */
} wk__difference;

/* Do the bytes of a value, seen through this reference of a record, differ (see shadow_compare.c for NaN)? Says where,
 * and both numbers: "element [0, 2] is 6, and 20". With `holes` only what a record writes means something. */
bool wk__bytes_differ(wk__record *r, int reference, bool holes, const char *have, const char *want, int64_t bytes,
                      wk__text *what);
/* Does the record write all of a value of so many bytes? One that writes a part of a new tensor leaves the
 * rest to later ones. */
bool wk__record_fills(wk__record *r, int output, int64_t bytes);

/* Is this a failure that the calls one by one have as well? Numbers bring it about: an index, an argument that was
 * refused. Want of memory and devices are another matter. */
bool wk__is_data_failure(const wk__failure *failure);
/* Says of each twin whether its value may be another after all: what had no memory in the planned run, what an
 * asynchronous device left out because of a bad index before it, and what follows from these. The planned run is over
 * and the devices were waited for. */
void wk__shadow_mark_tolerated(wk__shadow_map *twins);
/* Is the twin's value another than the twin? Fills *found then, whose text the caller ends. */
bool wk__shadow_differs(const wk__shadow_map *twins, wk__shadow *twin, wk__difference *found);

#endif
