/* SPDX-License-Identifier: Apache-2.0 */
/* Per-thread state: the pending error, the stack of guards with the scopes and the handles they own, the random stream,
 * the slot caches, and the queue of recorded ops that have not run yet.
 *
 * Ownership: a context belongs to one thread and lives until the thread exits; bindings create contexts without a
 * thread.
 * Threads: only the owner accesses a context, except for the op queue (under queue_lock), posted_failure (atomic), and
 * visits between wk__context_acquire() and wk__context_release(), which delay its destruction. */
#ifndef WICK_BASE_CONTEXT_H
#define WICK_BASE_CONTEXT_H

#include "slab.h"
#include "text.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <wick/core.h>

typedef struct wk__handle wk__handle;

/* ---- call frames ------------------------------------------------------------------------------------------------- */

/* The API call of user code that the library is executing through internal calls. Error messages name this call and its
 * site instead of the internal ones. */
typedef struct wk__api_call {
    bool active;
    bool in_place;        /* the call is an in-place op: "_" is appended to name */
    bool handler_blocked; /* error delivery waits for the end of the call; see WK__FRAME_CRITICAL */
    const char *name;     /* static; NULL: internal ops report their own names */
    wk_site site;
} wk__api_call;

/* Returns "_" if the name of an in-place op lacks it, else "". */
static inline const char *wk__in_place_suffix(const char *name, bool in_place)
{
    return in_place && name[strlen(name) - 1] != '_' ? "_" : "";
}

/* A module whose forward is running. Frames are linked from the innermost outwards and live on the C stack. */
typedef struct wk__module_frame wk__module_frame;
struct wk__module_frame {
    const wk__module_frame *parent;
    const void *module;
    const void *options; /* arguments of the call besides tensors, of a type that the kind knows; NULL: none */
    int depth;           /* modules from the outermost to this one */
    bool library;        /* a built-in module: its internal calls count as the user's call of forward */
    /* Appends the position of the module to a message. Built-in modules precede the message, "forward: in layer 2.1
     * (linear): ", and return the name of their kind; user-defined modules follow it, "layer 2.1, ". */
    const char *(*describe)(const wk__module_frame *layer, wk__text *out);
};

/* Observes the forwards that run in a frame and those nested in it, on one thread. */
typedef struct wk__forward_watch wk__forward_watch;
struct wk__forward_watch {
    int64_t multiply_adds; /* products of the contractions recorded so far */
    int64_t output_bytes;  /* of the outputs so far; `called` counts them */
    /* Called after the forward of a module; `before` is the watch as it was before it. */
    void (*called)(wk__forward_watch *watch, const wk__forward_watch *before, const void *module, wk_tensor *const *out,
                   int outputs);
};

/* Cause of an object's destruction, for messages about its dead handle. */
typedef struct wk__destroy_cause {
    /* the API call that dropped the last reference; NULL: wk_free. For a closed scope see by_scope in handle.c */
    const char *call;
    wk_site site; /* call site, or where the scope was opened */
    /* kind of the parent that was destroyed with it; NULL: it was destroyed directly */
    const struct wk__handle_type *parent_type;
} wk__destroy_cause;

/* Call frame: state that nested internal calls inherit. User code runs in a fresh frame. A closing guard restores the
 * frame saved when it was pushed, also after a longjmp out of the error handler. */
typedef struct wk__frame {
    bool grad_off;          /* inside WK_NO_GRAD */
    bool sync_off;          /* inside WK_NO_SYNC */
    bool initial_off;       /* new parameters get no initial values: the call in progress replaces all of them */
    uint8_t backward_depth; /* nested backward passes that are running; a hook may start another one */
    uint8_t destroy_depth;  /* nested calls of user-defined destroy functions */
    uint8_t release_depth;  /* nested calls of user-defined release functions */
    uint8_t kind;           /* in a saved frame: the wk__frame_kind of the frame that replaced it */
    bool nounwind;          /* user code is running while references are being dropped; see WK__FRAME_NOUNWIND */
    int16_t composing;      /* depth of composite ops; no graph nodes are created if > 0 */
    /* token of the scope of the outermost composite op or gradient that is running; 0: none. It owns the intermediate
     * results */
    uint64_t op_scope;
    wk__api_call api_call;
    const char *callback;                 /* user code called by the library, as in messages: "forward of \"block\"" */
    const wk__module_frame *module_frame; /* innermost module whose forward is running; NULL: none */
    wk__forward_watch *forward_watch;     /* NULL: none */
    /* of the object whose children are being dropped, or of the scope that is closing */
    wk__destroy_cause destroy_cause;
} wk__frame;

