/* SPDX-License-Identifier: Apache-2.0 */
/* gelu: x times the probability that a standard normal variable is below x; exact, or approximated with tanh. */
#include "ops/core/entries.h"
#include <math.h>
#include <string.h>

static const double CUBE = 0.044715;
static const double INNER = M_2_SQRTPI * M_SQRT1_2; /* sqrt(2 / pi) */

/* ---- expressions ------------------------------------------------------------------------------------------------- */

static int half_x_and(wk__emit *e, int x, int curve)
{
    int half = wk__emit_binary(e, WK__MUL, x, wk__emit_constant(e, 0.5));
    return wk__emit_binary(e, WK__MUL, half, wk__emit_binary(e, WK__ADD, curve, wk__emit_constant(e, 1)));
}

static int expression(wk__emit *e, const int in[])
{
    return half_x_and(e, in[0],
                      wk__emit_unary(e, WK__ERF, wk__emit_binary(e, WK__MUL, in[0], wk__emit_constant(e, M_SQRT1_2))));
}

static int tanh_expression(wk__emit *e, const int in[])
{
    int cube = wk__emit_binary(e, WK__MUL, wk__emit_binary(e, WK__MUL, in[0], in[0]), in[0]);
    int inner = wk__emit_binary(e, WK__ADD, in[0], wk__emit_binary(e, WK__MUL, cube, wk__emit_constant(e, CUBE)));
    return half_x_and(e, in[0],
                      wk__emit_unary(e, WK__TANH, wk__emit_binary(e, WK__MUL, inner, wk__emit_constant(e, INNER))));
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* Phi(x) + x phi(x) */
static void gradient(wk__grad_ctx *g)
{
    wk_tensor *x = wk__saved(g, 0);
    wk_tensor *below = wk_mul(wk_add(wk_erf(wk_mul(x, M_SQRT1_2)), 1), 0.5);
    wk_tensor *density = wk_mul(wk_exp(wk_mul(wk_square(x), -0.5)), 0.5 * INNER);
    g->in[0] = wk_mul(g->out[0], wk_add(below, wk_mul(x, density)));
}

/* (1 + t) / 2 + x (1 - t^2) u' / 2 with t = tanh(u) */
static void tanh_gradient(wk__grad_ctx *g)
{
    wk_tensor *x = wk__saved(g, 0), *square = wk_square(x);
    wk_tensor *t = wk_tanh(wk_mul(wk_mul(x, wk_add(wk_mul(square, CUBE), 1)), INNER));
    wk_tensor *inner = wk_mul(wk_add(wk_mul(square, 3 * CUBE), 1), INNER);
    wk_tensor *curved = wk_mul(wk_mul(x, wk_sub(1, wk_square(t))), inner);
    g->in[0] = wk_mul(g->out[0], wk_mul(wk_add(wk_add(t, 1), curved), 0.5));
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

/* The approximation is a separate expression of the same op. */
static const wk__op approximate = {
    .name = "gelu",
    .grad_fn_name = "GeluBackward0",
    .expression = tanh_expression,
    .arity = 1,
    .dtypes = WK__FLOATS,
    .gradient = tanh_gradient,
    .saves = {WK__SAVE_0},
};

wk_tensor *wk_gelu_at(wk_site site, wk_tensor *x, const wk_gelu_options *options)
{
    wk_gelu_options o;
    if (!wk__read_gelu_options(site, "gelu", options, &o)) return NULL;
    return wk__unary(o.approximate == WK_GELU_TANH ? &approximate : &wk__op_gelu, site, x);
}

const wk__op wk__op_gelu = {
    .expression = expression,
    .gradient = gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_gelu,
};
