/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor creation: empty, full (zeros, ones), arange, linspace, eye, and the _like ops. Each is one record without
 * operands, so it fuses into the ops that use it. */
#include "create.h"
#include "ir/scalar.h"
#include <math.h>
#include <string.h>

static bool set_shape(wk__create *c, const int64_t *shape, int ndim)
{
    int64_t bytes;
    bool negative = false;
    if (ndim < 0 || ndim > WK__MAX_DIMS) {
        wk__error_set(c->site, WK_ERR_SHAPE, "%s: got %d dimensions, expected 0 to %d", c->op->name, ndim,
                      WK__MAX_DIMS);
        return false;
    }
    if (ndim && !shape) {
        wk__error_set(c->site, WK_ERR_ARGUMENT, "%s: the shape is NULL", c->op->name);
        return false;
    }
    for (int d = 0; d < ndim; d++) negative = negative || shape[d] < 0;
    if (negative || !wk__dense_bytes(ndim, shape, c->dtype, &bytes)) {
        wk__text text = {0};
        wk__text_format(&text, "%s: the shape ", c->op->name);
        wk__text_shape(&text, ndim, shape);
        wk__text_add(&text, negative ? " has a negative size" : " exceeds 2^63 bytes");
        wk__error_set_text(c->site, WK_ERR_SHAPE, &text);
        return false;
    }
    if (ndim) memcpy(c->shape, shape, sizeof *shape * (size_t)ndim); /* shape may be NULL for a 0-d tensor */
    c->ndim = ndim;
    return true;
}

bool wk__create_begin(wk__create *c, const wk__op *op, wk_site site, const int64_t *shape, int ndim,
                      const wk_tensor_options *options, wk_dtype usual)
{
    wk_tensor_options o;
    if (!wk__options(site, op->name, options, &o)) return false;
    c->op = op;
    c->site = site;
    c->context = wk__context();
    c->dtype = o.dtype ? o.dtype : usual;
    c->requires_grad = o.requires_grad;
    c->ndim = ndim;
    c->device = wk__resolve_device(op, site, o.device);
    if (!c->device) return false;
    if (!wk__check_dtype(op, site, c->dtype)) return false;
    if (c->requires_grad && !wk__is_float(c->dtype)) {
        /* the default dtype is the scalar's: wk_full((2), 3), wk_arange(4) */
        const bool by_number = !o.dtype && (op == &wk__op_full || op == &wk__op_arange);
        wk__error_set(site, WK_ERR_DTYPE, "%s: only floating dtypes can require grad, got %s; %s", op->name,
                      wk_dtype_str(c->dtype),
                      by_number                     ? "write the value as 3.0, or pass .dtype = WK_F32"
                      : o.dtype && usual != o.dtype ? "omit .dtype or pass WK_F32"
                                                    : "pass .dtype = WK_F32");
        return false;
    }
    return set_shape(c, shape, ndim);
}

wk_tensor *wk__create_end(wk__create *c, wk_dtype compute, const wk__imm *imm, const uint8_t *flags, int count)
{
    wk_tensor *out = wk__tensor_pending(c->context, c->device, c->dtype, c->ndim, c->shape, c->site, c->op->name);
    if (!out) return NULL;
    wk__record *r = wk__record_begin(c->context, WK__PROGRAM, c->op, c->device, c->site, c->ndim, c->shape, 1, count);
    if (!r) return wk__discard_result(out);
    r->compute = (uint8_t)compute;
    wk__record_ref(r, 0, wk__body_of(out), wk__body_of(out)->stride);
    for (int k = 0; k < count; k++)
        wk__record_imm(r, 1 + k, wk__compute_class(compute), imm[k], flags ? flags[k] : WK__REF_IMM);
    wk__record_commit(c->context, r);
    wk__body_of(out)->requires_grad = c->requires_grad;
    return out;
}

/* ---- full -------------------------------------------------------------------------------------------------------- */

static int constant(wk__emit *e, const int in[])
{
    (void)e;
    return in[0];
}

static wk_tensor *full(wk_site site, const wk__op *op, const int64_t *shape, int ndim, wk__arg value, wk_dtype usual,
                       const wk_tensor_options *options)
{
    wk__create c;
    if (!wk__create_begin(&c, op, site, shape, ndim, options, usual)) return NULL;
    wk_dtype compute = wk__compute_class(c.dtype);
    bool whole = !wk__is_float(compute);
    wk__imm imm = {.i = value.is_int ? value.number.i : 0};
    if (!whole) imm.f = value.is_int ? (double)value.number.i : value.number.f;
    if (whole && !value.is_int)
        imm.i = value.number.f != 0 && c.dtype == WK_BOOL ? 1 : wk__double_to_i64(value.number.f);
    return wk__create_end(&c, compute, &imm, NULL, 1);
}

