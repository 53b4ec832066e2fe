/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/activation.h. Section: activations.
 *
 *     wk_NAME_at             called by the macro wk_NAME, which passes the call site
 *     (wk_NAME)              takes no call site; in parentheses because wk_NAME is also a macro
 *     wk_NAME_, wk_NAME__at  in place: writes its result into the first operand
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/activation: edit those. */
#include "ops/core/entries.h"

/* ---- relu -------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_relu_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_relu, site, x);
}

wk_tensor *(wk_relu)(wk_tensor *x)
{
    return wk__unary(&wk__op_relu, (wk_site){0}, x);
}

wk_tensor *wk_relu__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_relu, site, x);
}

wk_tensor *(wk_relu_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_relu, (wk_site){0}, x);
}

/* ---- relu6 ------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_relu6_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_relu6, site, x);
}

wk_tensor *(wk_relu6)(wk_tensor *x)
{
    return wk__unary(&wk__op_relu6, (wk_site){0}, x);
}

wk_tensor *wk_relu6__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_relu6, site, x);
}

wk_tensor *(wk_relu6_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_relu6, (wk_site){0}, x);
}

/* ---- selu -------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_selu_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_selu, site, x);
}

wk_tensor *(wk_selu)(wk_tensor *x)
{
    return wk__unary(&wk__op_selu, (wk_site){0}, x);
}

wk_tensor *wk_selu__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_selu, site, x);
}

wk_tensor *(wk_selu_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_selu, (wk_site){0}, x);
}

/* ---- silu -------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_silu_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_silu, site, x);
}

wk_tensor *(wk_silu)(wk_tensor *x)
{
    return wk__unary(&wk__op_silu, (wk_site){0}, x);
}

wk_tensor *wk_silu__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_silu, site, x);
}

wk_tensor *(wk_silu_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_silu, (wk_site){0}, x);
}

/* ---- mish -------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_mish_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_mish, site, x);
}

wk_tensor *(wk_mish)(wk_tensor *x)
{
    return wk__unary(&wk__op_mish, (wk_site){0}, x);
}

wk_tensor *wk_mish__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_mish, site, x);
}

wk_tensor *(wk_mish_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_mish, (wk_site){0}, x);
}

/* ---- hardsigmoid ------------------------------------------------------------------------------------------------- */

wk_tensor *wk_hardsigmoid_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_hardsigmoid, site, x);
}

wk_tensor *(wk_hardsigmoid)(wk_tensor *x)
{
    return wk__unary(&wk__op_hardsigmoid, (wk_site){0}, x);
}

wk_tensor *wk_hardsigmoid__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_hardsigmoid, site, x);
}

wk_tensor *(wk_hardsigmoid_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_hardsigmoid, (wk_site){0}, x);
}

/* ---- hardswish --------------------------------------------------------------------------------------------------- */

wk_tensor *wk_hardswish_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_hardswish, site, x);
}

wk_tensor *(wk_hardswish)(wk_tensor *x)
{
    return wk__unary(&wk__op_hardswish, (wk_site){0}, x);
}

wk_tensor *wk_hardswish__at(wk_site site, wk_tensor *x)
{
    return wk__unary_(&wk__op_hardswish, site, x);
}

wk_tensor *(wk_hardswish_)(wk_tensor *x)
{
    return wk__unary_(&wk__op_hardswish, (wk_site){0}, x);
}

/* ---- softsign ---------------------------------------------------------------------------------------------------- */

wk_tensor *wk_softsign_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_softsign, site, x);
}

wk_tensor *(wk_softsign)(wk_tensor *x)
{
    return wk__unary(&wk__op_softsign, (wk_site){0}, x);
}

/* ---- logsigmoid -------------------------------------------------------------------------------------------------- */

wk_tensor *wk_logsigmoid_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_logsigmoid, site, x);
}

wk_tensor *(wk_logsigmoid)(wk_tensor *x)
{
    return wk__unary(&wk__op_logsigmoid, (wk_site){0}, x);
}

/* ---- tanhshrink -------------------------------------------------------------------------------------------------- */

wk_tensor *wk_tanhshrink_at(wk_site site, wk_tensor *x)
{
    return wk__unary(&wk__op_tanhshrink, site, x);
}

wk_tensor *(wk_tanhshrink)(wk_tensor *x)
{
    return wk__unary(&wk__op_tanhshrink, (wk_site){0}, x);
}

/* ---- softshrink -------------------------------------------------------------------------------------------------- */

int wk__invoke_softshrink(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_softshrink_options options = {.size = sizeof options, .lambd = wk__value_option(&args[1])};
    return wk__return_one(out, wk_softshrink_at(site, wk__value_tensor(&args[0]), &options));
}

/* ---- hardshrink -------------------------------------------------------------------------------------------------- */

