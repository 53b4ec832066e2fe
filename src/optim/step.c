/* SPDX-License-Identifier: Apache-2.0 */
/* wk_optim_step and wk_optim_step_closure. A step updates all parameters or none: prepare_group() makes inputs
 * recordable and allocates state, so that only the updates themselves can fail; update_all() records them as one
 * transaction and rolls back on error. */
#include "autograd/node.h"
#include "base/alloc.h"
#include "engine/op_queue.h"
#include "tensor/call_scope.h"
#include "optim.h"
#include <string.h>
#include <wick/autograd.h>

/* ---- state ------------------------------------------------------------------------------------------------------- */

wk_tensor *wk__optim_gradient(const wk__param_state *t)
{
    return wk_requires_grad(t->parameter) ? wk_grad_of(t->parameter) : NULL;
}

static wk_tensor *new_state(const wk__optim_algorithm *rule, const void *options, int state, const wk__body *like)
{
    wk_tensor_options of = {
        .size = sizeof of, .dtype = like->dtype == WK_F64 ? WK_F64 : WK_F32, .device = like->storage->device->id};
    const double first = rule->initial_state ? rule->initial_state(options, state) : 0;
    return wk_full_f64_at((wk_site){0}, like->shape, like->ndim, first, &of);
}

/* Creates the state of a parameter at its first step, or copies it to the device and dtype that the parameter got. */
static bool ensure_states(const wk__optim_algorithm *rule, const wk__param_group *group, wk__param_state *t)
{
    const wk__body *body = wk__body_of(t->parameter);
    const wk_dtype dtype = body->dtype == WK_F64 ? WK_F64 : WK_F32;
    for (int s = 0; s < group->states_per_param; s++) {
        wk_tensor *state = t->state[s];
        const wk__body *old = state ? wk__body_of(state) : NULL;
        if (old && old->storage->device == body->storage->device && old->dtype == dtype) continue;
        wk_tensor *made =
            old ? wk_to_at((wk_site){0}, wk_to_dtype_at((wk_site){0}, state, dtype), body->storage->device->id)
                : new_state(rule, group->options, s, body);
        if (!made || !wk__materialize(made, (wk_site){0})) return false;
        if (state)
            wk__rebind_storage(state, made);
        else
            t->state[s] = wk__handle_adopt(made);
    }
    return true;
}

/* Makes everything that a step reads recordable and allocates its state. Afterwards only the updates can fail. */
static bool prepare_group(wk_site site, const wk__optim_algorithm *rule, const wk__param_group *group)
{
    wk_context *context = wk__context();
    for (int64_t k = 0; k < group->count; k++) {
        wk__param_state *t = &group->item[k];
        wk_tensor *grad = wk__optim_gradient(t);
        if (!grad) continue;
        if (!wk__prepare_operand(context, t->parameter, site) || !wk__prepare_operand(context, grad, site))
            return false;
        if (!ensure_states(rule, group, t)) return false;
        for (int s = 0; s < group->states_per_param; s++)
            if (!wk__prepare_operand(context, t->state[s], site)) return false;
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

/* Savepoints of all parameters and of their state, taken before a step. */
typedef struct step_transaction {
    const wk__optim *optim;
    wk__savepoint *before;
    int64_t count;
} step_transaction;

/* Calls visit for each parameter that has a gradient, until a call returns false. */
static bool for_each_param(step_transaction *step, bool (*visit)(struct step_transaction *step,
                                                                 const wk__param_group *group, wk__param_state *t))
{
    for (int64_t g = 0; g < step->optim->groups; g++) {
        const wk__param_group *group = &step->optim->group[g];
        for (int64_t k = 0; k < group->count; k++)
            if (wk__optim_gradient(&group->item[k]) && !visit(step, group, &group->item[k])) return false;
    }
    return true;
}

static bool last_step_failed(const wk__param_state *t)
{
    return t->last_state_value && t->last_state_value->state == WK__STORED && t->last_state_value->rolled_back;
}

int64_t wk__optim_completed_steps(const wk__param_state *t)
{
    return t->steps - last_step_failed(t);
}

const double *wk__optim_completed_numbers(const wk__param_state *t)
{
    return last_step_failed(t) ? t->number_before : t->number;
}

/* Counts this step, and not the previous one if that has failed. Drops the reference to the previous step's value, so
 * that this step may write in place. */
static void advance_step_count(wk__param_state *t)
{
    double number[WK__OPTIM_NUMBERS];
    memcpy(number, wk__optim_completed_numbers(t), sizeof number);
    memcpy(t->number, number, sizeof number);
    memcpy(t->number_before, number, sizeof number);
    t->steps = wk__optim_completed_steps(t) + 1;
    if (!t->last_state_value) return;
    wk__value_drop(t->last_state_value);
    t->last_state_value = NULL;
}

static bool snapshot_param(step_transaction *step, const wk__param_group *group, wk__param_state *t)
{
    advance_step_count(t);
    wk__savepoint_take(&step->before[step->count++], t->parameter);
    for (int s = 0; s < group->states_per_param; s++) wk__savepoint_take(&step->before[step->count++], t->state[s]);
    return true;
}

static bool update(step_transaction *step, const wk__param_group *group, wk__param_state *t)
{
    return step->optim->rule->update(group->options, t, wk__optim_gradient(t));
}

/* Keeps a reference to the new value of the first state, by which the outcome of the step is known. */
static bool hold_new_state(step_transaction *step, const wk__param_group *group, wk__param_state *t)
{
    (void)step;
    if (group->states_per_param == 0) return true; /* without state, steps do not matter */
    t->last_state_value = wk__body_of(t->state[0])->storage->value;
    wk__value_hold(t->last_state_value);
    return true;
}

static bool revert_step_count(step_transaction *step, const wk__param_group *group, wk__param_state *t)
{
    (void)step, (void)group;
    t->steps--;
    memcpy(t->number, t->number_before, sizeof t->number);
    return true;
}

/* Updates all parameters or none: records all updates before any of them runs. */
static bool update_all(wk_site site, const char *name, const wk__optim *optim)
{
    int64_t most = 0;
    for (int64_t g = 0; g < optim->groups; g++) most += optim->group[g].count * (1 + optim->group[g].states_per_param);
    step_transaction step = {.optim = optim, .before = wk__alloc_zero((size_t)most, sizeof *step.before)};
    if (!step.before) {
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", name);
        return false;
    }
    wk_context *context = wk__context();
    wk__transaction_begin(context);
    for_each_param(&step, snapshot_param);
    bool fine = for_each_param(&step, update);
    for_each_param(&step, fine ? hold_new_state : revert_step_count);
    for (int64_t k = step.count; k-- > 0;) wk__savepoint_end(&step.before[k], fine);
    wk__free(step.before);
    wk__transaction_end(context);
    return fine;
}

static bool take_step(wk_site site, const char *name, const wk__optim *optim)
{
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALL, name, site, WK__GRAD_OFF)) return false;
    const bool fine = prepare(site, optim) && update_all(site, name, optim);
    wk__call_end(&c, NULL, 0);
    return fine;
}

