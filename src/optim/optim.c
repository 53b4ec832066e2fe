/* SPDX-License-Identifier: Apache-2.0 */
/* Optimisers: parameter groups and learning rates. step.c has the step. */
#include "optim.h"
#include "autograd/node.h"
#include "base/alloc.h"
#include "base/platform/file.h"
#include <string.h>
#include <wick/autograd.h>

void wk__param_group_free(wk__param_group *group)
{
    for (int64_t k = 0; k < group->count * group->states_per_param; k++)
        if (group->state[k]) wk__handle_drop(&group->state[k]->handle);
    for (int64_t k = 0; k < group->count; k++) {
        if (group->item[k].last_state_value) wk__value_drop(group->item[k].last_state_value);
        wk__handle_drop(&group->item[k].parameter->handle);
        wk__free(group->item[k].name);
    }
    wk__free(group->item);
    wk__free(group->state);
    wk__free(group->options);
}

static void destroy(void *body)
{
    wk__optim *optim = body;
    if (optim->shared_state) optim->rule->free_shared_state(optim->shared_state);
    for (int64_t k = 0; k < optim->groups; k++) wk__param_group_free(&optim->group[k]);
    wk__free(optim->group);
    wk__free(optim);
}

static const wk__handle_type optim_kind = {.name = "optimiser", .destroy = destroy, .owns_children = true};

bool wk__optim_check(const wk_optim *optim, wk_site site, const char *op)
{
    return wk__handle_check(optim, &optim_kind, site, op, "the optimiser");
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static bool is_already_added(const wk__optim *optim, const wk__tensor_list *list, int64_t k)
{
    const wk_tensor *wanted = list->item[k].tensor;
    for (int64_t before = 0; before < k; before++)
        if (list->item[before].tensor == wanted) return true;
    for (int64_t g = 0; g < optim->groups; g++)
        for (int64_t i = 0; i < optim->group[g].count; i++)
            if (optim->group[g].item[i].parameter == wanted) return true;
    return false;
}

static bool check_parameters(wk_site site, const char *name, const wk__optim *optim, const wk__tensor_list *list)
{
    if (list->count == 0) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: the list of parameters is empty", name);
        return false;
    }
    bool trains = optim->groups > 0; /* a group may be frozen at first */
    for (int64_t k = 0; k < list->count; k++) {
        wk_tensor *x = list->item[k].tensor;
        const char *problem = !wk_is_leaf(x) ? "is not a leaf; pass the leaves that it is computed from"
                              : !wk__is_float(wk_dtype_of(x))    ? "is not floating-point"
                              : is_already_added(optim, list, k) ? "is already in this optimiser"
                                                                 : NULL;
        trains = trains || wk_requires_grad(x);
        if (!problem) continue;
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: parameter \"%.80s\" %s", name, list->item[k].name, problem);
        return false;
    }
    if (!trains)
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: no parameter requires grad; create them with .requires_grad = true, or call "
                      "wk_requires_grad_(x, true)",
                      name);
    return trains;
}

bool wk__param_group_init(wk__param_group *group, const wk__optim_algorithm *rule, void *options, int64_t count)
{
    *group = (wk__param_group){
        .options = options, .states_per_param = rule->state_count ? rule->state_count(options) : 0, .initial_lr = -1};
    group->item = wk__alloc_zero((size_t)count, sizeof *group->item);
    group->state = group->states_per_param
                       ? wk__alloc_zero((size_t)(count * group->states_per_param), sizeof *group->state)
                       : NULL;
    return group->item && (group->state || !group->states_per_param);
}

bool wk__param_group_add(wk__param_group *group, wk_tensor *parameter, const char *name)
{
    wk__param_state *t = &group->item[group->count];
    t->name = wk__strdup(name);
    if (!t->name) return false;
    t->state = group->states_per_param ? group->state + group->count * group->states_per_param : NULL;
    t->parameter = parameter;
    wk__handle_hold(&parameter->handle);
    group->count++;
    return true;
}

/* Takes the options over, also on failure. */
static bool append(wk__optim *optim, const wk__tensor_list *list, void *options)
{
    wk__param_group group;
    bool fine = wk__param_group_init(&group, optim->rule, options, list->count);
    for (int64_t k = 0; k < list->count && fine; k++)
        fine = wk__param_group_add(&group, list->item[k].tensor, list->item[k].name);
    fine = fine && wk__grow(&optim->group, &optim->capacity, optim->groups + 1, sizeof *optim->group);
    if (fine)
        optim->group[optim->groups++] = group;
    else
        wk__param_group_free(&group);
    return fine;
}

