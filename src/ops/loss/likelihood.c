/* SPDX-License-Identifier: Apache-2.0 */
/* poisson_nll_loss, gaussian_nll_loss: negative log-likelihoods of targets under predicted distributions. */
#include "losses.h"
#include "tensor/call_scope.h"
#include <math.h>

/* ---- poisson_nll_loss -------------------------------------------------------------------------------------------- */

enum { RATES = 1, FULL = 2, MODES = 4 }; /* bits of wk__loss.mode */

/* Stirling's approximation of log(t!), for t > 1: t log t - t + log(2 pi t) / 2 */
static int stirling(wk__emit *e, int t)
{
    int terms = wk__emit_binary(e, WK__SUB, wk__emit_binary(e, WK__MUL, t, wk__emit_unary(e, WK__LOG, t)), t);
    int root = wk__emit_unary(e, WK__LOG, wk__emit_binary(e, WK__MUL, t, wk__emit_constant(e, 2 * M_PI)));
    int sum = wk__emit_binary(e, WK__ADD, terms, wk__emit_binary(e, WK__MUL, root, wk__emit_constant(e, 0.5)));
    return wk__emit_where(e, wk__emit_compare(e, WK__GT, t, wk__emit_constant(e, 1)), sum, wk__emit_constant(e, 0));
}

/* in: input, target, eps */
static int poisson(wk__emit *e, const int in[], int mode)
{
    int rate = mode & RATES ? in[0] : wk__emit_unary(e, WK__EXP, in[0]);
    int log_rate = mode & RATES ? wk__emit_unary(e, WK__LOG, wk__emit_binary(e, WK__ADD, in[0], in[2])) : in[0];
    int loss = wk__emit_binary(e, WK__SUB, rate, wk__emit_binary(e, WK__MUL, in[1], log_rate));
    return mode & FULL ? wk__emit_binary(e, WK__ADD, loss, stirling(e, in[1])) : loss;
}
static int of_logs(wk__emit *e, const int in[])
{
    return poisson(e, in, 0);
}
static int of_rates(wk__emit *e, const int in[])
{
    return poisson(e, in, RATES);
}
static int of_logs_full(wk__emit *e, const int in[])
{
    return poisson(e, in, FULL);
}
static int of_rates_full(wk__emit *e, const int in[])
{
    return poisson(e, in, RATES | FULL);
}

static const wk__op poisson_ops[MODES] = {
    {.name = "poisson_nll_loss", .expression = of_logs, .arity = 3},
    {.name = "poisson_nll_loss", .expression = of_rates, .arity = 3},
    {.name = "poisson_nll_loss", .expression = of_logs_full, .arity = 3},
    {.name = "poisson_nll_loss", .expression = of_rates_full, .arity = 3},
};

/* PyTorch composes these losses, and the last op sets grad_fn. */
static const char *const poisson_nodes[] = {"MeanBackward0", "SumBackward0", "SubBackward0", "DivBackward0"},
                         *const gauss_nodes[] = {"MeanBackward0", "SumBackward0", "MulBackward0", "DivBackward0"},
                         *const full_nodes[] = {"MeanBackward0", "SumBackward0", "AddBackward0", "DivBackward0"};

wk_tensor *wk_poisson_nll_loss_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                  const wk_poisson_nll_loss_options *options)
{
    const wk__op *op = &wk__op_poisson_nll_loss;
    wk_poisson_nll_loss_options o;
    if (!wk__read_poisson_nll_loss_options(site, op->name, options, &o)) return NULL;
    const int mode = (o.no_log_input ? RATES : 0) | (o.full ? FULL : 0);
    return wk__record_loss(&(wk__loss){op,
                                       &poisson_ops[mode],
                                       site,
                                       {input, target},
                                       o.reduction,
                                       .param = o.eps,
                                       .mode = mode,
                                       .grad_fn_names = o.full ? full_nodes : poisson_nodes});
}

/* Of the input: e^input - target, or 1 - target / (input + eps). Of the target: -log(rate), and for a full loss
 * log(target) + 1 / (2 target) where target > 1. */
