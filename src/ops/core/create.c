/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor creation: empty, full (zeros, ones), arange, linspace, eye, and the _like ops. Each call records one program
 * without operands, which computes each element from its position and immediates; so it fuses into the ops that use it.
 *
 * Ownership and threads are those of all ops: a call records into the context of its thread, whose innermost scope owns
 * the result. On failure the thread's error is set and the result is NULL. */
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
                      const wk_tensor_options *options, wk_dtype default_dtype)
{
    wk_tensor_options o;
    if (!wk__options(site, op->name, options, &o)) return false;
    c->op = op;
    c->site = site;
    c->context = wk__context();
    c->dtype = o.dtype ? o.dtype : default_dtype;
    c->requires_grad = o.requires_grad;
    c->ndim = ndim;
    c->device = wk__resolve_device(op, site, o.device);
    if (!c->device) return false;
    if (!wk__check_dtype(op, site, c->dtype)) return false;
    if (c->requires_grad && !wk__is_float(c->dtype)) {
        /* the dtype is that of a scalar argument: wk_full((2), 3), wk_arange(4) */
        const bool from_scalar = !o.dtype && (op == &wk__op_full || op == &wk__op_arange);
        wk__error_set(site, WK_ERR_DTYPE, "%s: only floating dtypes can require grad, got %s; %s", op->name,
                      wk_dtype_str(c->dtype),
                      from_scalar                           ? "write the value as 3.0, or pass .dtype = WK_F32"
                      : o.dtype && default_dtype != o.dtype ? "omit .dtype or pass WK_F32"
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

static int full_expression(wk__emit *e, const int in[])
{
    (void)e;
    return in[0];
}

static double as_double(wk__arg number)
{
    return number.is_int ? (double)number.number.i : number.number.f;
}

/* Converts a number to an immediate of the class in which a dtype is computed. */
static wk__imm imm_of(wk__arg number, wk_dtype dtype)
{
    if (wk__is_float(wk__compute_class(dtype))) return (wk__imm){.f = as_double(number)};
    if (number.is_int) return (wk__imm){.i = number.number.i};
    if (dtype == WK_BOOL && number.number.f != 0) return (wk__imm){.i = 1}; /* 0.5 is true, but truncates to 0 */
    return (wk__imm){.i = wk__double_to_i64(number.number.f)};
}

static wk_tensor *full(wk_site site, const wk__op *op, const int64_t *shape, int ndim, wk__arg value,
                       wk_dtype default_dtype, const wk_tensor_options *options)
{
    wk__create c;
    if (!wk__create_begin(&c, op, site, shape, ndim, options, default_dtype)) return NULL;
    const wk__imm imm = imm_of(value, c.dtype);
    return wk__create_end(&c, wk__compute_class(c.dtype), &imm, NULL, 1);
}

/* Initialises to zero, so that a program that reads the elements computes the same in every run; zeros cost nothing
 * once fused. */
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
/* A bool, which only wk_call passes, makes a bool tensor. */
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

/* start + position * step, in i64 or f64; floats are rounded to their dtype once, as in PyTorch. in: start, step */
static int arange_expression(wk__emit *e, const int in[])
{
    int position = wk__emit_ins(e, WK__IOTA, WK_I64, 0, 0, 0);
    if (e->dtype == WK_F64) position = wk__emit_cast(e, WK_F64, position);
    return wk__emit_binary(e, WK__ADD, in[0], wk__emit_binary(e, WK__MUL, position, in[1]));
}

/* start + position * step in the lower half, end - (last - position) * step in the upper, so that both ends are exact.
 * in: start, end, step, first position of the upper half, last position */
static int linspace_expression(wk__emit *e, const int in[])
{
    int position = wk__emit_cast(e, WK_F64, wk__emit_ins(e, WK__IOTA, WK_I64, 0, 0, 0));
    int up = wk__emit_binary(e, WK__ADD, in[0], wk__emit_binary(e, WK__MUL, position, in[2]));
    int left = wk__emit_binary(e, WK__SUB, in[4], position);
    int down = wk__emit_binary(e, WK__SUB, in[1], wk__emit_binary(e, WK__MUL, left, in[2]));
    return wk__emit_where(e, wk__emit_compare(e, WK__LT, position, in[3]), up, down);
}

/* row == column, computed from the position. in: number of columns */
static int eye_expression(wk__emit *e, const int in[])
{
    int position = wk__emit_ins(e, WK__IOTA, WK_I64, 0, 0, 0);
    int row = wk__emit_binary(e, WK__FLOORDIV, position, in[0]);
    int column = wk__emit_binary(e, WK__SUB, position, wk__emit_binary(e, WK__MUL, row, in[0]));
    return wk__emit_compare(e, WK__EQ, row, column);
}

static void add_number(wk__text *text, wk__arg number)
{
    if (number.is_int)
        wk__text_format(text, "%lld", (long long)number.number.i);
    else
        wk__text_double(text, number.number.f, 'g', 6);
}

/* Arguments of arange, integers or floats. */
typedef struct range {
    wk__arg start, end, step;
} range;

static bool is_integer_range(const range *r)
{
    return r->start.is_int && r->end.is_int && r->step.is_int;
}

static wk__arg negate(wk__arg number)
{
    if (number.is_int)
        number.number.i = number.number.i == INT64_MIN ? INT64_MAX : -number.number.i;
    else
        number.number.f = -number.number.f;
    return number;
}

/* Reports a step that leads away from the end. */
static wk_tensor *report_wrong_direction(wk_site site, const range *r)
{
    wk__text text = {0};
    wk__text_add(&text, "arange: step ");
    add_number(&text, r->step);
    wk__text_add(&text, " does not lead from ");
    add_number(&text, r->start);
    wk__text_add(&text, " to ");
    add_number(&text, r->end);
    if (as_double(r->start) == 0 && as_double(r->step) == 1) { /* the defaults: probably wk_arange(end) */
        wk__text_add(&text, "; end must be at least 0; use wk_arange(start, end, step) to count down");
    } else {
        wk__text_add(&text, "; use the step ");
        add_number(&text, negate(r->step));
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

static bool is_wrong_direction(const range *r)
{
    if (!is_integer_range(r)) return (as_double(r->end) - as_double(r->start)) / as_double(r->step) < 0;
    const int64_t start = r->start.number.i, end = r->end.number.i;
    return r->step.number.i > 0 ? end < start : end > start;
}

static wk_tensor *arange(wk_site site, const range *r, const wk_tensor_options *options)
{
    wk__create c;
    const double start = as_double(r->start), end = as_double(r->end), step = as_double(r->step);
    const double count = ceil((end - start) / step);
    if (step == 0 || !isfinite(start) || !isfinite(end) || !isfinite(step) || !isfinite(count)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "arange: the step must not be 0, and start, end and step must be finite");
        return NULL;
    }
    if (is_wrong_direction(r)) return report_wrong_direction(site, r);
    int64_t shape[1] = {count > 9e18 ? INT64_MAX : (int64_t)count}; /* too many for a tensor: an error below */
    if (is_integer_range(r)) shape[0] = count_int_range(r->start.number.i, r->end.number.i, r->step.number.i);
    if (!wk__create_begin(&c, &wk__op_arange, site, shape, 1, options, WK_F32)) return NULL;
    if (wk__is_float(c.dtype)) return wk__create_end(&c, WK_F64, (wk__imm[]){{.f = start}, {.f = step}}, NULL, 2);
    /* as many elements as for floats, but start and step truncated: PyTorch's behaviour */
    const wk__imm imm[] = {{.i = truncate_to_i64(r->start)}, {.i = truncate_to_i64(r->step)}};
    return wk__create_end(&c, WK_I64, imm, NULL, 2);
}

wk_tensor *wk_arange_from_at(wk_site site, double start, double end, double step, const wk_tensor_options *options)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, "arange_from", site);
    const range r = {wk__float_arg(start), wk__float_arg(end), wk__float_arg(step)};
    wk_tensor *out = arange(site, &r, options);
    wk__frame_end(context, before);
    return out;
}

/* Converts to an integer if the value is one that int64_t has, otherwise to a float. */
static wk__arg number_arg(long double x)
{
    const bool fits = x >= -0x1p63L && x < 0x1p63L && x == (long double)(int64_t)x;
    return fits ? wk__int_arg((int64_t)x) : wk__float_arg((double)x);
}

wk_tensor *wk_arange_range_at(wk_site site, long double start, long double end, long double step, bool whole,
                              const wk_tensor_options *options)
{
    const range r = {number_arg(start), number_arg(end), number_arg(step)};
    wk_tensor_options o;
    if (!wk__options(site, "arange", options, &o)) return NULL;
    if (!o.dtype) o.dtype = whole && is_integer_range(&r) ? WK_I64 : WK_F32;
    return arange(site, &r, &o);
}

/* For wk_call, which passes a single number as start: it is the end. */
wk_tensor *wk__arange(wk_site site, wk__arg start, wk__arg end, wk__arg step, const wk_tensor_options *options)
{
    wk_tensor_options o;
    if (!wk__options(site, "arange", options, &o)) return NULL;
    const range r = end.is_number ? (range){start, end, step} : (range){wk__int_arg(0), start, step};
    if (!o.dtype) o.dtype = is_integer_range(&r) ? WK_I64 : WK_F32;
    return arange(site, &r, &o);
}

wk_tensor *wk_arange_f64_at(wk_site site, double end, const wk_tensor_options *options)
{
    return arange(site, &(range){wk__int_arg(0), wk__float_arg(end), wk__int_arg(1)}, options);
}

wk_tensor *wk_arange_i64_at(wk_site site, int64_t end, const wk_tensor_options *options)
{
    wk__create c;
    if (end < 0) return report_wrong_direction(site, &(range){wk__int_arg(0), wk__int_arg(end), wk__int_arg(1)});
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
    const int64_t half = count == 1 ? 1 : count / 2; /* a single element is start */
    double last = count > 1 ? (double)(count - 1) : 1;
    wk__imm imm[] = {{.f = start}, {.f = end}, {.f = (end - start) / last}, {.f = (double)half}, {.f = last}};
    return wk__create_end(&c, WK_F64, imm, NULL, 5);
}

wk_tensor *wk_eye_at(wk_site site, int64_t n, const wk_tensor_options *options)
{
    wk__create c;
    int64_t shape[2] = {n, n};
    if (!wk__create_begin(&c, &wk__op_eye, site, shape, 2, options, WK_F32)) return NULL;
    const int64_t columns = n > 0 ? n : 1; /* the expression divides by it */
    return wk__create_end(&c, WK_I64, &(wk__imm){.i = columns}, NULL, 1);
}

/* ---- descriptors ------------------------------------------------------------------------------------------------- */

const wk__op wk__op_empty = {
    .expression = full_expression,
    WK__SIGNATURE_empty,
};
const wk__op wk__op_zeros = {
    .expression = full_expression,
    WK__SIGNATURE_zeros,
};
const wk__op wk__op_ones = {
    .expression = full_expression,
    WK__SIGNATURE_ones,
};
const wk__op wk__op_full = {
    .expression = full_expression,
    WK__SIGNATURE_full,
};
const wk__op wk__op_empty_like = {
    .expression = full_expression,
    WK__SIGNATURE_empty_like,
};
const wk__op wk__op_zeros_like = {
    .expression = full_expression,
    WK__SIGNATURE_zeros_like,
};
const wk__op wk__op_ones_like = {
    .expression = full_expression,
    WK__SIGNATURE_ones_like,
};
const wk__op wk__op_full_like = {
    .expression = full_expression,
    WK__SIGNATURE_full_like,
};
const wk__op wk__op_arange = {
    .expression = arange_expression,
    .uses_position = true,
    WK__SIGNATURE_arange,
};
const wk__op wk__op_linspace = {
    .expression = linspace_expression,
    .uses_position = true,
    WK__SIGNATURE_linspace,
};
const wk__op wk__op_eye = {
    .expression = eye_expression,
    .uses_position = true,
    WK__SIGNATURE_eye,
};
