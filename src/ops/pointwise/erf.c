/* SPDX-License-Identifier: Apache-2.0 */
/* erf and erfc = 1 - erf. */
#include "ops/core/entries.h"
#include <math.h>

/* ---- erf --------------------------------------------------------------------------------------------------------- */

/* d erf / dx = 2 / sqrt(pi) e^(-x^2) */
static wk_tensor *slope(const wk__grad_ctx *g)
{
    return wk_mul(wk_exp(wk_neg(wk_square(wk__saved(g, 0)))), M_2_SQRTPI);
}

static void erf_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_mul(g->out[0], slope(g));
}

const wk__op wk__op_erf = {
    .expression = wk__single_instruction,
    .instruction = WK__ERF,
    .gradient = erf_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_erf,
};

/* ---- erfc: computed directly, because 1 - erf(x) cancels for large x --------------------------------------------- */

/* For t = c / (c + x): e^(x^2) erfc(x) / t as a polynomial in t for x in 0 .. 28, within 1.1e-16 (c = 3.25) for f64 and
 * 2.4e-9 (c = 3) for f32. Coefficients of 1, t, t^2, ..., interpolated at the Chebyshev nodes of that range, computed
 * with 60 digits. */
static const double wide[] = {
    0.17359679492955485,    0.17359679552518452,  0.16537917579869186,  0.14894438785917517,   0.12545273097816503,
    0.097311424123089395,   0.067131046790211191, 0.042529462987404697, 0.0052247043054060365, 0.049267229244516379,
    -0.14803263701107821,   0.34500392144021566,  -0.69603292069843585, 1.0880396814280508,    -1.3423988576241492,
    1.2805584688982204,     -0.90305060570769873, 0.44981287470602467,  -0.14937143685698967,  0.029728377057320924,
    -0.0026906181728800201,
};
static const double narrow[] = {
    0.18806377338371619, 0.18804075368470666,  0.17798654786261977, 0.15324642450352364,
    0.14761837567593183, 0.011641402912739137, 0.27380975292148287, -0.37352265334970028,
    0.49851754670613557, -0.39252660248841636, 0.14926845442462954, -0.022143776106413302,
};
static const double LAST = 28; /* beyond it, erfc is 0 even in f64 */

/* e^(-x^2) in two factors: x = h + rest with h so short that h^2 is exact, x^2 = h^2 + (x - h) (x + h). */
static int emit_bell(wk__emit *e, int x)
{
    int split = wk__emit_binary(e, WK__MUL, x, wk__emit_constant(e, e->dtype == WK_F64 ? 0x1p27 + 1 : 0x1p12 + 1));
    int high = wk__emit_binary(e, WK__SUB, split, wk__emit_binary(e, WK__SUB, split, x));
    int rest = wk__emit_binary(e, WK__MUL, wk__emit_binary(e, WK__SUB, high, x), wk__emit_binary(e, WK__ADD, high, x));
    int most = wk__emit_unary(e, WK__NEG, wk__emit_binary(e, WK__MUL, high, high));
    return wk__emit_binary(e, WK__MUL, wk__emit_unary(e, WK__EXP, most), wk__emit_unary(e, WK__EXP, rest));
}

static int emit_polynomial(wk__emit *e, int t, const double *coefficient, int count)
{
    int value = wk__emit_constant(e, coefficient[count - 1]);
    for (int k = count - 2; k >= 0; k--)
        value =
            wk__emit_binary(e, WK__ADD, wk__emit_binary(e, WK__MUL, value, t), wk__emit_constant(e, coefficient[k]));
    return value;
}

static int erfc_expression(wk__emit *e, const int in[])
{
    int two = wk__emit_constant(e, 2), c = wk__emit_constant(e, e->dtype == WK_F64 ? 3.25 : 3);
    int x = wk__emit_binary(e, WK__MIN, wk__emit_unary(e, WK__ABS, in[0]), wk__emit_constant(e, LAST));
    int t = wk__emit_binary(e, WK__DIV, c, wk__emit_binary(e, WK__ADD, c, x));
    int curve = e->dtype == WK_F64 ? emit_polynomial(e, t, wide, sizeof wide / sizeof *wide)
                                   : emit_polynomial(e, t, narrow, sizeof narrow / sizeof *narrow);
    int right = wk__emit_binary(e, WK__MUL, emit_bell(e, x), wk__emit_binary(e, WK__MUL, t, curve));
    int positive = wk__emit_compare(e, WK__GE, in[0], wk__emit_constant(e, 0));
    return wk__emit_where(e, positive, right, wk__emit_binary(e, WK__SUB, two, right));
}

static void erfc_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_neg(wk_mul(g->out[0], slope(g)));
}

const wk__op wk__op_erfc = {
    .expression = erfc_expression,
    .gradient = erfc_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_erfc,
};
