/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one thread: its error, its guard stack with the scopes and what they own, its random stream, its free
 * lists, and the ring of work that it has recorded and not yet run. */
#ifndef WICK_BASE_CONTEXT_H
#define WICK_BASE_CONTEXT_H

#include "slab.h"
#include "text.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <wick/core.h>

typedef struct wk__handle wk__handle;

/* ---- whose call it is -------------------------------------------------------------------------------------------- */

/* The program's call that the library carries out with calls of its own: messages name it instead of those. */
typedef struct wk__api_call {
    bool active;
    bool in_place;        /* "add_": the name of the op and _ */
    bool handler_blocked; /* the program's handler hears of an error when the call ends; see
                                    WK__FRAME_CRITICAL */
    const char *name;     /* lives for ever; NULL: what fails names itself */
    wk_site site;
} wk__api_call;

/* What the name of an op lacks in a call in place. */
static inline const char *wk__in_place_suffix(const char *name, bool in_place)
{
    return in_place && name[strlen(name) - 1] != '_' ? "_" : "";
}

/* A module whose forward runs, in the frame of that call; the innermost is the context's. */
typedef struct wk__module_frame wk__module_frame;
struct wk__module_frame {
    const wk__module_frame *parent;
    const void *module;
    bool library; /* its calls are the program's call of forward */
    /* Writes where it stands: of the library's before the message, "forward: in layer 2.1 (linear): ", and returns the
     * name of its kind; of the program's behind it, "layer 2.1, ". */
    const char *(*describe)(const wk__module_frame *layer, wk__text *out);
};

/* How an object ended, for messages about its handle. */
typedef struct wk__destroy_cause {
    const char *call; /* the call that let go of it; NULL: it was freed. A scope that closed: see
                                      handle.c */
    wk_site site;     /* of that call, or where the scope was opened */
    const struct wk__handle_type *parent_type; /* the kind of the object that it went with, NULL: it went by itself */
} wk__destroy_cause;

/* What the calls that a call leads to have to know of it. Kept in one piece: user code that the library runs
 * has one of its own, and a guard that closes puts back the one before it, also when a handler's longjmp left
 * what had changed it. */
typedef struct wk__frame {
    bool grad_off;          /* WK_NO_GRAD is in force */
    bool sync_off;          /* WK_NO_SYNC is */
    uint8_t backward_depth; /* backward runs that are under way: a hook may have begun another one */
    uint8_t destroy_depth;  /* calls of the program's destroy that are under way, one within another */
    uint8_t release_depth;  /* likewise of its release */
    uint8_t kind;           /* of what wk__frame_begin gave: what it began */
    bool nounwind;          /* the program's function that runs stands amidst drops: see WK__FRAME_NOUNWIND */
    int16_t composing;      /* depth of composed ops: no nodes are made */
    uint64_t op_scope;      /* scope of the outermost composed op or gradient that runs, 0 none: it owns what was made
                          since */
    wk__api_call api_call;
    const char *callback;                 /* what of the program's own the library has called, "forward of \"block\"" */
    const wk__module_frame *module_frame; /* the innermost whose forward runs */
    wk__destroy_cause destroy_cause;      /* of the object whose parts are let go of just now, or of the scope that
                                                closes */
} wk__frame;

/* ---- guards ------------------------------------------------------------------------------------------------------ */

typedef enum wk__guard_kind {
    WK__GUARD_SCOPE,   /* owns handles */
    WK__GUARD_GRAD,    /* grad mode */
    WK__GUARD_DEVICE,  /* default device */
    WK__GUARD_EPOCH,   /* an epoch of a loader */
    WK__GUARD_CALLBACK /* the library runs user code: call sites start anew */
} wk__guard_kind;

typedef struct wk__guard {
    uint64_t token; /* serial number, never used twice in a process */
    wk__guard_kind kind;
    wk_site site;
    wk__handle *handles; /* SCOPE: the handles it owns, newest first */
    bool flush;          /* SCOPE: an optimiser stepped here: flush after the handles are dropped */
    wk__frame saved_frame;
    wk_device device; /* DEVICE: the default before */
    void *object;     /* BATCH: what to close, and how */
    void (*close)(void *object);
} wk__guard;

