/* SPDX-License-Identifier: Apache-2.0 */
/* RMSprop: divides the gradient by the root of a running mean of its square, from which .centered subtracts the square
 * of the running mean. */
#include "update_ops.h"

typedef wk_optim_rmsprop_options options;

static const wk__optim_option settings[] = {
    {WK__OPTION_MEMBER(options, lr), WK__OPTION_FLOAT, 1e-2, 0, INFINITY},
    {WK__OPTION_MEMBER(options, alpha), WK__OPTION_FLOAT, 0.99, 0, 1},
    {WK__OPTION_MEMBER(options, eps), WK__OPTION_FLOAT, 1e-8, 0, INFINITY},
    {WK__OPTION_MEMBER(options, weight_decay), WK__OPTION_FLOAT, 0, 0, INFINITY},
    {WK__OPTION_MEMBER(options, momentum), WK__OPTION_FLOAT, 0, 0, INFINITY},
    {WK__OPTION_MEMBER(options, centered), WK__OPTION_BOOL, 0, 0, 0},
    {WK__OPTION_MEMBER(options, maximize), WK__OPTION_BOOL, 0, 0, 0},
};

/* g / (sqrt(v - a^2) + eps); in: g, v, a, eps */
static int over_deviation(wk__emit *e, const int in[])
{
    const int variance = wk__emit_binary(e, WK__SUB, in[1], wk__emit_binary(e, WK__MUL, in[2], in[2]));
    return wk__emit_binary(e, WK__DIV, in[0],
                           wk__emit_binary(e, WK__ADD, wk__emit_unary(e, WK__SQRT, variance), in[3]));
}

static const wk__op deviation_quotient = {.name = "optim_step", .expression = over_deviation, .arity = 4};

/* States: square_avg; momentum_buffer with momentum; grad_avg if centered. */
static int states(const void *given)
{
    const options *o = given;
    return 1 + (o->momentum > 0) + o->centered;
}

static const char *state_name(const void *given, int state)
{
    const options *o = given;
    return state == 0 ? "square_avg" : state == 1 && o->momentum > 0 ? "momentum_buffer" : "grad_avg";
}

static wk_tensor *direction(const options *o, const wk__param_state *t, wk_tensor *g)
{
    wk_tensor *v = t->state[0], *mean = o->centered ? t->state[states(o) - 1] : NULL;
    if (!wk__optim_ema_square_(v, g, o->alpha, 1 - o->alpha)) return NULL;
    if (!mean) return wk__optim_over_root(g, v, o->eps);
    const wk__arg args[] = {wk__tensor_arg(g), wk__tensor_arg(v), wk__tensor_arg(mean), wk__float_arg(o->eps)};
    return wk__optim_ema_(mean, g, o->alpha) ? wk__elementwise(&deviation_quotient, (wk_site){0}, args, 4, NULL) : NULL;
}

static bool update(const void *given, wk__param_state *t, wk_tensor *grad)
{
    const options *o = given;
    wk_tensor *g = wk__optim_effective_grad(grad, t->parameter, o->maximize, o->weight_decay);
    wk_tensor *way = g ? direction(o, t, g) : NULL;
    if (way && o->momentum > 0) way = wk__optim_axpby_(t->state[1], way, o->momentum, 1) ? t->state[1] : NULL;
    return way && wk__optim_axpy_(t->parameter, way, -o->lr);
}

static const wk__optim_algorithm rmsprop = {.name = "optim_rmsprop",
                                            .size = sizeof(options),
                                            .option = settings,
                                            .option_count = sizeof settings / sizeof *settings,
                                            .state_count = states,
                                            .state_name = state_name,
                                            .update = update};

wk_optim *wk_optim_rmsprop_at(wk_site site, wk_tensors *parameters, const wk_optim_rmsprop_options *given)
{
    return wk__optim_new(site, &rmsprop, parameters, given);
}
