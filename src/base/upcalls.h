/* SPDX-License-Identifier: Apache-2.0 */
/* Upcalls: the functions of engine that base and tensor call.
 *
 * Includes point downwards, but the last reference to an object may be dropped down here, when a scope closes or a
 * thread exits, while a record still refers to it. The table is a constant (autograd/upcalls.c): every
 * entry is set. */
#ifndef WICK_BASE_ABOVE_H
#define WICK_BASE_ABOVE_H

#include "context.h"

struct wk__value;

typedef struct wk__upcall_table {
    /* Called when a thread exits, after its scopes have closed: drain_queue runs the recorded ops; free_queue frees the
     * engine's state once no other thread has acquired the context. */
    void (*drain_queue)(wk_context *context);
    void (*free_queue)(wk_context *context);
    /* Only the queue of the thread that recorded it still references a pending value. */
    void (*on_pending_orphan)(struct wk__value *value);
    /* Nothing references a deferred value: frees its record, or returns false if it must wait for
     * wk__release_resume. */
    bool (*free_deferred)(struct wk__value *value);
} wk__upcall_table;
extern const wk__upcall_table wk__upcalls;

#endif