/* Makes the enclosing scope flush recorded work when it closes. */
static void flush_when_scope_closes(void)
{
    const wk_context *context = wk__context();
    if (context->scope >= 0) context->guard[context->scope].after = wk__flush;
}

wk_code wk_optim_step_at(wk_site site, wk_optim *optim)
{
    if (!wk__optim_check(optim, site, "optim_step") || wk__error_pending()) return wk_error_code();
    const wk__optim *of = wk__optim_of(optim);
    if (of->rule->step_with_closure) {
        wk__error_set(
            site, WK_ERR_STATE,
            "optim_step: %s evaluates the loss several times per step; use wk_optim_step_closure(optim, closure, "
            "user), whose closure zeroes the gradients, computes the loss, calls wk_backward and returns the loss",
            wk__optim_algorithm_name(of->rule));
        return wk_error_code();
    }
    const bool fine = take_step(site, "optim_step", of);
    flush_when_scope_closes();
    return fine ? WK_OK : wk_error_code();
}

/* ---- with a closure ---------------------------------------------------------------------------------------------- */

static bool check_loss(wk_site site, wk_tensor *loss)
{
    if (wk__error_pending() || !wk__check_tensor(loss, site, "optim_step_closure", "the result of the closure"))
        return false;
    if (wk_numel(loss) == 1 && wk__is_float(wk_dtype_of(loss))) return true;
    wk__error_set(site, WK_ERR_SHAPE,
                  "optim_step_closure: the closure must return the loss, one float; got %lld elements of %s",
                  (long long)wk_numel(loss), wk_dtype_str(wk_dtype_of(loss)));
    return false;
}

/* Drops the caller's reference to the closure's result, which exists only without a scope. */
static void release_loss(wk_tensor *loss)
{
    if (wk__is_tensor(loss) && wk__context()->scope < 0) wk__handle_release(&loss->handle, (wk_site){0});
}

wk_tensor *wk__closure_call(const wk__closure *closure)
{
    char name[120];
    wk__call_scope c;
    const wk_site site = wk__site(closure->site);
    snprintf(name, sizeof name, "the closure of optim_step_closure, called at %.50s:%d", site.file ? site.file : "?",
             (int)site.line);
    if (!wk__call_begin(&c, WK__FRAME_CALLBACK, name, site, WK__GRAD_ON)) return NULL;
    wk_tensor *loss = closure->call(closure->user);
    wk__call_end(&c, &loss, 1);
    if (check_loss(site, loss)) return loss;
    release_loss(loss);
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
    const bool fine = loss && (of->rule->step_with_closure ? of->rule->step_with_closure(of, &call, loss)
                                                           : take_step(site, name, of));
    if (!fine) release_loss(loss);
    wk__guard_close(pin);
    flush_when_scope_closes();
    return fine ? loss : NULL;
}
