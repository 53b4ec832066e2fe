/* SPDX-License-Identifier: Apache-2.0 */
/* Optimisers: groups, and the step, which looks before it leaps. */
#include "optim.h"
#include "../autograd/node.h"
#include "../base/alloc.h"
#include "../engine/ring.h"
#include <math.h>
#include <string.h>
#include <wick/autograd.h>

static void free_group(wk__group_of *group)
{
    for (int64_t k = 0; k < group->count; k++) {
        for (int s = 0; s < WK__OPTIM_STATES; s++)
            if (group->item[k].state[s]) wk__handle_drop(&group->item[k].state[s]->handle);
        if (group->item[k].last) wk__value_drop(group->item[k].last);
        wk__handle_drop(&group->item[k].parameter->handle);
    }
    wk__free(group->item);
}

static void destroy(void *body)
{
    wk__optim *optim = body;
    for (int64_t k = 0; k < optim->groups; k++) free_group(&optim->group[k]);
    wk__free(optim->group);
    wk__free(optim);
}

static const wk__kind optim_kind = {.name = "optimiser", .destroy = destroy, .parts = true};

static wk__optim *body_of(const wk_optim *optim)
{
    return optim->handle.body;
}

static bool check(const wk_optim *optim, wk_site site, const char *op)
{
    return wk__handle_check(optim, &optim_kind, site, op, "the optimiser");
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* An option of another kind of optimiser would do nothing. */
static bool options_are_its_own(wk_site site, const char *name, const wk__rule *rule, const wk_optim_options *given)
{
    const struct {
        const char *name;
        bool given, moments;
    } own[] = {{"momentum", given->momentum != 0, false}, {"dampening", given->dampening != 0, false},
               {"nesterov", given->nesterov, false},      {"beta1", given->beta1 != 0, true},
               {"beta2", given->beta2 != 0, true},        {"eps", given->eps != 0, true}};
    for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
        if (!own[k].given || own[k].moments == rule->moments) continue;
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .%s is an option of %s; %s has %s", name, own[k].name,
                      own[k].moments ? "adam and adamw" : "sgd", rule->name + strlen("optim_"),
                      rule->moments ? ".beta1, .beta2 and .eps" : ".momentum, .dampening and .nesterov");
        return false;
    }
    return true;
}

/* What is not given comes from `usual`, which is complete. */
static bool fill_in(wk_site site, const char *name, const wk__rule *rule, const wk_optim_options *given,
                    const wk_optim_options *usual, wk_optim_options *out)
{
    if (!wk__options(site, name, given, out) || !options_are_its_own(site, name, rule, out)) return false;
    out->lr = wk__option(out->lr, usual->lr);
    out->momentum = wk__option(out->momentum, usual->momentum);
    out->dampening = wk__option(out->dampening, usual->dampening);
    out->nesterov = out->nesterov || usual->nesterov;
    out->weight_decay = wk__option(out->weight_decay, usual->weight_decay);
    out->beta1 = wk__option(out->beta1, usual->beta1);
    out->beta2 = wk__option(out->beta2, usual->beta2);
    out->eps = wk__option(out->eps, usual->eps);
    return true;
}

static bool options_fit(wk_site site, const char *name, const wk_optim_options *o)
{
    const struct {
        const char *name;
        double value, limit;
    } numbers[] = {{"lr", o->lr, INFINITY},
                   {"momentum", o->momentum, INFINITY},
                   {"weight_decay", o->weight_decay, INFINITY},
                   {"eps", o->eps, INFINITY},
                   {"beta1", o->beta1, 1},
                   {"beta2", o->beta2, 1}};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        if (numbers[k].value >= 0 && numbers[k].value < numbers[k].limit) continue;
        wk__text text = {0};
        wk__text_format(&text, "%s: .%s = ", name, numbers[k].name);
        wk__text_double(&text, numbers[k].value, 'g', 6);
        wk__text_add(&text, numbers[k].limit == 1 ? " is not in [0, 1)" : " is not a number of 0 or more");
        wk__error_take(site, WK_ERR_ARGUMENT, &text);
        return false;
    }
    if (!o->nesterov || (o->momentum > 0 && o->dampening == 0)) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: .nesterov needs a .momentum and no .dampening", name);
    return false;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static bool trained_already(const wk__optim *optim, const wk__list *list, int64_t k)
{
    const wk_tensor *wanted = list->item[k].tensor;
    for (int64_t before = 0; before < k; before++)
        if (list->item[before].tensor == wanted) return true;
    for (int64_t g = 0; g < optim->groups; g++)
        for (int64_t i = 0; i < optim->group[g].count; i++)
            if (optim->group[g].item[i].parameter == wanted) return true;
    return false;
}

