/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter updates. Each new value is one expression of old ones, written in place, so that the engine fuses a
 * parameter's update into one kernel. Learning rates and powers are immediates, so every step reuses the same
 * kernel. */
#include "update_ops.h"
#include <wick/pointwise.h>

static int add(wk__emit *e, int a, int b)
{
    return wk__emit_binary(e, WK__ADD, a, b);
}
static int mul(wk__emit *e, int a, int b)
{
    return wk__emit_binary(e, WK__MUL, a, b);
}

/* x + a y; in: x, y, a */
static int plus(wk__emit *e, const int in[])
{
    return add(e, in[0], mul(e, in[1], in[2]));
}

/* a x + b y; in: x, y, a, b */
static int blend(wk__emit *e, const int in[])
{
    return add(e, mul(e, in[0], in[2]), mul(e, in[1], in[3]));
}

/* m + a (g - m); in: m, g, a. For a <= 1/2: beyond it the sum cancels, and for a = 1 it loses a g that is small
 * compared with m. */
static int approach_from_old(wk__emit *e, const int in[])
{
    return add(e, in[0], mul(e, wk__emit_binary(e, WK__SUB, in[1], in[0]), in[2]));
}
/* Like approach_from_old(), but from the other end: g + b (m - g) with b = 1 - a; in: m, g, b */
static int approach_from_new(wk__emit *e, const int in[])
{
    return add(e, in[1], mul(e, wk__emit_binary(e, WK__SUB, in[0], in[1]), in[2]));
}

/* g / (sqrt(v) + eps); in: g, v, eps */
static int over_root(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__DIV, in[0], add(e, wk__emit_unary(e, WK__SQRT, in[1]), in[2]));
}
/* m / (sqrt(v) / root + eps); in: m, v, root, eps */
static int over_scaled_root(wk__emit *e, const int in[])
{
    const int spread = wk__emit_binary(e, WK__DIV, wk__emit_unary(e, WK__SQRT, in[1]), in[2]);
    return wk__emit_binary(e, WK__DIV, in[0], add(e, spread, in[3]));
}

/* a v + b g^2; in: v, g, a, b */
static int blend_square(wk__emit *e, const int in[])
{
    return add(e, mul(e, in[0], in[2]), mul(e, mul(e, in[1], in[1]), in[3]));
}

static const wk__op axpy = {.name = "optim_step", .expression = plus, .arity = 3};
const wk__op wk__optim_op_axpby = {.name = "optim_step", .expression = blend, .arity = 4};
static const wk__op from_old = {.name = "optim_step", .expression = approach_from_old, .arity = 3};
static const wk__op from_new = {.name = "optim_step", .expression = approach_from_new, .arity = 3};
static const wk__op ema_square = {.name = "optim_step", .expression = blend_square, .arity = 4};
static const wk__op root_quotient = {.name = "optim_step", .expression = over_root, .arity = 3};
static const wk__op scaled_root_quotient = {.name = "optim_step", .expression = over_scaled_root, .arity = 4};

wk_tensor *wk__optim_axpy(wk_tensor *x, wk_tensor *y, double factor)
{
    return wk__elementwise(&axpy, (wk_site){0},
                           (wk__arg[]){wk__tensor_arg(x), wk__tensor_arg(y), wk__float_arg(factor)}, 3, NULL);
}

bool wk__optim_axpy_(wk_tensor *x, wk_tensor *y, double factor)
{
    return wk__elementwise_(&axpy, (wk_site){0},
                            (wk__arg[]){wk__tensor_arg(x), wk__tensor_arg(y), wk__float_arg(factor)}, 3, NULL) != NULL;
}

bool wk__optim_ema_(wk_tensor *m, wk_tensor *g, double keep)
{
    const bool old = keep > 0.5;
    const wk__arg args[] = {wk__tensor_arg(m), wk__tensor_arg(g), wk__float_arg(old ? 1 - keep : keep)};
    return wk__elementwise_(old ? &from_old : &from_new, (wk_site){0}, args, 3, NULL) != NULL;
}

bool wk__optim_axpby_(wk_tensor *x, wk_tensor *y, double a, double b)
{
    const wk__arg args[] = {wk__tensor_arg(x), wk__tensor_arg(y), wk__float_arg(a), wk__float_arg(b)};
    return wk__elementwise_(&wk__optim_op_axpby, (wk_site){0}, args, 4, NULL) != NULL;
}

bool wk__optim_ema_square_(wk_tensor *v, wk_tensor *g, double keep, double share)
{
    const wk__arg args[] = {wk__tensor_arg(v), wk__tensor_arg(g), wk__float_arg(keep), wk__float_arg(share)};
    return wk__elementwise_(&ema_square, (wk_site){0}, args, 4, NULL) != NULL;
}

wk_tensor *wk__optim_over_root(wk_tensor *g, wk_tensor *v, double eps)
{
    const wk__arg args[] = {wk__tensor_arg(g), wk__tensor_arg(v), wk__float_arg(eps)};
    return wk__elementwise(&root_quotient, (wk_site){0}, args, 3, NULL);
}

wk_tensor *wk__optim_over_scaled_root(wk_tensor *m, wk_tensor *v, double root, double eps)
{
    const wk__arg args[] = {wk__tensor_arg(m), wk__tensor_arg(v), wk__float_arg(root), wk__float_arg(eps)};
    return wk__elementwise(&scaled_root_quotient, (wk_site){0}, args, 4, NULL);
}

wk_tensor *wk__optim_effective_grad(wk_tensor *grad, wk_tensor *parameter, bool maximize, double weight_decay)
{
    grad = wk__to_opmath(grad);
    if (grad && maximize) grad = wk_neg_at((wk_site){0}, grad);
    if (!grad || weight_decay == 0) return grad;
    wk_tensor *wide = wk__to_opmath(parameter);
    return wide ? wk__optim_axpy(grad, wide, weight_decay) : NULL;
}
