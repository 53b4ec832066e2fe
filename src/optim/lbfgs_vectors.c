/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of L-BFGS: the state kept between steps, the gradient of all parameters as one vector, and the direction
 * computed from both. */
#include "base/alloc.h"
#include "lbfgs.h"
#include <string.h>
#include <wick/autograd.h>
#include <wick/matmul.h>
#include <wick/pointwise.h>
#include <wick/reduce.h>
#include <wick/shape.h>
#include <wick/tensor.h>

typedef wk__lbfgs_state memory;
typedef wk__lbfgs_step step;

/* ---- state ------------------------------------------------------------------------------------------------------- */

void wk__lbfgs_set_ref(wk_tensor **slot, wk_tensor *x)
{
    if (x) wk__handle_hold(&x->handle);
    if (*slot) wk__handle_drop(&(*slot)->handle);
    *slot = x;
}

void wk__lbfgs_free_state(memory *m)
{
    for (int64_t k = 0; k < m->pairs; k++) {
        wk__lbfgs_set_ref(&m->pair[k].grad_diff, NULL);
        wk__lbfgs_set_ref(&m->pair[k].param_diff, NULL);
    }
    wk__lbfgs_set_ref(&m->direction, NULL);
    wk__lbfgs_set_ref(&m->gradient, NULL);
    wk__free(m->pair);
}

/* Makes *slot refer to x, on the device of the step. */
static bool move_ref_to_device(const step *s, wk_tensor **slot, wk_tensor *x)
{
    wk_tensor *there = x ? wk_to_at((wk_site){0}, x, s->device) : NULL;
    wk__lbfgs_set_ref(slot, there);
    return there || !x;
}

/* Appends a pair without tensors. NULL on error. */
static wk__lbfgs_pair *append(memory *m, double share)
{
    if (!wk__grow(&m->pair, &m->capacity, m->pairs + 1, sizeof *m->pair)) {
        wk__error_set((wk_site){0}, WK_ERR_MEMORY, "optim_step_closure: out of host memory");
        return NULL;
    }
    m->pair[m->pairs] = (wk__lbfgs_pair){.rho = share};
    return &m->pair[m->pairs++];
}

bool wk__lbfgs_copy_state(step *s)
{
    const memory *last = s->optim->shared_state;
    memory *m = &s->next;
    m->length = last->length;
    m->h_diag = last->h_diag;
    m->iterations = last->iterations;
    if (!move_ref_to_device(s, &m->direction, last->direction) || !move_ref_to_device(s, &m->gradient, last->gradient))
        return false;
    for (int64_t k = 0; k < last->pairs; k++) {
        wk__lbfgs_pair *pair = append(m, last->pair[k].rho);
        if (!pair || !move_ref_to_device(s, &pair->grad_diff, last->pair[k].grad_diff) ||
            !move_ref_to_device(s, &pair->param_diff, last->pair[k].param_diff))
            return false;
    }
    return true;
}

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

bool wk__lbfgs_item(wk_tensor *x, double *number)
{
    *number = x ? wk_item_at((wk_site){0}, x) : (double)NAN;
    return x && !wk__error_pending();
}

bool wk__lbfgs_max_abs(wk_tensor *x, double *number)
{
    return wk__lbfgs_item(wk_amax_at((wk_site){0}, wk_abs_at((wk_site){0}, x), NULL, -1, NULL), number);
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

bool wk__lbfgs_add_direction(const step *s, double length)
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
        if (wk_requires_grad(p) && !wk__optim_axpy_(p, part, length)) return false;
    }
    return true;
}

/* ---- directions -------------------------------------------------------------------------------------------------- */

/* Appends the change of the gradient over the last step, unless the curvature is not positive. */
static bool append_curvature_pair(step *s, wk_tensor *gradient)
{
    memory *m = &s->next;
    wk_tensor *change = wk_sub(gradient, m->gradient), *way = wk_mul(m->direction, m->length);
    double curvature, square;
    if (!wk__lbfgs_item(wk_dot(change, way), &curvature) || !wk__lbfgs_item(wk_dot(change, change), &square))
        return false;
    if (!(curvature > 1e-10)) return true; /* as in PyTorch */
    if (m->pairs == s->o.history_size) {
        wk__lbfgs_set_ref(&m->pair[0].grad_diff, NULL);
        wk__lbfgs_set_ref(&m->pair[0].param_diff, NULL);
        m->pairs--;
        memmove(m->pair, m->pair + 1, (size_t)m->pairs * sizeof *m->pair);
    }
    wk__lbfgs_pair *pair = append(m, 1 / curvature);
    if (!pair) return false;
    wk__lbfgs_set_ref(&pair->grad_diff, change);
    wk__lbfgs_set_ref(&pair->param_diff, way);
    m->h_diag = curvature / square;
    return true;
}

/* Returns -H g, computed by the two-loop recursion: Nocedal, Wright, algorithm 7.4. */
static wk_tensor *two_loop_recursion(const memory *m, wk_tensor *gradient, wk_tensor **weight)
{
    wk_tensor *q = wk_neg(gradient);
    for (int64_t k = m->pairs; k-- > 0 && q;) {
        weight[k] = wk_mul(wk_dot(m->pair[k].param_diff, q), m->pair[k].rho);
        q = wk_sub(q, wk_mul(m->pair[k].grad_diff, weight[k]));
    }
    q = wk_mul(q, m->h_diag);
    for (int64_t k = 0; k < m->pairs && q; k++) {
        wk_tensor *other = wk_mul(wk_dot(m->pair[k].grad_diff, q), m->pair[k].rho);
        q = wk_add(q, wk_mul(m->pair[k].param_diff, wk_sub(weight[k], other)));
    }
    return q;
}

bool wk__lbfgs_choose_direction(step *s, wk_tensor *gradient)
{
    memory *m = &s->next;
    if (m->iterations++ == 0) {
        m->h_diag = 1;
        wk__lbfgs_set_ref(&m->direction, wk_neg(gradient));
        return m->direction != NULL;
    }
    if (!append_curvature_pair(s, gradient)) return false;
    wk_tensor **weight = wk__alloc_zero((size_t)m->pairs + 1, sizeof *weight);
    wk_tensor *direction = weight ? two_loop_recursion(m, gradient, weight) : NULL;
    wk__free(weight);
    if (!weight) wk__error_set((wk_site){0}, WK_ERR_MEMORY, "optim_step_closure: out of host memory");
    wk__lbfgs_set_ref(&m->direction, direction);
    return direction != NULL;
}