static bool parameters_fit(wk_site site, const char *name, const wk__optim *optim, const wk__list *list)
{
    if (list->count == 0) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: the list of parameters is empty", name);
        return false;
    }
    bool trains = optim->groups > 0; /* a group may be frozen until later */
    for (int64_t k = 0; k < list->count; k++) {
        wk_tensor *x = list->item[k].tensor;
        const char *problem = !wk_is_leaf(x) ? "is no leaf: it is computed from others, and those are what is trained"
                              : !wk__is_float(wk_dtype_of(x))   ? "has no floats, and only floats are trained"
                              : trained_already(optim, list, k) ? "is there already"
                                                                : NULL;
        trains = trains || wk_requires_grad(x);
        if (!problem) continue;
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: parameter \"%.80s\" %s", name, list->item[k].name, problem);
        return false;
    }
    if (!trains)
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: none of the parameters requires grad, so nothing would be trained: make them with "
                      ".requires_grad = true, or wk_requires_grad_(x, true)",
                      name);
    return trains;
}

static bool add_group(wk_site site, const char *name, wk__optim *optim, const wk__list *list,
                      const wk_optim_options *given, const wk_optim_options *usual)
{
    wk_optim_options options;
    if (!fill_in(site, name, optim->rule, given, usual, &options) || !parameters_fit(site, name, optim, list))
        return false;
    if (!options_fit(site, name, &options)) return false;
    wk__trained *item = wk__alloc_zero((size_t)list->count, sizeof *item);
    if (!item || !wk__grow(&optim->group, &optim->capacity, optim->groups + 1, sizeof *optim->group)) {
        wk__free(item);
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", name);
        return false;
    }
    for (int64_t k = 0; k < list->count; k++) {
        item[k].parameter = list->item[k].tensor;
        wk__handle_hold(&item[k].parameter->handle);
    }
    optim->group[optim->groups++] = (wk__group_of){options, item, list->count};
    return true;
}

wk_optim *wk__optim_new(wk_site site, const wk__rule *rule, wk_tensors *parameters, const wk_optim_options *options)
{
    if (!wk__list_check(parameters, site, rule->name)) return NULL;
    wk_optim_options usual = {.size = sizeof usual,
                              .lr = 1e-3,
                              .weight_decay = rule->weight_decay,
                              .beta1 = 0.9,
                              .beta2 = 0.999,
                              .eps = 1e-8};
    wk_context *context = wk__context();
    const bool before = wk__busy_begin(context);
    wk__optim *optim = wk__alloc_zero(1, sizeof *optim);
    if (optim) optim->rule = rule;
    bool whole = optim && add_group(site, rule->name, optim, wk__list_of(parameters), options, &usual);
    wk_optim *made = wk__handle_object(site, &optim_kind, optim, whole, rule->name);
    wk__busy_end(context, before);
    return made;
}

wk_code wk_optim_add_group_at(wk_site site, wk_optim *optim, wk_tensors *parameters, const wk_optim_options *options)
{
    if (!check(optim, site, "optim_add_group") || !wk__list_check(parameters, site, "optim_add_group"))
        return wk_error_code();
    wk__optim *of = body_of(optim);
    bool fine = add_group(site, "optim_add_group", of, wk__list_of(parameters), options, &of->group[0].options);
    return fine ? WK_OK : wk_error_code();
}

