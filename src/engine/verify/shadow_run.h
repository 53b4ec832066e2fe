/* SPDX-License-Identifier: Apache-2.0 */
/* The second computation of a flush: its records one by one, in the order of the program, on the twins of
 * their values. */
#ifndef WICK_ENGINE_RECOMPUTE_H
#define WICK_ENGINE_RECOMPUTE_H

#include "shadow.h"

/* Copies what the flush reads and computes what is seen of it. twins->why says what could not be done, if
 * anything: then nothing is known of this flush. Nothing that the program or the planned run knows is changed, but
 * that devices are waited for. */
void wk__shadow_run(wk__shadow_map *twins);

/* A copy of the record in `room` (wk__record_bytes of it) whose values are the twins. */
wk__record *wk__record_on_shadows(const wk__shadow_map *twins, wk__record *r, void *room);

#endif
