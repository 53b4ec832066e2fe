/* SPDX-License-Identifier: Apache-2.0 */
/* Adam and AdamW, which differ in the way weight decay is applied. */
#include "update_ops.h"

/* Both options structs have the same members, so one update function reads both. */
typedef wk_optim_adam_options options;
#define SAME(member) offsetof(wk_optim_adam_options, member) == offsetof(wk_optim_adamw_options, member)
_Static_assert(sizeof(wk_optim_adam_options) == sizeof(wk_optim_adamw_options) && SAME(lr) && SAME(beta1) &&
                   SAME(beta2) && SAME(eps) && SAME(weight_decay) && SAME(amsgrad) && SAME(maximize),
               "the options of adam and adamw have the same members");

static int larger(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__MAX, in[0], in[1]);
}

static const wk__op op_larger = {.name = "optim_step", .expression = larger, .arity = 2};

static const char *const state[] = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};

static int states(const void *given)
{
    const options *o = given;
    return o->amsgrad ? 3 : 2;
}

/* keep: factor of the parameter that applies AdamW's weight decay. States: m, v, and the maximum of v if amsgrad. */
static bool update_by(const options *o, wk__param_state *t, wk_tensor *g, double keep)
{
    wk_tensor *m = t->state[0], *v = t->state[1];
    const double step = o->lr / (1 - pow(o->beta1, (double)t->steps)), root = sqrt(1 - pow(o->beta2, (double)t->steps));
    if (!g || !wk__optim_ema_(m, g, o->beta1) || !wk__optim_ema_square_(v, g, o->beta2, 1 - o->beta2)) return false;
    if (o->amsgrad) {
        wk__arg largest[] = {wk__tensor_arg(t->state[2]), wk__tensor_arg(v)};
        if (!wk__elementwise_(&op_larger, (wk_site){0}, largest, 2, NULL)) return false;
        v = t->state[2];
    }
    wk_tensor *way = wk__optim_over_scaled_root(m, v, root, o->eps);
    return way && wk__optim_axpby_(t->parameter, way, keep, -step);
}

/* ---- adam -------------------------------------------------------------------------------------------------------- */

static const wk__optim_option adam_settings[] = {
    {WK__OPTION_MEMBER(options, lr), WK__OPTION_FLOAT, 1e-3, 0, INFINITY},
    {WK__OPTION_MEMBER(options, beta1), WK__OPTION_FLOAT, 0.9, 0, 1},
    {WK__OPTION_MEMBER(options, beta2), WK__OPTION_FLOAT, 0.999, 0, 1},
    {WK__OPTION_MEMBER(options, eps), WK__OPTION_FLOAT, 1e-8, 0, INFINITY},
    {WK__OPTION_MEMBER(options, weight_decay), WK__OPTION_FLOAT, 0, 0, INFINITY},
    {WK__OPTION_MEMBER(options, amsgrad), WK__OPTION_BOOL, 0, 0, 0},
    {WK__OPTION_MEMBER(options, maximize), WK__OPTION_BOOL, 0, 0, 0},
};

static bool adam_update(const void *given, wk__param_state *t, wk_tensor *grad)
{
    const options *o = given;
    return update_by(o, t, wk__optim_effective_grad(grad, t->parameter, o->maximize, o->weight_decay), 1);
}

static const wk__optim_algorithm adam = {.name = "optim_adam",
                                         .size = sizeof(options),
                                         .option = adam_settings,
                                         .option_count = sizeof adam_settings / sizeof *adam_settings,
                                         .state_count = states,
                                         .state_names = state,
                                         .update = adam_update};

wk_optim *wk_optim_adam_at(wk_site site, wk_tensors *parameters, const wk_optim_adam_options *given)
{
    return wk__optim_new(site, &adam, parameters, given);
}

/* ---- adamw ------------------------------------------------------------------------------------------------------- */

static const wk__optim_option adamw_settings[] = {
    {WK__OPTION_MEMBER(options, lr), WK__OPTION_FLOAT, 1e-3, 0, INFINITY},
    {WK__OPTION_MEMBER(options, beta1), WK__OPTION_FLOAT, 0.9, 0, 1},
    {WK__OPTION_MEMBER(options, beta2), WK__OPTION_FLOAT, 0.999, 0, 1},
    {WK__OPTION_MEMBER(options, eps), WK__OPTION_FLOAT, 1e-8, 0, INFINITY},
    {WK__OPTION_MEMBER(options, weight_decay), WK__OPTION_FLOAT, 1e-2, 0, INFINITY},
    {WK__OPTION_MEMBER(options, amsgrad), WK__OPTION_BOOL, 0, 0, 0},
    {WK__OPTION_MEMBER(options, maximize), WK__OPTION_BOOL, 0, 0, 0},
};

static bool adamw_update(const void *given, wk__param_state *t, wk_tensor *grad)
{
    const options *o = given;
    return update_by(o, t, wk__optim_effective_grad(grad, t->parameter, o->maximize, 0), 1 - o->lr * o->weight_decay);
}

static const wk__optim_algorithm adamw = {.name = "optim_adamw",
                                          .size = sizeof(options),
                                          .option = adamw_settings,
                                          .option_count = sizeof adamw_settings / sizeof *adamw_settings,
                                          .state_count = states,
                                          .state_names = state,
                                          .update = adamw_update};

wk_optim *wk_optim_adamw_at(wk_site site, wk_tensors *parameters, const wk_optim_adamw_options *given)
{
    return wk__optim_new(site, &adamw, parameters, given);
}
