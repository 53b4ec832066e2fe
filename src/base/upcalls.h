/* SPDX-License-Identifier: Apache-2.0 */
/* What base and tensor have done by the layers above them.
 *
 * Includes go downwards only. But counts fall to zero down here, where a scope closes or a thread ends, while what
 * hangs on the object was made up there: a record in a ring, a node in a graph. These calls are all that goes
 * upward. The table is a constant, written where all of it is known (autograd/upcalls.c), so there is nothing to set
 * up and no entry is ever missing. */
#ifndef WICK_BASE_ABOVE_H
#define WICK_BASE_ABOVE_H

#include "context.h"

struct wk__value;
struct wk__body;
struct wk__dead_base;

typedef struct wk__upcall_table {
    /* The engine's. A scope that asked for it has closed: what the context recorded is run. */
    void (*flush)(wk_context *context);
    /* A thread ends and its scopes have closed: what it recorded is run; then, when no other thread is with the context
     * any more, what the engine keeps for it goes. */
    void (*drain_queue)(wk_context *context);
    void (*free_queue)(wk_context *context);
    /* What has been run for this thread has failed, and the program asks for the error. */
    void (*report_posted_failure)(wk_context *context);
    /* The program's handler is to hear of an error at this thread's next call, as no call is busy. */
    void (*schedule_error_delivery)(wk_context *context);
    /* The storage that lets go of a pending value is the last besides its writer's ring. */
    void (*on_pending_orphan)(struct wk__value *value);
    /* Nobody but parked records holds a stored value any more; nobody at all a parked one, whose record is freed
     * (false: it waits for wk__release_resume). */
    void (*on_deferred_orphan)(struct wk__value *value);
    bool (*free_deferred)(struct wk__value *value);
    /* Autograd's. A body with a place in the graph goes, was copied; room for what views need of a base that goes, NULL
     * when memory is short (recorded), and filling it; the last view goes, too. */
    void (*drop_graph_refs)(struct wk__body *body);
    void (*add_graph_refs)(const struct wk__body *body);
    struct wk__dead_base *(*dead_base_alloc)(void);
    void (*dead_base_fill)(struct wk__dead_base *past, const struct wk__body *base);
    void (*dead_base_free)(struct wk__dead_base *past);
} wk__upcall_table;
extern const wk__upcall_table wk__upcalls;

#endif
