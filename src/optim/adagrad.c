/* SPDX-License-Identifier: Apache-2.0 */
/* Adagrad: divides each step by the root of the sum of squared gradients. */
#include "update_ops.h"

typedef wk_optim_adagrad_options options;

static const wk__optim_option settings[] = {
    {WK__OPTION_MEMBER(options, lr), WK__OPTION_FLOAT, 1e-2, 0, INFINITY},
    {WK__OPTION_MEMBER(options, lr_decay), WK__OPTION_FLOAT, 0, 0, INFINITY},
    {WK__OPTION_MEMBER(options, weight_decay), WK__OPTION_FLOAT, 0, 0, INFINITY},
    {WK__OPTION_MEMBER(options, initial_accumulator_value), WK__OPTION_FLOAT, 0, 0, INFINITY},
    {WK__OPTION_MEMBER(options, eps), WK__OPTION_FLOAT, 1e-10, 0, INFINITY},
    {WK__OPTION_MEMBER(options, maximize), WK__OPTION_BOOL, 0, 0, 0},
};

static const char *const state[] = {"sum"};

static int states(const void *given)
{
    (void)given;
    return 1;
}

static double first(const void *given, int state)
{
    (void)state;
    const options *o = given;
    return o->initial_accumulator_value;
}

static bool update(const void *given, wk__param_state *t, wk_tensor *grad)
{
    const options *o = given;
    const double rate = o->lr / (1 + (double)(t->steps - 1) * o->lr_decay);
    wk_tensor *g = wk__optim_effective_grad(grad, t->parameter, o->maximize, o->weight_decay), *v = t->state[0];
    if (!g || !wk__optim_ema_square_(v, g, 1, 1)) return false;
    wk_tensor *way = wk__optim_over_root(g, v, o->eps);
    return way && wk__optim_axpy_(t->parameter, way, -rate);
}

static const wk__optim_algorithm adagrad = {.name = "optim_adagrad",
                                            .size = sizeof(options),
                                            .option = settings,
                                            .option_count = sizeof settings / sizeof *settings,
                                            .state_count = states,
                                            .state_names = state,
                                            .initial_state = first,
                                            .update = update};

wk_optim *wk_optim_adagrad_at(wk_site site, wk_tensors *parameters, const wk_optim_adagrad_options *given)
{
    return wk__optim_new(site, &adagrad, parameters, given);
}
