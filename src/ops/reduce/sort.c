/* SPDX-License-Identifier: Apache-2.0 */
/* sort, argsort, topk, kthvalue, median: one stable sort along a dimension, and selections from its result. NaN sorts
 * last.
 *
 * All return values and their i64 indices. Gradients are scattered to those indices, so the node keeps them as its
 * second operand. Attributes: i[0] = axis, i[1] = the results do not have the axis. The median of all elements differs:
 * equal elements share its gradient, as in PyTorch. */
#include "ops/core/create.h"
#include "reduction.h"
#include "base/alloc.h"
#include <string.h>

/* ---- one record -------------------------------------------------------------------------------------------------- */

bool wk__record_sort(const wk__op *op, wk_site site, wk_tensor *x, int axis, bool descending, wk_tensor *out[2])
{
    wk_context *context = wk__context();
    wk__device *device = wk__prepare_operands(context, op, site, &x, 1, WK__COLOCATE_IF_SOFT);
    if (!device) return false;
    const wk__body *body = wk__body_of(x);
    int ndim = body->ndim ? body->ndim : 1;
    int64_t shape[WK__MAX_DIMS] = {1}, one[WK__MAX_DIMS] = {1};
    if (body->ndim) memcpy(shape, body->shape, sizeof shape);
    out[0] = wk__tensor_pending(context, device, body->dtype, body->ndim, body->shape, site, op->name);
    out[1] = out[0] ? wk__tensor_pending(context, device, WK_I64, body->ndim, body->shape, site, op->name) : NULL;
    wk__record *r = out[1] ? wk__record_begin(context, WK__SORT, op, device, site, ndim, shape, 2, 1) : NULL;
    if (!r) {
        for (int k = 0; k < 2; k++)
            if (out[k]) out[k] = wk__discard_result(out[k]);
        return false;
    }
    r->dim = (int8_t)axis;
    r->mode = descending;
    for (int k = 0; k < 2; k++)
        wk__record_ref(r, k, wk__body_of(out[k]), body->ndim ? wk__body_of(out[k])->stride : one);
    wk__record_ref(r, 2, body, body->ndim ? body->stride : one);
    wk__record_commit(context, r);
    return true;
}

/* ---- selection --------------------------------------------------------------------------------------------------- */

/* One call of these ops. */
typedef struct sort_call {
    wk__compose compose;
    const char *node; /* NULL: op->node */
    int axis;
    bool valid;       /* the axis exists */
    bool dim_removed; /* the results do not have the axis */
    uint16_t mask;    /* the axis, or all dimensions if x is flattened */
    int64_t length;   /* size of the axis */
    wk_tensor *out[2];
} sort_call;

/* Begins a call without a record. */
static bool begin_axis(sort_call *s, const wk__op *op, wk_site site, wk_tensor *x, int64_t dim)
{
    memset(s, 0, sizeof *s);
    if (!wk__compose_begin(&s->compose, op, site, &x, 1)) return false;
    s->valid = wk__reduction_dim(op, site, x, dim, &s->axis);
    if (!s->valid) return true;
    s->length = wk__body_of(x)->ndim ? wk__body_of(x)->shape[s->axis] : 1;
    s->mask = (uint16_t)(wk__body_of(x)->ndim ? 1u << s->axis : 0);
    return true;
}

static bool begin(sort_call *s, const wk__op *op, wk_site site, wk_tensor *x, int64_t dim, bool descending)
{
    if (!begin_axis(s, op, site, x, dim)) return false;
    if (s->valid) wk__record_sort(op, site, x, s->axis, descending, s->out);
    return true;
}

wk_code wk__end_values_and_indices(wk__compose *c, wk_tensor *out[2], const wk__attr *attr, wk_tensor **values,
                                   wk_tensor **indices)
{
    c->in[1] = out[1];
    if (out[1]) c->inputs = 2;
    bool whole = wk__compose_end_n(c, out, 2, attr);
    wk_tensor **to[2] = {values, indices};
    for (int k = 0; k < 2; k++) {
        if (to[k])
            *to[k] = whole ? out[k] : NULL;
        else if (whole)
            wk__handle_release(&out[k]->handle, c->scope.site);
    }
    return whole ? WK_OK : wk_error_code();
}

static wk_code finish(sort_call *s, wk_tensor **values, wk_tensor **indices)
{
    wk__attr attr = wk__sort_attr((wk__sort_attributes){.axis = s->axis, .dropped = s->dim_removed});
    attr.grad_fn_name = s->node;
    return wk__end_values_and_indices(&s->compose, s->out, &attr, values, indices);
}

