/* SPDX-License-Identifier: Apache-2.0 */
/* The step of an optimiser, which looks before it leaps, and the step that calls a closure first. */
#include "../autograd/callback.h"
#include "../autograd/node.h"
#include "../base/alloc.h"
#include "../engine/ring.h"
#include "optim.h"
#include <string.h>
#include <wick/autograd.h>

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

wk_tensor *wk__optim_gradient(const wk__trained *t)
{
    return wk_requires_grad(t->parameter) ? wk_grad_of(t->parameter) : NULL;
}

static wk_tensor *new_state(const wk__rule *rule, const void *options, int state, const wk__body *like)
{
    wk_options of = {
        .size = sizeof of, .dtype = like->dtype == WK_F64 ? WK_F64 : WK_F32, .device = like->storage->device->id};
    const double first = rule->first ? rule->first(options, state) : 0;
    return wk_full_f_at((wk_site){0}, like->shape, like->ndim, first, &of);
}

/* What the rule keeps for a parameter: made at its first step, brought along when the parameter has moved. */
static bool prepare_states(const wk__rule *rule, const wk__group_of *group, wk__trained *t)
{
    const wk__body *body = wk__body_of(t->parameter);
    for (int s = 0; s < group->states; s++) {
        wk_tensor *state = t->state[s];
        if (state && wk__body_of(state)->storage->device == body->storage->device) continue;
        wk_tensor *made =
            state ? wk_to_at((wk_site){0}, state, body->storage->device->id) : new_state(rule, group->options, s, body);
        if (!made || !wk__materialize(made, (wk_site){0})) return false;
        if (state)
            wk__rehouse(state, made);
        else
            t->state[s] = wk__own(made);
    }
    return true;
}

/* Everything that a step reads is there, and so is the memory of what it keeps: after this only the update itself can
 * fail. */
static bool prepare_group(wk_site site, const wk__rule *rule, const wk__group_of *group)
{
    wk_context *context = wk__context();
    for (int64_t k = 0; k < group->count; k++) {
        wk__trained *t = &group->item[k];
        wk_tensor *grad = wk__optim_gradient(t);
        if (!grad) continue;
        if (!wk__touch(context, t->parameter, site) || !wk__touch(context, grad, site)) return false;
        if (!prepare_states(rule, group, t)) return false;
        for (int s = 0; s < group->states; s++)
            if (!wk__touch(context, t->state[s], site)) return false;
    }
    return true;
}

