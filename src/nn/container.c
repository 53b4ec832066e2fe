/* SPDX-License-Identifier: Apache-2.0 */
/* Modules composed of others: sequential, module_list. */
#include "module.h"

static wk_tensor *sequential_forward(wk_module *self, wk_tensor *x)
{
    const wk__module *body = wk__module_of(self);
    for (int64_t k = 0; k < body->items && x; k++)
        if (body->item[k].kind == WK__CHILD) x = wk_forward_at((wk_site){0}, body->item[k].module, x);
    return x;
}

static wk_module *container(wk_site site, const char *name, const wk_module_kind *kind, wk_module *const *modules,
                            int count)
{
    for (int k = 0; k < count; k++)
        if (!wk__handle_check(modules ? modules[k] : NULL, &wk__module_kind, site, name, "a module")) return NULL;
    wk_module *m = wk__module_make(site, kind);
    for (int k = 0; modules && k < count && m; k++)
        if (!wk_module_append_at(site, m, modules[k])) m = wk__module_discard(m);
    return m;
}

wk_module *wk_nn_sequential_at(wk_site site, wk_module *const *modules, int count)
{
    static const wk_module_kind kind = {.size = sizeof kind, .name = "sequential", .forward1 = sequential_forward};
    return container(site, "nn_sequential", &kind, modules, count);
}

wk_module *wk_nn_module_list_at(wk_site site, wk_module *const *modules, int count)
{
    static const wk_module_kind kind = {.size = sizeof kind, .name = "module_list"};
    return container(site, "nn_module_list", &kind, modules, count);
}