int wk__invoke_hardshrink(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_hardshrink_options options = {.size = sizeof options, .lambd = wk__value_option(&args[1])};
    return wk__return_one(out, wk_hardshrink_at(site, wk__value_tensor(&args[0]), &options));
}

/* ---- threshold --------------------------------------------------------------------------------------------------- */

int wk__invoke_threshold(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_threshold_at(site, wk__value_tensor(&args[0]), wk__value_float(&args[1], 0),
                                               wk__value_float(&args[2], 0)));
}

int wk__invoke_threshold_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_threshold__at(site, wk__value_tensor(&args[0]), wk__value_float(&args[1], 0),
                                                wk__value_float(&args[2], 0)));
}

/* ---- leaky_relu -------------------------------------------------------------------------------------------------- */

int wk__invoke_leaky_relu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_leaky_relu_options options = {.size = sizeof options, .negative_slope = wk__value_option(&args[1])};
    return wk__return_one(out, wk_leaky_relu_at(site, wk__value_tensor(&args[0]), &options));
}

int wk__invoke_leaky_relu_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_leaky_relu_options options = {.size = sizeof options, .negative_slope = wk__value_option(&args[1])};
    return wk__return_one(out, wk_leaky_relu__at(site, wk__value_tensor(&args[0]), &options));
}

/* ---- prelu ------------------------------------------------------------------------------------------------------- */

int wk__invoke_prelu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_prelu_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1])));
}

/* ---- rrelu ------------------------------------------------------------------------------------------------------- */

int wk__invoke_rrelu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_rrelu_options options = {.size = sizeof options,
                                      .lower = wk__value_option(&args[1]),
                                      .upper = wk__value_option(&args[2]),
                                      .training = wk__value_int(&args[3], 0) != 0};
    return wk__return_one(out, wk_rrelu_at(site, wk__value_tensor(&args[0]), &options));
}

/* ---- elu --------------------------------------------------------------------------------------------------------- */

int wk__invoke_elu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_elu_options options = {.size = sizeof options, .alpha = wk__value_option(&args[1])};
    return wk__return_one(out, wk_elu_at(site, wk__value_tensor(&args[0]), &options));
}

int wk__invoke_elu_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_elu_options options = {.size = sizeof options, .alpha = wk__value_option(&args[1])};
    return wk__return_one(out, wk_elu__at(site, wk__value_tensor(&args[0]), &options));
}

/* ---- celu -------------------------------------------------------------------------------------------------------- */

int wk__invoke_celu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_celu_options options = {.size = sizeof options, .alpha = wk__value_option(&args[1])};
    return wk__return_one(out, wk_celu_at(site, wk__value_tensor(&args[0]), &options));
}

int wk__invoke_celu_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_celu_options options = {.size = sizeof options, .alpha = wk__value_option(&args[1])};
    return wk__return_one(out, wk_celu__at(site, wk__value_tensor(&args[0]), &options));
}

/* ---- gelu -------------------------------------------------------------------------------------------------------- */

int wk__invoke_gelu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int approximate =
        wk__value_choice(site, "gelu", "approximate", &args[1], (const char *const[]){"none", "tanh", NULL});
    if (approximate < 0) return -1;
    const wk_gelu_options options = {.size = sizeof options, .approximate = 101 + approximate};
    return wk__return_one(out, wk_gelu_at(site, wk__value_tensor(&args[0]), &options));
}

/* ---- softplus ---------------------------------------------------------------------------------------------------- */

int wk__invoke_softplus(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_softplus_options options = {
        .size = sizeof options, .beta = wk__value_option(&args[1]), .threshold = wk__value_option(&args[2])};
    return wk__return_one(out, wk_softplus_at(site, wk__value_tensor(&args[0]), &options));
}

/* ---- hardtanh ---------------------------------------------------------------------------------------------------- */

int wk__invoke_hardtanh(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_hardtanh_options options = {
        .size = sizeof options, .min_val = wk__value_option(&args[1]), .max_val = wk__value_option(&args[2])};
    return wk__return_one(out, wk_hardtanh_at(site, wk__value_tensor(&args[0]), &options));
}

int wk__invoke_hardtanh_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_hardtanh_options options = {
        .size = sizeof options, .min_val = wk__value_option(&args[1]), .max_val = wk__value_option(&args[2])};
    return wk__return_one(out, wk_hardtanh__at(site, wk__value_tensor(&args[0]), &options));
}

/* ---- glu --------------------------------------------------------------------------------------------------------- */

int wk__invoke_glu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_glu_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], -1)));
}

/* ---- swiglu ------------------------------------------------------------------------------------------------------ */

int wk__invoke_swiglu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_swiglu_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], -1)));
}

/* ---- geglu ------------------------------------------------------------------------------------------------------- */

int wk__invoke_geglu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_geglu_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], -1)));
}
