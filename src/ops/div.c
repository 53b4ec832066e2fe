/* div, floor_divide, remainder, fmod: the four ways to divide. */
#include "forms.h"
#include <math.h>

/* ---- div: true division, of integers too ------------------------------------------------------------------------- */

static void div_gradient(wk__gradient *g)
{
    if (wk__wants(g, 0)) g->in[0] = wk__binary(&wk__op_div, (wk_site){0}, wk__t(g->out[0]), wk__operand_of(g, 1));
    if (!wk__wants(g, 1)) return;
    wk_tensor *divisor = wk__saved(g, 1),
              *ratio = wk__binary(&wk__op_div, (wk_site){0}, wk__operand_of(g, 0), wk__t(divisor));
    g->in[1] = wk_neg(wk_mul(g->out[0], wk_div(ratio, divisor)));
}

static double div_exact(const double *x)
{
    return x[0] / x[1];
}

static const char *const div_samples[] = {"[], []",   "[5], [5]",   "[3,4], [4]", "[2,1,3], [4,1]", "[0,3], [3]",
                                          "[3,4], 2", "[3,4], 0.5", "2, [3]",     "[4]:i64<7, 2",   NULL};

const wk__op wk__op_div = {
    .name = "div",
    .schema = "div(Tensor self, Tensor other) -> Tensor",
    .group = "pointwise",
    .node = "DivBackward0",
    .number_node = {"MulBackward0"}, /* 2 / x is 2 times its reciprocal */
    .doc = "a / b, broadcast; integers and bool become f32",
    .expression = wk__instruction,
    .instruction = WK__DIV,
    .arity = 2,
    .result = WK__RESULT_FLOAT,
    .gradient = div_gradient,
    .needs = {WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1},
    .invoke = wk__invoke_pointwise,
    .exact = div_exact,
    .samples = div_samples,
    .low = 0.5,
    .high = 3,
};

#define WK__FORM div
#define WK__IN_PLACE
#include "binary.inc"

/* ---- floor_divide ------------------------------------------------------------------------------------------------ */

static double floor_divide_exact(const double *x)
{
    double rest = fmod(x[0], x[1]), whole = (x[0] - rest) / x[1];
    if (x[1] == 0) return x[0] / x[1];
    if (rest != 0 && signbit(rest) != signbit(x[1])) whole -= 1;
    return whole == 0 ? copysign(0, x[0] / x[1]) : whole;
}

const wk__op wk__op_floor_divide = {
    .name = "floor_divide",
    .schema = "floor_divide(Tensor self, Tensor other) -> Tensor",
    .group = "pointwise",
    .doc = "floor(a / b); an integer by 0 gives 0",
    .expression = wk__instruction,
    .instruction = WK__FLOORDIV,
    .arity = 2,
    .domain = WK__NUMBERS,
    .invoke = wk__invoke_pointwise,
    .exact = floor_divide_exact,
    .samples = div_samples,
    .low = 0.5,
    .high = 9,
};

#define WK__FORM floor_divide
#define WK__IN_PLACE
#include "binary.inc"

/* ---- remainder and fmod: a - b q, with q = a / b rounded down or towards 0, whose gradient is 0 --------------------- */

static void rest_gradient(wk__gradient *g, wk_tensor *(*rounded)(wk_tensor *))
{
    if (wk__wants(g, 0)) g->in[0] = g->out[0];
    if (!wk__wants(g, 1)) return;
    wk_tensor *quotient = wk__binary(&wk__op_div, (wk_site){0}, wk__operand_of(g, 0), wk__t(wk__saved(g, 1)));
    g->in[1] = wk_neg(wk_mul(g->out[0], rounded(quotient)));
}

static void remainder_gradient(wk__gradient *g)
{
    rest_gradient(g, wk_floor);
}

static void fmod_gradient(wk__gradient *g)
{
    rest_gradient(g, wk_trunc);
}

static double remainder_exact(const double *x)
{
    return x[0] - x[1] * floor(x[0] / x[1]);
}

static double fmod_exact(const double *x)
{
    return fmod(x[0], x[1]);
}

/* Far from whole quotients, where they jump. */
static const char *const rest_samples[] = {
    "[4]:i64<9, 4", "[4]:i32<9, [4]:i32<9", "[0,3], [3]", "[], []", "[3,4], [4]", "[5], 0.75", NULL};

const wk__op wk__op_remainder = {
    .name = "remainder",
    .schema = "remainder(Tensor self, Tensor other) -> Tensor",
    .group = "pointwise",
    .node = "RemainderBackward1",
    .number_node = {[1] = "RemainderBackward0"},
    .doc = "a - b floor(a / b): the sign of b",
    .expression = wk__instruction,
    .instruction = WK__REM,
    .arity = 2,
    .domain = WK__NUMBERS,
    .gradient = remainder_gradient,
    .needs = {0, WK__SAVE_0 | WK__SAVE_1},
    .invoke = wk__invoke_pointwise,
    .exact = remainder_exact,
    .samples = rest_samples,
    .low = 1.2,
    .high = 2.2,
};

#define WK__FORM remainder
#define WK__IN_PLACE
#include "binary.inc"

const wk__op wk__op_fmod = {
    .name = "fmod",
    .schema = "fmod(Tensor self, Tensor other) -> Tensor",
    .group = "pointwise",
    .node = "FmodBackward1",
    .number_node = {[1] = "FmodBackward0"},
    .doc = "a - b trunc(a / b): the sign of a",
    .expression = wk__instruction,
    .instruction = WK__FMOD,
    .arity = 2,
    .domain = WK__NUMBERS,
    .gradient = fmod_gradient,
    .needs = {0, WK__SAVE_0 | WK__SAVE_1},
    .invoke = wk__invoke_pointwise,
    .exact = fmod_exact,
    .samples = rest_samples,
    .low = 1.2,
    .high = 2.2,
};

#define WK__FORM fmod
#define WK__IN_PLACE
#include "binary.inc"
