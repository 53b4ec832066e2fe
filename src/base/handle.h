/* SPDX-License-Identifier: Apache-2.0 */
/* Handles: what the user holds. A handle is a slot of 64 bytes that is never unmapped; its body lives elsewhere.
 * Scopes, retains and parents (modules, optimisers, ...) each own it; it dies when the last owner lets go.
 *
 *   wk_tensor, wk_module, ... are all struct { wk__handle handle; } to the library.
 */
#ifndef WICK_BASE_HANDLE_H
#define WICK_BASE_HANDLE_H

#include "context.h"

/* What a handle refers to: one constant per public type. */
typedef struct wk__handle_type {
    const char *name;            /* "tensor", as messages say it */
    void (*destroy)(void *body); /* the last owner let go */
    bool owns_children;          /* it owns other objects, which go with it */
    /* optional: an owner that wants the contents kept (a retain, a parent) came or went, `change` = +1 or -1 */
    void (*on_persistent_owner)(void *body, int change);
} wk__handle_type;

struct wk__handle {
    uint32_t magic;              /* WK__HANDLE_MARK from its first use on */
    atomic_int refs;             /* 0: dead */
    const wk__handle_type *kind; /* kept after death, for messages */
    wk__handle *next;            /* in its scope's list; a dead slot uses it for the free list */
    wk_context *context;         /* whose scope that is */
    union {
        struct {
            wk__handle *prev;
            uint64_t scope; /* token of the scope that owns it, 0 if none */
            void *body;
        };
        struct { /* dead: how it ended, a wk__destroy_cause */
            const wk__handle_type *with;
            const char *by, *file;
        };
    };
    int32_t line;       /* dead: likewise */
    atomic_int retains; /* of the owners, those through wk_retain or for want of a scope */
};
_Static_assert(sizeof(wk__handle) == 64 || sizeof(void *) != 8, "a handle is one cache line");

/* A new handle around `body`, owned by the innermost scope or, without one, by the caller, who is told of it by `site`.
 * NULL when memory is short: body is the caller's still, who lets go of it and records the error. */
wk__handle *wk__handle_new(wk_context *context, const wk__handle_type *kind, void *body, wk_site site);
/* The handle of an object that a call makes. If its body is not whole (or NULL), or there is no slot, then the body is
 * destroyed and "op: out of host memory" recorded, unless an error is already; NULL. */
void *wk__handle_wrap(wk_site site, const wk__handle_type *kind, void *body, bool whole, const char *op);

/* Is this a handle, live or dead? Four bytes of memory that can be read tell: memory of a handle stays one, and the
 * mark is no text, no small number and no number of a pointer. NULL is none. */
#define WK__HANDLE_MARK 0xf1a7c5e3u
static inline bool wk__is_handle(const void *address)
{
    const wk__handle *h = address;
    return h && (uintptr_t)h % _Alignof(wk__handle) == 0 && h->magic == WK__HANDLE_MARK;
}

/* Is it a live handle of this kind? If not, records an error that says what it is instead and in which role it came
 * ("add: first operand ..."). NULL is not: what a call that failed gave. */
bool wk__handle_check(const void *handle, const wk__handle_type *kind, wk_site site, const char *op, const char *role);
/* Is it a live handle of any kind? `kind` is what a message says that it should be. */
bool wk__handle_check_any(const void *handle, const wk__handle_type *kind, wk_site site, const char *op,
                          const char *role);

/* The same for what is no handle: an array of `count` places. Records "op: role is NULL", or that there
 * cannot be so few. */
bool wk__array_report(int64_t count, wk_site site, const char *op, const char *role);
static inline bool wk__array_check(const void *array, int64_t count, wk_site site, const char *op, const char *role)
{
    return count == 0 || (array && count > 0) || wk__array_report(count, site, op, role);
}

static inline bool wk__handle_alive(const void *handle, const wk__handle_type *kind)
{
    const wk__handle *h = handle;
    return wk__is_handle(h) && atomic_load_explicit(&((wk__handle *)(uintptr_t)h)->refs, memory_order_relaxed) != 0 &&
           h->kind == kind;
}
static inline void *wk__handle_body(const void *handle)
{
    return ((const wk__handle *)handle)->body;
}

/* A parent of the library comes and goes. */
void wk__handle_hold(wk__handle *handle);
void wk__handle_drop(wk__handle *handle);
/* The same by a call that does not end the parent, which messages name then. */
void wk__handle_drop_by(wk__handle *handle, const char *by, wk_site site);
/* An owner for the length of a call of user code, which may free the object meanwhile: until the guard of that token
 * closes. The contents need not be kept for it. 0 when memory is short (recorded). */
uint64_t wk__handle_pin(wk__handle *handle);
/* Moves what the innermost scope owns one scope out; otherwise nothing. */
void wk__handle_keep(wk__handle *handle, wk_site site);
void wk__handle_retain(wk__handle *handle, wk_site site);
void wk__handle_release(wk__handle *handle, wk_site site); /* wk_free */

/* ---- guards (the stack of context.h) ----------------------------------------------------------------------------- */

/* Pushes a guard; NULL when memory is short (the error is recorded). Valid until the next push. */
wk__guard *wk__guard_push(wk__guard_kind kind, wk_site site);
/* A guard by which something is let go of that the library has at hand while user code runs, also when a handler's
 * longjmp leaves that for good. Its token; 0 when memory is short (recorded). */
uint64_t wk__guard_push_cleanup(void *object, void (*close)(void *object));
/* Closes the guard of that token and everything above it; nothing if the token is not on the stack. */
void wk__guard_close(uint64_t token);

#endif
