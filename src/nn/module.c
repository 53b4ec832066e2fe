/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: creation, registration of items, destruction. */
#include "module.h"
#include "base/alloc.h"
#include "base/options.h"
#include <string.h>

/* ---- destruction ------------------------------------------------------------------------------------------------- */

static void free_parts(wk__module *body)
{
    for (int64_t k = 0; k < body->items; k++) {
        wk__handle_drop(body->item[k].handle);
        wk__free(body->item[k].name);
    }
    wk__free(body->item);
    wk__attached_free(&body->texts);
    wk__free(body->state);
    wk__free((char *)(uintptr_t)body->kind.name);
    wk__free(body);
}

static void free_after_longjmp(void *address)
{
    wk__module *body = address;
    wk__context()->modules.draining = false;
    if (body->destroying) free_parts(body);
}

/* Calls the kind's destroy with a temporary live handle, because the real one is dead already. If the destroy is left
 * by longjmp, the guard frees the rest of the module when the enclosing scope closes. */
static void free_with_destroy(wk_context *context, wk__module *body)
{
    wk_module self = {.handle = {.magic = WK__HANDLE_MARK, .kind = &wk__module_kind, .body = body}};
    atomic_store(&self.handle.refs, 1);
    const uint64_t token = wk__guard_push_cleanup(body, free_after_longjmp);
    body->destroying = true;
    context->modules.draining = ++context->frame.destroy_depth >= WK__DESTROY_DEPTH && token;
    const wk__frame before = wk__frame_begin(context, WK__FRAME_NOUNWIND, NULL, (wk_site){0});
    body->kind.destroy(&self);
    wk__frame_end(context, before);
    body->destroying = false;
    if (token)
        wk__guard_close(token);
    else
        context->frame.destroy_depth--;
    context->modules.draining = true;
    free_parts(body);
}

/* Frees a module. Dropping it may drop its children, which are queued, so that deep trees need no recursion. */
static void destroy(void *address)
{
    wk__module *body = address;
    wk_context *context = wk__context();
    wk__destroy_queue *doomed = &context->modules;
    body->next = doomed->first;
    doomed->first = body;
    if (doomed->draining) return;
    doomed->draining = true;
    while (doomed->first) {
        wk__module *one = doomed->first;
        doomed->first = one->next;
        if (one->kind.destroy)
            free_with_destroy(context, one);
        else
            free_parts(one);
    }
    doomed->draining = false;
}

const wk__handle_type wk__module_kind = {.name = "module", .destroy = destroy, .owns_children = true};

/* ---- creation ---------------------------------------------------------------------------------------------------- */

enum { SCRATCH = 4096 }; /* size limit; a constructor may write to the state of a module that could not be created */

static bool copy_kind(wk_site site, const wk_module_kind *kind, wk_module_kind *out)
{
    wk_code code = kind ? wk__sized_read(kind, offsetof(wk_module_kind, forward1), out, sizeof *out) : WK_ERR_ARGUMENT;
    if (code == WK_OK && !out->name) code = WK_ERR_ARGUMENT;
    if (code != WK_OK) {
        wk__error_set(site, code, "module_new: %s",
                      code == WK_ERR_ARGUMENT
                          ? "the kind needs .size = sizeof(wk_module_kind) and .name"
                          : "the kind sets a member that this library version does not support; leave it zero");
        return false;
    }
    if (out->state <= SCRATCH) return true;
    wk__error_set(site, WK_ERR_ARGUMENT,
                  "module_new: the state of \"%s\" has %zu bytes; the limit is %d: allocate larger state separately "
                  "and store a pointer",
                  kind->name, out->state, SCRATCH);
    return false;
}

static wk_module *make(wk_site site, const wk_module_kind *kind, bool library)
{
    wk_module_kind copy;
    if (!copy_kind(site, kind, &copy)) return NULL;
    wk__module *body = wk__alloc_zero(1, sizeof *body);
    if (body) {
        body->kind = copy;
        body->kind.name = wk__strdup(copy.name);
        body->builtin = library;
        body->state = copy.state ? wk__alloc_zero(1, copy.state) : NULL;
    }
    bool whole = body && body->kind.name && (body->state || !copy.state);
    wk__handle *handle = whole ? wk__handle_new(wk__context(), &wk__module_kind, body, site) : NULL;
    if (handle) return (wk_module *)handle;
    if (body) free_parts(body);
    wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory for a module", copy.name);
    return NULL;
}

wk_module *wk_module_new_at(wk_site site, const wk_module_kind *kind)
{
    return make(site, kind, false);
}

wk_module *wk__module_make(wk_site site, const wk_module_kind *kind)
{
    return make(site, kind, true);
}

wk_module *wk__module_discard(wk_module *m)
{
    if (m) wk__handle_release(&m->handle, (wk_site){0});
    return NULL;
}

/* Returns writable memory of the calling thread in place of a missing state. On allocation failure, threads share one
 * block. */
static void *scratch(void)
{
    static _Alignas(max_align_t) char last_resort[SCRATCH];
    wk_context *context = wk__context();
    if (!context->scratch) context->scratch = wk__alloc_zero(1, SCRATCH);
    return context->scratch ? context->scratch : last_resort;
}

void *wk_module_state_at(wk_site site, wk_module *m)
{
    return m && wk__module_check(m, site, "module_state") ? wk__module_of(m)->state : scratch();
}

const char *wk_module_kind_name_at(wk_site site, const wk_module *m)
{
    return m && wk__module_check(m, site, "module_kind_name") ? wk__module_of(m)->kind.name : NULL;
}

/* ---- registration ------------------------------------------------------------------------------------------------ */

