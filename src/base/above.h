/* SPDX-License-Identifier: Apache-2.0 */
/* What base and tensor have done by the layers above them.
 *
 * Includes go downwards only. But counts fall to zero down here, where a scope closes or a thread ends, while what
 * hangs on the object was made up there: a record in a ring, a node in a graph. These calls are all that goes
 * upward. The table is a constant, written where all of it is known (autograd/above.c), so there is nothing to set
 * up and no entry is ever missing. */
#ifndef WICK_BASE_ABOVE_H
#define WICK_BASE_ABOVE_H

#include "context.h"

struct wk__value;
struct wk__body;
struct wk__base;

typedef struct wk__above_table {
    /* The engine's. A scope that asked for it has closed: what the context recorded is run. */
    void (*flush)(wk_context *context);
    /* A thread ends and its scopes have closed: what it recorded is run; then, when no other thread is with the context
     * any more, what the engine keeps for it goes. */
    void (*settle)(wk_context *context);
    void (*end)(wk_context *context);
    /* What has been run for this thread has failed, and the program asks for the error. */
    void (*tell_late)(wk_context *context);
    /* The program's handler is to hear of an error at this thread's next call, as no call is busy. */
    void (*tell_later)(wk_context *context);
    /* The storage that lets go of a pending value is the last besides its writer's ring. */
    void (*pending_orphan)(struct wk__value *value);
    /* Nobody but parked records holds a stored value any more; nobody at all a parked one, whose record is freed
     * (false: it waits for wk__release_now). */
    void (*parked_orphan)(struct wk__value *value);
    bool (*parked_free)(struct wk__value *value);
    /* Autograd's. A body with a place in the graph goes, was copied; room for what views need of a base that goes, NULL
     * when memory is short (recorded), and filling it; the last view goes, too. */
    void (*body_forget)(struct wk__body *body);
    void (*body_share)(const struct wk__body *body);
    struct wk__base *(*base_room)(void);
    void (*base_keep)(struct wk__base *past, const struct wk__body *base);
    void (*base_free)(struct wk__base *past);
} wk__above_table;
extern const wk__above_table wk__above;

#endif
