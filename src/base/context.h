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
typedef struct wk__outer {
    bool on;
    bool in_place;    /* "add_": the name of the op and _ */
    bool busy;        /* the program's handler hears of an error when the call ends; see WK__BUSY */
    const char *name; /* lives for ever; NULL: what fails names itself */
    wk_site site;
} wk__outer;

/* What the name of an op lacks in a call in place. */
static inline const char *wk__underscore(const char *name, bool in_place)
{
    return in_place && name[strlen(name) - 1] != '_' ? "_" : "";
}

/* A module whose forward runs, in the frame of that call; the innermost is the context's. */
typedef struct wk__layer wk__layer;
struct wk__layer {
    const wk__layer *around;
    const void *module;
    bool library; /* its calls are the program's call of forward */
    /* Writes where it stands: of the library's before the message, "forward: in layer 2.1 (linear): ", and returns the
     * name of its kind; of the program's behind it, "layer 2.1, ". */
    const char *(*describe)(const wk__layer *layer, wk__text *out);
};

/* How an object ended, for messages about its handle. */
typedef struct wk__end {
    const char *by;              /* the call that let go of it; NULL: it was freed. A scope that closed: see handle.c */
    wk_site site;                /* of that call, or where the scope was opened */
    const struct wk__kind *with; /* the kind of the object that it went with, NULL: it went by itself */
} wk__end;

/* What the calls that a call leads to have to know of it. Kept in one piece: user code that the library runs
 * has one of its own, and a guard that closes puts back the one before it, also when a handler's longjmp left
 * what had changed it. */
typedef struct wk__frame {
    bool grad_off;     /* WK_NO_GRAD is in force */
    bool sync_off;     /* WK_NO_SYNC is */
    uint8_t walks;     /* backward runs that are under way: a hook may have begun another one */
    uint8_t destroys;  /* calls of the program's destroy that are under way, one within another */
    uint8_t releases;  /* likewise of its release */
    uint8_t way;       /* of what wk__frame_begin gave: what it began */
    bool held;         /* the program's function that runs stands amidst drops: see WK__HELD */
    int16_t composing; /* depth of composed ops: no nodes are made */
    uint64_t inner; /* scope of the outermost composed op or gradient that runs, 0 none: it owns what was made since */
    wk__outer outer;
    const char *callback;   /* what of the program's own the library has called, "forward of \"block\"" */
    const wk__layer *layer; /* the innermost whose forward runs */
    wk__end ending;         /* of the object whose parts are let go of just now, or of the scope that closes */
} wk__frame;

/* ---- guards ------------------------------------------------------------------------------------------------------ */

typedef enum wk__guard_kind {
    WK__GUARD_SCOPE,   /* owns handles */
    WK__GUARD_GRAD,    /* grad mode */
    WK__GUARD_DEVICE,  /* default device */
    WK__GUARD_BATCH,   /* an epoch of a loader */
    WK__GUARD_CALLBACK /* the library runs user code: call sites start anew */
} wk__guard_kind;

typedef struct wk__guard {
    uint64_t token; /* serial number, never used twice in a process */
    wk__guard_kind kind;
    wk_site site;
    wk__handle *first; /* SCOPE: the handles it owns, newest first */
    bool flush;        /* SCOPE: an optimiser stepped here: flush after the handles are dropped */
    wk__frame before;
    wk_device device; /* DEVICE: the default before */
    void *object;     /* BATCH: what to close, and how */
    void (*close)(void *object);
} wk__guard;

/* What is known of a NULL that the program passes on while no error is pending: the last call that gave it one. */
typedef struct wk__nothing {
    char cleared[200]; /* how the message begins of a call that failed, if its error was cleared */
    const char *call;  /* a later call that had nothing to give, which is no error; NULL: none, */
    const char *why;   /* what it had not, */
    wk_site site;      /* where it was, */
    const void *kind;  /* and of which kind (wk__kind) that would have been */
} wk__nothing;

/* An error of which the program's handler has not heard yet, though the program has cleared it. */
typedef struct wk__cleared wk__cleared;
struct wk__cleared {
    wk__cleared *next;
    wk_code code;
    wk__text text;
};

/* ---- the context ------------------------------------------------------------------------------------------------- */

struct wk__ring;
struct wk__failure;
struct wk__value;

/* Objects of one kind that this thread frees one after another: freeing one may drop others, and a long chain must not
 * need a long stack. While the program's own destroy runs in between, `busy` is false, as a longjmp of the program's
 * may never come back from there; only where one runs within another, and so on, what the innermost drops waits until
 * it ends. */
enum { WK__DESTROY_DEPTH = 8 };
typedef struct wk__doomed {
    void *first;
    bool busy;
} wk__doomed;

