/* SPDX-License-Identifier: Apache-2.0 */
/* div, floor_divide, remainder, fmod. */
#include "ops/core/entries.h"
#include <math.h>
#include <string.h>

/* ---- div: true division, also of integers ------------------------------------------------------------------------ */

static void div_gradient(wk__grad_ctx *g)
{
    if (wk__needs_input_grad(g, 0))
        g->in[0] = wk__elementwise(&wk__op_div, (wk_site){0},
                                   (wk__arg[]){wk__tensor_arg(g->out[0]), wk__saved_operand(g, 1)}, 2, NULL);
    if (!wk__needs_input_grad(g, 1)) return;
    wk_tensor *divisor = wk__saved(g, 1),
              *ratio = wk__elementwise(&wk__op_div, (wk_site){0},
                                       (wk__arg[]){wk__saved_operand(g, 0), wk__tensor_arg(divisor)}, 2, NULL);
    g->in[1] = wk_neg(wk_mul(g->out[0], wk_div(ratio, divisor)));
}

const wk__op wk__op_div = {
    .expression = wk__single_instruction,
    .instruction = WK__DIV,
    .gradient = div_gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1},
    WK__SIGNATURE_div,
};

/* ---- div with a rounding mode: a step function, so the gradient is 0 --------------------------------------------- */

/* Truncated division. For integers, a - fmod(a, b) is a multiple of b, so floor division is exact. For b = 0 the
 * remainder and the quotient are 0. */
static int truncated(wk__emit *e, const int in[])
{
    if (wk__is_float(e->dtype)) return wk__emit_unary(e, WK__TRUNC, wk__emit_binary(e, WK__DIV, in[0], in[1]));
    int multiple = wk__emit_binary(e, WK__SUB, in[0], wk__emit_binary(e, WK__FMOD, in[0], in[1]));
    return wk__emit_binary(e, WK__FLOORDIV, multiple, in[1]);
}

#define ROUNDED                                                                                                        \
    .name = "div", .grad_fn_name = "DivBackward2", .arity = 2, .dtypes = WK__NUMBERS, .gradient = wk__zero_gradient
static const wk__op floored_op = {.expression = wk__single_instruction, .instruction = WK__FLOORDIV, ROUNDED};
static const wk__op truncated_op = {.expression = truncated, ROUNDED};

static const wk__op *division(wk_site site, const wk_div_options *options)
{
    wk_div_options o;
    if (!wk__options(site, "div", options, &o)) return NULL;
    const char *mode = o.rounding_mode;
    if (!mode) return &wk__op_div;
    if (strcmp(mode, "floor") == 0) return &floored_op;
    if (strcmp(mode, "trunc") == 0) return &truncated_op;
    wk__error_set(site, WK_ERR_ARGUMENT, "div: unknown .rounding_mode \"%.30s\"; expected \"floor\" or \"trunc\"",
                  mode);
    return NULL;
}

wk_tensor *wk_div_rounded_at(wk_site site, wk_value a, wk_value b, const wk_div_options *options)
{
    const wk__op *op = division(site, options);
    return op ? wk__elementwise(op, site, (wk__arg[]){wk__value_arg(&a), wk__value_arg(&b)}, 2, NULL) : NULL;
}
wk_tensor *wk_div_rounded__at(wk_site site, wk_tensor *a, wk_value b, const wk_div_options *options)
{
    const wk__op *op = division(site, options);
    return op ? wk__elementwise_(op, site, (wk__arg[]){wk__tensor_arg(a), wk__value_arg(&b)}, 2, NULL) : NULL;
}

/* ---- floor_divide ------------------------------------------------------------------------------------------------ */

const wk__op wk__op_floor_divide = {
    .expression = wk__single_instruction,
    .instruction = WK__FLOORDIV,
    WK__SIGNATURE_floor_divide,
};

/* ---- remainder and fmod: a - b q, where q is a / b rounded down or towards 0 and has gradient 0 ------------------ */

static void remainder_gradient_of(wk__grad_ctx *g, const wk__op *rounded)
{
    if (wk__needs_input_grad(g, 0)) g->in[0] = g->out[0];
    if (!wk__needs_input_grad(g, 1)) return;
    wk_tensor *quotient = wk__elementwise(
        rounded, (wk_site){0}, (wk__arg[]){wk__saved_operand(g, 0), wk__tensor_arg(wk__saved(g, 1))}, 2, NULL);
    g->in[1] = wk_neg(wk_mul(g->out[0], quotient));
}

static void remainder_gradient(wk__grad_ctx *g)
{
    remainder_gradient_of(g, &floored_op);
}

static void fmod_gradient(wk__grad_ctx *g)
{
    remainder_gradient_of(g, &truncated_op);
}

const wk__op wk__op_remainder = {
    .expression = wk__single_instruction,
    .instruction = WK__REM,
    .gradient = remainder_gradient,
    .saves = {0, WK__SAVE_0 | WK__SAVE_1},
    WK__SIGNATURE_remainder,
};

const wk__op wk__op_fmod = {
    .expression = wk__single_instruction,
    .instruction = WK__FMOD,
    .gradient = fmod_gradient,
    .saves = {0, WK__SAVE_0 | WK__SAVE_1},
    WK__SIGNATURE_fmod,
};
