/* SPDX-License-Identifier: Apache-2.0 */
/* L-BFGS, equivalent to torch.optim.LBFGS. A step works on a copy of the state and takes savepoints of the parameters.
 * If it fails, or an error handler leaves the closure by longjmp, a guard restores both. */
#include "base/alloc.h"
#include "tensor/call_scope.h"
#include "lbfgs.h"
#include <string.h>
#include <wick/matmul.h>
#include <wick/pointwise.h>
#include <wick/reduce.h>
#include <wick/tensor.h>

typedef wk_optim_lbfgs_options options;
typedef wk__lbfgs_state memory;
typedef wk__lbfgs_point point;
typedef wk__lbfgs_step step;

/* ---- options ----------------------------------------------------------------------------------------------------- */

static const wk__optim_option settings[] = {
    {WK__OPTION_MEMBER(options, lr), WK__OPTION_FLOAT, 1, 0, INFINITY},
    {WK__OPTION_MEMBER(options, max_iter), WK__OPTION_INT, 20, 0, 0},
    {WK__OPTION_MEMBER(options, max_eval), WK__OPTION_INT, 0, 0, 0}, /* default: from max_iter */
    {WK__OPTION_MEMBER(options, tolerance_grad), WK__OPTION_FLOAT, 1e-7, 0, INFINITY},
    {WK__OPTION_MEMBER(options, tolerance_change), WK__OPTION_FLOAT, 1e-9, 0, INFINITY},
    {WK__OPTION_MEMBER(options, history_size), WK__OPTION_INT, 100, 0, 0},
    {WK__OPTION_MEMBER(options, line_search_fn), WK__OPTION_STRING, 0, 0, 0},
    {WK__OPTION_MEMBER(options, maximize), WK__OPTION_BOOL, 0, 0, 0},
};

static bool complete(wk_site site, const char *op, void *given)
{
    static const char wolfe[] = "strong_wolfe";
    options *o = given;
    if (o->max_eval == 0 && __builtin_add_overflow(o->max_iter, o->max_iter / 4, &o->max_eval)) o->max_eval = INT64_MAX;
    if (!o->line_search_fn) return true;
    if (strcmp(o->line_search_fn, wolfe) != 0) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: unknown .line_search_fn \"%.40s\"; expected \"%s\" or NULL", op,
                      o->line_search_fn, wolfe);
        return false;
    }
    o->line_search_fn = wolfe; /* static; the caller's string may be freed */
    return true;
}

/* ---- iterations -------------------------------------------------------------------------------------------------- */

/* Reads loss and gradient at the present parameters, after the closure has run there. */
static bool read_point(const step *s, point *p, wk_tensor *loss)
{
    wk_tensor *gradient = wk__lbfgs_gradient(s);
    if (!gradient || !wk__lbfgs_item(loss, &p->loss)) return false;
    if (s->o.maximize) p->loss = -p->loss;
    wk__lbfgs_set_ref(&p->gradient, gradient);
    return true;
}

bool wk__lbfgs_evaluate(step *s, point *p)
{
    s->evaluations++;
    wk_tensor *loss = wk__closure_call(&s->closure);
    return loss && read_point(s, p, loss);
}

/* Chooses the step length, or the first length that the line search tries. */
static bool choose_length(const step *s, wk_tensor *gradient, double *length)
{
    *length = s->o.lr;
    if (s->next.iterations > 1) return true;
    double sum;
    if (!wk__lbfgs_item(wk_sum(wk_abs(gradient)), &sum)) return false;
    *length = (1 / sum < 1 ? 1 / sum : 1) * s->o.lr;
    return true;
}

/* Moves along the direction. NOW becomes the new point; without a line search, only if it is needed (not `last`). */
static bool take_iteration_step(step *s, bool last)
{
    point *now = &s->at[WK__LBFGS_NOW];
    memory *m = &s->next;
    if (s->o.line_search_fn) {
        if (!wk__lbfgs_strong_wolfe(s, m->length)) return false;
        m->length = now->length;
        return wk__lbfgs_add_direction(s, m->length);
    }
    return wk__lbfgs_add_direction(s, m->length) && (last || wk__lbfgs_evaluate(s, now));
}

/* Sets *done if further iterations are useless: evaluations are used up, or slope or change is below its tolerance. */
static bool check_convergence(const step *s, double loss_before, bool *done)
{
    double slope, change;
    const point *now = &s->at[WK__LBFGS_NOW];
    *done = s->evaluations >= s->o.max_eval;
    if (*done) return true;
    if (!wk__lbfgs_max_abs(now->gradient, &slope) || !wk__lbfgs_max_abs(s->next.direction, &change)) return false;
    *done = slope <= s->o.tolerance_grad || fabs(s->next.length) * change <= s->o.tolerance_change ||
            fabs(now->loss - loss_before) < s->o.tolerance_change;
    return true;
}

/* Does one iteration. *done: it was the last. False on error. */
static bool iterate(step *s, bool last, bool *done)
{
    memory *m = &s->next;
    point *now = &s->at[WK__LBFGS_NOW];
    const double loss_before = now->loss;
    if (!wk__lbfgs_choose_direction(s, now->gradient) || !choose_length(s, now->gradient, &m->length)) return false;
    wk__lbfgs_set_ref(&m->gradient, now->gradient);
    now->length = 0;
    if (!wk__lbfgs_item(wk_dot(now->gradient, m->direction), &now->slope)) return false;
    *done = now->slope > -s->o.tolerance_change; /* the direction does not descend */
    if (*done) return true;
    if (!take_iteration_step(s, last)) return false;
    *done = last;
    return last || check_convergence(s, loss_before, done);
}

