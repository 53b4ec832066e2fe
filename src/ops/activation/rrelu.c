/* SPDX-License-Identifier: Apache-2.0 */
/* rrelu: negative elements are scaled by random numbers in training, else by the mean of their range. */
#include "ops/core/compose.h"
#include "ops/random/philox_draw.h"
#include "ops/reduce/reduction.h"

/* ---- evaluation -------------------------------------------------------------------------------------------------- */

/* in: x, slope */
static int scaled(wk__emit *e, const int in[])
{
    int negative = wk__emit_compare(e, WK__LE, in[0], wk__emit_constant(e, 0));
    return wk__emit_where(e, negative, wk__emit_binary(e, WK__MUL, in[0], in[1]), in[0]);
}

/* NaN gets the slope of a negative number, as in PyTorch. */
static void evaluation_gradient(wk__grad_ctx *g)
{
    const double slope = wk__rrelu_attributes_of(g->attr).lower;
    g->in[0] = wk_where(wk_gt(wk__saved(g, 0), 0), g->out[0], wk_mul(g->out[0], slope));
}

static const wk__op evaluation_op = {
    .name = "rrelu",
    .grad_fn_name = "RreluWithNoiseBackward0",
    .expression = scaled,
    .arity = 2,
    .own_dtype_operands = 2,
    .dtypes = WK__FLOATS,
    .gradient = evaluation_gradient,
    .saves = {WK__SAVE_0},
};

/* ---- training ---------------------------------------------------------------------------------------------------- */

/* The slope of each element: 1 above 0 and for NaN. in: x, counter and key of the draw, lower, upper - lower */
static int random_slope(wk__emit *e, const int in[])
{
    int uniform =
        e->dtype == WK_F64 ? wk__emit_uniform_f64(e, in[1], in[2]) : wk__emit_uniform_f32(e, in[1], in[2], 24);
    int drawn = wk__emit_binary(e, WK__ADD, in[3], wk__emit_binary(e, WK__MUL, uniform, in[4]));
    int negative = wk__emit_compare(e, WK__LE, in[0], wk__emit_constant(e, 0));
    return wk__emit_where(e, negative, drawn, wk__emit_constant(e, 1));
}

static const wk__op slope_op = {.name = "rrelu", .expression = random_slope, .uses_position = true};

/* Returns the slopes of the stored draw, so that the gradient has those of the forward call. */
static wk_tensor *slopes(wk_site site, wk_tensor *x, const wk__attr *attr)
{
    const wk__rrelu_attributes a = wk__rrelu_attributes_of(attr);
    const wk__philox_state draw = {(uint64_t)a.key, (uint64_t)a.counter};
    const wk__imm range[] = {{.f = a.lower}, {.f = a.upper - a.lower}};
    wk_tensor *wide = x ? wk__to_opmath(x) : NULL;
    return wide ? wk__record_random_like(&slope_op, site, wide, draw, range, 0, 2) : NULL;
}

static wk_tensor *train(wk_site site, wk_tensor *x, double lower, double upper)
{
    const wk__op *op = &wk__op_rrelu;
    wk__compose c;
    wk_tensor *out = NULL;
    wk__attr attr = {.count = 0};
    if (!wk__compose_begin(&c, op, site, &x, 1)) return NULL;
    if (wk__check_float(op, site, x)) {
        const wk__philox_state draw = wk__philox_reserve(wk__body_numel(wk__body_of(x)));
        attr = wk__rrelu_attr((wk__rrelu_attributes){
            .lower = lower, .upper = upper, .key = (int64_t)draw.key, .counter = (int64_t)draw.counter});
        out = wk__cast_result(wk_mul(x, slopes(site, x, &attr)), wk__body_of(x)->dtype);
    }
    return wk__compose_end(&c, out, &attr);
}

static void training_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_mul(g->out[0], slopes((wk_site){0}, wk__saved(g, 0), g->attr));
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

wk_tensor *wk_rrelu_at(wk_site site, wk_tensor *x, const wk_rrelu_options *options)
{
    wk_rrelu_options o;
    if (!wk__read_rrelu_options(site, "rrelu", options, &o)) return NULL;
    if (!(o.lower <= o.upper)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "rrelu: .lower must not exceed .upper, got %g and %g", o.lower, o.upper);
        return NULL;
    }
    if (o.training) return train(site, x, o.lower, o.upper);
    const wk__attr attr = wk__rrelu_attr((wk__rrelu_attributes){.lower = (o.lower + o.upper) / 2});
    return wk__unary_with_params(&evaluation_op, site, x, 1, &attr);
}

const wk__op wk__op_rrelu = {
    .gradient = training_gradient,
    .saves = {WK__SAVE_0},
    WK__SIGNATURE_rrelu,
};
