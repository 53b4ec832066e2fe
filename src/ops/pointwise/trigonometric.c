/* SPDX-License-Identifier: Apache-2.0 */
/* sin, cos, tan and their inverses: asin, acos, atan, atan2. Angles in radians. */
#include "ops/core/entries.h"
#include <math.h>

/* ---- sin --------------------------------------------------------------------------------------------------------- */

static void sin_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_mul(g->out[0], wk_cos(wk__saved(g, 0)));
}

const wk__op wk__op_sin = {
    .expression = wk__single_instruction,
    .instruction = WK__SIN,
    .gradient = sin_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_sin,
};

/* ---- cos --------------------------------------------------------------------------------------------------------- */

static void cos_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_neg(wk_mul(g->out[0], wk_sin(wk__saved(g, 0))));
}

const wk__op wk__op_cos = {
    .expression = wk__single_instruction,
    .instruction = WK__COS,
    .gradient = cos_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_cos,
};

/* ---- tan --------------------------------------------------------------------------------------------------------- */

static void tan_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_mul(g->out[0], wk_add(wk_square(wk__saved(g, WK__SAVED_OUT)), 1));
}

const wk__op wk__op_tan = {
    .expression = wk__single_instruction,
    .instruction = WK__TAN,
    .gradient = tan_gradient,
    .saves = {WK__SAVE_OUT},
    WK__SIGNATURE_tan,
};

/* ---- asin and acos ----------------------------------------------------------------------------------------------- */

static wk_tensor *grad_over_sqrt_1mx2(const wk__grad_ctx *g)
{
    return wk_mul(g->out[0], wk_rsqrt(wk_sub(1, wk_square(wk__saved(g, 0)))));
}

static void asin_gradient(wk__grad_ctx *g)
{
    g->in[0] = grad_over_sqrt_1mx2(g);
}

static void acos_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_neg(grad_over_sqrt_1mx2(g));
}

const wk__op wk__op_asin = {
    .expression = wk__single_instruction,
    .instruction = WK__ASIN,
    .gradient = asin_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_asin,
};

const wk__op wk__op_acos = {
    .expression = wk__single_instruction,
    .instruction = WK__ACOS,
    .gradient = acos_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_acos,
};

/* ---- atan -------------------------------------------------------------------------------------------------------- */

static void atan_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_div(g->out[0], wk_add(wk_square(wk__saved(g, 0)), 1));
}

const wk__op wk__op_atan = {
    .expression = wk__single_instruction,
    .instruction = WK__ATAN,
    .gradient = atan_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_atan,
};

/* ---- atan2: angle of (x, y); gradient for y and x: (x, -y) / (x^2 + y^2), and 0 at the origin -------------------- */

/* Returns x^2 of an operand that may be a scalar. */
static wk__arg squared(wk__arg x)
{
    if (!x.is_number) return wk__tensor_arg(wk_square(x.tensor));
    const double number = x.is_int ? (double)x.number.i : x.number.f;
    return wk__float_arg(number * number);
}

static void atan2_gradient(wk__grad_ctx *g)
{
    wk_site here = {0};
    wk__arg y = wk__saved_operand(g, 0), x = wk__saved_operand(g, 1);
    wk_tensor *square = wk__elementwise(&wk__op_add, here, (wk__arg[]){squared(y), squared(x)}, 2, NULL);
    wk_tensor *none = wk_eq(square, 0), *share = wk_div(wk_where(none, 0, g->out[0]), wk_add(square, none));
    if (wk__needs_input_grad(g, 0))
        g->in[0] = wk__elementwise(&wk__op_mul, here, (wk__arg[]){wk__tensor_arg(share), x}, 2, NULL);
    if (wk__needs_input_grad(g, 1))
        g->in[1] = wk_neg(wk__elementwise(&wk__op_mul, here, (wk__arg[]){wk__tensor_arg(share), y}, 2, NULL));
}

const wk__op wk__op_atan2 = {
    .expression = wk__single_instruction,
    .instruction = WK__ATAN2,
    .gradient = atan2_gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1},
    WK__SIGNATURE_atan2,
};
