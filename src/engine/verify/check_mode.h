/* SPDX-License-Identifier: Apache-2.0 */
/* WICK_CHECK=1: every flush is computed twice, record by record (shadow_run.h) and then as planned, and what anybody
 * can see of it afterwards is compared bit for bit (shadow_compare.h). A difference is a failure of the value,
 * WK_ERR_INTERNAL, and of the thread whose call it was; the flush goes into a file for `wick replay` (flush_file.h).
 *
 * The first computation must not be noticed: its memory stands beside the arenas, it counts nothing, takes no part
 * in failures that tests order, and calls nobody back. Where it has no memory itself the flush is not checked,
 * which the log's subject "check" tells. What it does change: devices are waited for after each flush, so that
 * faults are known sooner. */
#ifndef WICK_ENGINE_CHECK_MODE_H
#define WICK_ENGINE_CHECK_MODE_H

#include "engine/op_queue.h"

struct wk__shadow_map;

/* Before the plan of what the (locked, not empty) ring holds; and when the planned run is over, before the records are
 * forgotten. NULL: this flush is not checked. */
struct wk__shadow_map *wk__check_begin(wk_context *owner, bool park);
void wk__check_end(struct wk__shadow_map *twins);
/* The planned run could not compute this value, because of that. NULL: because of something that the calls one by one
 * know nothing of, as that another part of a call has failed that happens whole or not at all. */
void wk__check_tolerate(struct wk__shadow_map *twins, const wk__value *value, const wk__failure *failure);

#endif
