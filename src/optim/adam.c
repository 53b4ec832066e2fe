/* SPDX-License-Identifier: Apache-2.0 */
/* Adam and AdamW, which differ in how weight decay comes in. */
#include "update.h"

/* Both structs have the same members, so that one update reads both. */
typedef wk_optim_adam_options options;
#define SAME(member) offsetof(wk_optim_adam_options, member) == offsetof(wk_optim_adamw_options, member)
_Static_assert(sizeof(wk_optim_adam_options) == sizeof(wk_optim_adamw_options) && SAME(lr) && SAME(beta1) &&
                   SAME(beta2) && SAME(eps) && SAME(weight_decay) && SAME(amsgrad) && SAME(maximize),
               "the options of adam and adamw have the same members");

/* m / (sqrt(v) / root + eps); in: m, v, root, eps */
static int direction(wk__emit *e, const int in[])
{
    int spread = wk__emit_2(e, WK__DIV, wk__emit_1(e, WK__SQRT, in[1]), in[2]);
    return wk__emit_2(e, WK__DIV, in[0], wk__emit_2(e, WK__ADD, spread, in[3]));
}

static int larger(wk__emit *e, const int in[])
{
    return wk__emit_2(e, WK__MAX, in[0], in[1]);
}

static const wk__op op_direction = {.name = "optim_step", .expression = direction, .arity = 4};
static const wk__op op_larger = {.name = "optim_step", .expression = larger, .arity = 2};

static const char *const state[] = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};

static int states(const void *given)
{
    const options *o = given;
    return o->amsgrad ? 3 : 2;
}

/* `keep`: what weight decay leaves of the parameter. The states are m, v and the largest v so far. */
static bool update_by(const options *o, wk__trained *t, wk_tensor *g, double keep)
{
    wk_tensor *m = t->state[0], *v = t->state[1];
    const double step = o->lr / (1 - pow(o->beta1, (double)t->steps)), root = sqrt(1 - pow(o->beta2, (double)t->steps));
    wk__arg mean[] = {wk__t(m), wk__t(g), wk__f(1 - o->beta1)};
    if (!g || !wk__elementwise_(&wk__optim_approach, (wk_site){0}, mean, 3, NULL)) return false;
    wk__arg square[] = {wk__t(v), wk__t(g), wk__f(o->beta2), wk__f(1 - o->beta2)};
    if (!wk__elementwise_(&wk__optim_blend_square, (wk_site){0}, square, 4, NULL)) return false;
    if (o->amsgrad) {
        wk__arg largest[] = {wk__t(t->state[2]), wk__t(v)};
        if (!wk__elementwise_(&op_larger, (wk_site){0}, largest, 2, NULL)) return false;
        v = t->state[2];
    }
    wk__arg quotient[] = {wk__t(m), wk__t(v), wk__f(root), wk__f(o->eps)};
    wk_tensor *way = wk__elementwise(&op_direction, (wk_site){0}, quotient, 4, NULL);
    wk__arg change[] = {wk__t(t->parameter), wk__t(way), wk__f(keep), wk__f(-step)};
    return way && wk__elementwise_(&wk__optim_blend, (wk_site){0}, change, 4, NULL);
}

/* ---- adam -------------------------------------------------------------------------------------------------------- */

static const wk__setting adam_settings[] = {
    {WK__MEMBER(options, lr), WK__SETTING_NUMBER, 1e-3, 0, INFINITY},
    {WK__MEMBER(options, beta1), WK__SETTING_NUMBER, 0.9, 0, 1},
    {WK__MEMBER(options, beta2), WK__SETTING_NUMBER, 0.999, 0, 1},
    {WK__MEMBER(options, eps), WK__SETTING_NUMBER, 1e-8, 0, INFINITY},
    {WK__MEMBER(options, weight_decay), WK__SETTING_NUMBER, 0, 0, INFINITY},
    {WK__MEMBER(options, amsgrad), WK__SETTING_FLAG, 0, 0, 0},
    {WK__MEMBER(options, maximize), WK__SETTING_FLAG, 0, 0, 0},
};

static bool adam_update(const void *given, wk__trained *t, wk_tensor *grad)
{
    const options *o = given;
    return update_by(o, t, wk__optim_decayed(grad, t->parameter, o->maximize, o->weight_decay), 1);
}

static const wk__rule adam = {.name = "optim_adam",
                              .size = sizeof(options),
                              .setting = adam_settings,
                              .settings = sizeof adam_settings / sizeof *adam_settings,
                              .states = states,
                              .state = state,
                              .update = adam_update};

wk_optim *wk_optim_adam_at(wk_site site, wk_tensors *parameters, const wk_optim_adam_options *given)
{
    return wk__optim_new(site, &adam, parameters, given);
}

/* ---- adamw ------------------------------------------------------------------------------------------------------- */

static const wk__setting adamw_settings[] = {
    {WK__MEMBER(options, lr), WK__SETTING_NUMBER, 1e-3, 0, INFINITY},
    {WK__MEMBER(options, beta1), WK__SETTING_NUMBER, 0.9, 0, 1},
    {WK__MEMBER(options, beta2), WK__SETTING_NUMBER, 0.999, 0, 1},
    {WK__MEMBER(options, eps), WK__SETTING_NUMBER, 1e-8, 0, INFINITY},
    {WK__MEMBER(options, weight_decay), WK__SETTING_NUMBER, 1e-2, 0, INFINITY},
    {WK__MEMBER(options, amsgrad), WK__SETTING_FLAG, 0, 0, 0},
    {WK__MEMBER(options, maximize), WK__SETTING_FLAG, 0, 0, 0},
};

static bool adamw_update(const void *given, wk__trained *t, wk_tensor *grad)
{
    const options *o = given;
    return update_by(o, t, wk__optim_decayed(grad, t->parameter, o->maximize, 0), 1 - o->lr * o->weight_decay);
}

static const wk__rule adamw = {.name = "optim_adamw",
                               .size = sizeof(options),
                               .setting = adamw_settings,
                               .settings = sizeof adamw_settings / sizeof *adamw_settings,
                               .states = states,
                               .state = state,
                               .update = adamw_update};

wk_optim *wk_optim_adamw_at(wk_site site, wk_tensors *parameters, const wk_optim_adamw_options *given)
{
    return wk__optim_new(site, &adamw, parameters, given);
}
