/* SPDX-License-Identifier: Apache-2.0 */
/* LAMB: Adam with steps whose length is proportional to the norm of the parameter. The norms stay on the device. */
#include "update_ops.h"
#include <wick/pointwise.h>
#include <wick/reduce.h>

typedef wk_optim_lamb_options options;

static const wk__optim_option settings[] = {
    {WK__OPTION_MEMBER(options, lr), WK__OPTION_FLOAT, 1e-3, 0, INFINITY},
    {WK__OPTION_MEMBER(options, beta1), WK__OPTION_FLOAT, 0.9, 0, 1},
    {WK__OPTION_MEMBER(options, beta2), WK__OPTION_FLOAT, 0.999, 0, 1},
    {WK__OPTION_MEMBER(options, eps), WK__OPTION_FLOAT, 1e-6, 0, INFINITY},
    {WK__OPTION_MEMBER(options, weight_decay), WK__OPTION_FLOAT, 1e-2, 0, INFINITY},
    {WK__OPTION_MEMBER(options, maximize), WK__OPTION_BOOL, 0, 0, 0},
};

/* |p| / |u|, or 1 if one of them is 0; in: |p|^2, |u|^2 */
static int trust(wk__emit *e, const int in[])
{
    const int both = wk__emit_compare(e, WK__GT, wk__emit_binary(e, WK__MIN, in[0], in[1]), wk__emit_constant(e, 0));
    const int p = wk__emit_unary(e, WK__SQRT, in[0]), u = wk__emit_unary(e, WK__SQRT, in[1]);
    return wk__emit_where(e, both, wk__emit_binary(e, WK__DIV, p, u), wk__emit_constant(e, 1));
}
/* x + a b y; in: x, y, a, b */
static int plus_product(wk__emit *e, const int in[])
{
    const int factor = wk__emit_binary(e, WK__MUL, in[2], in[3]);
    return wk__emit_binary(e, WK__ADD, in[0], wk__emit_binary(e, WK__MUL, in[1], factor));
}

static const wk__op op_trust = {.name = "optim_step", .expression = trust, .arity = 2};
static const wk__op op_plus_product = {.name = "optim_step", .expression = plus_product, .arity = 4};

static const char *const state[] = {"exp_avg", "exp_avg_sq"};

static int states(const void *given)
{
    (void)given;
    return 2;
}

static wk_tensor *square_sum(wk_tensor *x)
{
    return wk_sum(wk_mul(x, x));
}

/* Adds to the parameter -lr |p| / |u| u. */
static bool take(const options *o, const wk__param_state *t, wk_tensor *wide, wk_tensor *u)
{
    wk_tensor *p_squares = square_sum(wide), *u_squares = u ? square_sum(u) : NULL;
    if (!p_squares || !u_squares) return false;
    const wk__arg norms[] = {wk__tensor_arg(p_squares), wk__tensor_arg(u_squares)};
    wk_tensor *ratio = wk__elementwise(&op_trust, (wk_site){0}, norms, 2, NULL);
    if (!ratio) return false;
    const wk__arg change[] = {wk__tensor_arg(t->parameter), wk__tensor_arg(u), wk__tensor_arg(ratio),
                              wk__float_arg(-o->lr)};
    return wk__elementwise_(&op_plus_product, (wk_site){0}, change, 4, NULL);
}

static bool update(const void *given, wk__param_state *t, wk_tensor *grad)
{
    const options *o = given;
    const double step = (double)t->steps, scale = 1 / (1 - pow(o->beta1, step)), root = sqrt(1 - pow(o->beta2, step));
    wk_tensor *g = wk__optim_effective_grad(grad, t->parameter, o->maximize, 0), *m = t->state[0], *v = t->state[1];
    wk_tensor *wide = wk__to_opmath(t->parameter);
    if (!g || !wide || !wk__optim_ema_(m, g, o->beta1) || !wk__optim_ema_square_(v, g, o->beta2, 1 - o->beta2))
        return false;
    wk_tensor *way = wk__optim_over_scaled_root(m, v, root, o->eps);
    if (!way) return false;
    const wk__arg blend[] = {wk__tensor_arg(way), wk__tensor_arg(wide), wk__float_arg(scale),
                             wk__float_arg(o->weight_decay)};
    return take(o, t, wide, wk__elementwise(&wk__optim_op_axpby, (wk_site){0}, blend, 4, NULL));
}

static const wk__optim_algorithm lamb = {.name = "optim_lamb",
                                         .size = sizeof(options),
                                         .option = settings,
                                         .option_count = sizeof settings / sizeof *settings,
                                         .state_count = states,
                                         .state_names = state,
                                         .update = update};

wk_optim *wk_optim_lamb_at(wk_site site, wk_tensors *parameters, const wk_optim_lamb_options *given)
{
    return wk__optim_new(site, &lamb, parameters, given);
}
