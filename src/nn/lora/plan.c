/* SPDX-License-Identifier: Apache-2.0 */
/* wk_nn_lora: selection of linear layers by their names, and their replacement by layers with adapters. All layers are
 * created before the network changes. */
#include "adapter.h"
#include "base/alloc.h"
#include "base/options.h"
#include "base/platform/file.h"
#include "nn/language/language.h"
#include <string.h>
#include <wick/autograd.h>

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Takes the next name of a list between commas, without blanks around it. Returns false at the end. */
static bool next_name(const char **list, const char **name, int64_t *length)
{
    const char *at = *list;
    if (!at) return false;
    const size_t all = strcspn(at, ",");
    *list = at[all] ? at + all + 1 : NULL;
    const char *end = at + all;
    while (at < end && *at == ' ') at++;
    while (end > at && end[-1] == ' ') end--;
    *name = at;
    *length = end - at;
    return true;
}

/* Returns true if the name is the path or, unless `complete`, its last parts. */
static bool names_path(const char *name, int64_t length, const char *path, bool complete)
{
    const int64_t rest = (int64_t)strlen(path) - length;
    if (rest < 0 || memcmp(path + rest, name, (size_t)length) != 0) return false;
    return rest == 0 || (!complete && path[rest - 1] == '.');
}