/* Initialises to zero: results computed from unwritten memory would differ from run to run, and zeros cost nothing once
 * fused. */
wk_tensor *wk_empty_at(wk_site site, const int64_t *shape, int ndim, const wk_tensor_options *options)
{
    return full(site, &wk__op_empty, shape, ndim, wk__int_arg(0), WK_F32, options);
}
wk_tensor *wk_zeros_at(wk_site site, const int64_t *shape, int ndim, const wk_tensor_options *options)
{
    return full(site, &wk__op_zeros, shape, ndim, wk__int_arg(0), WK_F32, options);
}
wk_tensor *wk_ones_at(wk_site site, const int64_t *shape, int ndim, const wk_tensor_options *options)
{
    return full(site, &wk__op_ones, shape, ndim, wk__int_arg(1), WK_F32, options);
}
/* Only wk_call passes a bool, which makes a bool tensor. */
wk_tensor *wk__full(wk_site site, const int64_t *shape, int ndim, wk__arg value, const wk_tensor_options *options)
{
    return full(site, &wk__op_full, shape, ndim, value,
                value.is_bool  ? WK_BOOL
                : value.is_int ? WK_I64
                               : WK_F32,
                options);
}

bool wk__create_like(const wk__op *op, wk_site site, wk_tensor *x, const wk_tensor_options *options,
                     wk_tensor_options *like)
{
    if (!wk__options(site, op->name, options, like) || !wk__check_input(op, site, x)) return false;
    if (!like->dtype) like->dtype = wk__body_of(x)->dtype;
    if (!like->device.kind) like->device = wk__body_of(x)->storage->device->id;
    return true;
}

static wk_tensor *full_like(wk_site site, const wk__op *op, wk_tensor *x, wk__arg value,
                            const wk_tensor_options *options)
{
    wk_tensor_options like;
    if (!wk__create_like(op, site, x, options, &like)) return NULL;
    const wk__body *body = wk__body_of(x);
    return full(site, op, body->shape, body->ndim, value, like.dtype, &like);
}

wk_tensor *wk_empty_like_at(wk_site site, wk_tensor *x, const wk_tensor_options *options)
{
    return full_like(site, &wk__op_empty_like, x, wk__int_arg(0), options);
}
wk_tensor *wk_zeros_like_at(wk_site site, wk_tensor *x, const wk_tensor_options *options)
{
    return full_like(site, &wk__op_zeros_like, x, wk__int_arg(0), options);
}
wk_tensor *wk_ones_like_at(wk_site site, wk_tensor *x, const wk_tensor_options *options)
{
    return full_like(site, &wk__op_ones_like, x, wk__int_arg(1), options);
}
wk_tensor *wk__full_like(wk_site site, wk_tensor *x, wk__arg value, const wk_tensor_options *options)
{
    return full_like(site, &wk__op_full_like, x, value, options);
}

/* ---- arange, linspace, eye --------------------------------------------------------------------------------------- */

/* start + position * step, in the result's class; floats in f64, rounded once, as in PyTorch. */
static int ramp(wk__emit *e, const int in[])
{
    int position = wk__emit_ins(e, WK__IOTA, WK_I64, 0, 0, 0);
    if (e->dtype == WK_F64) position = wk__emit_cast(e, WK_F64, position);
    return wk__emit_binary(e, WK__ADD, in[0], wk__emit_binary(e, WK__MUL, position, in[1]));
}

/* Computed from the nearer end, so that both ends are exact. in: start, end, step, half the count, last index */
static int linspace_expression(wk__emit *e, const int in[])
{
    int position = wk__emit_cast(e, WK_F64, wk__emit_ins(e, WK__IOTA, WK_I64, 0, 0, 0));
    int up = wk__emit_binary(e, WK__ADD, in[0], wk__emit_binary(e, WK__MUL, position, in[2]));
    int left = wk__emit_binary(e, WK__SUB, in[4], position);
    int down = wk__emit_binary(e, WK__SUB, in[1], wk__emit_binary(e, WK__MUL, left, in[2]));
    return wk__emit_where(e, wk__emit_compare(e, WK__LT, position, in[3]), up, down);
}

/* row == column, computed from the position. in: number of columns */
static int diagonal(wk__emit *e, const int in[])
{
    int position = wk__emit_ins(e, WK__IOTA, WK_I64, 0, 0, 0);
    int row = wk__emit_binary(e, WK__FLOORDIV, position, in[0]);
    int column = wk__emit_binary(e, WK__SUB, position, wk__emit_binary(e, WK__MUL, row, in[0]));
    return wk__emit_compare(e, WK__EQ, row, column);
}