/* What is known of a NULL that the program passes on while no error is pending: the last call that gave it one. */
typedef struct wk__null_origin {
    char last_error[200]; /* how the message begins of a call that failed, if its error was cleared */
    const char *call;     /* a later call that had nothing to give, which is no error; NULL: none, */
    const char *why;      /* what it had not, */
    wk_site site;         /* where it was, */
    const void *kind;     /* and of which kind (wk__handle_type) that would have been */
} wk__null_origin;

/* An error of which the program's handler has not heard yet, though the program has cleared it. */
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

/* Objects of one kind that this thread frees one after another: freeing one may drop others, and a long chain must not
 * need a long stack. While the program's own destroy runs in between, `busy` is false, as a longjmp of the program's
 * may never come back from there; only where one runs within another, and so on, what the innermost drops waits until
 * it ends. */
enum { WK__DESTROY_DEPTH = 8 };
typedef struct wk__destroy_queue {
    void *first;
    bool draining;
} wk__destroy_queue;

struct wk_context {
    wk_code code;          /* the first error, WK_OK if none */
    wk__text error;        /* its text, after the place of the call that failed, */
    wk_site error_site;    /* which is this, */
    int64_t prefix_length; /* as much of the text as that takes */
    wk__guard *guard;      /* the stack, guard[guards - 1] on top */
    int64_t guards, guard_capacity;
    int64_t scope; /* index of the innermost scope in guard[], -1 if none */
    wk__frame frame;
    int32_t transaction;       /* number of the call that happens whole or not at all, 0 none: nothing is run
                                    meanwhile */
    int32_t transaction_count; /* such calls so far */
    bool transaction_borrows;  /* that one reads or writes memory that the program lent: it is run when the call
                                       ends */
    wk_device device;          /* the default device */
    uint64_t key, counter;     /* random stream: Philox key and next counter */
    int64_t stream;            /* number of the stream, 0 for the first thread */
    wk__slab_cache slots[WK__SLAB_KINDS];
    struct wk__op_queue *op_queue;                /* other threads look at it with the lock held */
    _Atomic(struct wk__failure *) posted_failure; /* a failure to tell this thread at its next call */
    atomic_int queue_lock;                        /* held while the ring is appended to or flushed */
    _Atomic(const void *) queue_owner;            /* the thread that flushes it (wk__thread_id) */
    wk__destroy_queue nodes, modules;
    void *backward;                           /* the outermost backward that runs, NULL none */
    int release_suspended;                    /* calls of wk__release_suspend that have not ended */
    struct wk__value *release_queue;          /* values with borrowed memory, linked by parked_next: they are freed when
                                               nothing is held, and fewer than WK__DESTROY_DEPTH releases run within one
                                               another */
    struct wk__value *deferred_release_queue; /* values parked in another thread's ring, linked by release_user: they
                                                 are freed when nothing is held */
    void *scratch;                            /* see wk_module_state; NULL until it is asked for */
    wk_context *next;                         /* in the list of all contexts, or of those that serve no thread */
    int references;                           /* other threads that are with it: it does not end meanwhile */
    bool exiting;                             /* its thread is at its end: destructors registered now would not run */
    bool in_wk_call;                          /* wk_call runs in this one, which is a binding's */
    bool handler_muted; /* a binding's: its errors are the caller's, the program's handler hears nothing of
                                     them */
    bool undelivered;   /* the first error is there, and the handler has not heard of it */
    bool delivery_due;  /* unheard, or something is in `cleared`, and a call is busy: its end tells the
                                   handler */
    wk__undelivered_error *undelivered_errors; /* oldest first */
    wk__null_origin null_origin;               /* behind what each call touches */
};

/* This thread's context. Never NULL. The pointer is all that the library keeps in thread-local storage: a program
 * that loads the library while it runs has only a little room left there that needs no call to reach
 * (initial-exec), and shares it. */
wk_context *wk__context_start(void);
extern _Thread_local wk_context *wk__context_now __attribute__((tls_model("initial-exec")));

