/* SPDX-License-Identifier: Apache-2.0 */
/* cumsum, cumprod: running sum and product along one dimension. Integers and bool run in i64. */
#include "reference.h"
#include "rows.h"

/* From the end backwards, operand and result are both walked with turned steps. */
wk_tensor *wk__scanned(const wk__op *op, wk_site site, wk_tensor *x, int axis, bool product, bool backwards)
{
    wk__record *r;
    wk_tensor *out = wk__make(op, site, &x, 1, (wk__making){WK__RECORD_KERNEL, .inputs = 1}, &r);
    if (!out) return NULL;
    const wk__body *body = wk__body_of(x);
    r->kernel = "scan";
    r->dim = (int8_t)axis;
    r->mode = product;
    wk__record_ref(r, 1, body, body->ndim ? body->stride : &(int64_t){1});
    for (int k = 0; k < 2 && backwards; k++) wk__record_turn(r, k, axis);
    wk__record_commit(wk__context(), r);
    return out;
}

/* Attributes: i[0] = axis, i[1] = from the end backwards. */
static wk_tensor *running(const wk__op *op, wk_site site, wk_tensor *x, int64_t dim, bool backwards)
{
    wk__compose c;
    int axis;
    if (!wk__compose_begin(&c, op, site, &x, 1)) return NULL;
    wk_tensor *out = NULL;
    wk__attr attr = {.i = {0}};
    if (wk__axis(op, site, x, dim, &axis)) {
        wk_tensor *wide = wk__is_float(wk__body_of(x)->dtype) ? x : wk_to_dtype_at(site, x, WK_I64);
        attr.i[0] = axis;
        attr.i[1] = backwards;
        out = wide ? wk__scanned(op, site, wide, axis, op == &wk__op_cumprod, backwards) : NULL;
    }
    return wk__compose_end(&c, out, &attr);
}

wk_tensor *wk_cumsum_at(wk_site site, wk_tensor *x, int64_t dim)
{
    return running(&wk__op_cumsum, site, x, dim, false);
}
wk_tensor *wk_cumprod_at(wk_site site, wk_tensor *x, int64_t dim)
{
    return running(&wk__op_cumprod, site, x, dim, false);
}

static void cumsum_gradient(wk__gradient *g)
{
    g->in[0] = running(&wk__op_cumsum, (wk_site){0}, g->out[0], g->attr->i[0], !g->attr->i[1]);
}

/* Every result from x_k on has x_k as a factor: sum over i >= k of g_i y_i / x_k. From the first zero on all
 * results are 0: what stands before it is not concerned; of the zero itself the results without it count, y' with 1
 * in its place; what comes after it has no influence.
 *
 *     x    2  3  0  5  0          y'   2  6  6 30  0      (all zeros but the first stay) */
static void cumprod_gradient(wk__gradient *g)
{
    int64_t axis = g->attr->i[0];
    wk_site none = {0};
    wk_tensor *x = wk__saved(g, 0), *y = wk__saved(g, WK__SAVED_OUT), *zero = wk_eq(x, 0);
    wk_tensor *zeros = running(&wk__op_cumsum, none, zero, axis, false);
    wk_tensor *first = wk_mul(zero, wk_eq(zeros, 1));
    wk_tensor *without = wk_where(first, 1, x), *rest = wk_where(zero, 1, x);
    wk_tensor *at_zero = running(&wk__op_cumsum, none,
                                 wk_mul(g->out[0], running(&wk__op_cumprod, none, without, axis, false)), axis, true);
    wk_tensor *before = wk_div(running(&wk__op_cumsum, none, wk_mul(g->out[0], y), axis, true), rest);
    g->in[0] = wk_where(first, at_zero, wk_where(wk_eq(zeros, 0), before, 0));
}

static int invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    return wk__one(out, running(op, site, wk__value_tensor(&args[0]), wk__value_int(&args[1], -1), false));
}

static void along(wk__reference *r, bool product)
{
    const wk__array *in = &r->in[0];
    double *out = wk__reference_out(r, 0, in->ndim, in->shape);
    int64_t dim = r->args[1].i, step = 1, n;
    if (dim < 0) dim += in->ndim;
    n = in->ndim ? in->shape[dim] : 1;
    for (int d = (int)dim + 1; d < in->ndim; d++) step *= in->shape[d];
    for (int64_t k = 0; k < wk__array_numel(in); k++) {
        out[k] = in->data[k];
        if (k / step % n > 0) out[k] = product ? out[k - step] * in->data[k] : out[k - step] + in->data[k];
    }
}
static void cumsum_reference(wk__reference *r)
{
    along(r, false);
}
static void cumprod_reference(wk__reference *r)
{
    along(r, true);
}

static const char *const samples[] = {"[], 0",       "[7], 0",   "[3,5], 0", "[3,5], 1", "[2,3,4], 1",
                                      "[2,3,4], -1", "[0,3], 0", "[2,0], 1", NULL};

const wk__op wk__op_cumsum = {
    .name = "cumsum",
    .schema = "cumsum(Tensor self, int dim) -> Tensor",
    .group = "scan",
    .node = "CumsumBackward0",
    .doc = "running sum along a dimension",
    .gradient = cumsum_gradient,
    .invoke = invoke,
    .reference = cumsum_reference,
    .samples = samples,
    .low = -3,
    .high = 3,
};
const wk__op wk__op_cumprod = {
    .name = "cumprod",
    .schema = "cumprod(Tensor self, int dim) -> Tensor",
    .group = "scan",
    .node = "CumprodBackward0",
    .doc = "running product along a dimension",
    .gradient = cumprod_gradient,
    .needs = {WK__SAVE_0 | WK__SAVE_OUT},
    .invoke = invoke,
    .reference = cumprod_reference,
    .samples = samples,
    .low = -2,
    .high = 2,
};
