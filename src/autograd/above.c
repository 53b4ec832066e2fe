/* SPDX-License-Identifier: Apache-2.0 */
/* The calls upward that base and tensor make; see base/above.h. */
#include "../base/above.h"
#include "../engine/ring.h"
#include "history.h"

const wk__above_table wk__above = {
    .flush = wk__flush,
    .settle = wk__ring_settle,
    .end = wk__ring_end,
    .tell_late = wk__tell_late,
    .tell_later = wk__tell_handler_later,
    .pending_orphan = wk__ring_orphan,
    .parked_orphan = wk__park_orphan,
    .parked_free = wk__park_free,
    .body_forget = wk__body_forget,
    .body_share = wk__body_share,
    .base_room = wk__history_room,
    .base_keep = wk__history_keep,
    .base_free = wk__history_forget,
};