static void poisson_gradient(wk__grad_ctx *g)
{
    const wk__loss_attributes a = wk__loss_attributes_of(g->attr);
    wk_tensor *x = wk__saved(g, 0), *t = wk__saved(g, 1), *rate = a.mode & RATES ? wk_add(x, a.number) : NULL;
    if (wk__needs_input_grad(g, 0))
        g->in[0] = wk__loss_input_grad(g, rate ? wk_sub(1, wk_div(t, rate)) : wk_sub(wk_exp(x), t));
    if (!wk__needs_input_grad(g, 1)) return;
    wk_tensor *slope = wk_neg(rate ? wk_log(rate) : x);
    if (a.mode & FULL) {
        wk_tensor *counts = wk_where(wk_gt(t, 1), t, 1);
        wk_tensor *more = wk_add(wk_log(counts), wk_div(0.5, counts));
        slope = wk_add(slope, wk_where(wk_gt(t, 1), more, 0));
    }
    g->in[1] = wk__loss_input_grad(g, slope);
}

const wk__op wk__op_poisson_nll_loss = {
    .gradient = poisson_gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1},
    WK__SIGNATURE_poisson_nll_loss,
};

/* ---- gaussian_nll_loss ------------------------------------------------------------------------------------------- */

/* in: input, target, eps, var */
static int gauss(wk__emit *e, const int in[])
{
    int v = wk__emit_binary(e, WK__MAX, in[3], in[2]), d = wk__emit_binary(e, WK__SUB, in[0], in[1]);
    int share = wk__emit_binary(e, WK__DIV, wk__emit_binary(e, WK__MUL, d, d), v);
    int sum = wk__emit_binary(e, WK__ADD, wk__emit_unary(e, WK__LOG, v), share);
    return wk__emit_binary(e, WK__MUL, sum, wk__emit_constant(e, 0.5));
}
static int gauss_full(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__ADD, gauss(e, in), wk__emit_constant(e, 0.5 * log(2 * M_PI)));
}

static const wk__op gauss_full_op = {.name = "gaussian_nll_loss", .expression = gauss_full, .arity = 4};

/* Returns var, with a dimension added if there is one variance for each row of the input. */
static wk_tensor *variance_of_rows(wk_site site, wk_tensor *input, wk_tensor *var)
{
    if (!wk__is_tensor(input) || !wk__is_tensor(var)) return var;
    const wk__body *x = wk__body_of(input), *v = wk__body_of(var);
    bool rows = v->ndim > 0 && v->ndim == x->ndim - 1;
    for (int d = 0; d < v->ndim && rows; d++) rows = v->shape[d] == x->shape[d];
    return rows ? wk_unsqueeze_at(site, var, -1) : var;
}

wk_tensor *wk_gaussian_nll_loss_at(wk_site site, wk_tensor *input, wk_tensor *target, wk_tensor *var,
                                   const wk_gaussian_nll_loss_options *options)
{
    const wk__op *op = &wk__op_gaussian_nll_loss;
    wk_gaussian_nll_loss_options o;
    wk__call_scope c;
    if (!wk__read_gaussian_nll_loss_options(site, op->name, options, &o)) return NULL;
    if (!(o.eps > 0)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .eps must be greater than 0, got %g", op->name, o.eps);
        return NULL;
    }
    if (!wk__call_begin(&c, WK__FRAME_CALL, op->name, site, WK__GRAD_KEPT)) return NULL;
    wk_tensor *out = wk__record_loss(&(wk__loss){op,
                                                 o.full ? &gauss_full_op : op,
                                                 site,
                                                 {input, target, NULL, variance_of_rows(site, input, var)},
                                                 o.reduction,
                                                 .param = o.eps,
                                                 .third = "var",
                                                 .grad_fn_names = o.full ? full_nodes : gauss_nodes});
    wk__call_end(&c, &out, out ? 1 : 0);
    return out;
}

/* With d = input - target: d / v, -d / v and (1 - d^2 / v) / (2 v) */
static void gauss_gradient(wk__grad_ctx *g)
{
    const double eps = wk__loss_attributes_of(g->attr).number;
    wk_tensor *d = wk__loss_difference(g), *var = wk__saved(g, 3), *v = wk_where(wk_lt(var, eps), eps, var);
    wk_tensor *slope = wk_div(d, v);
    if (wk__needs_input_grad(g, 0) || wk__needs_input_grad(g, 1)) wk__set_input_target_grads(g, slope);
    if (wk__needs_input_grad(g, 3))
        g->in[3] = wk__loss_input_grad(g, wk_div(wk_sub(1, wk_mul(d, slope)), wk_mul(v, 2)));
}

enum { ALL = WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_3 };

const wk__op wk__op_gaussian_nll_loss = {
    .expression = gauss,
    .gradient = gauss_gradient,
    .saves = {ALL, ALL, 0, ALL},
    WK__SIGNATURE_gaussian_nll_loss,
};
