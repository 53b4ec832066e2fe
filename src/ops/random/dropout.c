/* SPDX-License-Identifier: Apache-2.0 */
/* dropout and bernoulli: one random number for each element of an operand. */
#include "dropout.h"
#include <math.h>

/* ---- recording --------------------------------------------------------------------------------------------------- */

wk_tensor *wk__record_random_like(const wk__op *op, wk_site site, wk_tensor *x, wk__philox_state draw,
                                  const wk__imm *numbers, int raw, int count)
{
    const wk__output_spec spec = {WK__PROGRAM, .inputs = 3 + count, .same_layout = true};
    wk__record *r;
    wk_tensor *out = wk__begin_output_record(op, site, &x, 1, spec, &r);
    if (!out) return NULL;
    wk__record_ref(r, 1, wk__body_of(x), wk__body_of(x)->stride);
    wk__record_imm(r, 2, WK_I64, (wk__imm){.i = (int64_t)draw.counter}, WK__REF_IMM | WK__REF_IMM_INDEX);
    wk__record_imm(r, 3, WK_I64, (wk__imm){.i = (int64_t)draw.key}, WK__REF_IMM | WK__REF_IMM_INDEX);
    for (int k = 0; k < count; k++)
        wk__record_imm(r, 4 + k, k < raw ? WK_I64 : WK_F64, numbers[k],
                       k < raw ? WK__REF_IMM | WK__REF_IMM_INDEX : WK__REF_IMM);
    wk__record_commit(wk__context(), r);
    return out;
}

static bool check_float(const wk__op *op, wk_site site, wk_tensor *x)
{
    if (!wk__check_input(op, site, x)) return false;
    if (wk__is_float(wk__body_of(x)->dtype)) return true;
    wk__op_error(op, site, WK_ERR_DTYPE, &x, "$a must be floating-point; convert it with wk_to_dtype(x, WK_F32)");
    return false;
}

/* ---- dropout ----------------------------------------------------------------------------------------------------- */

static int dropout_expression(wk__emit *e, const int in[])
{
    int word = wk__emit_bits(e, in[1], in[2], 32);
    int stays = wk__emit_compare(e, WK__GE, word, wk__emit_ins(e, WK__IMM, WK_I64, in[3], 0, 0));
    return wk__emit_where(e, stays, wk__emit_binary(e, WK__MUL, in[0], in[4]), wk__emit_constant(e, 0));
}

wk_tensor *wk__record_dropout(wk_site site, wk_tensor *x, const wk__attr *attr)
{
    const wk__dropout_attributes a = wk__dropout_attributes_of(attr);
    const wk__philox_state draw = {(uint64_t)a.key, (uint64_t)a.counter};
    const wk__imm numbers[] = {{.i = a.threshold}, {.f = a.scale}};
    wk_tensor *out = x ? wk__record_random_like(&wk__op_dropout, site, x, draw, numbers, 1, 2) : NULL;
    if (!out || !wk__needs_grad_fn(wk__context(), &x, 1)) return out;
    return wk__node_attach(&wk__op_dropout, site, &x, 1, &out, 1, attr) ? out : NULL;
}

bool wk__dropout_check(const wk__op *op, wk_site site, wk_tensor *x, double p)
{
    if (!check_float(op, site, x)) return false;
    if (p >= 0 && p <= 1) return true;
    wk__op_error(op, site, WK_ERR_ARGUMENT, &x, "p must be in [0, 1], got %g", p);
    return false;
}

wk__dropout_attributes wk__dropout_draw(int64_t count, double p, double scale)
{
    const wk__philox_state draw = wk__philox_reserve(count);
    return (wk__dropout_attributes){
        .key = (int64_t)draw.key, .counter = (int64_t)draw.counter, .threshold = llrint(ldexp(p, 32)), .scale = scale};
}