/* ---- step -------------------------------------------------------------------------------------------------------- */

/* NULL: the parameter is left alone. One that was frozen after a backward keeps its gradient. */
static wk_tensor *gradient_of(const wk__trained *t)
{
    return wk_requires_grad(t->parameter) ? wk_grad_of(t->parameter) : NULL;
}

/* What the rule keeps for a parameter: made at its first step, brought along when the parameter has moved. */
static bool prepare_states(const wk__rule *rule, const wk_optim_options *options, wk__trained *t)
{
    const wk__body *body = wk__body_of(t->parameter);
    wk_device device = body->storage->device->id;
    int states = rule->states(options);
    for (int s = 0; s < states; s++) {
        wk_tensor *state = t->state[s];
        if (state && wk__body_of(state)->storage->device == body->storage->device) continue;
        if (state) {
            wk_tensor *moved = wk_to_at((wk_site){0}, state, device);
            if (!moved || !wk__materialize(moved, (wk_site){0})) return false;
            wk__rehouse(state, moved);
            continue;
        }
        wk_options like = {.size = sizeof like, .dtype = body->dtype == WK_F64 ? WK_F64 : WK_F32, .device = device};
        wk_tensor *made = wk_zeros_at((wk_site){0}, body->shape, body->ndim, &like);
        if (!made || !wk__materialize(made, (wk_site){0})) return false;
        t->state[s] = wk__own(made);
    }
    return true;
}

/* Everything that a step reads is there, and so is the memory of what it keeps: after this only the update itself can
 * fail. */
static bool prepare(wk_site site, wk__optim *optim)
{
    wk_context *context = wk__context();
    for (int64_t g = 0; g < optim->groups; g++)
        for (int64_t k = 0; k < optim->group[g].count; k++) {
            wk__trained *t = &optim->group[g].item[k];
            wk_tensor *grad = gradient_of(t);
            if (!grad) continue;
            if (!wk__touch(context, t->parameter, site) || !wk__touch(context, grad, site)) return false;
            if (!prepare_states(optim->rule, &optim->group[g].options, t)) return false;
            for (int s = 0; s < WK__OPTIM_STATES; s++)
                if (t->state[s] && !wk__touch(context, t->state[s], site)) return false;
        }
    return true;
}

/* What the parameters held, and what is kept for them, before a step. */
typedef struct step {
    wk__optim *optim;
    wk__before *before;
    int64_t count;
} step;

/* Calls visit for each parameter that has a gradient, until one call gives false. */
static bool each(step *step, bool (*visit)(struct step *step, const wk_optim_options *options, wk__trained *t))
{
    for (int64_t g = 0; g < step->optim->groups; g++) {
        wk__group_of *group = &step->optim->group[g];
        for (int64_t k = 0; k < group->count; k++)
            if (gradient_of(&group->item[k]) && !visit(step, &group->options, &group->item[k])) return false;
    }
    return true;
}

/* This step, and not the one before it if that has failed since. What it made is let go of before this one replaces
 * it, so that this one may write in place. */
static void count(wk__trained *t)
{
    t->steps++;
    if (!t->last) return;
    t->steps -= wk__value_state(t->last) == WK__STORED && t->last->undone;
    wk__value_drop(t->last);
    t->last = NULL;
}

static bool remember(step *step, const wk_optim_options *options, wk__trained *t)
{
    (void)options;
    count(t);
    wk__before_take(&step->before[step->count++], t->parameter);
    for (int s = 0; s < WK__OPTIM_STATES; s++)
        if (t->state[s]) wk__before_take(&step->before[step->count++], t->state[s]);
    return true;
}

static bool update(step *step, const wk_optim_options *options, wk__trained *t)
{
    return step->optim->rule->update(options, t, gradient_of(t));
}

/* The new value of the first state tells later whether the step was done. */
static bool remember_outcome(step *step, const wk_optim_options *options, wk__trained *t)
{
    (void)step, (void)options;
    if (!t->state[0]) return true; /* a rule that keeps nothing counts nothing */
    t->last = wk__body_of(t->state[0])->storage->value;
    wk__value_hold(t->last);
    return true;
}

