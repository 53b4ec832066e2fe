/* SPDX-License-Identifier: Apache-2.0 */
/* A guard that keeps a network in evaluation mode (evaluation.h). It holds the modules that it has switched. */
#include "evaluation.h"
#include "base/alloc.h"

/* The modules that were in training mode. */
typedef struct evaluation {
    int64_t count;
    wk_module *module[]; /* held */
} evaluation;

/* Switches the modules and notifies their kinds. */
static void set_modes(const evaluation *e, bool eval)
{
    for (int64_t k = 0; k < e->count; k++) wk__module_of(e->module[k])->eval = eval;
    for (int64_t k = 0; k < e->count; k++) wk__module_notify_training(e->module[k]);
}

/* Restores the modes, as the close function of the guard. */
static void end(void *address)
{
    evaluation *e = address;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    set_modes(e, false);
    for (int64_t k = e->count; k-- > 0;) wk__handle_drop(&e->module[k]->handle);
    wk__free(e);
    wk__frame_end(context, before);
}

/* Returns the modules in training mode, held; NULL if memory is exhausted. */
static evaluation *find_training(const wk__module_tree *tree)
{
    evaluation *e = wk__alloc_zero(1, sizeof *e + (size_t)tree->count * sizeof(wk_module *));
    for (int64_t k = 0; e && k < tree->count; k++) {
        wk_module *m = tree->entry[k].module;
        if (wk__module_of(m)->eval) continue;
        wk__handle_hold(&m->handle);
        e->module[e->count++] = m;
    }
    return e;
}

uint64_t wk__evaluation_open(wk_site site, const char *op, wk_module *m)
{
    wk__module_tree tree;
    if (!wk__module_tree_build(&tree, m, site)) return 0;
    evaluation *e = find_training(&tree);
    wk__module_tree_free(&tree);
    const uint64_t token = e ? wk__guard_push_cleanup(e, end) : 0;
    if (token)
        set_modes(e, true);
    else
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    if (e && !token) {
        for (int64_t k = e->count; k-- > 0;) wk__handle_drop(&e->module[k]->handle);
        wk__free(e);
    }
    return token;
}