static bool prepare(wk_site site, const wk__optim *optim)
{
    for (int64_t g = 0; g < optim->groups; g++)
        if (!prepare_group(site, optim->rule, &optim->group[g])) return false;
    return true;
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

/* What the parameters held, and what is kept for them, before a step. */
typedef struct step {
    const wk__optim *optim;
    wk__before *before;
    int64_t count;
} step;

/* Calls visit for each parameter that has a gradient, until one call gives false. */
static bool each(step *step, bool (*visit)(struct step *step, const wk__group_of *group, wk__trained *t))
{
    for (int64_t g = 0; g < step->optim->groups; g++) {
        const wk__group_of *group = &step->optim->group[g];
        for (int64_t k = 0; k < group->count; k++)
            if (wk__optim_gradient(&group->item[k]) && !visit(step, group, &group->item[k])) return false;
    }
    return true;
}

int64_t wk__optim_steps(const wk__trained *t)
{
    return t->steps - (t->last && t->last->state == WK__STORED && t->last->undone);
}

/* This step, and not the one before it if that has failed since. What it made is let go of before this one replaces
 * it, so that this one may write in place. */
static void count(wk__trained *t)
{
    t->steps = wk__optim_steps(t) + 1;
    if (!t->last) return;
    wk__value_drop(t->last);
    t->last = NULL;
}

static bool remember(step *step, const wk__group_of *group, wk__trained *t)
{
    count(t);
    wk__before_take(&step->before[step->count++], t->parameter);
    for (int s = 0; s < group->states; s++) wk__before_take(&step->before[step->count++], t->state[s]);
    return true;
}

static bool update(step *step, const wk__group_of *group, wk__trained *t)
{
    return step->optim->rule->update(group->options, t, wk__optim_gradient(t));
}

/* The new value of the first state tells later whether the step was done. */
static bool remember_outcome(step *step, const wk__group_of *group, wk__trained *t)
{
    (void)step;
    if (group->states == 0) return true; /* a rule that keeps nothing counts nothing */
    t->last = wk__body_of(t->state[0])->storage->value;
    wk__value_hold(t->last);
    return true;
}

static bool uncount(step *step, const wk__group_of *group, wk__trained *t)
{
    (void)step, (void)group;
    t->steps--;
    return true;
}

/* All parameters or none: the updates are recorded before any of them is run. */
static bool update_all(wk_site site, const char *name, const wk__optim *optim)
{
    int64_t most = 0;
    for (int64_t g = 0; g < optim->groups; g++) most += optim->group[g].count * (1 + optim->group[g].states);
    step step = {.optim = optim, .before = wk__alloc_zero((size_t)most, sizeof *step.before)};
    if (!step.before) {
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", name);
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

static bool take_step(wk_site site, const char *name, const wk__optim *optim)
{
    wk__inside c;
    if (!wk__inside_begin(&c, name, site, true)) return false;
    const bool fine = prepare(site, optim) && update_all(site, name, optim);
    wk__inside_end(&c, NULL, 0);
    return fine;
}

/* The scope around runs what was recorded when it closes. */
static void flush_at_the_end_of_the_scope(void)
{
    const wk_context *context = wk__context();
    if (context->scope >= 0) context->guard[context->scope].flush = true;
}

wk_code wk_optim_step_at(wk_site site, wk_optim *optim)
{
    if (!wk__optim_check(optim, site, "optim_step") || wk__error_pending()) return wk_error_code();
    const wk__optim *of = wk__optim_of(optim);
    if (of->rule->search) {
        wk__error_set(
            site, WK_ERR_STATE,
            "optim_step: %s computes the loss several times in one step: call wk_optim_step_closure(optim, "
            "closure, user), where the closure zeroes the gradients, computes the loss, calls wk_backward and "
            "returns the loss",
            wk__rule_kind(of->rule));
        return wk_error_code();
    }
    const bool fine = take_step(site, "optim_step", of);
    flush_at_the_end_of_the_scope();
    return fine ? WK_OK : wk_error_code();
}

/* ---- with a closure ---------------------------------------------------------------------------------------------- */

static bool is_loss(wk_site site, wk_tensor *loss)
{
    if (wk__error_pending() || !wk__check(loss, site, "optim_step_closure", "what the closure gave")) return false;
    if (wk_numel(loss) == 1 && wk__is_float(wk_dtype_of(loss))) return true;
    wk__error_set(site, WK_ERR_SHAPE,
                  "optim_step_closure: the closure gives the loss, which is one float; this has %lld elements of %s",
                  (long long)wk_numel(loss), wk_dtype_str(wk_dtype_of(loss)));
    return false;
}

/* Without a scope around, what the closure gave counts once for the caller. */
static void let_go(wk_tensor *loss)
{
    if (wk__is_tensor(loss) && wk__context()->scope < 0) wk__handle_release(&loss->handle, (wk_site){0});
}

wk_tensor *wk__closure_call(const wk__closure *closure)
{
    char name[120];
    wk__callback c;
    const wk_site site = wk__site(closure->site);
    snprintf(name, sizeof name, "the closure of optim_step_closure, called at %.50s:%d", site.file ? site.file : "?",
             (int)site.line);
    wk__callback_begin(&c, name, site);
    wk__context()->frame.grad_off = false;
    wk_tensor *loss = closure->call(closure->user);
    wk__callback_end(&c, &loss, 1);
    if (is_loss(site, loss)) return loss;
    let_go(loss);
    return NULL;
}

wk_tensor *wk_optim_step_closure_at(wk_site site, wk_optim *optim, wk_optim_closure *closure, void *user)
{
    static const char name[] = "optim_step_closure";
    if (!wk__optim_check(optim, site, name) || wk__error_pending()) return NULL;
    if (!closure) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: the closure is NULL", name);
        return NULL;
    }
    const uint64_t pin = wk__handle_pin(&optim->handle); /* the closure may free it */
    if (!pin) return NULL;
    wk__optim *of = wk__optim_of(optim);
    const wk__closure call = {site, closure, user};
    wk_tensor *loss = wk__closure_call(&call);
    const bool fine = loss && (of->rule->search ? of->rule->search(of, &call, loss) : take_step(site, name, of));
    if (!fine) let_go(loss);
    wk__guard_close(pin);
    flush_at_the_end_of_the_scope();
    return fine ? loss : NULL;
}
