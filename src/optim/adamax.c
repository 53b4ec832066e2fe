/* SPDX-License-Identifier: Apache-2.0 */
/* Adamax: Adam that divides by the greatest recent gradient instead of the root of the second moment. */
#include "update_ops.h"

typedef wk_optim_adamax_options options;

static const wk__optim_option settings[] = {
    {WK__OPTION_MEMBER(options, lr), WK__OPTION_FLOAT, 2e-3, 0, INFINITY},
    {WK__OPTION_MEMBER(options, beta1), WK__OPTION_FLOAT, 0.9, 0, 1},
    {WK__OPTION_MEMBER(options, beta2), WK__OPTION_FLOAT, 0.999, 0, 1},
    {WK__OPTION_MEMBER(options, eps), WK__OPTION_FLOAT, 1e-8, 0, INFINITY},
    {WK__OPTION_MEMBER(options, weight_decay), WK__OPTION_FLOAT, 0, 0, INFINITY},
    {WK__OPTION_MEMBER(options, maximize), WK__OPTION_BOOL, 0, 0, 0},
};

/* max(u b, |g| + eps); in: u, g, b, eps */
static int greatest(wk__emit *e, const int in[])
{
    const int size = wk__emit_binary(e, WK__ADD, wk__emit_unary(e, WK__ABS, in[1]), in[3]);
    return wk__emit_binary(e, WK__MAX, wk__emit_binary(e, WK__MUL, in[0], in[2]), size);
}
/* m / u; in: m, u */
static int quotient(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__DIV, in[0], in[1]);
}

static const wk__op op_greatest = {.name = "optim_step", .expression = greatest, .arity = 4};
static const wk__op op_quotient = {.name = "optim_step", .expression = quotient, .arity = 2};

static const char *const state[] = {"exp_avg", "exp_inf"};

static int states(const void *given)
{
    (void)given;
    return 2;
}

static bool update(const void *given, wk__param_state *t, wk_tensor *grad)
{
    const options *o = given;
    wk_tensor *g = wk__optim_effective_grad(grad, t->parameter, o->maximize, o->weight_decay);
    wk_tensor *m = t->state[0], *u = t->state[1];
    if (!g || !wk__optim_ema_(m, g, o->beta1)) return false;
    const wk__arg bound[] = {wk__tensor_arg(u), wk__tensor_arg(g), wk__float_arg(o->beta2), wk__float_arg(o->eps)};
    if (!wk__elementwise_(&op_greatest, (wk_site){0}, bound, 4, NULL)) return false;
    const wk__arg ratio[] = {wk__tensor_arg(m), wk__tensor_arg(u)};
    wk_tensor *way = wk__elementwise(&op_quotient, (wk_site){0}, ratio, 2, NULL);
    return way && wk__optim_axpy_(t->parameter, way, -o->lr / (1 - pow(o->beta1, (double)t->steps)));
}

static const wk__optim_algorithm adamax = {.name = "optim_adamax",
                                           .size = sizeof(options),
                                           .option = settings,
                                           .option_count = sizeof settings / sizeof *settings,
                                           .state_count = states,
                                           .state_names = state,
                                           .update = update};

wk_optim *wk_optim_adamax_at(wk_site site, wk_tensors *parameters, const wk_optim_adamax_options *given)
{
    return wk__optim_new(site, &adamax, parameters, given);
}