static double as_double(wk__arg number)
{
    return number.is_int ? (double)number.number.i : number.number.f;
}

static void add_number(wk__text *text, wk__arg number)
{
    if (number.is_int)
        wk__text_format(text, "%lld", (long long)number.number.i);
    else
        wk__text_double(text, number.number.f, 'g', 6);
}

/* from: start, end and step */
static wk_tensor *report_empty_range(wk_site site, const wk__arg from[3])
{
    static const char *const between[] = {" to ", "; ", " does not lead from "};
    wk__text text = {0};
    wk__arg other = from[2];
    if (other.is_int)
        other.number.i = other.number.i == INT64_MIN ? INT64_MAX : -other.number.i;
    else
        other.number.f = -other.number.f;
    wk__text_add(&text, "arange: step ");
    for (int k = 2; k < 5; k++) {
        add_number(&text, from[k % 3]);
        wk__text_add(&text, between[k % 3]);
    }
    if (as_double(from[0]) == 0 && as_double(from[2]) == 1) {
        wk__text_add(&text, "end must be at least 0; use wk_arange(start, end, step) to count down");
    } else {
        wk__text_add(&text, "use the step ");
        add_number(&text, other);
        wk__text_add(&text, ", or swap start and end");
    }
    wk__error_set_text(site, WK_ERR_ARGUMENT, &text);
    return NULL;
}

static int64_t truncate_to_i64(wk__arg number)
{
    const double x = number.number.f;
    if (number.is_int) return number.number.i;
    return x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

/* Counts integer ranges in integers: doubles are not exact beyond 2^53. */
static int64_t count_int_range(int64_t start, int64_t end, int64_t step)
{
    const uint64_t span = step > 0 ? (uint64_t)end - (uint64_t)start : (uint64_t)start - (uint64_t)end;
    const uint64_t by = step > 0 ? (uint64_t)step : 0 - (uint64_t)step, count = span / by + (span % by != 0);
    return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

static bool is_wrong_direction(const wk__arg from[3], const double at[3])
{
    if (!from[0].is_int || !from[1].is_int || !from[2].is_int) return (at[1] - at[0]) / at[2] < 0;
    return from[2].number.i > 0 ? from[1].number.i < from[0].number.i : from[1].number.i > from[0].number.i;
}

/* from: start, end and step */
static wk_tensor *arange(wk_site site, const wk__arg from[3], const wk_tensor_options *options)
{
    wk__create c;
    const double at[3] = {as_double(from[0]), as_double(from[1]), as_double(from[2])};
    const double count = ceil((at[1] - at[0]) / at[2]);
    if (!(at[2] != 0) || !isfinite(at[0]) || !isfinite(at[1]) || !isfinite(at[2]) || !isfinite(count)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "arange: the step must not be 0, and start, end and step must be finite");
        return NULL;
    }
    if (is_wrong_direction(from, at)) return report_empty_range(site, from);
    int64_t shape[1] = {count > 9e18 ? INT64_MAX : (int64_t)count};
    if (from[0].is_int && from[1].is_int && from[2].is_int)
        shape[0] = count_int_range(from[0].number.i, from[1].number.i, from[2].number.i);
    if (!wk__create_begin(&c, &wk__op_arange, site, shape, 1, options, WK_F32)) return NULL;
    if (wk__is_float(c.dtype)) return wk__create_end(&c, WK_F64, (wk__imm[]){{.f = at[0]}, {.f = at[2]}}, NULL, 2);
    /* as many elements as for floats, but start and step truncated: PyTorch's behaviour */
    return wk__create_end(&c, WK_I64, (wk__imm[]){{.i = truncate_to_i64(from[0])}, {.i = truncate_to_i64(from[2])}},
                          NULL, 2);
}

wk_tensor *wk_arange_from_at(wk_site site, double start, double end, double step, const wk_tensor_options *options)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, "arange_from", site);
    wk_tensor *out = arange(site, (wk__arg[]){wk__float_arg(start), wk__float_arg(end), wk__float_arg(step)}, options);
    wk__frame_end(context, before);
    return out;
}

/* Integer if its value is one. */
static wk__arg number_of(long double x)
{
    const bool fits = x >= -0x1p63L && x < 0x1p63L && x == (long double)(int64_t)x;
    return fits ? wk__int_arg((int64_t)x) : wk__float_arg((double)x);
}