/* given: the algorithm's options for the first group, wk_optim_group_options for others. */
static bool add_group(wk_site site, const char *name, wk__optim *optim, const wk__tensor_list *list, const void *given)
{
    const wk__optim_algorithm *rule = optim->rule;
    const void *usual = optim->groups ? optim->group[0].options : NULL;
    void *own = wk__alloc_zero(1, rule->size);
    bool fine = own && (usual ? wk__optim_group_options(site, rule, given, usual, own)
                              : wk__optim_options(site, rule, given, own));
    if (fine && check_parameters(site, name, optim, list)) {
        if (append(optim, list, own)) return true;
    } else {
        wk__free(own);
    }
    wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", name); /* unless another error is recorded */
    return false;
}

wk_optim *wk__optim_new(wk_site site, const wk__optim_algorithm *rule, wk_tensors *parameters, const void *options)
{
    if (!wk__tensor_list_check(parameters, site, rule->name)) return NULL;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    wk__optim *optim = wk__alloc_zero(1, sizeof *optim);
    if (optim) optim->rule = rule;
    bool whole = optim && add_group(site, rule->name, optim, wk__tensor_list_of(parameters), options);
    wk_optim *made = wk__handle_wrap(site, &optim_kind, optim, whole, rule->name);
    wk__frame_end(context, before);
    return made;
}

wk_code wk_optim_add_group_at(wk_site site, wk_optim *optim, wk_tensors *parameters,
                              const wk_optim_group_options *options)
{
    static const char name[] = "optim_add_group";
    if (!wk__optim_check(optim, site, name) || !wk__tensor_list_check(parameters, site, name)) return wk_error_code();
    wk__optim *of = wk__optim_of(optim);
    if (of->rule->step_with_closure) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s supports one parameter group; pass all parameters in one list",
                      name, wk__optim_algorithm_name(of->rule));
        return wk_error_code();
    }
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    const bool fine = add_group(site, name, of, wk__tensor_list_of(parameters), options);
    wk__frame_end(context, before);
    return fine ? WK_OK : wk_error_code();
}

/* Checks that no parameter is replaced by a copy. While a replica of a mirrored network runs, the handle of a parameter
 * refers to a copy without a gradient, so clearing would silently have no effect. */
static bool check_leaves(wk_site site, const wk__optim *of)
{
    for (int64_t g = 0; g < of->groups; g++)
        for (int64_t k = 0; k < of->group[g].count; k++) {
            if (!wk__body_of(of->group[g].item[k].parameter)->node) continue;
            wk__error_set(site, WK_ERR_STATE,
                          "optim_zero_grad: parameter \"%s\" is not a leaf inside the forward of a mirrored network, "
                          "where a replica stands in for it; call this before forward",
                          wk__printable_name(of->group[g].item[k].name).text);
            return false;
        }
    return true;
}

wk_code wk_optim_zero_grad_at(wk_site site, wk_optim *optim)
{
    if (!wk__optim_check(optim, site, "optim_zero_grad") || !check_leaves(site, wk__optim_of(optim)))
        return wk_error_code();
    const uint64_t pin = wk__handle_pin(&optim->handle); /* a user callback may free it */
    if (!pin) return wk_error_code();
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    const wk__optim *of = wk__optim_of(optim);
    for (int64_t g = 0; g < of->groups; g++)
        for (int64_t k = 0; k < of->group[g].count; k++)
            wk__leaf_clear_grad(of->group[g].item[k].parameter, "optim_zero_grad", site);
    wk__guard_close(pin);
    wk__frame_end(context, before);
    return WK_OK;
}

/* ---- learning rates ---------------------------------------------------------------------------------------------- */

int wk_optim_group_count_at(wk_site site, const wk_optim *optim)
{
    return optim && wk__optim_check(optim, site, "optim_group_count") ? (int)wk__optim_of(optim)->groups : 0;
}

double *wk__optim_rate(const wk__optim *optim, int64_t group)
{
    void *at = (char *)optim->group[group].options + optim->rule->option[0].offset;
    return at;
}

static bool group_exists(wk_site site, const char *op, const wk_optim *optim, int group)
{
    if (!wk__optim_check(optim, site, op)) return false;
    if (group >= 0 && group < wk__optim_of(optim)->groups) return true;
    wk__error_set(site, WK_ERR_INDEX, "%s: group index %d is out of range; the optimiser has %lld", op, group,
                  (long long)wk__optim_of(optim)->groups);
    return false;
}

double wk_optim_lr_at(wk_site site, const wk_optim *optim, int group)
{
    return group_exists(site, "optim_lr", optim, group) ? *wk__optim_rate(wk__optim_of(optim), group) : (double)NAN;
}

wk_code wk_optim_set_lr_at(wk_site site, wk_optim *optim, int group, double lr)
{
    if (!group_exists(site, "optim_set_lr", optim, group == -1 ? 0 : group)) return wk_error_code();
    if (!(lr >= 0 && lr < INFINITY)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "optim_set_lr: lr must be finite and at least 0");
        return WK_ERR_ARGUMENT;
    }
    for (int64_t g = 0; g < wk__optim_of(optim)->groups; g++)
        if (group == -1 || g == group) *wk__optim_rate(wk__optim_of(optim), g) = lr;
    return WK_OK;
}
