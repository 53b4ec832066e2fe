/* SPDX-License-Identifier: Apache-2.0 */
/* searchsorted, bucketize: a binary search of all values at once, in steps from the largest power of two down. */
#include "ops/core/compose.h"
#include "ops/core/view_geometry.h"

/* Returns the elements of sorted at index: of a vector, or of the row of each value. */
static wk_tensor *elements_at(wk_site site, wk_tensor *sorted, wk_tensor *index)
{
    return wk__body_of(sorted)->ndim == 1 ? wk_take_at(site, sorted, index) : wk_gather_at(site, sorted, -1, index);
}

/* Returns how many elements of sorted, along the last dimension, come before each value. A NaN comes last. */
static wk_tensor *search(wk_site site, wk_tensor *sorted, wk_tensor *values, bool right)
{
    const wk__body *body = wk__body_of(sorted);
    const int64_t n = body->shape[body->ndim - 1];
    const wk_tensor_options options = {.size = sizeof options, .dtype = WK_I64};
    wk_tensor *found = wk_zeros_like_at(site, values, &options);
    int64_t step = 1;
    while (step <= n / 2) step *= 2;
    for (; step && n && found; step /= 2) {
        wk_tensor *probe = wk_add(found, step), *index = wk_sub(wk_minimum(probe, n), 1);
        wk_tensor *element = index ? elements_at(site, sorted, index) : NULL;
        wk_tensor *behind = right ? wk_gt(element, values) : wk_ge(element, values);
        found = wk_where(wk_logical_and(wk_le(probe, n), wk_logical_not(behind)), probe, found);
    }
    return found;
}

/* Checks that sorted is a vector or has the leading sizes of values. */
static bool check_shapes(const wk__op *op, wk_site site, wk_tensor *sorted, wk_tensor *values)
{
    wk_tensor *in[2] = {sorted, values};
    const wk__body *a = wk__body_of(sorted), *b = wk__body_of(values);
    bool fits = a->ndim == 1 || (a->ndim > 1 && a->ndim == b->ndim && op == &wk__op_searchsorted);
    for (int d = 0; d + 1 < a->ndim && fits; d++) fits = a->shape[d] == b->shape[d];
    if (!fits)
        wk__op_error(op, site, WK_ERR_SHAPE, in,
                     op == &wk__op_searchsorted
                         ? "the sequence $a must be a vector or have the shape of values $b except for the last size"
                         : "the boundaries $a must be a vector");
    return fits;
}

static wk_tensor *finish(wk__compose *c, wk_site site, wk_tensor *found, bool out_int32)
{
    return wk__compose_end(c, out_int32 ? wk_to_dtype_at(site, found, WK_I32) : found, NULL);
}

/* Returns the sequence in the order of sorter; NULL on error. */
static wk_tensor *in_order(wk_site site, wk_tensor *sorted, wk_tensor *sorter)
{
    wk_tensor *in[2] = {sorted, sorter};
    if (wk__body_of(sorter)->dtype == WK_I64 && wk__same_sizes(wk__body_of(sorter), wk__body_of(sorted)))
        return wk_gather_at(site, sorted, -1, sorter);
    wk__op_error(&wk__op_searchsorted, site, wk__body_of(sorter)->dtype == WK_I64 ? WK_ERR_SHAPE : WK_ERR_DTYPE, in,
                 "the sorter must be i64 and have the shape of $a, got $b");
    return NULL;
}

wk_tensor *wk_searchsorted_at(wk_site site, wk_tensor *sorted, wk_tensor *values,
                              const wk_searchsorted_options *options)
{
    static const char *const sides[] = {"left", "right"};
    const wk__op *op = &wk__op_searchsorted;
    wk_searchsorted_options o;
    wk__compose c;
    if (!wk__options(site, op->name, options, &o) || (!o.sorter && wk__omitted_may_have_failed())) return NULL;
    const int of_side = wk__option_word(site, op->name, ".side", sides, 2, o.side);
    if (of_side < 0) return NULL;
    if (o.side && !of_side && o.right) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .side \"left\" contradicts .right; set one of them", op->name);
        return NULL;
    }
    wk_tensor *in[3] = {sorted, values, o.sorter}, *found = NULL;
    if (!wk__compose_begin(&c, op, site, in, o.sorter ? 3 : 2)) return NULL;
    if (check_shapes(op, site, sorted, values) && (!o.sorter || (sorted = in_order(site, sorted, o.sorter))))
        found = search(site, sorted, values, o.right || of_side);
    return finish(&c, site, found, o.out_int32);
}

wk_tensor *wk_bucketize_at(wk_site site, wk_tensor *x, wk_tensor *boundaries, const wk_bucketize_options *options)
{
    const wk__op *op = &wk__op_bucketize;
    wk_bucketize_options o;
    wk__compose c;
    wk_tensor *in[2] = {x, boundaries};
    if (!wk__options(site, op->name, options, &o) || !wk__compose_begin(&c, op, site, in, 2)) return NULL;
    wk_tensor *found = check_shapes(op, site, boundaries, x) ? search(site, boundaries, x, o.right) : NULL;
    return finish(&c, site, found, o.out_int32);
}

const wk__op wk__op_searchsorted = {WK__SIGNATURE_searchsorted};
const wk__op wk__op_bucketize = {WK__SIGNATURE_bucketize};