wk_tensor *wk_arange_range_at(wk_site site, long double start, long double end, long double step, bool whole,
                              const wk_tensor_options *options)
{
    const wk__arg from[3] = {number_of(start), number_of(end), number_of(step)};
    wk_tensor_options o;
    if (!wk__options(site, "arange", options, &o)) return NULL;
    if (!o.dtype) o.dtype = whole && from[0].is_int && from[1].is_int && from[2].is_int ? WK_I64 : WK_F32;
    return arange(site, from, &o);
}

/* For wk_call, where a single number is the end. */
wk_tensor *wk__arange(wk_site site, wk__arg start, wk__arg end, wk__arg step, const wk_tensor_options *options)
{
    wk_tensor_options o;
    if (!wk__options(site, "arange", options, &o)) return NULL;
    const bool one = !end.is_number, whole = start.is_int && step.is_int && (one || end.is_int);
    if (!o.dtype) o.dtype = whole ? WK_I64 : WK_F32;
    return arange(site, (wk__arg[]){one ? wk__int_arg(0) : start, one ? start : end, step}, &o);
}

wk_tensor *wk_arange_f64_at(wk_site site, double end, const wk_tensor_options *options)
{
    return arange(site, (wk__arg[]){wk__int_arg(0), wk__float_arg(end), wk__int_arg(1)}, options);
}

wk_tensor *wk_arange_i64_at(wk_site site, int64_t end, const wk_tensor_options *options)
{
    wk__create c;
    if (end < 0) return report_empty_range(site, (wk__arg[]){wk__int_arg(0), wk__int_arg(end), wk__int_arg(1)});
    const int64_t shape[1] = {end};
    if (!wk__create_begin(&c, &wk__op_arange, site, shape, 1, options, WK_I64)) return NULL;
    return wk__create_end(&c, WK_I64, (wk__imm[]){{.i = 0}, {.i = 1}}, NULL, 2);
}

wk_tensor *wk_linspace_at(wk_site site, double start, double end, int64_t count, const wk_tensor_options *options)
{
    wk__create c;
    if (count < 0) {
        wk__error_set(site, WK_ERR_SHAPE, "linspace: count must be at least 0, got %lld", (long long)count);
        return NULL;
    }
    if (!wk__create_begin(&c, &wk__op_linspace, site, &count, 1, options, WK_F32)) return NULL;
    if (!wk__is_float(c.dtype)) { /* between the truncated ends: PyTorch's behaviour */
        start = trunc(start);
        end = trunc(end);
    }
    const int64_t half = count / 2 + (count == 1);
    double last = count > 1 ? (double)(count - 1) : 1;
    wk__imm imm[] = {{.f = start}, {.f = end}, {.f = (end - start) / last}, {.f = (double)half}, {.f = last}};
    return wk__create_end(&c, WK_F64, imm, NULL, 5);
}

wk_tensor *wk_eye_at(wk_site site, int64_t n, const wk_tensor_options *options)
{
    wk__create c;
    int64_t shape[2] = {n, n};
    if (!wk__create_begin(&c, &wk__op_eye, site, shape, 2, options, WK_F32)) return NULL;
    return wk__create_end(&c, WK_I64, &(wk__imm){.i = n > 0 ? n : 1}, NULL, 1);
}

/* ---- descriptors ------------------------------------------------------------------------------------------------- */

const wk__op wk__op_empty = {
    .expression = constant,
    WK__SIGNATURE_empty,
};
const wk__op wk__op_zeros = {
    .expression = constant,
    WK__SIGNATURE_zeros,
};
const wk__op wk__op_ones = {
    .expression = constant,
    WK__SIGNATURE_ones,
};
const wk__op wk__op_full = {
    .expression = constant,
    WK__SIGNATURE_full,
};
const wk__op wk__op_empty_like = {
    .expression = constant,
    WK__SIGNATURE_empty_like,
};
const wk__op wk__op_zeros_like = {
    .expression = constant,
    WK__SIGNATURE_zeros_like,
};
const wk__op wk__op_ones_like = {
    .expression = constant,
    WK__SIGNATURE_ones_like,
};
const wk__op wk__op_full_like = {
    .expression = constant,
    WK__SIGNATURE_full_like,
};
const wk__op wk__op_arange = {
    .expression = ramp,
    .uses_position = true,
    WK__SIGNATURE_arange,
};
const wk__op wk__op_linspace = {
    .expression = linspace_expression,
    .uses_position = true,
    WK__SIGNATURE_linspace,
};
const wk__op wk__op_eye = {
    .expression = diagonal,
    .uses_position = true,
    WK__SIGNATURE_eye,
};
