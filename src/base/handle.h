/* SPDX-License-Identifier: Apache-2.0 */
/* Handles: the objects that user code refers to. A handle is a slot of 64 bytes that is never unmapped, so that stale
 * handles can be detected; its body is allocated separately. wk_tensor, wk_module, ... are all struct { wk__handle
 * handle; }.
 *
 * Ownership: scopes, wk_retain calls and parents (modules, optimisers, ...) each own one reference. The body is
 * destroyed when the last reference is dropped.
 * Threads: reference counts are atomic; the scope links belong to the thread of `context`.
 * Failures record the thread's error, unless noted otherwise. */
#ifndef WICK_BASE_HANDLE_H
#define WICK_BASE_HANDLE_H

#include "context.h"

/* Type of an object: one constant per public type. */
typedef struct wk__handle_type {
    const char *name;            /* "tensor", for messages */
    void (*destroy)(void *body); /* called when the last reference is dropped */
    bool owns_children;          /* destroying it drops references to other objects */
    /* Optional: called when an owner that preserves the contents (a retain or a parent) is added (+1) or removed
     * (-1). */
    void (*on_persistent_owner)(void *body, int change);
} wk__handle_type;

struct wk__handle {
    uint32_t magic;              /* WK__HANDLE_MARK once the slot has been used */
    atomic_int refs;             /* reference count; 0: dead */
    const wk__handle_type *kind; /* still valid when dead, for messages */
    wk__handle *next;            /* live: in the list of its scope; dead: in the free list */
    wk_context *context;         /* owner of that scope */
    union {
        struct {
            wk__handle *prev;
            uint64_t scope; /* token of the owning scope; 0 if none */
            void *body;
        };
        struct { /* dead: wk__destroy_cause, by members */
            const wk__handle_type *with;
            const char *by, *file;
        };
    };
    int32_t line;       /* dead: line of the cause */
    atomic_int retains; /* references held by wk_retain or by a caller without a scope */
};
_Static_assert(sizeof(wk__handle) == 64 || sizeof(void *) != 8, "a handle is one cache line");

/* Creates a handle for `body`, owned by the innermost scope or, without a scope, by the caller (`site` is for the leak
 * report). Returns NULL on allocation failure without recording an error; the caller keeps the body then. */
wk__handle *wk__handle_new(wk_context *context, const wk__handle_type *kind, void *body, wk_site site);
/* Creates the handle of an object that an API call returns. If !whole, body is NULL or there is no slot, destroys the
 * body, records "op: out of host memory" unless an error is pending, and returns NULL. */
void *wk__handle_wrap(wk_site site, const wk__handle_type *kind, void *body, bool whole, const char *op);

/* Returns true if address is a handle, live or dead; false for NULL. Reads four bytes at an aligned address: handle
 * memory stays handle memory, and the mark is unlikely as text, a small number or half of a pointer. */
#define WK__HANDLE_MARK 0xf1a7c5e3u
static inline bool wk__is_handle(const void *address)
{
    const wk__handle *h = address;
    return h && (uintptr_t)h % _Alignof(wk__handle) == 0 && h->magic == WK__HANDLE_MARK;
}

/* Returns true if `handle` is a live handle of this kind; else records an error that describes it and its role ("add:
 * first operand ..."). NULL, as returned by a failed call, is invalid. */
bool wk__handle_check(const void *handle, const wk__handle_type *kind, wk_site site, const char *op, const char *role);
/* Like wk__handle_check(), but accepts any kind; `kind` is the expected kind in messages. */
bool wk__handle_check_any(const void *handle, const wk__handle_type *kind, wk_site site, const char *op,
                          const char *role);

/* Checks an array argument of `count` elements: records "op: role is NULL" or a negative length. */
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

/* Adds or drops the reference of a parent. wk__handle_drop accepts NULL. */
void wk__handle_hold(wk__handle *handle);
void wk__handle_drop(wk__handle *handle);
/* Like wk__handle_drop(), for a call that removes the child but keeps the parent; messages name that call. */
void wk__handle_drop_by(wk__handle *handle, const char *by, wk_site site);
/* Keeps the object alive while user code runs that may free it; its contents may be discarded. Returns the token of the
 * guard that drops the reference when closed; 0 on allocation failure. */
uint64_t wk__handle_pin(wk__handle *handle);
/* Moves a handle from the innermost scope to the next outer one, or to the caller if there is none. Does nothing if the
 * innermost scope does not own it. */
void wk__handle_keep(wk__handle *handle, wk_site site);
void wk__handle_retain(wk__handle *handle, wk_site site);
void wk__handle_release(wk__handle *handle, wk_site site); /* wk_free */
/* Moves ownership of an object that a scope or the caller owns to its new parent, which drops it with
 * wk__handle_drop(). Returns the object; NULL if it is NULL. */
void *wk__handle_adopt(void *object);

/* ---- guards (stack of wk_context) -------------------------------------------------------------------------------- */

/* Pushes a guard; NULL on allocation failure. The pointer is valid until the next push. */
wk__guard *wk__guard_push(wk__guard_kind kind, wk_site site);
/* Pushes a guard that calls close(object) when it is closed, also if a longjmp of the error handler skips the code in
 * between. Returns its token; 0 on allocation failure. */
uint64_t wk__guard_push_cleanup(void *object, void (*close)(void *object));
/* Closes the guard with this token and all guards above it; does nothing if the token is not on the stack. */
void wk__guard_close(uint64_t token);

#endif
