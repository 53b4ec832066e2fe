/* SPDX-License-Identifier: Apache-2.0 */
/* div, floor_divide, remainder, fmod: the four ways to divide. */
#include "forms.h"
#include <math.h>
#include <string.h>

/* ---- div: true division, of integers too ------------------------------------------------------------------------- */

static void div_gradient(wk__gradient *g)
{
    if (wk__wants(g, 0)) g->in[0] = wk__binary(&wk__op_div, (wk_site){0}, wk__t(g->out[0]), wk__operand_of(g, 1));
    if (!wk__wants(g, 1)) return;
    wk_tensor *divisor = wk__saved(g, 1),
              *ratio = wk__binary(&wk__op_div, (wk_site){0}, wk__operand_of(g, 0), wk__t(divisor));
    g->in[1] = wk_neg(wk_mul(g->out[0], wk_div(ratio, divisor)));
}

static double floor_divide_exact(const double *x)
{
    double rest = fmod(x[0], x[1]), whole = (x[0] - rest) / x[1];
    if (x[1] == 0) return x[0] / x[1];
    if (rest != 0 && signbit(rest) != signbit(x[1])) whole -= 1;
    return whole == 0 ? copysign(0, x[0] / x[1]) : whole;
}

/* x[2]: the first letter of the rounding mode, if there is one */
static double div_exact(const double *x)
{
    return x[2] == 'f' ? floor_divide_exact(x) : x[2] == 't' ? trunc(x[0] / x[1]) : x[0] / x[1];
}

static int div_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    wk_div_options options = {.size = sizeof options, .rounding_mode = wk__value_text(&args[2], NULL)};
    return wk__one(out, wk_div_rounded_at(site, args[0], args[1], &options));
}

static const char *const whole_samples[] = {"[], []",   "[5], [5]",   "[3,4], [4]", "[2,1,3], [4,1]", "[0,3], [3]",
                                            "[3,4], 2", "[3,4], 0.5", "2, [3]",     "[4]:i64<7, 2",   NULL};
static const char *const div_samples[] = {"[], []",
                                          "[5], [5]",
                                          "[3,4], [4]",
                                          "[2,1,3], [4,1]",
                                          "[0,3], [3]",
                                          "[3,4], 2",
                                          "[3,4], 0.5",
                                          "2, [3]",
                                          "[4]:i64<7, 2",
                                          "[9]:f32, [9]:f32, \"floor\"",
                                          "[9]:f64, -0.7, \"trunc\"",
                                          "[9]:i64<9, -4, \"floor\"",
                                          "-9, [9]:i32<4, \"trunc\"",
                                          NULL};

const wk__op wk__op_div = {
    .name = "div",
    .schema = "div(Tensor self, Tensor other, *, str? rounding_mode=None) -> Tensor",
    .group = "pointwise",
    .node = "DivBackward0",
    .number_node = {"MulBackward0"}, /* 2 / x is 2 times its reciprocal */
    .doc =
        "a / b, broadcast; integers and bool become f32. rounding_mode \"floor\" or \"trunc\": a whole number, in the "
        "operands' dtype",
    .expression = wk__instruction,
    .instruction = WK__DIV,
    .arity = 2,
    .result = WK__RESULT_FLOAT,
    .gradient = div_gradient,
    .needs = {WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1},
    .numbers = 1 << 0 | 1 << 1,
    .invoke = div_invoke,
    .exact = div_exact,
    .samples = div_samples,
    .low = 0.5,
    .high = 3,
};

#define WK__FORM div
#define WK__IN_PLACE
#include "binary.inc"

/* ---- div with a rounding mode: steps, so the gradient is 0 ------------------------------------------------------- */

/* Of integers a less its rest is a multiple of b, which is divided exactly; the rest by 0 is 0, and so is the
 * quotient. */
static int truncated(wk__emit *e, const int in[])
{
    if (wk__is_float(e->dtype)) return wk__emit_1(e, WK__TRUNC, wk__emit_2(e, WK__DIV, in[0], in[1]));
    int multiple = wk__emit_2(e, WK__SUB, in[0], wk__emit_2(e, WK__FMOD, in[0], in[1]));
    return wk__emit_2(e, WK__FLOORDIV, multiple, in[1]);
}

