/* SPDX-License-Identifier: Apache-2.0 */
/* L-BFGS, as torch.optim.LBFGS has it. A step works on a copy of what the last one left, and remembers what the
 * parameters held: when it fails, or when a handler leaves the closure by longjmp, a guard puts all of that back. */
#include "../base/alloc.h"
#include "lbfgs.h"
#include <string.h>
#include <wick/matmul.h>
#include <wick/pointwise.h>
#include <wick/reduce.h>
#include <wick/tensor.h>

typedef wk_optim_lbfgs_options options;
typedef wk__lbfgs_memory memory;
typedef wk__lbfgs_point point;
typedef wk__lbfgs_step step;

/* ---- options ----------------------------------------------------------------------------------------------------- */

static const wk__setting settings[] = {
    {WK__MEMBER(options, lr), WK__SETTING_NUMBER, 1, 0, INFINITY},
    {WK__MEMBER(options, max_iter), WK__SETTING_WHOLE, 20, 0, 0},
    {WK__MEMBER(options, max_eval), WK__SETTING_WHOLE, 0, 0, 0}, /* goes by max_iter */
    {WK__MEMBER(options, tolerance_grad), WK__SETTING_NUMBER, 1e-7, 0, INFINITY},
    {WK__MEMBER(options, tolerance_change), WK__SETTING_NUMBER, 1e-9, 0, INFINITY},
    {WK__MEMBER(options, history_size), WK__SETTING_WHOLE, 100, 0, 0},
    {WK__MEMBER(options, line_search_fn), WK__SETTING_TEXT, 0, 0, 0},
    {WK__MEMBER(options, maximize), WK__SETTING_FLAG, 0, 0, 0},
};

static bool complete(wk_site site, const char *op, void *given)
{
    static const char wolfe[] = "strong_wolfe";
    options *o = given;
    if (o->max_eval == 0 && __builtin_add_overflow(o->max_iter, o->max_iter / 4, &o->max_eval)) o->max_eval = INT64_MAX;
    if (!o->line_search_fn) return true;
    if (strcmp(o->line_search_fn, wolfe) != 0) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .line_search_fn = \"%.40s\": there is \"%s\", and NULL for none", op,
                      o->line_search_fn, wolfe);
        return false;
    }
    o->line_search_fn = wolfe; /* the program's text may end */
    return true;
}

/* ---- iterations -------------------------------------------------------------------------------------------------- */

/* What is known of the point where the parameters are, once the closure has run there. */
static bool read_point(const step *s, point *p, wk_tensor *loss)
{
    wk_tensor *gradient = wk__lbfgs_gradient(s);
    if (!gradient || !wk__lbfgs_number(loss, &p->loss)) return false;
    if (s->o.maximize) p->loss = -p->loss;
    wk__lbfgs_keep(&p->gradient, gradient);
    return true;
}

bool wk__lbfgs_evaluate(step *s, point *p)
{
    s->evaluations++;
    wk_tensor *loss = wk__closure_call(&s->closure);
    return loss && read_point(s, p, loss);
}

/* The length to go, or to try first. */
static bool choose_length(const step *s, wk_tensor *gradient, double *length)
{
    *length = s->o.lr;
    if (s->next.iterations > 1) return true;
    double sum;
    if (!wk__lbfgs_number(wk_sum(wk_abs(gradient)), &sum)) return false;
    *length = (1 / sum < 1 ? 1 / sum : 1) * s->o.lr;
    return true;
}

/* Goes along the direction; the point NOW becomes where it led, as far as that is asked for. */
static bool go(step *s, bool last)
{
    point *now = &s->at[WK__LBFGS_NOW];
    memory *m = &s->next;
    if (s->o.line_search_fn) {
        if (!wk__lbfgs_strong_wolfe(s, m->length)) return false;
        m->length = now->length;
        return wk__lbfgs_move(s, m->length);
    }
    return wk__lbfgs_move(s, m->length) && (last || wk__lbfgs_evaluate(s, now));
}

/* Is it of no use to go on? */
static bool is_done(const step *s, double loss_before, bool *done)
{
    double slope, change;
    const point *now = &s->at[WK__LBFGS_NOW];
    *done = s->evaluations >= s->o.max_eval;
    if (*done) return true;
    if (!wk__lbfgs_greatest(now->gradient, &slope) || !wk__lbfgs_greatest(s->next.direction, &change)) return false;
    *done = slope <= s->o.tolerance_grad || fabs(s->next.length) * change <= s->o.tolerance_change ||
            fabs(now->loss - loss_before) < s->o.tolerance_change;
    return true;
}