/* ---- guards ------------------------------------------------------------------------------------------------------ */

typedef enum wk__guard_kind {
    WK__GUARD_SCOPE,   /* owns handles */
    WK__GUARD_GRAD,    /* saves the grad mode, in saved_frame */
    WK__GUARD_DEVICE,  /* saves the default device, in device */
    WK__GUARD_EPOCH,   /* an epoch of a data loader */
    WK__GUARD_CALLBACK /* calls a cleanup function, usually after user code */
} wk__guard_kind;

typedef struct wk__guard {
    uint64_t token; /* unique in the process, never 0 */
    wk__guard_kind kind;
    wk_site site;
    wk__handle *handles;                /* SCOPE: handles it owns, newest first */
    void (*after)(wk_context *context); /* SCOPE: called once the scope is closed; NULL: nothing */
    wk__frame saved_frame;
    wk_device device; /* DEVICE: the previous default device */
    void *object;     /* EPOCH, CALLBACK: argument of close, which may be NULL */
    void (*close)(void *object);
} wk__guard;

/* Origin of a NULL that user code passes on while no error is pending: the thread's last call that returned NULL. */
typedef struct wk__null_origin {
    char last_error[200]; /* "net.c:12: matmul": the last failed call, if its error was cleared; "": none */
    const char *call;     /* a later call that returned NULL without an error, such as "grad_of"; NULL: none */
    const char *why;      /* reason for that NULL */
    wk_site site;         /* site of that call */
    const void *kind;     /* wk__handle_type of the object it would have returned */
} wk__null_origin;

/* An error that user code cleared before the error handler received it. */
typedef struct wk__undelivered_error wk__undelivered_error;
struct wk__undelivered_error {
    wk__undelivered_error *next;
    wk_code code;
    wk__text text;
};

/* ---- the context ------------------------------------------------------------------------------------------------- */

struct wk__op_queue;
struct wk__failure;
struct wk__value;

/* Objects of one kind that wait to be freed by this thread. Freeing one may drop others; the queue turns the recursion
 * into a loop, so that long chains do not need a deep stack. `draining` is false while a user-defined destroy runs,
 * because a longjmp may leave it for good. From WK__DESTROY_DEPTH nested destroys on, further objects wait for the
 * innermost one to end. */
enum { WK__DESTROY_DEPTH = 8 };
typedef struct wk__destroy_queue {
    void *first;
    bool draining;
} wk__destroy_queue;

/* Functions of the engine for a context that has recorded work. */
typedef struct wk__work_hooks {
    /* Called when the thread exits, after its scopes have closed: drain runs the recorded ops; free frees the queue
     * once no other thread has acquired the context. */
    void (*drain)(wk_context *context);
    void (*free)(wk_context *context);
    /* Called before a storage drops a pending value: removes the records that nothing else needs. */
    void (*trim_dead)(struct wk__value *value);
    /* Called when nothing refers to a deferred value: frees its record. Returns false if the value must wait for
     * wk__release_resume. */
    bool (*free_deferred)(struct wk__value *value);
} wk__work_hooks;

