/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of engine and autograd that base and tensor call (base/upcalls.h). */
#include "base/upcalls.h"
#include "engine/op_queue.h"
#include "view_grad.h"

const wk__upcall_table wk__upcalls = {
    .flush = wk__flush,
    .drain_queue = wk__op_queue_drain,
    .free_queue = wk__op_queue_free,
    .on_pending_orphan = wk__op_queue_trim_dead,
    .on_deferred_orphan = wk__deferred_note_orphan,
    .free_deferred = wk__deferred_free,
    .drop_graph_refs = wk__body_forget,
    .add_graph_refs = wk__body_share,
    .dead_base_alloc = wk__dead_base_alloc,
    .dead_base_fill = wk__dead_base_fill,
    .dead_base_free = wk__dead_base_free,
};
