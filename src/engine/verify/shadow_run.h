/* SPDX-License-Identifier: Apache-2.0 */
/* Reference computation of a checked flush: runs its records one by one, in program order, on the shadows of their
 * values. */
#ifndef WICK_ENGINE_VERIFY_SHADOW_RUN_H
#define WICK_ENGINE_VERIFY_SHADOW_RUN_H

#include "shadow.h"

/* Copies the inputs of the flush and computes its observable values. If that fails, sets shadows->skip_reason, and the
 * flush cannot be checked. Changes nothing that the user or the planned run sees, except that devices are
 * synchronized. */
void wk__shadow_run(wk__shadow_map *shadows);

/* Copies the record to `room`, of wk__record_bytes(), and replaces its values by their shadows. */
wk__record *wk__record_on_shadows(const wk__shadow_map *shadows, wk__record *r, void *room);

#endif