wk_tensor *wk_dropout_at(wk_site site, wk_tensor *x, double p, bool training)
{
    if (!wk__dropout_check(&wk__op_dropout, site, x, p)) return NULL;
    if (!training) return wk__return_operand(x);
    const wk__attr attr =
        wk__dropout_attr(wk__dropout_draw(wk__body_numel(wk__body_of(x)), p, p < 1 ? 1 / (1 - p) : 0));
    return wk__record_dropout(site, x, &attr);
}

void wk__dropout_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk__record_dropout((wk_site){0}, g->out[0], g->attr);
}

const wk__op wk__op_dropout = {
    .expression = dropout_expression,
    .uses_position = true,
    .gradient = wk__dropout_gradient,
    WK__SIGNATURE_dropout,
};

/* ---- bernoulli --------------------------------------------------------------------------------------------------- */

/* in: p, counter, key, p in memory, bound and stride. p is loaded once more, at index 0 with stride 0. For an invalid
 * probability the index is 1, which devices report (wk__op.fault_message), so the host does not check the values. */
static int bernoulli(wk__emit *e, const int in[])
{
    bool wide = e->dtype == WK_F64;
    int uniform = wide ? wk__emit_uniform_f64(e, in[1], in[2]) : wk__emit_uniform_f32(e, in[1], in[2], 24);
    int zero = wk__emit_constant(e, 0), one = wk__emit_constant(e, 1);
    int fits = wk__emit_ins(e, WK__AND, WK_BOOL, wk__emit_compare(e, WK__GE, in[0], zero),
                            wk__emit_compare(e, WK__LE, in[0], one), 0);
    int place = wk__emit_cast(e, WK_I64, wk__emit_where(e, fits, zero, one));
    wk_dtype stored = e->group->operand[in[3]].dtype;
    int p = wk__emit_ins(e, WK__LOADX, stored, place, in[3], in[4]);
    if (stored != e->dtype) p = wk__emit_cast(e, e->dtype, p);
    return wk__emit_where(e, wk__emit_compare(e, WK__LT, uniform, p), one, zero);
}

static wk_tensor *record_bernoulli(wk_site site, wk_tensor *x)
{
    const wk__op *op = &wk__op_bernoulli;
    wk__record *r;
    wk__output_spec m = {WK__PROGRAM, .inputs = 6, .same_layout = true};
    wk_tensor *out = wk__begin_output_record(op, site, &x, 1, m, &r);
    if (!out) return NULL;
    const wk__body *body = wk__body_of(x);
    const wk__philox_state draw = wk__philox_reserve(wk__body_numel(body));
    const int64_t raw[4] = {(int64_t)draw.counter, (int64_t)draw.key, 1, 0};
    wk__record_ref(r, 1, body, body->stride);
    wk__record_ref(r, 4, body, body->stride);
    wk__record_mark_indirect(r, 4);
    for (int k = 0; k < 4; k++)
        wk__record_imm(r, k < 2 ? 2 + k : 3 + k, WK_I64, (wk__imm){.i = raw[k]}, WK__REF_IMM | WK__REF_IMM_INDEX);
    wk__record_commit(wk__context(), r);
    return out;
}

wk_tensor *wk_bernoulli_at(wk_site site, wk_tensor *x)
{
    const wk__op *op = &wk__op_bernoulli;
    if (!check_float(op, site, x)) return NULL;
    wk_tensor *out = record_bernoulli(site, x);
    if (!out || !wk__needs_grad_fn(wk__context(), &x, 1)) return out;
    return wk__node_attach(op, site, &x, 1, &out, 1, NULL) ? out : NULL;
}

static void bernoulli_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_zeros_like_at((wk_site){0}, g->out[0], NULL);
}

const wk__op wk__op_bernoulli = {
    .expression = bernoulli,
    .uses_position = true,
    .gradient = bernoulli_gradient,
    .fault_message = "an element of the input is not a probability; expected 0 <= p <= 1",
    WK__SIGNATURE_bernoulli,
};
