/* SPDX-License-Identifier: Apache-2.0 */
/* The rules: sgd, adam, adamw. Each new number is one expression over old ones, written in place, so that the engine
 * makes the update of a parameter one kernel; learning rates and powers of t are immediates, so that it is the same
 * kernel every step. */
#include "optim.h"
#include "../ops/call.h"
#include <math.h>

/* ---- expressions ------------------------------------------------------------------------------------------------- */

static int add(wk__emit *e, int a, int b)
{
    return wk__emit_2(e, WK__ADD, a, b);
}
static int mul(wk__emit *e, int a, int b)
{
    return wk__emit_2(e, WK__MUL, a, b);
}

/* x + a y; in: x, y, a */
static int plus(wk__emit *e, const int in[])
{
    return add(e, in[0], mul(e, in[1], in[2]));
}

/* a x + b y; in: x, y, a, b */
static int blend(wk__emit *e, const int in[])
{
    return add(e, mul(e, in[0], in[2]), mul(e, in[1], in[3]));
}

/* m + a (g - m); in: m, g, a */
static int approach(wk__emit *e, const int in[])
{
    return add(e, in[0], mul(e, wk__emit_2(e, WK__SUB, in[1], in[0]), in[2]));
}

/* a v + b g^2; in: v, g, a, b */
static int blend_square(wk__emit *e, const int in[])
{
    return add(e, mul(e, in[0], in[2]), mul(e, mul(e, in[1], in[1]), in[3]));
}

/* m / (sqrt(v) / root + eps); in: m, v, root, eps */
static int direction(wk__emit *e, const int in[])
{
    int spread = wk__emit_2(e, WK__DIV, wk__emit_1(e, WK__SQRT, in[1]), in[2]);
    return wk__emit_2(e, WK__DIV, in[0], add(e, spread, in[3]));
}

static const wk__op op_plus = {.name = "optim_step", .expression = plus, .arity = 3};
static const wk__op op_blend = {.name = "optim_step", .expression = blend, .arity = 4};
static const wk__op op_approach = {.name = "optim_step", .expression = approach, .arity = 3};
static const wk__op op_blend_square = {.name = "optim_step", .expression = blend_square, .arity = 4};
static const wk__op op_direction = {.name = "optim_step", .expression = direction, .arity = 4};

/* x + factor y, a new tensor */
static wk_tensor *sum_with(wk_tensor *x, wk_tensor *y, double factor)
{
    return wk__elementwise(&op_plus, (wk_site){0}, (wk__arg[]){wk__t(x), wk__t(y), wk__f(factor)}, 3);
}

/* x += factor y */
static bool add_to(wk_tensor *x, wk_tensor *y, double factor)
{
    return wk__elementwise_(&op_plus, (wk_site){0}, (wk__arg[]){wk__t(x), wk__t(y), wk__f(factor)}, 3) != NULL;
}

/* The gradient in the type that is computed in, with weight decay. NULL with the error recorded. */
static wk_tensor *decayed(wk_tensor *grad, wk_tensor *parameter, double weight_decay)
{
    grad = wk__widened(grad);
    if (!grad || weight_decay == 0) return grad;
    wk_tensor *wide = wk__widened(parameter);
    return wide ? sum_with(grad, wide, weight_decay) : NULL;
}

/* ---- sgd --------------------------------------------------------------------------------------------------------- */

static int sgd_states(const wk_optim_options *options)
{
    return options->momentum != 0;
}

static bool sgd_update(const wk_optim_options *o, wk__trained *t, wk_tensor *grad)
{
    wk_tensor *g = decayed(grad, t->parameter, o->weight_decay), *velocity = t->state[0];
    if (!g) return false;
    if (o->momentum != 0) {
        double share = t->steps == 1 ? 1 : 1 - o->dampening; /* the first gradient counts in full */
        if (!wk__elementwise_(&op_blend, (wk_site){0},
                              (wk__arg[]){wk__t(velocity), wk__t(g), wk__f(o->momentum), wk__f(share)}, 4))
            return false;
        g = o->nesterov ? sum_with(g, velocity, o->momentum) : velocity;
    }
    return g && add_to(t->parameter, g, -o->lr);
}

static const wk__rule sgd = {.name = "optim_sgd", .states = sgd_states, .update = sgd_update};

/* ---- adam -------------------------------------------------------------------------------------------------------- */

static int adam_states(const wk_optim_options *options)
{
    (void)options;
    return 2;
}

/* `keep`: what weight decay leaves of the parameter. */
static bool adam_like(const wk_optim_options *o, wk__trained *t, wk_tensor *g, double keep)
{
    wk_tensor *m = t->state[0], *v = t->state[1];
    double step = o->lr / (1 - pow(o->beta1, (double)t->steps)), root = sqrt(1 - pow(o->beta2, (double)t->steps));
    if (!g || !wk__elementwise_(&op_approach, (wk_site){0}, (wk__arg[]){wk__t(m), wk__t(g), wk__f(1 - o->beta1)}, 3))
        return false;
    wk__arg square[] = {wk__t(v), wk__t(g), wk__f(o->beta2), wk__f(1 - o->beta2)};
    if (!wk__elementwise_(&op_blend_square, (wk_site){0}, square, 4)) return false;
    wk_tensor *way =
        wk__elementwise(&op_direction, (wk_site){0}, (wk__arg[]){wk__t(m), wk__t(v), wk__f(root), wk__f(o->eps)}, 4);
    wk__arg change[] = {wk__t(t->parameter), wk__t(way), wk__f(keep), wk__f(-step)};
    return way && wk__elementwise_(&op_blend, (wk_site){0}, change, 4);
}

static bool adam_update(const wk_optim_options *o, wk__trained *t, wk_tensor *grad)
{
    return adam_like(o, t, decayed(grad, t->parameter, o->weight_decay), 1);
}

static bool adamw_update(const wk_optim_options *o, wk__trained *t, wk_tensor *grad)
{
    return adam_like(o, t, wk__widened(grad), 1 - o->lr * o->weight_decay);
}

static const wk__rule adam = {.name = "optim_adam", .moments = true, .states = adam_states, .update = adam_update};
static const wk__rule adamw = {
    .name = "optim_adamw", .moments = true, .weight_decay = 1e-2, .states = adam_states, .update = adamw_update};

/* ---- the program's calls ----------------------------------------------------------------------------------------- */

wk_optim *wk_optim_sgd_at(wk_site site, wk_tensors *parameters, const wk_optim_options *options)
{
    return wk__optim_new(site, &sgd, parameters, options);
}

wk_optim *wk_optim_adam_at(wk_site site, wk_tensors *parameters, const wk_optim_options *options)
{
    return wk__optim_new(site, &adam, parameters, options);
}

wk_optim *wk_optim_adamw_at(wk_site site, wk_tensors *parameters, const wk_optim_options *options)
{
    return wk__optim_new(site, &adamw, parameters, options);
}
