/* SPDX-License-Identifier: Apache-2.0 */
/* Stochastic gradient descent, with optional momentum. */
#include "update_ops.h"

typedef wk_optim_sgd_options options;

static const wk__optim_option settings[] = {
    {WK__OPTION_MEMBER(options, lr), WK__OPTION_FLOAT, 1e-3, 0, INFINITY},
    {WK__OPTION_MEMBER(options, momentum), WK__OPTION_FLOAT, 0, 0, INFINITY},
    {WK__OPTION_MEMBER(options, dampening), WK__OPTION_FLOAT, 0, -INFINITY, INFINITY},
    {WK__OPTION_MEMBER(options, weight_decay), WK__OPTION_FLOAT, 0, 0, INFINITY},
    {WK__OPTION_MEMBER(options, nesterov), WK__OPTION_BOOL, 0, 0, 0},
    {WK__OPTION_MEMBER(options, maximize), WK__OPTION_BOOL, 0, 0, 0},
};

static bool complete(wk_site site, const char *op, void *given)
{
    const options *o = given;
    if (!o->nesterov || (o->momentum > 0 && o->dampening == 0)) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: .nesterov requires .momentum > 0 and .dampening = 0", op);
    return false;
}

static const char *const state[] = {"momentum_buffer"};

static int states(const void *given)
{
    const options *o = given;
    return o->momentum != 0;
}

static bool update(const void *given, wk__param_state *t, wk_tensor *grad)
{
    const options *o = given;
    wk_tensor *g = wk__optim_effective_grad(grad, t->parameter, o->maximize, o->weight_decay);
    if (!g) return false;
    if (o->momentum != 0) {
        wk_tensor *velocity = t->state[0];
        const double share = t->steps == 1 ? 1 : 1 - o->dampening; /* the first gradient has weight 1 */
        if (!wk__optim_axpby_(velocity, g, o->momentum, share)) return false;
        g = o->nesterov ? wk__optim_axpy(g, velocity, o->momentum) : velocity;
    }
    return g && wk__optim_axpy_(t->parameter, g, -o->lr);
}

static const wk__optim_algorithm sgd = {.name = "optim_sgd",
                                        .size = sizeof(options),
                                        .option = settings,
                                        .option_count = sizeof settings / sizeof *settings,
                                        .validate_options = complete,
                                        .state_count = states,
                                        .state_names = state,
                                        .update = update};

wk_optim *wk_optim_sgd_at(wk_site site, wk_tensors *parameters, const wk_optim_sgd_options *given)
{
    return wk__optim_new(site, &sgd, parameters, given);
}