static bool uncount(step *step, const wk_optim_options *options, wk__trained *t)
{
    (void)step, (void)options;
    t->steps--;
    return true;
}

/* All parameters or none: the updates are recorded before any of them is run. */
static bool update_all(wk_site site, wk__optim *optim)
{
    int64_t most = 0;
    for (int64_t g = 0; g < optim->groups; g++) most += optim->group[g].count * (1 + WK__OPTIM_STATES);
    step step = {.optim = optim, .before = wk__alloc_zero((size_t)most, sizeof *step.before)};
    if (!step.before) {
        wk__error_set(site, WK_ERR_MEMORY, "optim_step: out of host memory");
        return false;
    }
    wk_context *context = wk__context();
    wk__whole_begin(context);
    each(&step, remember);
    bool fine = each(&step, update);
    each(&step, fine ? remember_outcome : uncount);
    for (int64_t k = step.count; k-- > 0;) wk__before_end(&step.before[k], fine);
    wk__free(step.before);
    wk__whole_end(context);
    return fine;
}

wk_code wk_optim_step_at(wk_site site, wk_optim *optim)
{
    wk__inside c;
    if (!check(optim, site, "optim_step") || wk__error_pending()) return wk_error_code();
    if (!wk__inside_begin(&c, "optim_step", site, true)) return wk_error_code();
    bool fine = prepare(site, body_of(optim)) && update_all(site, body_of(optim));
    wk__inside_end(&c, NULL, 0);
    wk_context *context = wk__context();
    if (context->scope >= 0) context->guard[context->scope].flush = true;
    return fine ? WK_OK : wk_error_code();
}

wk_code wk_optim_zero_grad_at(wk_site site, wk_optim *optim)
{
    if (!check(optim, site, "optim_zero_grad")) return wk_error_code();
    const uint64_t pin = wk__handle_pin(&optim->handle); /* a release of the program's may free it */
    if (!pin) return wk_error_code();
    wk_context *context = wk__context();
    const bool before = wk__busy_begin(context);
    const wk__optim *of = body_of(optim);
    for (int64_t g = 0; g < of->groups; g++)
        for (int64_t k = 0; k < of->group[g].count; k++)
            wk__leaf_forget(of->group[g].item[k].parameter, "optim_zero_grad", site);
    wk__guard_close(pin);
    wk__busy_end(context, before);
    return WK_OK;
}

/* ---- learning rates ---------------------------------------------------------------------------------------------- */

int wk_optim_groups_at(wk_site site, const wk_optim *optim)
{
    return optim && check(optim, site, "optim_groups") ? (int)body_of(optim)->groups : 0;
}

static bool group_exists(wk_site site, const char *op, const wk_optim *optim, int group)
{
    if (!check(optim, site, op)) return false;
    if (group >= 0 && group < body_of(optim)->groups) return true;
    wk__error_set(site, WK_ERR_INDEX, "%s: there is no group %d; the optimiser has %lld", op, group,
                  (long long)body_of(optim)->groups);
    return false;
}

double wk_optim_lr_at(wk_site site, const wk_optim *optim, int group)
{
    return group_exists(site, "optim_lr", optim, group) ? body_of(optim)->group[group].options.lr : (double)NAN;
}

wk_code wk_optim_set_lr_at(wk_site site, wk_optim *optim, int group, double lr)
{
    if (!group_exists(site, "optim_set_lr", optim, group == -1 ? 0 : group)) return wk_error_code();
    if (!(lr >= 0 && lr < INFINITY)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "optim_set_lr: a learning rate is a number of 0 or more");
        return WK_ERR_ARGUMENT;
    }
    wk__optim *of = body_of(optim);
    for (int64_t g = 0; g < of->groups; g++)
        if (group == -1 || g == group) of->group[g].options.lr = lr;
    return WK_OK;
}
