/* SPDX-License-Identifier: Apache-2.0 */
/* pow and square. */
#include "ir/scalar.h"
#include "ops/core/entries.h"
#include <math.h>

/* ---- square ------------------------------------------------------------------------------------------------------ */

static int square_expression(wk__emit *e, const int in[])
{
    return wk__emit_binary(e, WK__MUL, in[0], in[0]);
}

static void square_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_mul(g->out[0], wk_mul(wk__saved(g, 0), 2));
}

const wk__op wk__op_square = {
    .expression = square_expression,
    .gradient = square_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_square,
};

/* ---- pow --------------------------------------------------------------------------------------------------------- */

/* d a^b / da = b a^(b - 1); 0 for b = 0, where a^-1 may be infinite. */
static wk_tensor *base_gradient(const wk__grad_ctx *g, wk_tensor *base, wk__arg exponent)
{
    if (!exponent.tensor && (exponent.is_int ? exponent.number.i == 0 : exponent.number.f == 0))
        return wk_zeros_like_at((wk_site){0}, g->out[0], NULL);
    wk_site here = {0};
    double number = exponent.is_int ? (double)exponent.number.i : exponent.number.f; /* the base has a floating dtype */
    wk_tensor *less =
        wk__elementwise(&wk__op_pow, here,
                        (wk__arg[]){wk__tensor_arg(base), exponent.tensor ? wk__tensor_arg(wk_sub(exponent.tensor, 1))
                                                                          : wk__float_arg(number - 1)},
                        2, NULL);
    wk_tensor *slope =
        wk_mul(g->out[0], wk__elementwise(&wk__op_mul, here, (wk__arg[]){exponent, wk__tensor_arg(less)}, 2, NULL));
    return exponent.tensor ? wk_where(wk_eq(exponent.tensor, 0), 0, slope) : slope;
}

/* d a^b / db = a^b log(a); 0 for a = 0 and b >= 0, where the logarithm is infinite. */
static wk_tensor *exponent_gradient(const wk__grad_ctx *g, wk__arg base, wk_tensor *exponent)
{
    wk_site here = {0};
    if (!base.tensor) {
        double a = base.is_int ? (double)base.number.i : base.number.f;
        wk_tensor *slope = wk_mul(g->out[0], wk_mul(wk__saved(g, WK__SAVED_OUT), log(a)));
        return a == 0 ? wk_where(wk_ge(exponent, 0), 0, slope) : slope;
    }
    wk_tensor *slope =
        wk_mul(g->out[0], wk_mul(wk__saved(g, WK__SAVED_OUT), wk__unary(&wk__op_log, here, base.tensor)));
    return wk_where(wk_logical_and(wk_eq(base.tensor, 0), wk_ge(exponent, 0)), 0, slope);
}

static void pow_gradient(wk__grad_ctx *g)
{
    if (wk__needs_input_grad(g, 0)) g->in[0] = base_gradient(g, wk__saved(g, 0), wk__saved_operand(g, 1));
    if (wk__needs_input_grad(g, 1)) g->in[1] = exponent_gradient(g, wk__saved_operand(g, 0), wk__saved(g, 1));
}

const wk__op wk__op_pow = {
    .expression = wk__single_instruction,
    .instruction = WK__POW,
    .gradient = pow_gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_OUT},
    WK__SIGNATURE_pow,
};

/* x^2, the most frequent power, as one multiplication. */
static const wk__op squared = {
    .name = "pow",
    .grad_fn_name = "PowBackward0",
    .expression = square_expression,
    .arity = 2,
    .dtypes = WK__NUMBERS,
    .gradient = pow_gradient,
    .saves = {WK__SAVE_0},
};

/* Checks that integers are raised to a nonnegative integer power that their dtype can represent. */
static bool check_integer_power(wk_site site, wk__arg a, wk__arg b)
{
    if (!a.tensor || b.tensor || !b.is_int || !wk__is_tensor(a.tensor)) return true;
    const wk_dtype dtype = (wk_dtype)wk__body_of(a.tensor)->dtype;
    if (wk__is_float(dtype) || dtype == WK_BOOL) return true;
    if (b.number.i >= 0 && wk__scalar_to_i64(&b.number.i, dtype) == b.number.i) return true;
    if (b.number.i >= 0) {
        wk__op_error(&wk__op_pow, site, WK_ERR_ARGUMENT, &a.tensor,
                     "$a to the power %lld: the exponent does not fit %s; use wk_to_dtype(x, WK_I64) first",
                     (long long)b.number.i, wk_dtype_str(dtype));
        return false;
    }
    wk__op_error(&wk__op_pow, site, WK_ERR_ARGUMENT, &a.tensor,
                 "$a to the power %lld: integers do not support negative powers; use wk_to_dtype(x, WK_F32) first",
                 (long long)b.number.i);
    return false;
}

static const wk__op *variant(wk__arg a, wk__arg b)
{
    bool two = a.tensor && b.is_number && (b.is_int ? b.number.i == 2 : b.number.f == 2);
    return two ? &squared : &wk__op_pow;
}

wk_tensor *wk__pow(wk_site site, wk__arg a, wk__arg b)
{
    return check_integer_power(site, a, b) ? wk__elementwise(variant(a, b), site, (wk__arg[]){a, b}, 2, NULL) : NULL;
}

wk_tensor *wk__pow_(wk_site site, wk_tensor *a, wk__arg b)
{
    return check_integer_power(site, wk__tensor_arg(a), b)
               ? wk__elementwise_(variant(wk__tensor_arg(a), b), site, (wk__arg[]){wk__tensor_arg(a), b}, 2, NULL)
               : NULL;
}
