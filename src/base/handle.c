/* SPDX-License-Identifier: Apache-2.0 */
/* Reference counts, scopes and guards of handles; see handle.h. */
#include "handle.h"
#include "alloc.h"
#include "refcount.h"
#include "leaks.h"
#include <string.h>

static void notify_persistent_owner(wk__handle *handle, int change)
{
    if (handle->kind->on_persistent_owner) handle->kind->on_persistent_owner(handle->body, change);
}

static void link_to_scope(wk__guard *scope, wk__handle *handle)
{
    handle->scope = scope->token;
    handle->prev = NULL;
    handle->next = scope->handles;
    if (scope->handles) scope->handles->prev = handle;
    scope->handles = handle;
}

/* Returns the scope that owns a handle, searched by token from the top of its context's stack; NULL if closed. */
static wk__guard *scope_of(const wk__handle *handle)
{
    wk_context *context = handle->context;
    for (int64_t k = context->guards; k-- > 0;)
        if (context->guard[k].token == handle->scope) return &context->guard[k];
    return NULL;
}

static void unlink_from_scope(wk__guard *scope, wk__handle *handle)
{
    if (handle->next) handle->next->prev = handle->prev;
    if (handle->prev)
        handle->prev->next = handle->next;
    else
        scope->handles = handle->next;
    handle->scope = 0;
}

wk__handle *wk__handle_new(wk_context *context, const wk__handle_type *kind, void *body, wk_site site)
{
    wk__handle *handle = wk__slab_alloc(context->slots, WK__SLAB_HANDLE);
    if (!handle) return NULL;
    handle->magic = WK__HANDLE_MARK;
    atomic_store_explicit(&handle->retains, 0, memory_order_relaxed);
    handle->kind = kind;
    handle->body = body;
    handle->scope = 0;
    handle->context = context;
    atomic_store_explicit(&handle->refs, 1, memory_order_release);
    if (context->scope >= 0) {
        link_to_scope(&context->guard[context->scope], handle);
    } else {
        atomic_store_explicit(&handle->retains, 1, memory_order_relaxed);
        notify_persistent_owner(handle, +1);
        wk__leaks_add(handle, site);
    }
    return handle;
}

void *wk__handle_wrap(wk_site site, const wk__handle_type *kind, void *body, bool whole, const char *op)
{
    wk__handle *handle = whole && body ? wk__handle_new(wk__context(), kind, body, site) : NULL;
    if (handle) return handle;
    if (body) kind->destroy(body);
    wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    return NULL;
}

/* address compared with wk__destroy_cause.call: the owning scope was closed */
static const char by_scope[] = "a scope";

/* Destroys an object with children; they inherit the cause of destruction. */
static void destroy_with_children(const wk__handle_type *kind, void *body, wk__destroy_cause end)
{
    wk_context *context = wk__context();
    const wk__destroy_cause before = context->frame.destroy_cause;
    context->frame.destroy_cause = end;
    kind->destroy(body);
    context->frame.destroy_cause = before;
}

/* The cause is passed by members: storing and reloading a struct would cost a store-forwarding stall. */
static void drop_ref(wk__handle *handle, const char *by, wk_site site, const wk__handle_type *with)
{
    if (!wk__refcount_dec(&handle->refs) || wk__forked) return;
    const wk__handle_type *kind = handle->kind;
    void *body = handle->body;
    handle->with = with;
    handle->by = by;
    handle->file = site.file;
    handle->line = site.line;
    if (kind->owns_children)
        destroy_with_children(kind, body, (wk__destroy_cause){by, site, with ? with : kind});
    else
        kind->destroy(body);
    wk__slab_free(wk__context()->slots, WK__SLAB_HANDLE, handle);
}

void wk__handle_hold(wk__handle *handle)
{
    atomic_fetch_add_explicit(&handle->refs, 1, memory_order_relaxed);
    notify_persistent_owner(handle, +1);
}

void wk__handle_drop(wk__handle *handle)
{
    if (!handle) return;
    notify_persistent_owner(handle, -1);
    const wk__destroy_cause *end = &wk__context()->frame.destroy_cause;
    drop_ref(handle, end->call, end->site, end->parent_type);
}

void wk__handle_drop_by(wk__handle *handle, const char *by, wk_site site)
{
    notify_persistent_owner(handle, -1);
    drop_ref(handle, by, site, NULL);
}

static void unpin(void *handle)
{
    drop_ref(handle, "the end of the call that it was passed to", (wk_site){0}, NULL);
}

uint64_t wk__handle_pin(wk__handle *handle)
{
    const uint64_t token = wk__guard_push_cleanup(handle, unpin);
    if (token) atomic_fetch_add_explicit(&handle->refs, 1, memory_order_relaxed);
    return token;
}

void wk__handle_retain(wk__handle *handle, wk_site site)
{
    atomic_fetch_add_explicit(&handle->retains, 1, memory_order_relaxed);
    wk__handle_hold(handle);
    wk__leaks_add(handle, site);
}