struct wk_context {
    wk_code code;     /* the first error, WK_OK if none */
    wk__text error;   /* its text, after the place of the call that failed, */
    wk_site failed;   /* which is this, */
    int64_t said;     /* as much of the text as that takes */
    wk__guard *guard; /* the stack, guard[guards - 1] on top */
    int64_t guards, guard_capacity;
    int64_t scope; /* index of the innermost scope in guard[], -1 if none */
    wk__frame frame;
    int32_t whole;         /* number of the call that happens whole or not at all, 0 none: nothing is run meanwhile */
    int32_t wholes;        /* such calls so far */
    bool whole_lent;       /* that one reads or writes memory that the program lent: it is run when the call ends */
    wk_device device;      /* the default device */
    uint64_t key, counter; /* random stream: Philox key and next counter */
    int64_t stream;        /* number of the stream, 0 for the first thread */
    wk__slots slots[WK__SLAB_KINDS];
    struct wk__ring *ring;              /* other threads look at it with the lock held */
    _Atomic(struct wk__failure *) late; /* a failure to tell this thread at its next call */
    atomic_int lock;                    /* held while the ring is appended to or flushed */
    _Atomic(const void *) holder;       /* the thread that flushes it (wk__thread) */
    wk__doomed nodes, modules;
    void *walk;                       /* the outermost backward that runs, NULL none */
    int holding;                      /* calls of wk__release_later that have not ended */
    struct wk__value *waiting;        /* values with borrowed memory, linked by parked_next: they are freed when nothing
                                         is held, and fewer than WK__DESTROY_DEPTH releases run within one another */
    struct wk__value *waiting_parked; /* values parked in another thread's ring, linked by release_user: they are freed
                                         when nothing is held */
    void *scratch;                    /* see wk_module_state; NULL until it is asked for */
    wk_context *next;                 /* in the list of all contexts, or of those that serve no thread */
    int visitors;                     /* other threads that are with it: it does not end meanwhile */
    bool ends;                        /* its thread is at its end: destructors registered now would not run */
    bool calling;                     /* wk_call runs in this one, which is a binding's */
    bool quiet;           /* a binding's: its errors are the caller's, the program's handler hears nothing of them */
    bool unheard;         /* the first error is there, and the handler has not heard of it */
    bool untold;          /* unheard, or something is in `cleared`, and a call is busy: its end tells the handler */
    wk__cleared *cleared; /* oldest first */
    wk__nothing nothing;  /* behind what each call touches */
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
static inline const void *wk__thread(void)
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
bool wk__context_visit(wk_context *context);
void wk__context_leave(wk_context *context);
/* Visits every context. */
void wk__context_each(void (*visit)(wk_context *context, void *user), void *user);

extern pthread_mutex_t wk__context_lock, wk__handler_lock; /* held while the process forks: fork.c */
/* A child of fork() that may not use the library (fork.h): every call reports it once more. */
extern atomic_bool wk__forked;
bool wk__refuse_fork(wk_site site, const char *op); /* false */

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* Records an error of the call at `site` as this thread's first, unless there is one already. The text is what stands
 * after "file:line: ". */
__attribute__((format(printf, 3, 4))) void wk__error_set(wk_site site, wk_code code, const char *format, ...);
/* The same with a finished text; takes its contents and ends it. */
void wk__error_take(wk_site site, wk_code code, wk__text *text);
static inline bool wk__error_pending(void)
{
    return wk__context()->code != WK_OK;
}
/* A call of the program gives NULL for an object of this kind (wk__kind), which is no error: "grad_of", "the leaf has
 * no gradient". The texts live for ever. */
void wk__gives_nothing(wk_site site, const void *kind, const char *call, const char *why);
/* The site to report: that of the call, or of the user's call around it when the library composes. */
wk_site wk__site(wk_site site);
/* The name to report: likewise. */
static inline const char *wk__name(const wk_context *context, const char *name)
{
    const wk__outer *outer = &context->frame.outer;
    return outer->on && outer->name ? outer->name : name;
}
void wk__tell_handler(wk_context *context);
void wk__forget_cleared(wk_context *context); /* it ends */

/* ---- calls within calls ------------------------------------------------------------------------------------------ */

/* What begins in a frame, of the library's own or of the program's. */
typedef enum wk__way {
    /* The library has memory, files or counts at hand of which only the call that runs knows. The program's handler may
     * leave it by longjmp for good, so it hears of an error at the end, when all that is let go of. */
    WK__BUSY,
    /* The library carries out a call of the program, of this name and site, with calls of its own, and is busy until
     * the end. Messages and records name the outermost such call. In place: the name is that of an op, and lacks _. */
    WK__CALL,
    WK__CALL_IN_PLACE,
    /* Code of the program's runs, and the calls that it makes are its own: a function that messages name so; */
    WK__CALLBACK,
    /* one that is called amidst drops, where something is at hand that no guard lets go of: a longjmp may not leave
     * that code, nor what the library calls because of it, so the handler hears of their errors when the outermost call
     * ends that is busy; */
    WK__HELD,
    /* the program's handler. */
    WK__HANDLER,
    /* Work that belongs to none of the calls around: what a guard lets go of, a failure of an earlier call. */
    WK__APART
} wk__way;

/* The code of the program's and what is apart; see wk__frame_begin. */
wk__frame wk__frame_begin_anew(wk_context *context, wk__way way, const char *name);
void wk__frame_end_anew(wk_context *context, wk__frame before);

/* Begins a frame; the one before, or of it what the way changes, is what wk__frame_end puts back. A guard that was
 * pushed before puts it back, too. Name and site are those of the call or callback, else NULL and {0}. */
static inline wk__frame wk__frame_begin(wk_context *context, wk__way way, const char *name, wk_site site)
{
    wk__outer *outer = &context->frame.outer;
    if (way > WK__CALL_IN_PLACE) return wk__frame_begin_anew(context, way, name);
    wk__frame before;
    before.way = (uint8_t)way;
    if (way == WK__BUSY) {
        before.outer.busy = outer->busy;
        outer->busy = true;
        return before;
    }
    before.outer = *outer;
    if (!before.outer.on) *outer = (wk__outer){.on = true, .busy = true, .name = name, .site = site};
    if (!before.outer.name) {
        outer->name = name;
        outer->in_place = way == WK__CALL_IN_PLACE;
    }
    return before;
}
static inline void wk__frame_end(wk_context *context, wk__frame before)
{
    if (before.way > WK__CALL_IN_PLACE) {
        wk__frame_end_anew(context, before);
        return;
    }
    if (before.way == WK__BUSY)
        context->frame.outer.busy = before.outer.busy;
    else
        context->frame.outer = before.outer;
    if (__builtin_expect(context->untold, 0) && !before.outer.busy) wk__tell_handler(context);
}

#endif
