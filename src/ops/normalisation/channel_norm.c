/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of ops that normalise channels (channel_norm.h): checks, running statistics, the result. */
#include "channel_norm.h"
#include <string.h>
#include <wick/shape.h>

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* Checks that a tensor of one value per channel is a live floating tensor of the right shape; NULL is valid. */
static bool check_vector(const wk__channel_norm *c, wk_tensor *vector, const char *name)
{
    if (!vector) return true;
    if (!wk__check_tensor(vector, c->site, c->op->name, name)) return false;
    const wk__body *body = wk__body_of(vector), *x = wk__body_of(c->x);
    wk_tensor *const both[] = {c->x, vector};
    if (!wk__is_float(body->dtype)) {
        wk__op_error(c->op, c->site, WK_ERR_DTYPE, both, "%s must be floating-point, got $b", name);
        return false;
    }
    if (body->ndim == 1 && body->shape[0] == x->shape[1]) return true;
    wk__op_error(c->op, c->site, WK_ERR_SHAPE, both, "%s must have the shape (%lld) of the channels of $a, got $b",
                 name, (long long)x->shape[1]);
    return false;
}

static bool check_running(const wk__channel_norm *c, wk_tensor *running, const char *name)
{
    if (!check_vector(c, running, name)) return false;
    if (!running || !c->training || !wk__requires_grad(running)) return true;
    wk__error_set(c->site, WK_ERR_STATE, "%s: %s requires grad, but training changes it; use wk_detach on it",
                  c->op->name, name);
    return false;
}

bool wk__channel_norm_check(const wk__channel_norm *c)
{
    if (!wk__check_float(c->op, c->site, c->x)) return false;
    if (!(c->eps >= 0)) {
        wk__error_set(c->site, WK_ERR_ARGUMENT, "%s: eps must be at least 0, got %g", c->op->name, c->eps);
        return false;
    }
    if (!c->training && !(c->running_mean && c->running_var)) {
        wk__error_set(c->site, WK_ERR_ARGUMENT,
                      "%s: %s is NULL, but the result depends on it; pass both, or use the statistics of the input",
                      c->op->name, c->running_mean ? "running_var" : "running_mean");
        return false;
    }
    return check_running(c, c->running_mean, "running_mean") && check_running(c, c->running_var, "running_var") &&
           check_vector(c, c->weight, "weight") && check_vector(c, c->bias, "bias");
}

/* ---- running statistics ------------------------------------------------------------------------------------------ */

/* Returns a vector of one value per channel as a view with ndim dimensions, of which the channels are the second. */
static wk_tensor *per_channel(wk_tensor *vector, int ndim)
{
    const wk__body *body = wk__body_of(vector);
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
    for (int d = 0; d < ndim; d++) {
        shape[d] = d == 1 ? body->shape[0] : 1;
        stride[d] = d == 1 ? body->stride[0] : 0;
    }
    return wk__tensor_view(wk__context(), vector, body->offset, ndim, shape, stride);
}

/* Returns a statistic with one value per channel: the mean over samples that have their own. */
static wk_tensor *channel_means(wk_site site, wk_tensor *statistic)
{
    const int64_t samples = wk__body_of(statistic)->shape[0];
    if (samples == 1) return statistic;
    wk_tensor *sum = wk__reduce_sum(site, statistic, 1, true);
    return sum ? wk_div(sum, (double)samples) : NULL;
}

/* Overwrites vector by (1 - momentum) vector + momentum value. It is written through a view with the shape of the
 * statistic, so that the kernel of the statistic writes it. */
static bool update(const wk__channel_norm *c, wk_tensor *vector, wk_tensor *statistic)
{
    if (!vector) return true;
    wk_tensor *value = statistic ? channel_means(c->site, statistic) : NULL;
    wk_tensor *running = value ? per_channel(vector, wk__body_of(value)->ndim) : NULL;
    if (!running) return false;
    wk_tensor *mixed = c->factor ? wk_add(wk_mul(running, wk_sub(1.0, c->factor)), wk_mul(value, c->factor))
                                 : wk_add(wk_mul(running, 1 - c->momentum), wk_mul(value, c->momentum));
    return mixed && wk__assign(c->op, c->site, running, wk__tensor_arg(mixed));
}

static bool update_running(const wk__channel_norm *c, wk__moments m)
{
    const double n = (double)wk__reduced_numel(c->x, c->mask);
    if (!c->running_mean && !c->running_var) return true;
    wk_tensor *unbiased = m.var ? wk_mul(m.var, n / (n - 1)) : NULL;
    return update(c, c->running_mean, m.mean) && update(c, c->running_var, unbiased);
}

/* ---- the result -------------------------------------------------------------------------------------------------- */

