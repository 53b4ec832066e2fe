/* SPDX-License-Identifier: Apache-2.0 */
/* Averaged stochastic gradient descent: the state is the average of the parameter over the steps after t0. Each step
 * computes the rate and the weight in the average of the next one, as PyTorch does: a new lr counts a step later. */
#include "update_ops.h"

typedef wk_optim_asgd_options options;

static const wk__optim_option settings[] = {
    {WK__OPTION_MEMBER(options, lr), WK__OPTION_FLOAT, 1e-2, 0, INFINITY},
    {WK__OPTION_MEMBER(options, lambd), WK__OPTION_FLOAT, 1e-4, -INFINITY, INFINITY},
    {WK__OPTION_MEMBER(options, alpha), WK__OPTION_FLOAT, 0.75, -INFINITY, INFINITY},
    {WK__OPTION_MEMBER(options, t0), WK__OPTION_FLOAT, 1e6, -INFINITY, INFINITY},
    {WK__OPTION_MEMBER(options, weight_decay), WK__OPTION_FLOAT, 0, 0, INFINITY},
    {WK__OPTION_MEMBER(options, maximize), WK__OPTION_BOOL, 0, 0, 0},
};

static const char *const state[] = {"ax"};

enum { RATE, WEIGHT };
static const char *const numbers[] = {[RATE] = "eta", [WEIGHT] = "mu"};

static int states(const void *given)
{
    (void)given;
    return 1;
}

static bool update(const void *given, wk__param_state *t, wk_tensor *grad)
{
    const options *o = given;
    const double steps = (double)t->steps, rate = t->steps == 1 ? o->lr : t->number[RATE];
    const double weight = t->steps == 1 ? 1 : t->number[WEIGHT];
    t->number[RATE] = o->lr / pow(1 + o->lambd * o->lr * steps, o->alpha);
    t->number[WEIGHT] = 1 / fmax(1, steps - o->t0);
    wk_tensor *g = wk__optim_effective_grad(grad, t->parameter, o->maximize, o->weight_decay);
    if (!g || !wk__optim_axpby_(t->parameter, g, 1 - o->lambd * rate, -rate)) return false;
    wk_tensor *wide = wk__to_opmath(t->parameter);
    return wide && wk__optim_ema_(t->state[0], wide, 1 - weight);
}

static const wk__optim_algorithm asgd = {.name = "optim_asgd",
                                         .size = sizeof(options),
                                         .option = settings,
                                         .option_count = sizeof settings / sizeof *settings,
                                         .state_count = states,
                                         .state_names = state,
                                         .number_count = sizeof numbers / sizeof *numbers,
                                         .number_names = numbers,
                                         .update = update};

wk_optim *wk_optim_asgd_at(wk_site site, wk_tensors *parameters, const wk_optim_asgd_options *given)
{
    return wk__optim_new(site, &asgd, parameters, given);
}