struct wk_context {
    wk_code code;          /* first error; WK_OK if none */
    wk__text error;        /* message of the error, with its "file:line: " prefix */
    wk_site error_site;    /* call site in that prefix */
    int64_t prefix_length; /* length of that prefix in bytes */
    bool error_shared;     /* all ranks of the distributed world know this error */
    wk__guard *guard;      /* stack; guard[guards - 1] is the top */
    int64_t guards, guard_capacity;
    int64_t scope; /* index of the innermost scope in guard[]; -1 if none */
    wk__frame frame;
    /* id of the running transaction, an all-or-nothing call; 0: none. Nothing is flushed inside one */
    int32_t transaction;
    int32_t transaction_count; /* transactions started so far */
    /* the transaction accesses memory borrowed from user code, so it is flushed when it ends */
    bool transaction_borrows;
    wk_device device;      /* default device */
    uint64_t key, counter; /* random stream: Philox key and next counter */
    int64_t stream;        /* index of the stream; 0 for the first thread */
    wk__slab_cache slots[WK__SLAB_KINDS];
    struct wk__op_queue *op_queue;                /* other threads access it under queue_lock */
    const wk__work_hooks *work;                   /* set with the queue, at the first record; NULL before */
    _Atomic(struct wk__failure *) posted_failure; /* a failure to report at this thread's next call */
    atomic_int queue_lock;                        /* spin lock, held to append to the queue or to flush it */
    _Atomic(const void *) queue_owner;            /* wk__thread_id() of the thread that flushes the queue */
    /* orphans since the queue's deferred values were last scanned; large ones count several times (deferred.c) */
    atomic_llong deferred_orphans;
    wk__destroy_queue nodes, modules;
    void *backward;        /* outermost backward pass that is running; NULL: none */
    int release_suspended; /* nesting depth of wk__release_suspend */
    /* values with borrowed memory, linked by deferred_next. They are freed once release_suspended is 0 and fewer than
     * WK__DESTROY_DEPTH releases are nested */
    struct wk__value *release_queue;
    void (*free_waiting)(wk_context *context); /* frees that queue; set when a value is added */
    /* deferred values of another thread's queue, linked by release_user. They are freed once release_suspended is 0 */
    struct wk__value *deferred_release_queue;
    void *scratch;      /* see wk_module_state; NULL until first used */
    wk_context *next;   /* in the list of all contexts, or in the list of free ones */
    int references;     /* other threads that have acquired the context; it is not destroyed until this is 0 */
    bool exiting;       /* the thread is exiting: destructors registered now would not run */
    bool in_wk_call;    /* a wk_call of a binding is running in this context */
    bool handler_muted; /* context of a binding: errors are returned to its caller and never reach the error handler */
    bool undelivered;   /* the error handler has not received the pending error yet */
    /* errors wait for delivery (the pending one or undelivered_errors) until the blocking call ends */
    bool delivery_due;
    wk__undelivered_error *undelivered_errors; /* cleared errors, oldest first */
    wk__null_origin null_origin;               /* last, because calls rarely access it */
};

/* Returns this thread's context, never NULL. This pointer is the library's only thread-local variable: libraries loaded
 * by dlopen share a small reserve of initial-exec storage, which needs no function call to access. */
wk_context *wk__context_start(void);
extern _Thread_local wk_context *wk__context_now __attribute__((tls_model("initial-exec")));

static inline wk_context *wk__context(void)
{
    wk_context *context = wk__context_now;
    return __builtin_expect(context != NULL, 1) ? context : wk__context_start();
}

/* Identifies the calling thread, independent of the context it has entered. */
static inline const void *wk__thread_id(void)
{
    return &wk__context_now;
}

/* Makes `context` the current one of this thread (NULL: the thread's own) and returns the previous one. */
wk_context *wk__context_enter(wk_context *context);

/* Creates a context without a thread, for bindings to enter and leave; NULL on allocation failure. No thread may be in
 * it when it is destroyed. */
wk_context *wk__context_make(void);
void wk__context_destroy(wk_context *context);

/* Create contexts for user functions that run on behalf of another context's call. They take no number of a random
 * stream, so the streams of threads do not depend on them, and their errors do not reach the handler.
 * wk__context_start_worker creates the context of the current thread, one of the library's; later calls do nothing. */
wk_context *wk__context_make_worker(void);
void wk__context_start_worker(void);

/* Keeps another thread's context alive until wk__context_release(). Returns false if it has been destroyed; all ops it
 * had recorded have run then. */
bool wk__context_acquire(wk_context *context);
void wk__context_release(wk_context *context);
/* Calls visit for every context, without holding wk__context_lock. */
void wk__context_each(void (*visit)(wk_context *context, void *user), void *user);