/* Returns a view of `count` elements of the axis from `first` on; dropped: without the axis. */
static wk_tensor *select_positions(const sort_call *s, wk_tensor *x, int64_t first, int64_t count, bool dropped)
{
    if (!x) return NULL;
    const wk__body *body = wk__body_of(x);
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS], offset = body->offset;
    int ndim = 0;
    for (int d = 0; d < body->ndim; d++) {
        if (d == s->axis) offset += first * body->stride[d];
        if (d == s->axis && dropped) continue;
        shape[ndim] = d == s->axis ? count : body->shape[d];
        stride[ndim++] = body->stride[d];
    }
    return wk__tensor_view(wk__context(), x, offset, ndim, shape, stride);
}

/* Copies the selected elements, so that the others do not stay in memory. */
static void copy_positions(sort_call *s, int64_t first, int64_t count, bool dropped)
{
    for (int k = 0; k < 2 && s->out[k]; k++)
        s->out[k] = wk_clone_at(s->compose.scope.site, select_positions(s, s->out[k], first, count, dropped));
    s->dim_removed = dropped;
}

static bool check_k(const sort_call *s, int64_t k, int64_t least)
{
    if (!s->valid || (k >= least && k <= s->length)) return s->valid;
    wk__op_error(s->compose.op, s->compose.scope.site, WK_ERR_ARGUMENT, s->compose.in,
                 "k = %lld is out of range [%lld, %lld] for dimension %d of $a", (long long)k, (long long)least,
                 (long long)s->length, s->axis);
    return false;
}

/* Keeps `count` of the first k positions, the last ones; dropped: without the axis. */
static void keep_first(sort_call *s, int64_t k, int64_t count, bool descending, bool dropped)
{
    wk_tensor *x = s->compose.in[0];
    const wk_site site = s->compose.scope.site;
    if (!wk__selects(x, s->length, k)) {
        if (wk__record_sort(s->compose.op, site, x, s->axis, descending, s->out))
            copy_positions(s, k - count, count, dropped);
    } else if (wk__select(site, x, s->axis, k, descending, s->out)) {
        if (count < k || dropped) copy_positions(s, k - count, count, dropped);
    } else {
        s->out[0] = s->out[1] = NULL;
    }
}

/* Checks that there is an element to return. */
static bool check_nonempty(sort_call *s)
{
    if (s->out[1] && wk__check_nonempty_reduction(s->compose.op, s->compose.scope.site, s->compose.in[0], s->mask))
        return true;
    s->out[0] = s->out[1] = NULL;
    return false;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static wk_code clear_results(wk_tensor **values, wk_tensor **indices)
{
    if (values) *values = NULL;
    if (indices) *indices = NULL;
    return wk_error_code();
}

wk_code wk_sort_at(wk_site site, wk_tensor *x, int64_t dim, bool descending, wk_tensor **values, wk_tensor **indices)
{
    sort_call s;
    return begin(&s, &wk__op_sort, site, x, dim, descending) ? finish(&s, values, indices)
                                                             : clear_results(values, indices);
}

wk_tensor *wk_argsort_at(wk_site site, wk_tensor *x, int64_t dim, bool descending)
{
    sort_call s;
    return begin(&s, &wk__op_argsort, site, x, dim, descending) ? wk__compose_end(&s.compose, s.out[1], NULL) : NULL;
}

wk_code wk_topk_at(wk_site site, wk_tensor *x, int64_t k, int64_t dim, bool largest, wk_tensor **values,
                   wk_tensor **indices)
{
    sort_call s;
    if (!begin_axis(&s, &wk__op_topk, site, x, dim)) return clear_results(values, indices);
    if (check_k(&s, k, 0)) keep_first(&s, k, k, largest, false);
    return finish(&s, values, indices);
}

wk_code wk_kthvalue_at(wk_site site, wk_tensor *x, int64_t k, int64_t dim, bool keepdim, wk_tensor **values,
                       wk_tensor **indices)
{
    sort_call s;
    if (!begin_axis(&s, &wk__op_kthvalue, site, x, dim)) return clear_results(values, indices);
    if (s.valid && wk__check_nonempty_reduction(&wk__op_kthvalue, site, x, s.mask) && check_k(&s, k, 1))
        keep_first(&s, k, 1, false, !keepdim);
    return finish(&s, values, indices);
}

/* in: the largest value, the result if that is NaN, the result otherwise */
static int median_expression(wk__emit *e, const int in[])
{
    return wk__emit_where(e, wk__emit_compare(e, WK__NE, in[0], in[0]), in[1], in[2]);
}
static const wk__op unless_op = {
    .name = "median", .expression = median_expression, .arity = 3, .own_dtype_operands = 1};

/* Keeps the lower of the two middle elements; NaN if there is one, because NaN sorts last. */
static void keep_median(sort_call *s, bool dropped)
{
    int64_t last = s->length - 1;
    wk_tensor *greatest = select_positions(s, s->out[0], last, 1, dropped);
    for (int k = 0; k < 2 && greatest; k++) {
        wk_tensor *end = select_positions(s, s->out[k], last, 1, dropped),
                  *middle = select_positions(s, s->out[k], last / 2, 1, dropped);
        s->out[k] =
            middle ? wk__elementwise(&unless_op, s->compose.scope.site,
                                     (wk__arg[]){wk__tensor_arg(greatest), wk__tensor_arg(end), wk__tensor_arg(middle)},
                                     3, NULL)
                   : NULL;
    }
    s->dim_removed = dropped;
}

wk_code wk__median_dim(wk_site site, wk_tensor *x, int64_t dim, bool keepdim, wk_tensor **values, wk_tensor **indices)
{
    sort_call s;
    if (!begin(&s, &wk__op_median, site, x, dim, false)) return clear_results(values, indices);
    s.node = "MedianBackward1";
    if (check_nonempty(&s)) keep_median(&s, !keepdim);
    return finish(&s, values, indices);
}

wk_code wk_median_dim_at(wk_site site, wk_tensor *x, int64_t dim, bool keepdim, wk_tensor **values, wk_tensor **indices)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, "median_dim", site);
    wk_code code = wk__median_dim(site, x, dim, keepdim, values, indices);
    wk__frame_end(context, before);
    return code;
}

