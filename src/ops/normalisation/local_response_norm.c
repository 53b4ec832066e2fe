/* SPDX-License-Identifier: Apache-2.0 */
/* local_response_norm: y = x / d^beta, d = k + scale sum of x^2 over a window of adjacent channels, scale = alpha /
 * size. The node keeps d, which is its second result: with w the gradient of y,
 *
 *     gradient of d   e = -beta w x d^(-beta - 1), plus the gradient that arrives for d
 *     gradient of x   w / d^beta + 2 scale x (sum of e over the mirrored window) */
#include "base/integers.h"
#include "ops/reduce/reduction.h"
#include <wick/shape.h>

/* Returns the sums over the channels from `before` channels before each one to `after` behind it. */
static wk_tensor *window_sum(wk_tensor *x, int64_t before, int64_t after)
{
    const wk_site site = {0};
    if (!x) return NULL;
    const int ndim = wk__body_of(x)->ndim;
    const int64_t others = wk__max_i64(wk__body_of(x)->shape[1] - 1, 0), last = ndim;
    before = wk__min_i64(before, others);
    after = wk__min_i64(after, others);
    int64_t pad[2 * WK__MAX_DIMS] = {0}; /* the last dimension first */
    pad[2 * (ndim - 2)] = before;
    pad[2 * (ndim - 2) + 1] = after;
    wk_tensor *wide = wk_pad_at(site, x, pad, 2 * (ndim - 1), NULL);
    return wk_sum_at(site, wk_unfold_at(site, wide, 1, before + after + 1, 1), &last, 1, NULL);
}

static bool check_input(wk_site site, wk_tensor *x, int64_t size)
{
    const wk__op *op = &wk__op_local_response_norm;
    if (!wk__check_float(op, site, x)) return false;
    const int ndim = wk__body_of(x)->ndim;
    if (ndim < 3 || ndim == WK__MAX_DIMS) {
        wk__op_error(op, site, WK_ERR_SHAPE, &x, "expected 3 to %d dimensions, (N, C, ...), got $a", WK__MAX_DIMS - 1);
        return false;
    }
    if (size >= 1) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: size must be at least 1, got %lld", op->name, (long long)size);
    return false;
}

wk_tensor *wk_local_response_norm_at(wk_site site, wk_tensor *x, int64_t size, double alpha, double beta, double k)
{
    wk__compose c;
    wk_tensor *out[2] = {NULL};
    if (!wk__compose_begin(&c, &wk__op_local_response_norm, site, &x, 1)) return NULL;
    if (check_input(site, x, size)) {
        wk_tensor *wide = wk__to_opmath(x), *sum = window_sum(wk_mul(wide, wide), size / 2, (size - 1) / 2);
        out[1] = wk_add(wk_mul(sum, alpha / (double)size), k);
        out[0] = wk__cast_result(wk_div(wide, wk_pow(out[1], beta)), wk__body_of(x)->dtype);
    }
    const wk__attr attr = wk__local_response_norm_attr(
        (wk__local_response_norm_attributes){.size = size, .scale = size ? alpha / (double)size : 0, .beta = beta});
    if (!wk__compose_end_n(&c, out, 2, &attr)) return NULL;
    wk__handle_release(&out[1]->handle, site);
    return out[0];
}

static void gradient(wk__grad_ctx *g)
{
    const wk__local_response_norm_attributes a = wk__local_response_norm_attributes_of(g->attr);
    wk_tensor *x = wk__saved(g, 0), *d = wk__saved(g, WK__SAVED_OUT + 1), *inner = g->out[1], *direct = NULL;
    if (g->out[0]) {
        direct = wk_div(g->out[0], wk_pow(d, a.beta));
        wk_tensor *through = wk_mul(wk_div(wk_mul(direct, x), d), -a.beta);
        inner = inner ? wk_add(inner, through) : through;
    }
    wk_tensor *windows = window_sum(inner, (a.size - 1) / 2, a.size / 2);
    wk_tensor *share = wk_mul(wk_mul(x, windows), 2 * a.scale);
    g->in[0] = direct ? wk_add(direct, share) : share;
}

const wk__op wk__op_local_response_norm = {
    .gradient = gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_OUT_1},
    WK__SIGNATURE_local_response_norm,
};
