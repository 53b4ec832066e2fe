/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of engine that base and tensor call (base/upcalls.h). */
#include "base/upcalls.h"
#include "engine/op_queue.h"

const wk__upcall_table wk__upcalls = {
    .drain_queue = wk__op_queue_drain,
    .free_queue = wk__op_queue_free,
    .on_pending_orphan = wk__op_queue_trim_dead,
    .free_deferred = wk__deferred_free,
};