static void of_all_gradient(wk__grad_ctx *g)
{
    wk_tensor *x = wk__saved(g, 0), *value = wk__saved(g, WK__SAVED_OUT);
    wk_tensor *same = wk_where(wk_isnan(value), wk_isnan(x), wk_eq(x, value));
    g->in[0] = wk__split_grad_among_ties(same, g->out[0], (1 << g->node->shape[0].ndim) - 1);
}
static const wk__op median_all_op = {.name = "median",
                                     .grad_fn_name = "MedianBackward0",
                                     .gradient = of_all_gradient,
                                     .saves = {WK__SAVE_0 | WK__SAVE_OUT}};

wk_tensor *wk_median_at(wk_site site, wk_tensor *x)
{
    sort_call s = {.axis = 0};
    wk_tensor *values;
    if (!wk__compose_begin(&s.compose, &median_all_op, site, &x, 1)) return NULL;
    s.length = wk__body_numel(wk__body_of(x));
    s.mask = (uint16_t)((1u << wk__body_of(x)->ndim) - 1);
    wk_tensor *flat = wk_reshape_at(site, x, &s.length, 1);
    if (flat && wk__record_sort(&wk__op_median, site, flat, 0, false, s.out) && check_nonempty(&s))
        keep_median(&s, true);
    finish(&s, &values, NULL);
    return values;
}

/* ---- gradient ---------------------------------------------------------------------------------------------------- */

void wk__sort_gradient(wk__grad_ctx *g)
{
    const wk__tensor_meta *from = &g->node->shape[0];
    wk_site site = {0};
    wk_tensor *grad = g->out[0], *index = wk__saved(g, 1);
    if (!grad || !index) return;
    const wk__sort_attributes sorted = wk__sort_attributes_of(g->attr);
    int64_t shape[WK__MAX_DIMS] = {1};
    int ndim = from->ndim ? from->ndim : 1;
    memcpy(shape, from->size, sizeof *shape * from->ndim);
    wk_tensor_options options = {.size = sizeof options, .dtype = wk_dtype_of(grad), .device = wk_device_of(grad)};
    wk_tensor *zeros = wk_zeros_at(site, shape, ndim, &options);
    if (sorted.dropped || from->ndim == 0) {
        shape[sorted.axis] = 1;
        grad = wk_reshape_at(site, grad, shape, ndim);
        index = wk_reshape_at(site, index, shape, ndim);
    }
    wk_tensor *spread = wk_scatter_add_at(site, zeros, sorted.axis, index, grad);
    g->in[0] = from->ndim ? spread : wk_reshape_at(site, spread, from->size, 0);
}

/* ---- descriptors ------------------------------------------------------------------------------------------------- */

const wk__op wk__op_sort = {
    .gradient = wk__sort_gradient,
    .saves = {WK__SAVE_1},
    WK__SIGNATURE_sort,
};
const wk__op wk__op_argsort = {
    WK__SIGNATURE_argsort,
};
const wk__op wk__op_topk = {
    .gradient = wk__sort_gradient,
    .saves = {WK__SAVE_1},
    WK__SIGNATURE_topk,
};
const wk__op wk__op_kthvalue = {
    .gradient = wk__sort_gradient,
    .saves = {WK__SAVE_1},
    WK__SIGNATURE_kthvalue,
};
const wk__op wk__op_median = {
    .gradient = wk__sort_gradient,
    .saves = {WK__SAVE_1},
    WK__SIGNATURE_median,
};