const wk__item *wk__module_item(const wk__module *body, const char *name, size_t length)
{
    for (int64_t k = 0; k < body->items; k++)
        if (strncmp(body->item[k].name, name, length) == 0 && !body->item[k].name[length]) return &body->item[k];
    return NULL;
}

static bool check_name(wk_site site, const char *op, const wk__module *body, const char *name)
{
    if (!name) return wk__array_report(1, site, op, "the name");
    if (body->is_transparent && body->items > 0) {
        wk__error_set(site, WK_ERR_STATE, "%s: a %s only wraps its model; add \"%.60s\" to the model", op,
                      body->kind.name, name);
        return false;
    }
    const char *problem = !*name                                      ? "is empty"
                          : strchr(name, '.')                         ? "contains a dot, the path separator"
                          : wk__module_item(body, name, strlen(name)) ? "is already in use"
                                                                      : NULL;
    if (problem)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: the name \"%.60s\" in %s %s", op, name, body->kind.name, problem);
    return !problem;
}

/* Returns a new item with a copy of the name; it counts only after body->items is incremented. NULL on error. */
static wk__item *reserve_item(wk_site site, wk__module *body, const char *name)
{
    char *copy = wk__strdup(name);
    if (copy && wk__grow(&body->item, &body->capacity, body->items + 1, sizeof *body->item)) {
        body->item[body->items] = (wk__item){.name = copy};
        return &body->item[body->items];
    }
    wk__free(copy);
    wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", body->kind.name);
    return NULL;
}

static wk_tensor *register_tensor(wk_site site, wk__module *body, wk__item_kind kind, const char *name, wk_tensor *x)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    wk__item *item = reserve_item(site, body, name);
    wk_tensor *own = item ? wk__handle_adopt(wk__detached_copy(site, x)) : NULL;
    if (own) {
        wk__body_of(own)->requires_grad = kind == WK__PARAMETER;
        wk__body_of(own)->parameter = kind == WK__PARAMETER;
        item->kind = kind;
        item->tensor = own;
        body->items++;
    } else if (item) {
        wk__free(item->name);
    }
    wk__frame_end(context, before);
    return own;
}

wk_tensor *wk_module_add_parameter_at(wk_site site, wk_module *m, const char *name, wk_tensor *x)
{
    static const char op[] = "module_add_parameter";
    if (!wk__module_check(m, site, op) || !wk__check_tensor(x, site, op, "the value")) return NULL;
    wk__module *body = wk__module_of(m);
    if (!check_name(site, op, body, name)) return NULL;
    if (!wk__is_float(wk__body_of(x)->dtype)) {
        wk__error_set(site, WK_ERR_DTYPE,
                      "%s: \"%.60s\" is %s; parameters must be floating-point: use wk_module_set_buffer for others", op,
                      name, wk_dtype_str(wk__body_of(x)->dtype));
        return NULL;
    }
    return register_tensor(site, body, WK__PARAMETER, name, x);
}

wk_tensor *wk_module_set_buffer_at(wk_site site, wk_module *m, const char *name, wk_tensor *x)
{
    static const char op[] = "module_set_buffer";
    if (!wk__module_check(m, site, op) || !wk__check_tensor(x, site, op, "the value")) return NULL;
    wk__module *body = wk__module_of(m);
    const wk__item *old = name ? wk__module_item(body, name, strlen(name)) : NULL;
    if (!old || old->kind != WK__BUFFER)
        return check_name(site, op, body, name) ? register_tensor(site, body, WK__BUFFER, name, x) : NULL;
    if (old->tensor == x) return x;
    wk_tensor *now = wk__detached_copy(site, x);
    if (!now) return NULL;
    wk__rebind_storage(old->tensor, now);
    wk__handle_release(&now->handle, site);
    return old->tensor;
}

bool wk__module_contains(wk_site site, wk_module *root, const wk_module *wanted, bool *below)
{
    wk__module_tree tree;
    *below = false;
    if (!wk__module_tree_build(&tree, root, site)) return false;
    for (int64_t k = 0; k < tree.count; k++) *below = *below || tree.entry[k].module == wanted;
    wk__module_tree_free(&tree);
    return true;
}

static wk_module *add(wk_site site, const char *op, wk_module *m, const char *name, wk_module *child)
{
    if (!wk__handle_check(child, &wk__module_kind, site, op, "the child")) return NULL;
    wk__module *body = wk__module_of(m);
    bool would_cycle;
    if (!check_name(site, op, body, name) || !wk__module_contains(site, child, m, &would_cycle)) return NULL;
    if (would_cycle) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: child \"%.60s\" contains this module, and a module cannot contain itself", op, name);
        return NULL;
    }
    wk__item *item = reserve_item(site, body, name);
    if (!item) return NULL;
    item->kind = WK__CHILD;
    item->module = child;
    wk__handle_hold(&child->handle);
    body->items++;
    return child;
}

wk_module *wk_module_add_at(wk_site site, wk_module *m, const char *name, wk_module *child)
{
    return wk__module_check(m, site, "module_add") ? add(site, "module_add", m, name, child) : NULL;
}

wk_module *wk_module_append_at(wk_site site, wk_module *m, wk_module *child)
{
    if (!wk__module_check(m, site, "module_append")) return NULL;
    char name[16];
    snprintf(name, sizeof name, "%d", wk_module_child_count(m));
    return add(site, "module_append", m, name, child);
}

wk_module *wk__module_wrap(wk_site site, const wk_module_kind *kind, wk_module *child)
{
    wk_module *m = wk__module_make(site, kind);
    if (!m) return NULL;
    wk__module_of(m)->is_transparent = true;
    wk__module_of(m)->eval = wk__module_of(child)->eval;
    return add(site, kind->name, m, "module", child) ? m : wk__module_discard(m);
}