static bool is_target(const wk__lora_targets *targets, const char *path)
{
    const char *list = targets->names, *name;
    int64_t length;
    while (next_name(&list, &name, &length))
        if (names_path(name, length, path, targets->paths)) return true;
    return false;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* Returns true if an earlier linear layer of the tree has the name of entry k. */
static bool is_listed(const wk__module_tree *tree, int64_t k)
{
    bool transposed;
    for (int64_t i = 1; i < k; i++)
        if (strcmp(tree->entry[i].name, tree->entry[k].name) == 0 &&
            wk__lora_is_linear(tree->entry[i].module, &transposed))
            return true;
    return false;
}

/* Reports that no linear layer has this name, and which names exist. */
static void report_name(wk_site site, const char *op, const wk__module_tree *tree, const wk__lora_targets *targets,
                        const char *name, int64_t length)
{
    enum { SHOWN = 16 };
    bool transposed;
    int count = 0;
    wk__text text = {0};
    wk__text_format(&text, "%s: no linear layer of the %s is named \"%s\"", op,
                    wk__module_of(tree->entry[0].module)->kind.name, wk__printable_bytes(name, length).text);
    for (int64_t k = 1; k < tree->count && count <= SHOWN; k++) {
        if (!wk__lora_is_linear(tree->entry[k].module, &transposed) || is_listed(tree, k)) continue;
        wk__text_add(&text, count == 0 ? "; expected " : ", ");
        if (count++ == SHOWN)
            wk__text_add(&text, "...");
        else
            wk__text_format(&text, "\"%.60s\"", tree->entry[k].name);
    }
    if (count == 0) wk__text_add(&text, ": it contains no linear layers");
    wk__error_set_text(site, targets->paths ? WK_ERR_SHAPE : WK_ERR_ARGUMENT, &text);
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* Reports a module that prevents adapters. Returns false if there is one, or on error. */
static bool check_modules(wk_site site, const char *op, const wk__module_tree *tree)
{
    for (int64_t k = 0; k < tree->count; k++) {
        const wk__module *body = wk__module_of(tree->entry[k].module);
        if (wk__lora_of(tree->entry[k].module))
            wk__error_set(site, WK_ERR_STATE, "%s: the network has adapters; merge them with wk_nn_lora_merge first",
                          op);
        else if (body->is_transparent)
            wk__error_set(site, WK_ERR_STATE, "%s: the network contains a %s; add adapters before creating it", op,
                          body->kind.name);
        else
            continue;
        return false;
    }
    return true;
}

/* Checks that each name is that of a linear layer; if they are optional, that one is. Returns false on error. */
static bool check_names(wk_site site, const char *op, const wk__module_tree *tree, const wk__lora_targets *targets,
                        char *const *paths)
{
    const char *list = targets->names, *name;
    int64_t length;
    bool any = false;
    while (next_name(&list, &name, &length)) {
        bool found = false;
        for (int64_t k = 1; k < tree->count && !found; k++)
            found = paths[k] && names_path(name, length, paths[k], targets->paths);
        any = any || found;
        if (found || targets->optional) continue;
        report_name(site, op, tree, targets, name, length);
        return false;
    }
    if (!any) report_name(site, op, tree, targets, targets->names, (int64_t)strlen(targets->names));
    return any;
}

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

void wk__lora_plan_free(wk__lora_plan *plan)
{
    wk__module_tree_free(&plan->tree);
    wk__free(plan->layer);
    plan->layer = NULL;
}

/* Sets the paths of linear layers. Returns false on allocation failure, recorded. */
static bool set_paths(wk_site site, const char *op, const wk__module_tree *tree, char **paths)
{
    bool transposed;
    for (int64_t k = 1; k < tree->count; k++) {
        wk__text path = {0};
        if (!wk__lora_is_linear(tree->entry[k].module, &transposed)) continue;
        wk__module_tree_path(tree, k, &path);
        if (path.failed) {
            wk__text_free(&path);
            wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
            return false;
        }
        paths[k] = path.data;
    }
    return true;
}

/* Creates the layers for the targets. Returns false on error. */
static bool create_layers(wk__lora_plan *plan, wk_site site, const char *op, const wk__lora_config *config,
                          const wk__lora_targets *targets, char *const *paths)
{
    const wk__language *language = wk__language_find(plan->tree.entry[0].module);
    int64_t count = 0;
    if (!targets->all && !check_names(site, op, &plan->tree, targets, paths)) return false;
    for (int64_t k = 1; k < plan->tree.count; k++) {
        wk_module *base = plan->tree.entry[k].module;
        if (!paths[k]) continue;
        if (targets->all ? language && language->head == base : !is_target(targets, paths[k])) continue;
        plan->layer[k] = wk__lora_create(base, config);
        if (!plan->layer[k]) return false;
        count++;
    }
    if (count == 0) report_name(site, op, &plan->tree, targets, "all-linear", (int64_t)strlen("all-linear"));
    return count > 0;
}

bool wk__lora_plan_create(wk__lora_plan *plan, wk_site site, const char *op, wk_module *net,
                          const wk__lora_config *config, const wk__lora_targets *targets)
{
    *plan = (wk__lora_plan){.layer = NULL};
    if (!wk__lora_config_check(site, op, config) || !wk__module_tree_build(&plan->tree, net, site)) return false;
    const size_t count = (size_t)plan->tree.count;
    char **paths = wk__alloc_zero(count, sizeof *paths);
    plan->layer = wk__alloc_zero(count, sizeof *plan->layer);
    bool fine = paths && plan->layer;
    if (!fine) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    fine = fine && check_modules(site, op, &plan->tree) && (plan->frozen = wk_tensors_new_at(site)) &&
           wk__module_collect(site, op, net, 1u << WK__PARAMETER, wk__tensor_list_of(plan->frozen)) &&
           set_paths(site, op, &plan->tree, paths) && create_layers(plan, site, op, config, targets, paths);
    for (size_t k = 0; k < count && paths; k++) wk__free(paths[k]);
    wk__free(paths);
    if (!fine) wk__lora_plan_free(plan);
    return fine;
}

bool wk__lora_plan_apply(const wk__lora_plan *plan, wk_site site, const char *op)
{
    const wk__tensor_list *frozen = wk__tensor_list_of(plan->frozen);
    for (int64_t k = 0; k < frozen->count; k++)
        if (!wk_requires_grad__at(site, frozen->item[k].tensor, false)) return false;
    for (int64_t k = 1; k < plan->tree.count; k++)
        if (plan->layer[k]) wk__module_tree_replace(&plan->tree, site, op, plan->tree.entry[k].module, plan->layer[k]);
    return true;
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

wk_module *wk_nn_lora_at(wk_site site, wk_module *net, const wk_nn_lora_options *options)
{
    static const char op[] = "nn_lora";
    wk_nn_lora_options o;
    wk__lora_plan plan;
    wk__call_scope c;
    if (!wk__options(site, op, options, &o) || !wk__module_check(net, site, op) ||
        !wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_KEPT))
        return NULL;
    const char *names = o.target_modules ? o.target_modules : "c_attn,q_proj,v_proj,query,value";
    const bool all = strcmp(names, "all-linear") == 0;
    const wk__lora_targets targets = {.names = all ? NULL : names, .all = all, .optional = !o.target_modules};
    const wk__lora_config config = {.r = o.r ? o.r : 8,
                                    .alpha = wk__option_or(o.lora_alpha, 8),
                                    .dropout = wk__option_or(o.lora_dropout, 0),
                                    .rslora = o.use_rslora};
    bool fine = wk__lora_plan_create(&plan, site, op, net, &config, &targets);
    if (fine) {
        fine = wk__lora_plan_apply(&plan, site, op);
        wk__lora_plan_free(&plan);
    }
    wk__call_end(&c, NULL, 0);
    return fine ? net : NULL;
}
