/* SPDX-License-Identifier: Apache-2.0 */
/* RAdam: Adam that does not divide by the root of the second moment while too few steps have estimated it. */
#include "update_ops.h"

typedef wk_optim_radam_options options;

static const wk__optim_option settings[] = {
    {WK__OPTION_MEMBER(options, lr), WK__OPTION_FLOAT, 1e-3, 0, INFINITY},
    {WK__OPTION_MEMBER(options, beta1), WK__OPTION_FLOAT, 0.9, 0, 1},
    {WK__OPTION_MEMBER(options, beta2), WK__OPTION_FLOAT, 0.999, 0, 1},
    {WK__OPTION_MEMBER(options, eps), WK__OPTION_FLOAT, 1e-8, 0, INFINITY},
    {WK__OPTION_MEMBER(options, weight_decay), WK__OPTION_FLOAT, 0, 0, INFINITY},
    {WK__OPTION_MEMBER(options, decoupled_weight_decay), WK__OPTION_BOOL, 0, 0, 0},
    {WK__OPTION_MEMBER(options, maximize), WK__OPTION_BOOL, 0, 0, 0},
};

static const char *const state[] = {"exp_avg", "exp_avg_sq"};

static int states(const void *given)
{
    (void)given;
    return 2;
}

/* Returns the variance correction at step t; 0 if too few steps estimate it. */
static double rectification(const options *o, double t)
{
    const double power = pow(o->beta2, t), most = 2 / (1 - o->beta2) - 1, length = most - 2 * t * power / (1 - power);
    if (!(length > 5)) return 0;
    return sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length));
}

static bool update(const void *given, wk__param_state *t, wk_tensor *grad)
{
    const options *o = given;
    const double step = (double)t->steps, rectified = rectification(o, step);
    const double decay = o->decoupled_weight_decay ? 0 : o->weight_decay, keep = 1 - o->lr * (o->weight_decay - decay);
    const double rate = o->lr / (1 - pow(o->beta1, step));
    wk_tensor *g = wk__optim_effective_grad(grad, t->parameter, o->maximize, decay), *m = t->state[0], *v = t->state[1];
    if (!g || !wk__optim_ema_(m, g, o->beta1) || !wk__optim_ema_square_(v, g, o->beta2, 1 - o->beta2)) return false;
    if (rectified == 0) return wk__optim_axpby_(t->parameter, m, keep, -rate);
    wk_tensor *way = wk__optim_over_root(m, v, o->eps);
    return way && wk__optim_axpby_(t->parameter, way, keep, -rate * rectified * sqrt(1 - pow(o->beta2, step)));
}

static const wk__optim_algorithm radam = {.name = "optim_radam",
                                          .size = sizeof(options),
                                          .option = settings,
                                          .option_count = sizeof settings / sizeof *settings,
                                          .state_count = states,
                                          .state_names = state,
                                          .update = update};

wk_optim *wk_optim_radam_at(wk_site site, wk_tensors *parameters, const wk_optim_radam_options *given)
{
    return wk__optim_new(site, &radam, parameters, given);
}
