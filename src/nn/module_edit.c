/* SPDX-License-Identifier: Apache-2.0 */
/* Networks: counting parameters, calling a function for each module, replacing and slicing children. */
#include "base/alloc.h"
#include "module.h"
#include "tensor/call_scope.h"
#include <string.h>

int64_t wk_parameter_count_at(wk_site site, wk_module *m)
{
    static const char op[] = "parameter_count";
    wk__tensor_list list = {0};
    wk_tensors *owner = m && wk__module_check(m, site, op) ? wk_tensors_new_at(site) : NULL;
    int64_t count = 0;
    if (!owner) return 0;
    if (wk__module_collect(site, op, m, 1u << WK__PARAMETER, wk__tensor_list_of(owner)))
        list = *wk__tensor_list_of(owner);
    for (int64_t k = 0; k < list.count; k++) count += wk__body_numel(wk__body_of(list.item[k].tensor));
    wk__handle_release(&owner->handle, site);
    return count;
}

/* ---- apply ------------------------------------------------------------------------------------------------------- */

/* State of wk_module_apply: references to all modules, as the function may free some. */
typedef struct visit {
    wk__module_tree tree;
} visit;

static void end_visit(void *address)
{
    visit *v = address;
    for (int64_t k = v->tree.count; k-- > 0;) wk__handle_drop(&v->tree.entry[k].module->handle);
    wk__module_tree_free(&v->tree);
    wk__free(v);
}

/* Calls the function of the program in a separate frame and scope. Returns false if an error is pending then. */
static bool call_function(wk_site site, wk_module *m, wk_module_function *function, void *user)
{
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALLBACK, "function of wk_module_apply", site, WK__GRAD_KEPT)) return false;
    function(m, user);
    wk__call_end(&c, NULL, 0);
    return !wk__error_pending();
}

/* Visits the tree, in which parents precede their children, children first: a module is visited when the next entry is
 * not below it. */
static bool visit_all(wk_site site, const wk__module_tree *tree, wk_module_function *function, void *user)
{
    bool fine = true;
    for (int64_t k = 0, open = -1; k <= tree->count && fine; k++) {
        const int64_t parent = k < tree->count ? tree->entry[k].parent : -1;
        for (; open >= 0 && open != parent && fine; open = tree->entry[open].parent)
            fine = call_function(site, tree->entry[open].module, function, user);
        open = k;
    }
    return fine;
}

/* Creates the state of a call and the guard that ends it. NULL on error. */
static visit *begin_visit(wk_site site, const char *op, wk_module *m, uint64_t *token)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    visit *v = wk__alloc_zero(1, sizeof *v);
    const bool built = v && wk__module_tree_build(&v->tree, m, site);
    for (int64_t k = 0; built && k < v->tree.count; k++) wk__handle_hold(&v->tree.entry[k].module->handle);
    *token = built ? wk__guard_push_cleanup(v, end_visit) : 0;
    if (!*token) {
        if (v) end_visit(v);
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
        v = NULL;
    }
    wk__frame_end(context, before);
    return v;
}

wk_module *wk_module_apply_at(wk_site site, wk_module *m, wk_module_function *function, void *user)
{
    static const char op[] = "module_apply";
    uint64_t token;
    if (!wk__module_check(m, site, op) || !wk__array_check((const void *)(uintptr_t)function, 1, site, op, "function"))
        return NULL;
    visit *v = begin_visit(site, op, m, &token);
    if (!v) return NULL;
    const bool fine = visit_all(site, &v->tree, function, user);
    wk__guard_close(token);
    return fine ? m : NULL;
}

/* ---- replace ----------------------------------------------------------------------------------------------------- */

/* Replaces the pointers to an object in a module's state. */
static void replace_in_state(wk__module *body, const void *old, const void *now)
{
    char *state = body->state;
    for (size_t at = 0; at + sizeof old <= body->kind.state; at += sizeof old)
        if (memcmp(state + at, &old, sizeof old) == 0) memcpy(state + at, &now, sizeof now);
}

/* Replaces the child of an item of a module. */
static void replace_item(wk_site site, const char *op, wk__module *parent, wk__item *item, wk_module *child)
{
    wk_module *old = item->module;
    wk__handle_hold(&child->handle);
    item->module = child;
    replace_in_state(parent, old, child);
    wk__handle_drop_by(&old->handle, op, site);
}

wk_module *wk_module_replace_at(wk_site site, wk_module *m, const char *path, wk_module *child)
{
    static const char op[] = "module_replace";
    bool would_cycle;
    wk_module *parent;
    wk__item *item = wk__module_find_child(site, op, m, path, &parent);
    if (!item || !wk__handle_check(child, &wk__module_kind, site, op, "the child") ||
        !wk__module_contains(site, child, parent, &would_cycle))
        return NULL;
    if (would_cycle) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: the module for \"%.60s\" contains its parent, and a module cannot contain itself", op, path);
        return NULL;
    }
    replace_item(site, op, wk__module_of(parent), item, child);
    return child;
}

void wk__module_replace_all(wk_site site, const char *op, const wk__module_tree *tree, wk_module *const now[])
{
    for (int64_t k = 0; k < tree->count; k++) {
        wk__module *parent = now[k] ? NULL : wk__module_of(tree->entry[k].module);
        for (int64_t i = 0; parent && i < parent->items; i++)
            for (int64_t j = 0; parent->item[i].kind == WK__CHILD && j < tree->count; j++) {
                if (!now[j] || parent->item[i].module != tree->entry[j].module) continue;
                replace_item(site, op, parent, &parent->item[i], now[j]);
                break;
            }
    }
}

/* ---- slice ------------------------------------------------------------------------------------------------------- */

/* Appends children from, ..., to - 1 of a module to a new one. Returns false on error. */
static bool append_children(wk_site site, wk_module *to, const wk__module *from, int first, int last, bool keep_names)
{
    bool fine = true;
    int child = 0;
    for (int64_t k = 0; k < from->items && fine; k++) {
        const wk__item *item = &from->item[k];
        if (item->kind != WK__CHILD || child++ < first || child > last) continue;
        fine = keep_names ? wk_module_add_at(site, to, item->name, item->module) != NULL
                          : wk_module_append_at(site, to, item->module) != NULL;
    }
    return fine;
}

wk_module *wk_module_slice_at(wk_site site, wk_module *m, int from, int to)
{
    static const char op[] = "module_slice";
    if (!wk__module_check(m, site, op)) return NULL;
    const wk__module *body = wk__module_of(m);
    const bool list = body->builtin && strcmp(body->kind.name, "module_list") == 0;
    const int count = wk_module_child_count_at(site, m);
    if (!list && !(body->builtin && strcmp(body->kind.name, "sequential") == 0)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: expected a sequential or a module_list, got a %.80s", op,
                      body->kind.name);
        return NULL;
    }
    if (from < 0 || to < from || to > count) {
        wk__error_set(site, WK_ERR_INDEX, "%s: children %d to %d are out of range; the %s has %d", op, from, to,
                      body->kind.name, count);
        return NULL;
    }
    wk_module *out = wk__module_make(site, &body->kind);
    if (!out) return NULL;
    wk__module_of(out)->eval = body->eval;
    return append_children(site, out, body, from, to, !list) ? out : wk__module_discard(out);
}