/* One iteration; false with the error recorded. *done: it was the last. */
static bool iterate(step *s, bool last, bool *done)
{
    memory *m = &s->next;
    point *now = &s->at[WK__LBFGS_NOW];
    const double loss_before = now->loss;
    if (!wk__lbfgs_choose_direction(s, now->gradient) || !choose_length(s, now->gradient, &m->length)) return false;
    wk__lbfgs_keep(&m->gradient, now->gradient);
    now->length = 0;
    if (!wk__lbfgs_number(wk_dot(now->gradient, m->direction), &now->slope)) return false;
    *done = now->slope > -s->o.tolerance_change; /* it leads nowhere */
    if (*done) return true;
    if (!go(s, last)) return false;
    *done = last;
    return last || is_done(s, loss_before, done);
}

static bool run(step *s, wk_tensor *loss)
{
    double slope;
    s->evaluations = 1;
    if (!wk__lbfgs_copy_memory(s) || !read_point(s, &s->at[WK__LBFGS_NOW], loss)) return false;
    if (!wk__lbfgs_greatest(s->at[WK__LBFGS_NOW].gradient, &slope)) return false;
    bool fine = true, done = slope <= s->o.tolerance_grad;
    for (int64_t n = 1; fine && !done; n++) {
        wk__inside c;
        if (!wk__inside_begin(&c, NULL, (wk_site){0}, true)) return false;
        fine = iterate(s, n == s->o.max_iter, &done);
        wk__inside_end(&c, NULL, 0);
    }
    for (int64_t k = 0; fine && k < s->group->count; k++)
        fine = wk__materialize(s->group->item[k].parameter, (wk_site){0});
    return fine && !wk__error_pending();
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

static const char name[] = "optim_step_closure";

/* What the parameters held comes back; for graphs that were recorded meanwhile they have changed. */
static void put_back(step *s)
{
    for (int64_t k = s->taken; k-- > 0;) {
        wk__before *before = &s->before[k];
        if (!s->fine && before->storage->value != before->value) {
            wk__storage_changed(before->storage, name, s->closure.site);
            before->changes = before->storage->changes;
        }
        wk__before_end(before, s->fine);
    }
}

/* The guard of a step: also where a handler has left the closure for good. */
static void end(void *object)
{
    step *s = object;
    memory *kept = s->optim->memory;
    put_back(s);
    if (s->fine) {
        const memory last = *kept;
        *kept = s->next;
        s->next = last;
    }
    kept->in_step = false;
    wk__lbfgs_end_memory(&s->next);
    for (int k = 0; k < WK__LBFGS_POINTS; k++) wk__lbfgs_keep(&s->at[k].gradient, NULL);
    wk__free(s->before);
    wk__free(s->part);
    wk__free(s->origin);
    wk__free(s);
}

/* NULL with the error recorded. Its guard is open then. */
static step *begin(wk__optim *optim, const wk__closure *closure, uint64_t *token)
{
    wk__group_of *group = &optim->group[0];
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
    *token = whole ? wk__guard_on(s, end) : 0;
    if (!*token) {
        if (s) end(s);
        wk__error_set(closure->site, WK_ERR_MEMORY, "%s: out of host memory", name);
        return NULL;
    }
    for (; s->taken < group->count; s->taken++) {
        const wk_tensor *p = group->item[s->taken].parameter;
        wk__before_take(&s->before[s->taken], p);
        if (wk_dtype_of(p) == WK_F64) s->dtype = WK_F64;
    }
    return s;
}

/* The program's handler may leave the closure for good: what it hears of otherwise, it hears at the end. */
static bool search(wk__optim *optim, const wk__closure *closure, wk_tensor *loss)
{
    memory *kept = optim->memory ? optim->memory : (optim->memory = wk__alloc_zero(1, sizeof *kept));
    if (!kept || kept->in_step) {
        wk__error_set(closure->site, kept ? WK_ERR_STATE : WK_ERR_MEMORY, "%s: %s", name,
                      kept ? "the closure took a step of the optimiser that had called it" : "out of host memory");
        return false;
    }
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__BUSY, NULL, (wk_site){0});
    uint64_t token;
    wk__inside c;
    step *s = begin(optim, closure, &token);
    bool fine = false;
    if (s) {
        kept->in_step = true;
        if (wk__inside_begin(&c, name, closure->site, true)) {
            fine = s->fine = run(s, loss);
            wk__inside_end(&c, NULL, 0);
        }
        wk__guard_close(token);
    }
    wk__frame_end(context, before);
    return fine;
}

static void forget(void *kept)
{
    wk__lbfgs_end_memory(kept);
    wk__free(kept);
}

static const wk__rule lbfgs = {.name = "optim_lbfgs",
                               .size = sizeof(options),
                               .setting = settings,
                               .settings = sizeof settings / sizeof *settings,
                               .complete = complete,
                               .search = search,
                               .forget = forget,
                               .list = wk__lbfgs_list,
                               .restore = wk__lbfgs_restore};

wk_optim *wk_optim_lbfgs_at(wk_site site, wk_tensors *parameters, const wk_optim_lbfgs_options *given)
{
    return wk__optim_new(site, &lbfgs, parameters, given);
}