void wk__handle_release(wk__handle *handle, wk_site site)
{
    if (atomic_load_explicit(&handle->retains, memory_order_relaxed) > 0) {
        atomic_fetch_sub_explicit(&handle->retains, 1, memory_order_relaxed);
        wk__leaks_remove(handle);
        wk__handle_drop_by(handle, NULL, site);
        return;
    }
    if (handle->scope && handle->context != wk__context()) {
        wk__error_set(site, WK_ERR_STATE,
                      "free: this %s is owned by a scope of another thread; call wk_retain there before passing it on",
                      handle->kind->name);
        return;
    }
    wk__guard *scope = handle->scope ? scope_of(handle) : NULL;
    if (!scope) {
        wk__error_set(site, WK_ERR_STATE,
                      "free: this %s is in use by the library or owned by another object; do not free it",
                      handle->kind->name);
        return;
    }
    unlink_from_scope(scope, handle);
    drop_ref(handle, NULL, site, NULL);
}

void *wk__handle_adopt(void *object)
{
    if (!object) return NULL;
    wk__handle_hold(object);
    wk__handle_release(object, (wk_site){0});
    return object;
}

void wk__handle_keep(wk__handle *handle, wk_site site)
{
    wk_context *context = wk__context();
    if (handle->scope && handle->context != context) {
        wk__error_set(site, WK_ERR_STATE, "keep: this %s is owned by a scope of another thread; call wk_retain there",
                      handle->kind->name);
        return;
    }
    if (context->scope < 0 || handle->scope != context->guard[context->scope].token) return;
    unlink_from_scope(&context->guard[context->scope], handle);
    for (int64_t k = context->scope; k-- > 0;)
        if (context->guard[k].kind == WK__GUARD_SCOPE) {
            link_to_scope(&context->guard[k], handle);
            return;
        }
    atomic_fetch_add_explicit(&handle->retains, 1,
                              memory_order_relaxed); /* no outer scope: the caller owns it from now on */
    notify_persistent_owner(handle, +1);
    wk__leaks_add(handle, site);
}

bool wk__array_report(int64_t count, wk_site site, const char *op, const char *role)
{
    if (count < 0)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s has negative length %lld", op, role, (long long)count);
    else
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s is NULL", op, role);
    return false;
}

/* Returns true if a scope opened at the same site is open now: the site is in a loop, and an earlier iteration created
 * the handle. */
static bool is_from_earlier_iteration(const wk__handle *dead)
{
    const wk_context *context = wk__context();
    for (int64_t k = 0; k < context->guards; k++) {
        const wk__guard *guard = &context->guard[k];
        if (guard->kind == WK__GUARD_SCOPE && guard->site.line == dead->line && guard->site.file && dead->file &&
            strcmp(guard->site.file, dead->file) == 0)
            return true;
    }
    return false;
}

static void describe_destroy_cause(const wk__handle *dead, wk__text *out)
{
    const char *with = dead->with ? dead->with->name : NULL, *it = with ? "that" : "it";
    if (dead->by == by_scope) {
        if (with) wk__text_format(out, "that was freed with its %s, ", with);
        wk__text_format(out, "whose scope has closed (opened at %s:%d); ", dead->file ? dead->file : "?",
                        (int)dead->line);
        const bool tensor = !with && dead->kind && strcmp(dead->kind->name, "tensor") == 0;
        if (is_from_earlier_iteration(dead))
            wk__text_format(out, "it was created in an earlier iteration; use %s to pass %s to the next one%s",
                            tensor ? "wk_carry" : "wk_retain", it, tensor ? ", or wk_retain" : "");
        else
            wk__text_format(out, "use wk_keep to move %s to the outer scope, or wk_retain", it);
        return;
    }
    wk__text_add(out, "that was freed");
    if (with) wk__text_format(out, " with its %s", with);
    if (dead->by) wk__text_format(out, " by %s", dead->by);
    if (dead->file) wk__text_format(out, " (at %s:%d)", dead->file, (int)dead->line);
    if (dead->by) wk__text_add(out, "; call wk_retain to keep it");
}

/* Explains a NULL handle. No error is pending, or it would be reported instead. */
static void explain_null(const wk__handle_type *kind, wk__text *out)
{
    const wk__null_origin *origin = &wk__context()->null_origin;
    if (origin->call && origin->kind == kind)
        wk__text_format(out, " (returned by %s at %s:%d: %s)", origin->call,
                        origin->site.file ? origin->site.file : "?", (int)origin->site.line, origin->why);
    else if (origin->last_error[0])
        wk__text_format(out, "; the last failed call here, whose error was cleared, is %s", origin->last_error);
    else
        wk__text_add(out, "; no call of this thread returned NULL, so the variable was never assigned an object");
}

