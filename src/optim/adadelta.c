/* SPDX-License-Identifier: Apache-2.0 */
/* Adadelta: scales the gradient by the ratio of the root mean squares of steps and of gradients. */
#include "update_ops.h"

typedef wk_optim_adadelta_options options;

static const wk__optim_option settings[] = {
    {WK__OPTION_MEMBER(options, lr), WK__OPTION_FLOAT, 1, 0, INFINITY},
    {WK__OPTION_MEMBER(options, rho), WK__OPTION_FLOAT, 0.9, 0, 1},
    {WK__OPTION_MEMBER(options, eps), WK__OPTION_FLOAT, 1e-6, 0, INFINITY},
    {WK__OPTION_MEMBER(options, weight_decay), WK__OPTION_FLOAT, 0, 0, INFINITY},
    {WK__OPTION_MEMBER(options, maximize), WK__OPTION_BOOL, 0, 0, 0},
};

/* sqrt(d + eps) / sqrt(v + eps) g; in: d, v, g, eps */
static int delta(wk__emit *e, const int in[])
{
    const int above = wk__emit_unary(e, WK__SQRT, wk__emit_binary(e, WK__ADD, in[0], in[3]));
    const int below = wk__emit_unary(e, WK__SQRT, wk__emit_binary(e, WK__ADD, in[1], in[3]));
    return wk__emit_binary(e, WK__MUL, wk__emit_binary(e, WK__DIV, above, below), in[2]);
}

static const wk__op op_delta = {.name = "optim_step", .expression = delta, .arity = 4};

static const char *const state[] = {"square_avg", "acc_delta"};

static int states(const void *given)
{
    (void)given;
    return 2;
}

static bool update(const void *given, wk__param_state *t, wk_tensor *grad)
{
    const options *o = given;
    wk_tensor *g = wk__optim_effective_grad(grad, t->parameter, o->maximize, o->weight_decay);
    wk_tensor *v = t->state[0], *squares = t->state[1];
    if (!g || !wk__optim_ema_square_(v, g, o->rho, 1 - o->rho)) return false;
    const wk__arg args[] = {wk__tensor_arg(squares), wk__tensor_arg(v), wk__tensor_arg(g), wk__float_arg(o->eps)};
    wk_tensor *way = wk__elementwise(&op_delta, (wk_site){0}, args, 4, NULL);
    return way && wk__optim_ema_square_(squares, way, o->rho, 1 - o->rho) && wk__optim_axpy_(t->parameter, way, -o->lr);
}

static const wk__optim_algorithm adadelta = {.name = "optim_adadelta",
                                             .size = sizeof(options),
                                             .option = settings,
                                             .option_count = sizeof settings / sizeof *settings,
                                             .state_count = states,
                                             .state_names = state,
                                             .update = update};

wk_optim *wk_optim_adadelta_at(wk_site site, wk_tensors *parameters, const wk_optim_adadelta_options *given)
{
    return wk__optim_new(site, &adadelta, parameters, given);
}