static inline wk_context *wk__context(void)
{
    wk_context *context = wk__context_now;
    return __builtin_expect(context != NULL, 1) ? context : wk__context_start();
}

/* Tells threads apart, whatever context they have entered. */
static inline const void *wk__thread_id(void)
{
    return &wk__context_now;
}

/* Makes `context` the one of this thread until the next call; NULL: the thread's own. Returns the one before. */
wk_context *wk__context_enter(wk_context *context);

/* A context that belongs to no thread (bindings enter and leave it); NULL when memory is short. It must be entered by
 * nobody when it is freed. */
wk_context *wk__context_make(void);
void wk__context_destroy(wk_context *context);

/* Another thread's context: false when it has ended (then all that it recorded is done). Else it stays until
 * the leave. */
bool wk__context_acquire(wk_context *context);
void wk__context_release(wk_context *context);
/* Visits every context. */
void wk__context_each(void (*visit)(wk_context *context, void *user), void *user);

extern pthread_mutex_t wk__context_lock, wk__handler_lock; /* held while the process forks: fork.c */
/* A child of fork() that may not use the library (fork.h): every call reports it once more. */
extern atomic_bool wk__forked;
bool wk__report_forked(wk_site site, const char *op); /* false */

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* Records an error of the call at `site` as this thread's first, unless there is one already. The text is what stands
 * after "file:line: ". */
__attribute__((format(printf, 3, 4))) void wk__error_set(wk_site site, wk_code code, const char *format, ...);
/* The same with a finished text; takes its contents and ends it. */
void wk__error_set_text(wk_site site, wk_code code, wk__text *text);
static inline bool wk__error_pending(void)
{
    return wk__context()->code != WK_OK;
}
/* A call of the program gives NULL for an object of this kind (wk__handle_type), which is no error: "grad_of", "the
 * leaf has no gradient". The texts live for ever. */
void wk__note_null_result(wk_site site, const void *kind, const char *call, const char *why);
/* The site to report: that of the call, or of the user's call around it when the library composes. */
wk_site wk__site(wk_site site);
/* The name to report: likewise. */
static inline const char *wk__name(const wk_context *context, const char *name)
{
    const wk__api_call *outer = &context->frame.api_call;
    return outer->active && outer->name ? outer->name : name;
}
void wk__deliver_errors(wk_context *context);
void wk__free_undelivered(wk_context *context); /* it ends */

/* ---- calls within calls ------------------------------------------------------------------------------------------ */

/* What begins in a frame, of the library's own or of the program's. */
typedef enum wk__frame_kind {
    /* The library has memory, files or counts at hand of which only the call that runs knows. The program's handler may
     * leave it by longjmp for good, so it hears of an error at the end, when all that is let go of. */
    WK__FRAME_CRITICAL,
    /* The library carries out a call of the program, of this name and site, with calls of its own, and is busy until
     * the end. Messages and records name the outermost such call. In place: the name is that of an op, and lacks _. */
    WK__FRAME_CALL,
    WK__FRAME_CALL_IN_PLACE,
    /* Code of the program's runs, and the calls that it makes are its own: a function that messages name so; */
    WK__FRAME_CALLBACK,
    /* one that is called amidst drops, where something is at hand that no guard lets go of: a longjmp may not leave
     * that code, nor what the library calls because of it, so the handler hears of their errors when the outermost call
     * ends that is busy; */
    WK__FRAME_NOUNWIND,
    /* the program's handler. */
    WK__FRAME_HANDLER,
    /* Work that belongs to none of the calls around: what a guard lets go of, a failure of an earlier call. */
    WK__FRAME_DETACHED
} wk__frame_kind;

/* The code of the program's and what is apart; see wk__frame_begin. */
wk__frame wk__frame_begin_isolated(wk_context *context, wk__frame_kind way, const char *name);
void wk__frame_end_isolated(wk_context *context, wk__frame before);

/* Begins a frame; the one before, or of it what the way changes, is what wk__frame_end puts back. A guard that was
 * pushed before puts it back, too. Name and site are those of the call or callback, else NULL and {0}. */
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
