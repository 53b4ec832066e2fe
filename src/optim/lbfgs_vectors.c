/* SPDX-License-Identifier: Apache-2.0 */
/* The vectors of lbfgs: what one step leaves to the next, the gradient of all parameters, and the direction that both
 * give. */
#include "../base/alloc.h"
#include "lbfgs.h"
#include <string.h>
#include <wick/autograd.h>
#include <wick/matmul.h>
#include <wick/pointwise.h>
#include <wick/reduce.h>
#include <wick/shape.h>
#include <wick/tensor.h>

typedef wk__lbfgs_memory memory;
typedef wk__lbfgs_step step;

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

void wk__lbfgs_keep(wk_tensor **slot, wk_tensor *x)
{
    if (x) wk__handle_hold(&x->handle);
    if (*slot) wk__handle_drop(&(*slot)->handle);
    *slot = x;
}

void wk__lbfgs_end_memory(memory *m)
{
    for (int64_t k = 0; k < m->pairs; k++) {
        wk__lbfgs_keep(&m->pair[k].change, NULL);
        wk__lbfgs_keep(&m->pair[k].step, NULL);
    }
    wk__lbfgs_keep(&m->direction, NULL);
    wk__lbfgs_keep(&m->gradient, NULL);
    wk__free(m->pair);
}

/* *slot is x where the step computes. */
static bool bring(const step *s, wk_tensor **slot, wk_tensor *x)
{
    wk_tensor *there = x ? wk_to_at((wk_site){0}, x, s->device) : NULL;
    wk__lbfgs_keep(slot, there);
    return there || !x;
}

/* NULL with the error recorded. */
static wk__lbfgs_pair *append(memory *m, double share)
{
    if (!wk__grow(&m->pair, &m->capacity, m->pairs + 1, sizeof *m->pair)) {
        wk__error_set((wk_site){0}, WK_ERR_MEMORY, "optim_step_closure: out of host memory");
        return NULL;
    }
    m->pair[m->pairs] = (wk__lbfgs_pair){.share = share};
    return &m->pair[m->pairs++];
}

bool wk__lbfgs_copy_memory(step *s)
{
    const memory *last = s->optim->memory;
    memory *m = &s->next;
    m->length = last->length;
    m->scale = last->scale;
    m->iterations = last->iterations;
    if (!bring(s, &m->direction, last->direction) || !bring(s, &m->gradient, last->gradient)) return false;
    for (int64_t k = 0; k < last->pairs; k++) {
        wk__lbfgs_pair *pair = append(m, last->pair[k].share);
        if (!pair || !bring(s, &pair->change, last->pair[k].change) || !bring(s, &pair->step, last->pair[k].step))
            return false;
    }
    return true;
}

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

bool wk__lbfgs_number(wk_tensor *x, double *number)
{
    *number = x ? wk_item_at((wk_site){0}, x) : (double)NAN;
    return x && !wk__error_pending();
}

bool wk__lbfgs_greatest(wk_tensor *x, double *number)
{
    return wk__lbfgs_number(wk_amax_at((wk_site){0}, wk_abs_at((wk_site){0}, x), NULL, -1, NULL), number);
}

wk_tensor *wk__lbfgs_gradient(const step *s)
{
    static const int64_t flat[] = {-1};
    for (int64_t k = 0; k < s->group->count; k++) {
        wk_tensor *grad = wk__optim_gradient(&s->group->item[k]);
        if (!grad) grad = wk_zeros_like_at((wk_site){0}, s->group->item[k].parameter, NULL);
        grad = wk_to_at((wk_site){0}, wk_to_dtype_at((wk_site){0}, grad, s->dtype), s->device);
        s->part[k] = wk_reshape_at((wk_site){0}, grad, flat, 1);
        if (!s->part[k]) return NULL;
    }
    wk_tensor *all = wk_cat_at((wk_site){0}, s->part, (int)s->group->count, 0);
    return all && s->o.maximize ? wk_neg_at((wk_site){0}, all) : all;
}

bool wk__lbfgs_move(const step *s, double length)
{
    int64_t begin = 0;
    for (int64_t k = 0; k < s->group->count; k++) {
        wk_tensor *p = s->group->item[k].parameter;
        const wk__body *body = wk__body_of(p);
        const int64_t count = wk__body_numel(body);
        wk_tensor *part = wk_narrow_at((wk_site){0}, s->next.direction, 0, begin, count);
        part = wk_to_at((wk_site){0}, wk_reshape_at((wk_site){0}, part, body->shape, body->ndim), wk_device_of(p));
        begin += count;
        if (!part) return false;
        if (wk_requires_grad(p) && !wk__optim_add_to(p, part, length)) return false;
    }
    return true;
}

/* ---- directions -------------------------------------------------------------------------------------------------- */

/* Remembers how the gradient changed along the last step, unless the curvature there was not positive. */
static bool learn(step *s, wk_tensor *gradient)
{
    memory *m = &s->next;
    wk_tensor *change = wk_sub(gradient, m->gradient), *way = wk_mul(m->direction, m->length);
    double curvature, square;
    if (!wk__lbfgs_number(wk_dot(change, way), &curvature) || !wk__lbfgs_number(wk_dot(change, change), &square))
        return false;
    if (!(curvature > 1e-10)) return true; /* as PyTorch */
    if (m->pairs == s->o.history_size) {
        wk__lbfgs_keep(&m->pair[0].change, NULL);
        wk__lbfgs_keep(&m->pair[0].step, NULL);
        m->pairs--;
        memmove(m->pair, m->pair + 1, (size_t)m->pairs * sizeof *m->pair);
    }
    wk__lbfgs_pair *pair = append(m, 1 / curvature);
    if (!pair) return false;
    wk__lbfgs_keep(&pair->change, change);
    wk__lbfgs_keep(&pair->step, way);
    m->scale = curvature / square;
    return true;
}

/* -H g by the two loops over the pairs: algorithm 7.4. */
static wk_tensor *descent(const memory *m, wk_tensor *gradient, wk_tensor **weight)
{
    wk_tensor *q = wk_neg(gradient);
    for (int64_t k = m->pairs; k-- > 0 && q;) {
        weight[k] = wk_mul(wk_dot(m->pair[k].step, q), m->pair[k].share);
        q = wk_sub(q, wk_mul(m->pair[k].change, weight[k]));
    }
    q = wk_mul(q, m->scale);
    for (int64_t k = 0; k < m->pairs && q; k++) {
        wk_tensor *other = wk_mul(wk_dot(m->pair[k].change, q), m->pair[k].share);
        q = wk_add(q, wk_mul(m->pair[k].step, wk_sub(weight[k], other)));
    }
    return q;
}

bool wk__lbfgs_choose_direction(step *s, wk_tensor *gradient)
{
    memory *m = &s->next;
    if (m->iterations++ == 0) {
        m->scale = 1;
        wk__lbfgs_keep(&m->direction, wk_neg(gradient));
        return m->direction != NULL;
    }
    if (!learn(s, gradient)) return false;
    wk_tensor **weight = wk__alloc_zero((size_t)m->pairs + 1, sizeof *weight);
    wk_tensor *direction = weight ? descent(m, gradient, weight) : NULL;
    wk__free(weight);
    if (!weight) wk__error_set((wk_site){0}, WK_ERR_MEMORY, "optim_step_closure: out of host memory");
    wk__lbfgs_keep(&m->direction, direction);
    return direction != NULL;
}