extern pthread_mutex_t wk__context_lock, wk__handler_lock; /* locked during fork(); see fork.c */
/* Set in a forked child that must not use the library (fork.h). Each of its calls reports an error. */
extern atomic_bool wk__forked;
bool wk__report_forked(wk_site site, const char *op); /* returns false */

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* Sets the thread's error unless one is pending. The message is prefixed with "file:line: ". */
__attribute__((format(printf, 3, 4))) void wk__error_set(wk_site site, wk_code code, const char *format, ...);
/* Like wk__error_set(), with a finished text. Frees *text. */
void wk__error_set_text(wk_site site, wk_code code, wk__text *text);
static inline bool wk__error_pending(void)
{
    return wk__context()->code != WK_OK;
}
/* Notes that a user's call returned NULL for an object of this kind (wk__handle_type) without an error, such as
 * "grad_of", "the leaf has no gradient". Both strings must be static. */
void wk__note_null_result(wk_site site, const void *kind, const char *call, const char *why);
/* Returns the site to report: that of the outermost API call if one is active, else `site`. */
wk_site wk__site(wk_site site);
/* Returns the op name to report, by the same rule. */
static inline const char *wk__name(const wk_context *context, const char *name)
{
    const wk__api_call *outer = &context->frame.api_call;
    return outer->active && outer->name ? outer->name : name;
}
void wk__deliver_errors(wk_context *context);
void wk__free_undelivered(wk_context *context); /* for a context that is destroyed */

/* ---- nested calls ------------------------------------------------------------------------------------------------ */

/* Kinds of frames. */
typedef enum wk__frame_kind {
    /* Critical section: the call owns memory, files or counts that only it knows. The error handler may longjmp, so
     * delivery waits until the frame ends. */
    WK__FRAME_CRITICAL,
    /* An API call that the library executes through internal calls. Errors and records name the outermost such call;
     * delivery waits until it ends. IN_PLACE: `name` is the name of an op, without the "_". */
    WK__FRAME_CALL,
    WK__FRAME_CALL_IN_PLACE,
    /* User code, named `name` in messages, such as a hook or a module's forward. Its calls report their own sites. */
    WK__FRAME_CALLBACK,
    /* User code that runs while references are being dropped and no guard would clean up, so a longjmp must not leave
     * it. Its errors are delivered when the outermost blocking call ends. */
    WK__FRAME_NOUNWIND,
    /* The error handler. */
    WK__FRAME_HANDLER,
    /* Work unrelated to the enclosing calls: the cleanup of a guard, the failure of an earlier call. */
    WK__FRAME_DETACHED
} wk__frame_kind;

/* The slow path of wk__frame_begin() and wk__frame_end(): kinds from WK__FRAME_CALLBACK on. */
wk__frame wk__frame_begin_isolated(wk_context *context, wk__frame_kind way, const char *name);
void wk__frame_end_isolated(wk_context *context, wk__frame before);

/* Begins a frame of kind `way` and returns the saved state for wk__frame_end(), which is the entire previous frame or
 * the part that this kind changes. A guard pushed earlier restores it as well. `name` and `site` are those of the call
 * or callback, else NULL and {0}. */
static inline wk__frame wk__frame_begin(wk_context *context, wk__frame_kind way, const char *name, wk_site site)
{
    wk__api_call *outer = &context->frame.api_call;
    if (way > WK__FRAME_CALL_IN_PLACE) return wk__frame_begin_isolated(context, way, name);
    wk__frame before;
    before.kind = (uint8_t)way;
    if (way == WK__FRAME_CRITICAL) {
        before.api_call.handler_blocked = outer->handler_blocked;
        outer->handler_blocked = true;
        return before;
    }
    before.api_call = *outer;
    if (!before.api_call.active)
        *outer = (wk__api_call){.active = true, .handler_blocked = true, .name = name, .site = site};
    if (!before.api_call.name) {
        outer->name = name;
        outer->in_place = way == WK__FRAME_CALL_IN_PLACE;
    }
    return before;
}
static inline void wk__frame_end(wk_context *context, wk__frame before)
{
    if (before.kind > WK__FRAME_CALL_IN_PLACE) {
        wk__frame_end_isolated(context, before);
        return;
    }
    if (before.kind == WK__FRAME_CRITICAL)
        context->frame.api_call.handler_blocked = before.api_call.handler_blocked;
    else
        context->frame.api_call = before.api_call;
    if (__builtin_expect(context->delivery_due, 0) && !before.api_call.handler_blocked) wk__deliver_errors(context);
}

#endif