/* Records an error that explains why the pointer is not a live handle of this kind and how to fix that. */
static void report_bad_handle(const wk__handle *handle, const wk__handle_type *kind, wk_site site, const char *op,
                              const char *role)
{
    const wk__handle_type *was = wk__is_handle(handle) && handle->kind ? handle->kind : kind;
    if (!handle) {
        wk__text text = {0};
        wk__text_format(&text, "%s: %s is NULL", op, role);
        explain_null(kind, &text);
        wk__error_set_text(site, WK_ERR_ARGUMENT, &text);
    } else if (!wk__is_handle(handle)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s does not point to %s %s of this library (invalid pointer)", op,
                      role, wk__article(kind->name), kind->name);
    } else if (atomic_load(&((wk__handle *)(uintptr_t)handle)->refs) != 0) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s is %s %s, not %s %s", op, role, wk__article(handle->kind->name),
                      handle->kind->name, wk__article(kind->name), kind->name);
    } else {
        wk__text text = {0};
        wk__text_format(&text, "%s: %s is %s %s ", op, role, wk__article(was->name), was->name);
        describe_destroy_cause(handle, &text);
        wk__error_set_text(site, WK_ERR_STATE, &text);
    }
}

bool wk__handle_check(const void *address, const wk__handle_type *kind, wk_site site, const char *op, const char *role)
{
    if (__builtin_expect(wk__handle_alive(address, kind), 1)) return true;
    if (!wk__error_pending()) report_bad_handle(address, kind, site, op, role);
    return false;
}

bool wk__handle_check_any(const void *address, const wk__handle_type *kind, wk_site site, const char *op,
                          const char *role)
{
    const wk__handle *handle = address;
    if (wk__is_handle(handle) && handle->kind && wk__handle_alive(handle, handle->kind)) return true;
    if (!wk__error_pending()) report_bad_handle(address, kind, site, op, role);
    return false;
}

/* ---- guards ------------------------------------------------------------------------------------------------------ */

static atomic_uint_fast64_t tokens;

wk__guard *wk__guard_push(wk__guard_kind kind, wk_site site)
{
    wk_context *context = wk__context();
    if (context->guards == context->guard_capacity &&
        !wk__grow(&context->guard, &context->guard_capacity, context->guards + 1, sizeof(wk__guard))) {
        wk__error_set(site, WK_ERR_MEMORY, "out of host memory for a scope");
        return NULL;
    }
    wk__guard *guard = &context->guard[context->guards];
    memset(guard, 0, sizeof *guard);
    guard->token = atomic_fetch_add_explicit(&tokens, 1, memory_order_relaxed) + 1;
    guard->kind = kind;
    guard->site = site;
    guard->saved_frame = context->frame;
    if (kind == WK__GUARD_SCOPE) context->scope = context->guards;
    context->guards++;
    return guard;
}

uint64_t wk__guard_push_cleanup(void *object, void (*close)(void *object))
{
    wk__guard *guard = wk__guard_push(WK__GUARD_CALLBACK, (wk_site){0});
    if (!guard) return 0;
    guard->object = object;
    guard->close = close;
    return guard->token;
}

static void find_scope(wk_context *context)
{
    context->scope = context->guards - 1;
    while (context->scope >= 0 && context->guard[context->scope].kind != WK__GUARD_SCOPE) context->scope--;
}

/* Destroys handles newest first. A destroy may run user code that opens and closes scopes and moves the stack, so the
 * guard is indexed again in each iteration. */
static void close_scope(wk_context *context, int64_t k)
{
    const wk__destroy_cause before = context->frame.destroy_cause;
    const wk_site opened = context->guard[k].site;
    context->frame.destroy_cause = (wk__destroy_cause){.call = by_scope, .site = opened};
    while (context->guard[k].handles) {
        wk__guard *scope = &context->guard[k];
        wk__handle *handle = scope->handles;
        unlink_from_scope(scope, handle);
        drop_ref(handle, by_scope, opened, NULL);
    }
    context->frame.destroy_cause = before;
}

static void close_top(wk_context *context)
{
    int64_t k = context->guards - 1;
    wk__guard *guard = &context->guard[k];
    const wk__frame before = guard->saved_frame;
    /* the current frame, or that of a guard above, may belong to calls that a longjmp has left */
    wk__frame_begin(context, WK__FRAME_DETACHED, NULL, (wk_site){0});
    context->frame.api_call.handler_blocked = true;
    if (guard->kind == WK__GUARD_SCOPE) {
        close_scope(context, k);
    } else if (guard->kind == WK__GUARD_DEVICE) {
        context->device = guard->device;
    } else if (guard->close) {
        guard->close(guard->object);
    }
    void (*const after)(wk_context *) = context->guard[k].after;
    context->frame = before;
    context->guards = k;
    find_scope(context);
    if (after) after(context);
}

void wk__guard_close(uint64_t token)
{
    wk_context *context = wk__context();
    int64_t place = context->guards;
    while (place > 0 && context->guard[place - 1].token != token) place--;
    if (place == 0) return;
    while (context->guards >= place) close_top(context);
    if (context->delivery_due && !context->frame.api_call.handler_blocked) wk__deliver_errors(context);
}