static bool run(step *s, wk_tensor *loss)
{
    double slope;
    s->evaluations = 1;
    if (!wk__lbfgs_copy_state(s) || !read_point(s, &s->at[WK__LBFGS_NOW], loss)) return false;
    if (!wk__lbfgs_max_abs(s->at[WK__LBFGS_NOW].gradient, &slope)) return false;
    bool fine = true, done = slope <= s->o.tolerance_grad;
    for (int64_t n = 1; fine && !done; n++) {
        wk__call_scope c;
        if (!wk__call_begin(&c, WK__FRAME_CALL, NULL, (wk_site){0}, WK__GRAD_OFF)) return false;
        fine = iterate(s, n == s->o.max_iter, &done);
        wk__call_end(&c, NULL, 0);
    }
    for (int64_t k = 0; fine && k < s->group->count; k++)
        fine = wk__materialize(s->group->item[k].parameter, (wk_site){0});
    return fine && !wk__error_pending();
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

static const char name[] = "optim_step_closure";

/* Restores the parameters. For graphs recorded during the step this counts as a change. */
static void rollback_params(step *s)
{
    for (int64_t k = s->taken; k-- > 0;) {
        wk__savepoint *before = &s->before[k];
        if (!s->committed && before->storage->value != before->value) {
            wk__storage_bump_version(before->storage, name, s->closure.site);
            before->changes = before->storage->version_info;
        }
        wk__savepoint_end(before, s->committed);
    }
}

/* Closes the guard of a step, also after a longjmp out of the closure. */
static void close_step(void *object)
{
    step *s = object;
    memory *kept = s->optim->shared_state;
    rollback_params(s);
    if (s->committed) {
        const memory last = *kept;
        *kept = s->next;
        s->next = last;
    }
    kept->in_step = false;
    wk__lbfgs_free_state(&s->next);
    for (int k = 0; k < WK__LBFGS_POINTS; k++) wk__lbfgs_set_ref(&s->at[k].gradient, NULL);
    wk__free(s->before);
    wk__free(s->part);
    wk__free(s->origin);
    wk__free(s);
}

/* Allocates a step and opens its guard. NULL on error. */
static step *begin(wk__optim *optim, const wk__closure *closure, uint64_t *token)
{
    wk__param_group *group = &optim->group[0];
    step *s = wk__alloc_zero(1, sizeof *s);
    if (s) {
        const size_t count = (size_t)group->count;
        *s = (step){.optim = optim,
                    .closure = *closure,
                    .group = group,
                    .before = wk__alloc_zero(count, sizeof *s->before),
                    .part = wk__alloc_zero(count, sizeof *s->part),
                    .origin = wk__alloc_zero(count, sizeof *s->origin),
                    .dtype = WK_F32,
                    .device = wk_device_of(group->item[0].parameter)};
        memcpy(&s->o, group->options, sizeof s->o);
    }
    const bool whole = s && s->before && s->part && s->origin;
    *token = whole ? wk__guard_push_cleanup(s, close_step) : 0;
    if (!*token) {
        if (s) close_step(s);
        wk__error_set(closure->site, WK_ERR_MEMORY, "%s: out of host memory", name);
        return NULL;
    }
    for (; s->taken < group->count; s->taken++) {
        const wk_tensor *p = group->item[s->taken].parameter;
        wk__savepoint_take(&s->before[s->taken], p);
        if (wk_dtype_of(p) == WK_F64) s->dtype = WK_F64;
    }
    return s;
}

/* Does a step. Runs as a critical section, so that the error handler, which may longjmp out of the closure, gets other
 * errors only at the end. */
static bool step_with_closure(wk__optim *optim, const wk__closure *closure, wk_tensor *loss)
{
    memory *kept = optim->shared_state ? optim->shared_state : (optim->shared_state = wk__alloc_zero(1, sizeof *kept));
    if (!kept || kept->in_step) {
        wk__error_set(closure->site, kept ? WK_ERR_STATE : WK_ERR_MEMORY, "%s: %s", name,
                      kept ? "the closure called a step of its own optimiser" : "out of host memory");
        return false;
    }
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    uint64_t token;
    wk__call_scope c;
    step *s = begin(optim, closure, &token);
    bool fine = false;
    if (s) {
        kept->in_step = true;
        if (wk__call_begin(&c, WK__FRAME_CALL, name, closure->site, WK__GRAD_OFF)) {
            fine = s->committed = run(s, loss);
            wk__call_end(&c, NULL, 0);
        }
        wk__guard_close(token);
    }
    wk__frame_end(context, before);
    return fine;
}

static void free_shared_state(void *kept)
{
    wk__lbfgs_free_state(kept);
    wk__free(kept);
}

static const wk__optim_algorithm lbfgs = {.name = "optim_lbfgs",
                                          .size = sizeof(options),
                                          .option = settings,
                                          .option_count = sizeof settings / sizeof *settings,
                                          .validate_options = complete,
                                          .step_with_closure = step_with_closure,
                                          .free_shared_state = free_shared_state,
                                          .save_state = wk__lbfgs_save_state,
                                          .load_state = wk__lbfgs_load_state};

wk_optim *wk_optim_lbfgs_at(wk_site site, wk_tensors *parameters, const wk_optim_lbfgs_options *given)
{
    return wk__optim_new(site, &lbfgs, parameters, given);
}