/* in: x, mean, scale, and bias if there is one */
static int scaled(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__MUL, wk__emit_binary(e, WK__SUB, in[0], in[1]), in[2]);
}
static int scaled_and_shifted(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__ADD, scaled(e, in), in[3]);
}
static const wk__op scaled_op = {.name = "batch_norm", .expression = scaled, .arity = 3};
static const wk__op shifted_op = {.name = "batch_norm", .expression = scaled_and_shifted, .arity = 4};

static wk_tensor *normalised(const wk__channel_norm *c, wk_tensor *mean, wk_tensor *rstd)
{
    const int ndim = wk__body_of(c->x)->ndim;
    wk_tensor *x = mean && rstd ? wk__to_opmath(c->x) : NULL;
    wk_tensor *scale = c->weight ? wk_mul(rstd, per_channel(c->weight, ndim)) : rstd;
    wk_tensor *bias = c->bias ? per_channel(c->bias, ndim) : NULL;
    if (!x || !scale || (c->bias && !bias)) return NULL;
    const wk__arg args[] = {wk__tensor_arg(x), wk__tensor_arg(mean), wk__tensor_arg(scale), wk__tensor_arg(bias)};
    wk_tensor *out = wk__elementwise(bias ? &shifted_op : &scaled_op, c->site, args, bias ? 4 : 3, NULL);
    return wk__cast_result(out, wk__body_of(c->x)->dtype);
}

/* Returns x as a view whose dimensions 1 and 2 are the groups and the channels of a group. */
static wk_tensor *grouped(wk_tensor *x, int64_t groups)
{
    const wk__body *body = wk__body_of(x);
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
    const int64_t channels = body->shape[1] / groups;
    memcpy(shape + 1, body->shape, sizeof *shape * body->ndim);
    memcpy(stride + 1, body->stride, sizeof *stride * body->ndim);
    shape[0] = body->shape[0], shape[1] = groups, shape[2] = channels;
    stride[0] = body->stride[0], stride[1] = body->stride[1] * channels;
    return wk__tensor_view(wk__context(), x, body->offset, body->ndim + 1, shape, stride);
}

/* Returns a statistic per group, with the dimensions of grouped(x), as one per channel, with those of x. */
static wk_tensor *repeated(const wk__channel_norm *c, wk_tensor *statistic)
{
    if (!statistic) return NULL;
    const wk__body *x = wk__body_of(c->x);
    const int64_t samples = x->shape[0];
    const int64_t wide[] = {samples, c->groups, x->shape[1] / c->groups};
    int64_t shape[WK__MAX_DIMS] = {samples, x->shape[1], 1, 1, 1, 1, 1, 1};
    statistic = wk_reshape_at(c->site, statistic, (int64_t[]){samples, c->groups, 1}, 3);
    statistic = wk_clone_at(c->site, wk_expand_at(c->site, statistic, wide, 3));
    return wk_reshape_at(c->site, statistic, shape, x->ndim);
}

static wk__moments group_statistics(const wk__channel_norm *c)
{
    const uint16_t mask = wk__after_channels(wk__body_of(c->x)->ndim + 1);
    wk_tensor *x = grouped(c->x, c->groups);
    const wk__moments m = x ? wk__moments_of(c->site, x, mask) : (wk__moments){.mean = NULL};
    return (wk__moments){repeated(c, m.mean), repeated(c, m.var)};
}

/* Returns the statistics of the result: of x, or new tensors with the values of the running ones. */
static wk__moments statistics(const wk__channel_norm *c)
{
    if (c->groups) return group_statistics(c);
    if (c->training) return wk__moments_of(c->site, c->x, c->mask);
    const int ndim = wk__body_of(c->x)->ndim;
    const wk_dtype class = wk__compute_class(wk__body_of(c->x)->dtype);
    wk_tensor *mean = wk_clone(per_channel(c->running_mean, ndim));
    return (wk__moments){wk__cast_result(mean, class), wk__cast_result(per_channel(c->running_var, ndim), class)};
}

wk_tensor *wk__channel_norm_call(const wk__channel_norm *c)
{
    wk__compose frame;
    wk_tensor *out[3] = {NULL};
    if (!wk__compose_begin(&frame, c->op, c->site, (wk_tensor *[]){c->x}, 1)) return NULL;
    frame.in[1] = c->weight;
    frame.in[2] = c->bias;
    frame.inputs = 3;
    const wk__moments m = statistics(c);
    out[1] = m.mean;
    out[2] = m.var ? wk_rsqrt(wk_add(m.var, c->eps)) : NULL;
    out[0] = normalised(c, out[1], out[2]);
    if (out[0] && c->training && wk__reduced_numel(c->x, c->mask) > 0 && !update_running(c, m)) out[0] = NULL;
    const wk__attr attr = wk__channel_norm_attr(
        (wk__channel_norm_attributes){.mask = c->mask, .training = c->training, .groups = c->groups});
    if (!wk__compose_end_n(&frame, out, 3, &attr)) return NULL;
    for (int k = 1; k < 3; k++) wk__handle_release(&out[k]->handle, c->site); /* the node references them */
    return out[0];
}
