/* SPDX-License-Identifier: Apache-2.0 */
/* NAdam: Adam with Nesterov's momentum. The product of the momenta of all steps is a number of the state, as beta1 may
 * change. */
#include "update_ops.h"

typedef wk_optim_nadam_options options;

static const wk__optim_option settings[] = {
    {WK__OPTION_MEMBER(options, lr), WK__OPTION_FLOAT, 2e-3, 0, INFINITY},
    {WK__OPTION_MEMBER(options, beta1), WK__OPTION_FLOAT, 0.9, 0, 1},
    {WK__OPTION_MEMBER(options, beta2), WK__OPTION_FLOAT, 0.999, 0, 1},
    {WK__OPTION_MEMBER(options, eps), WK__OPTION_FLOAT, 1e-8, 0, INFINITY},
    {WK__OPTION_MEMBER(options, weight_decay), WK__OPTION_FLOAT, 0, 0, INFINITY},
    {WK__OPTION_MEMBER(options, momentum_decay), WK__OPTION_FLOAT, 4e-3, 0, INFINITY},
    {WK__OPTION_MEMBER(options, decoupled_weight_decay), WK__OPTION_BOOL, 0, 0, 0},
    {WK__OPTION_MEMBER(options, maximize), WK__OPTION_BOOL, 0, 0, 0},
};

static const char *const state[] = {"exp_avg", "exp_avg_sq"};

static int states(const void *given)
{
    (void)given;
    return 2;
}

static const char *const numbers[] = {"mu_product"};

/* Returns the momentum of a step. */
static double momentum_at(const options *o, int64_t step)
{
    return o->beta1 * (1 - 0.5 * pow(0.96, (double)step * o->momentum_decay));
}

static bool update(const void *given, wk__param_state *t, wk_tensor *grad)
{
    const options *o = given;
    const double now = momentum_at(o, t->steps), next = momentum_at(o, t->steps + 1);
    const double product = (t->steps == 1 ? 1 : t->number[0]) * now;
    const double of_g = o->lr * (1 - now) / (1 - product), of_m = o->lr * next / (1 - product * next);
    const double decay = o->decoupled_weight_decay ? 0 : o->weight_decay, keep = 1 - o->lr * (o->weight_decay - decay);
    t->number[0] = product;
    wk_tensor *g = wk__optim_effective_grad(grad, t->parameter, o->maximize, decay), *m = t->state[0], *v = t->state[1];
    if (!g || !wk__optim_ema_(m, g, o->beta1) || !wk__optim_ema_square_(v, g, o->beta2, 1 - o->beta2)) return false;
    const wk__arg blend[] = {wk__tensor_arg(g), wk__tensor_arg(m), wk__float_arg(of_g), wk__float_arg(of_m)};
    wk_tensor *sum = wk__elementwise(&wk__optim_op_axpby, (wk_site){0}, blend, 4, NULL);
    wk_tensor *way = sum ? wk__optim_over_scaled_root(sum, v, sqrt(1 - pow(o->beta2, (double)t->steps)), o->eps) : NULL;
    return way && wk__optim_axpby_(t->parameter, way, keep, -1);
}

static const wk__optim_algorithm nadam = {.name = "optim_nadam",
                                          .size = sizeof(options),
                                          .option = settings,
                                          .option_count = sizeof settings / sizeof *settings,
                                          .state_count = states,
                                          .state_names = state,
                                          .number_count = sizeof numbers / sizeof *numbers,
                                          .number_names = numbers,
                                          .update = update};

wk_optim *wk_optim_nadam_at(wk_site site, wk_tensors *parameters, const wk_optim_nadam_options *given)
{
    return wk__optim_new(site, &nadam, parameters, given);
}
