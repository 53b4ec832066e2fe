/* erf and erfc = 1 - erf. */
#include "forms.h"
#include <math.h>

/* ---- erf --------------------------------------------------------------------------------------------------------- */

/* d erf / dx = 2 / sqrt(pi) e^(-x^2) */
static wk_tensor *slope(const wk__gradient *g)
{
    return wk_mul(wk_exp(wk_neg(wk_square(wk__saved(g, 0)))), M_2_SQRTPI);
}

static void erf_gradient(wk__gradient *g)
{
    g->in[0] = wk_mul(g->out[0], slope(g));
}

static double erf_exact(const double *x)
{
    return erf(x[0]);
}

const wk__op wk__op_erf = {
    .name = "erf", .schema = "erf(Tensor self) -> Tensor", .group = "pointwise", .node = "ErfBackward0", .doc = "error function",
    .expression = wk__instruction, .instruction = WK__ERF, .arity = 1, .result = WK__RESULT_FLOAT, .gradient = erf_gradient,
    .needs = {WK__SAVE_0}, .invoke = wk__invoke_pointwise, .exact = erf_exact, .samples = wk__samples_unary, .low = -3, .high = 3,
};

#define WK__FORM erf
#include "unary.inc"

/* ---- erfc: small for large x, where 1 - erf(x) would be rounding errors only -------------------------------------------- */

/* With t = 3.5 / (3.5 + x), x >= 0: e^(x^2) erfc(x) / t = polynomial in 2 t - 1, within 1e-16. Coefficients of 1, (2 t - 1), ...
 * of the Chebyshev expansion cut after degree 22, computed in 40 digits. */
static const double polynomial[] = {
    0.31058731121778859,     0.26794277844774682,    0.19831818475275664,    0.12435886477620615,    0.064496749042069339,
    0.026376773326571405,    0.0075767485384178828,  0.00090772865315247326, -0.00037295848976186142, -0.00020415179667546681,
    -1.2017735603163838e-5,  2.1364393392802858e-5,  5.3277286049988458e-6,  -2.0684022864809626e-6, -9.692234107505431e-7,
    2.2508300672199307e-7,   1.5774448233862649e-7,  -3.03828790810384e-8,   -2.4720486927092006e-8, 4.3812460917503855e-9,
    3.3597832024968399e-9,   -4.1487520963690666e-10, -2.79246533309728e-10,
};

/* e^(-x^2) by halves: x = h + rest with h so short that h^2 is exact, x^2 = h^2 + (x - h) (x + h). */
static int emit_bell(wk__emit *e, int x)
{
    int split = wk__emit_2(e, WK__MUL, x, wk__emit_constant(e, e->dtype == WK_F64 ? 0x1p27 + 1 : 0x1p12 + 1));
    int high = wk__emit_2(e, WK__SUB, split, wk__emit_2(e, WK__SUB, split, x));
    int rest = wk__emit_2(e, WK__MUL, wk__emit_2(e, WK__SUB, high, x), wk__emit_2(e, WK__ADD, high, x));
    int most = wk__emit_1(e, WK__NEG, wk__emit_2(e, WK__MUL, high, high));
    return wk__emit_2(e, WK__MUL, wk__emit_1(e, WK__EXP, most), wk__emit_1(e, WK__EXP, rest));
}

static int emit_polynomial(wk__emit *e, int x)
{
    int last = (int)(sizeof polynomial / sizeof *polynomial) - 1, value = wk__emit_constant(e, polynomial[last]);
    for (int k = last - 1; k >= 0; k--)
        value = wk__emit_2(e, WK__ADD, wk__emit_2(e, WK__MUL, value, x), wk__emit_constant(e, polynomial[k]));
    return value;
}

static int erfc_expression(wk__emit *e, const int in[])
{
    int two = wk__emit_constant(e, 2), middle = wk__emit_constant(e, 3.5);
    int x = wk__emit_2(e, WK__MIN, wk__emit_1(e, WK__ABS, in[0]), wk__emit_constant(e, 28)); /* beyond, erfc is 0 in f64 too */
    int t = wk__emit_2(e, WK__DIV, middle, wk__emit_2(e, WK__ADD, middle, x));
    int curve = emit_polynomial(e, wk__emit_2(e, WK__SUB, wk__emit_2(e, WK__MUL, two, t), wk__emit_constant(e, 1)));
    int right = wk__emit_2(e, WK__MUL, emit_bell(e, x), wk__emit_2(e, WK__MUL, t, curve));
    int positive = wk__emit_compare(e, WK__GE, in[0], wk__emit_constant(e, 0));
    return wk__emit_where(e, positive, right, wk__emit_2(e, WK__SUB, two, right));
}

static void erfc_gradient(wk__gradient *g)
{
    g->in[0] = wk_neg(wk_mul(g->out[0], slope(g)));
}

static double erfc_exact(const double *x)
{
    return erfc(x[0]);
}

const wk__op wk__op_erfc = {
    .name = "erfc", .schema = "erfc(Tensor self) -> Tensor", .group = "pointwise", .node = "ErfcBackward0", .doc = "1 - erf(x), exact for large x",
    .expression = erfc_expression, .arity = 1, .result = WK__RESULT_FLOAT, .gradient = erfc_gradient, .needs = {WK__SAVE_0},
    .invoke = wk__invoke_pointwise, .exact = erfc_exact, .samples = wk__samples_unary, .low = -3, .high = 9,
};

#define WK__FORM erfc
#include "unary.inc"
