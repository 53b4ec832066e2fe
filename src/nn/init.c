/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter initialisation, as in torch.nn.init. No call records a graph. The functions do nothing while a call reads
 * the values of a new network from files (initial_off of the frame). */
#include "base/options.h"
#include "tensor/call_scope.h"
#include <math.h>
#include <wick/nn.h>
#include <wick/pointwise.h>

/* Sets x to base * scale + shift, without recording a graph. `base` creates the random numbers. */
static wk_tensor *scaled(wk_site site, const char *op, wk_tensor *x,
                         wk_tensor *(*base)(wk_site, wk_tensor *, const wk_tensor_options *), double scale,
                         double shift)
{
    wk__call_scope c;
    if (wk__context()->frame.initial_off) return x;
    if (!wk__check_tensor(x, site, op, "input") || !wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF))
        return NULL;
    wk_tensor *value = wk_add(wk_mul(base(site, x, NULL), scale), shift);
    bool fine = value && wk_copy__at(site, x, value);
    wk__call_end(&c, NULL, 0);
    return fine ? x : NULL;
}

static wk_tensor *uniform(wk_site site, const char *op, wk_tensor *x, double low, double high)
{
    return scaled(site, op, x, wk_rand_like_at, high - low, low);
}

static wk_tensor *normal(wk_site site, const char *op, wk_tensor *x, double mean, double std)
{
    return scaled(site, op, x, wk_randn_like_at, std, mean);
}

static wk_tensor *constant(wk_site site, const char *op, wk_tensor *x, double value)
{
    wk__call_scope c;
    if (wk__context()->frame.initial_off) return x;
    if (!wk__check_tensor(x, site, op, "input") || !wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF))
        return NULL;
    bool fine = wk_fill__f64_at(site, x, value);
    wk__call_end(&c, NULL, 0);
    return fine ? x : NULL;
}

wk_tensor *wk_init_uniform__at(wk_site site, wk_tensor *x, double low, double high)
{
    if (low <= high) return uniform(site, "init_uniform_", x, low, high);
    wk__error_set(site, WK_ERR_ARGUMENT, "init_uniform_: the range [%g, %g) is empty", low, high);
    return NULL;
}

wk_tensor *wk_init_normal__at(wk_site site, wk_tensor *x, double mean, double std)
{
    if (std >= 0) return normal(site, "init_normal_", x, mean, std);
    wk__error_set(site, WK_ERR_ARGUMENT, "init_normal_: std must be at least 0, got %g", std);
    return NULL;
}

wk_tensor *wk_init_constant__at(wk_site site, wk_tensor *x, double value)
{
    return constant(site, "init_constant_", x, value);
}

wk_tensor *wk_init_zeros__at(wk_site site, wk_tensor *x)
{
    return constant(site, "init_zeros_", x, 0);
}

wk_tensor *wk_init_ones__at(wk_site site, wk_tensor *x)
{
    return constant(site, "init_ones_", x, 1);
}

/* ---- by fan-in and fan-out --------------------------------------------------------------------------------------- */

/* Computes, for a weight (out, in, ...), the inputs of one output and the outputs of one input. */
static bool fans(wk_site site, const char *op, const wk_tensor *x, double *in, double *out)
{
    if (!wk__check_tensor(x, site, op, "input")) return false;
    const wk__body *body = wk__body_of(x);
    if (body->ndim < 2) {
        wk__error_set(site, WK_ERR_SHAPE, "%s: the weight must have at least 2 dimensions (out, in), got %d", op,
                      body->ndim);
        return false;
    }
    double field = 1;
    for (int d = 2; d < body->ndim; d++) field *= (double)body->shape[d];
    *in = (double)body->shape[1] * field;
    *out = (double)body->shape[0] * field;
    return true;
}

/* Returns the standard deviation; 0 for a weight without elements. */
static double std_from_variance(double variance)
{
    return isfinite(variance) ? sqrt(variance) : 0;
}

static bool xavier(wk_site site, const char *op, const wk_tensor *x, const wk_init_options *options, double *std)
{
    double in, out;
    wk_init_options o;
    if (!wk__options(site, op, options, &o) || !fans(site, op, x, &in, &out)) return false;
    *std = wk__option_or(o.gain, 1) * std_from_variance(2 / (in + out));
    return true;
}

static bool kaiming(wk_site site, const char *op, const wk_tensor *x, const wk_init_options *options, double *std)
{
    double in, out;
    wk_init_options o;
    if (!wk__options(site, op, options, &o) || !fans(site, op, x, &in, &out)) return false;
    *std = wk__option_or(o.gain, sqrt(2 / (1 + o.a * o.a))) * std_from_variance(1 / (o.fan_out ? out : in));
    return true;
}

/* Uniform numbers in +-b have the standard deviation b / sqrt(3). */
wk_tensor *wk_init_xavier_uniform__at(wk_site site, wk_tensor *x, const wk_init_options *options)
{
    static const char op[] = "init_xavier_uniform_";
    double std;
    return xavier(site, op, x, options, &std) ? uniform(site, op, x, -sqrt(3) * std, sqrt(3) * std) : NULL;
}

wk_tensor *wk_init_xavier_normal__at(wk_site site, wk_tensor *x, const wk_init_options *options)
{
    static const char op[] = "init_xavier_normal_";
    double std;
    return xavier(site, op, x, options, &std) ? normal(site, op, x, 0, std) : NULL;
}

wk_tensor *wk_init_kaiming_uniform__at(wk_site site, wk_tensor *x, const wk_init_options *options)
{
    static const char op[] = "init_kaiming_uniform_";
    double std;
    return kaiming(site, op, x, options, &std) ? uniform(site, op, x, -sqrt(3) * std, sqrt(3) * std) : NULL;
}

wk_tensor *wk_init_kaiming_normal__at(wk_site site, wk_tensor *x, const wk_init_options *options)
{
    static const char op[] = "init_kaiming_normal_";
    double std;
    return kaiming(site, op, x, options, &std) ? normal(site, op, x, 0, std) : NULL;
}
