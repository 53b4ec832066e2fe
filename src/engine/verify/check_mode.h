/* SPDX-License-Identifier: Apache-2.0 */
/* WICK_CHECK=1: computes every flush twice, record by record (shadow_run.h) and as planned, and compares all observable
 * results bit for bit (shadow_compare.h). A difference fails the value with WK_ERR_INTERNAL, reports the failure to the
 * thread that recorded the call, and writes the flush to a file for `wick replay` (replay/flush_file.h).
 *
 * The first computation must have no side effects: its memory comes from separate arenas, it changes no statistics, is
 * exempt from simulated allocation failures, and calls no user code. If it runs out of memory, the flush is not
 * checked, which log subject "check" reports. One effect remains: devices are synchronized after each flush, so faults
 * are reported earlier.
 *
 * Threads: the thread that flushes, with the queue locked. */
#ifndef WICK_ENGINE_CHECK_MODE_H
#define WICK_ENGINE_CHECK_MODE_H

#include "engine/op_queue.h"

struct wk__shadow_map;

/* wk__check_begin() runs before planning, on a locked queue that is not empty; wk__check_end() after the planned run,
 * before the records are released. wk__check_begin() returns NULL if the flush is not checked; wk__check_end() frees
 * the result. */
struct wk__shadow_map *wk__check_begin(wk_context *owner, bool may_defer);
void wk__check_end(struct wk__shadow_map *shadows);
/* Reports that the planned run failed to compute a value, with this failure; NULL: for a reason that does not exist
 * when the calls run one by one, such as an aborted transaction. */
void wk__check_tolerate(struct wk__shadow_map *shadows, const wk__value *value, const wk__failure *failure);

#endif