#define ROUNDED .name = "div", .node = "DivBackward2", .arity = 2, .domain = WK__NUMBERS, .gradient = wk__gradient_zero
static const wk__op floored_op = {.expression = wk__instruction, .instruction = WK__FLOORDIV, ROUNDED};
static const wk__op truncated_op = {.expression = truncated, ROUNDED};

static const wk__op *division(wk_site site, const wk_div_options *options)
{
    wk_div_options o;
    if (!wk__options(site, "div", options, &o)) return NULL;
    const char *mode = o.rounding_mode;
    if (!mode) return &wk__op_div;
    if (strcmp(mode, "floor") == 0) return &floored_op;
    if (strcmp(mode, "trunc") == 0) return &truncated_op;
    wk__error_set(site, WK_ERR_ARGUMENT, "div: the rounding_mode is \"%.30s\"; it must be \"floor\" or \"trunc\"",
                  mode);
    return NULL;
}

wk_tensor *wk_div_rounded_at(wk_site site, wk_value a, wk_value b, const wk_div_options *options)
{
    const wk__op *op = division(site, options);
    return op ? wk__binary(op, site, wk__value_arg(&a), wk__value_arg(&b)) : NULL;
}
wk_tensor *wk_div_rounded__at(wk_site site, wk_tensor *a, wk_value b, const wk_div_options *options)
{
    const wk__op *op = division(site, options);
    return op ? wk__binary_(op, site, a, wk__value_arg(&b)) : NULL;
}

/* ---- floor_divide ------------------------------------------------------------------------------------------------ */

const wk__op wk__op_floor_divide = {
    .name = "floor_divide",
    .schema = "floor_divide(Tensor self, Tensor other) -> Tensor",
    .group = "pointwise",
    .doc = "floor(a / b); an integer by 0 gives 0",
    .instruction = WK__FLOORDIV,
    .domain = WK__NUMBERS,
    .exact = floor_divide_exact,
    .samples = whole_samples,
    .low = 0.5,
    .high = 9,
    WK__ROW_BINARY,
};

#define WK__FORM floor_divide
#define WK__IN_PLACE
#include "binary.inc"

/* ---- remainder and fmod: a - b q, with q = a / b rounded down or towards 0, whose gradient is 0 ------------------ */

static void rest_gradient(wk__gradient *g, const wk__op *rounded)
{
    if (wk__wants(g, 0)) g->in[0] = g->out[0];
    if (!wk__wants(g, 1)) return;
    wk_tensor *quotient = wk__binary(rounded, (wk_site){0}, wk__operand_of(g, 0), wk__t(wk__saved(g, 1)));
    g->in[1] = wk_neg(wk_mul(g->out[0], quotient));
}

static void remainder_gradient(wk__gradient *g)
{
    rest_gradient(g, &floored_op);
}

static void fmod_gradient(wk__gradient *g)
{
    rest_gradient(g, &truncated_op);
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

#define REST                                                                                                           \
    .group = "pointwise", .domain = WK__NUMBERS, .needs = {0, WK__SAVE_0 | WK__SAVE_1}, .samples = rest_samples,       \
    .low = 1.2, .high = 2.2, WK__ROW_BINARY

const wk__op wk__op_remainder = {
    .name = "remainder",
    .schema = "remainder(Tensor self, Tensor other) -> Tensor",
    .node = "RemainderBackward1",
    .number_node = {[1] = "RemainderBackward0"},
    .doc = "a - b floor(a / b): the sign of b",
    .instruction = WK__REM,
    .gradient = remainder_gradient,
    .exact = remainder_exact,
    REST,
};

#define WK__FORM remainder
#define WK__IN_PLACE
#include "binary.inc"

const wk__op wk__op_fmod = {
    .name = "fmod",
    .schema = "fmod(Tensor self, Tensor other) -> Tensor",
    .node = "FmodBackward1",
    .number_node = {[1] = "FmodBackward0"},
    .doc = "a - b trunc(a / b): the sign of a",
    .instruction = WK__FMOD,
    .gradient = fmod_gradient,
    .exact = fmod_exact,
    REST,
};

#define WK__FORM fmod
#define WK__IN_PLACE
#include "binary.inc"
