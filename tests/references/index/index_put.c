/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/index/index_put.c. */
#include "references/reference.h"
#include <string.h>

static int64_t wrapped(double index, int64_t bound)
{
    return (int64_t)index < 0 ? (int64_t)index + bound : (int64_t)index;
}

/* Copies x to the result. */
static double *copy_of(reference_call *r)
{
    const reference_array *x = &r->in[0];
    double *out = reference_out(r, 0, x->ndim, x->shape);
    memcpy(out, x->data, sizeof *out * (size_t)reference_numel(x));
    return out;
}

/* Writes slice k of the source, or the value, to slice index[k] of dimension args[1]. */
static void slices_reference(reference_call *r, const reference_array *source, double value)
{
    const reference_array *x = &r->in[0], *index = &r->in[1];
    const int64_t n = reference_numel(index);
    int64_t inner = 1, outer = 1;
    int d = 0;
    wk__wrap_dim(x->ndim, r->args[1].i, &d);
    const int64_t size = x->ndim ? x->shape[d] : 1;
    for (int k = d + 1; k < x->ndim; k++) inner *= x->shape[k];
    for (int k = 0; k < d; k++) outer *= x->shape[k];
    double *out = copy_of(r);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t k = 0; k < n; k++)
            for (int64_t i = 0; i < inner; i++)
                out[(o * size + wrapped(index->data[k], size)) * inner + i] =
                    source ? source->data[(o * n + k) * inner + i] : value;
}

static void index_fill_reference(reference_call *r)
{
    const bool number = r->args[3].kind != WK_VALUE_TENSOR;
    slices_reference(r, NULL, number ? wk__value_float(&r->args[3], 0) : r->in[2].data[0]);
}

static void index_copy_reference(reference_call *r)
{
    slices_reference(r, &r->in[2], 0);
}

static void index_put_reference(reference_call *r)
{
    const reference_array *x = &r->in[0], *values = &r->in[r->inputs - 1];
    const int indices = r->inputs - 2;
    int64_t shape[WK__MAX_DIMS], inner = 1, places;
    int ndim = 0;
    for (int k = 0; k < indices; k++) wk__broadcast(ndim, shape, r->in[1 + k].ndim, r->in[1 + k].shape, &ndim, shape);
    places = wk__numel(ndim, shape);
    const int index_ndim = ndim;
    int64_t all[WK__MAX_DIMS];
    memcpy(all, shape, sizeof all);
    for (int d = indices; d < x->ndim; d++) inner *= all[ndim++] = x->shape[d];
    double *out = copy_of(r);
    for (int64_t k = 0; k < places; k++) {
        int64_t at = 0;
        for (int d = 0; d < indices; d++)
            at = at * x->shape[d] + wrapped(reference_at(&r->in[1 + d], index_ndim, shape, k), x->shape[d]);
        for (int64_t i = 0; i < inner; i++) {
            const double value = reference_at(values, ndim, all, k * inner + i);
            out[at * inner + i] = value + (wk__value_int(&r->args[3], 0) ? out[at * inner + i] : 0);
        }
    }
}

static void masked_scatter_reference(reference_call *r)
{
    const reference_array *x = &r->in[0], *mask = &r->in[1];
    int64_t shape[WK__MAX_DIMS], next = 0;
    int ndim;
    wk__broadcast(x->ndim, x->shape, mask->ndim, mask->shape, &ndim, shape);
    double *out = reference_out(r, 0, ndim, shape);
    for (int64_t k = 0; k < reference_numel(&r->out[0]); k++)
        out[k] = reference_at(mask, ndim, shape, k) != 0 ? r->in[2].data[next++] : reference_at(x, ndim, shape, k);
}

static const char *const index_fill_samples[] = {"[5], 0, [3]:i64<5, 2",
                                                 "[3,4], 1, [2]:i64<4, -1",
                                                 "[2,3,2], -2, [4]:i64<3, []",
                                                 "[3,2], 0, [0]:i64<1, 1",
                                                 "[4], 0, [2]:i32<4, 1",
                                                 "[], 0, []:i64<1, 3",
                                                 NULL};

static const char *const index_copy_samples[] = {"[5], 0, [3]:i64<5, [3]",
                                                 "[3,4], 1, [2]:i64<4, [3,2]",
                                                 "[2,3,2], -2, [4]:i64<3, [2,4,2]",
                                                 "[3,2], 0, [0]:i64<1, [0,2]",
                                                 "[4], 0, [2]:i32<4, [2]",
                                                 "[], 0, []:i64<1, []",
                                                 NULL};

static const char *const index_put_samples[] = {"[5], {[3]:i64<5}, [3]",
                                                "[3,4], {[4]:i64<3 [4]:i32<4}, [4], true",
                                                "[3,4], {[2,1]:i64<3 [3]:i64<4}, [2,3]",
                                                "[3,4], {[2]:i64<3}, [4], false",
                                                "[3,4], {[2,2]:i64<3}, []",
                                                "[3,2,2], {[4]:i64<3 [4]:i64<2}, [1,2], true",
                                                "[3], {[0]:i64<3}, [0]",
                                                NULL};

static const char *const masked_scatter_samples[] = {"[5], [5]:bool<2, [5]",   "[3,4], [4]:bool<2, [3,4]",
                                                     "[4], [2,4]:bool<2, [9]", "[], []:bool<2, [1]",
                                                     "[0,3], [3]:bool<2, [0]", NULL};

const op_reference op_reference_index_fill = {
    .reference = index_fill_reference, .samples = index_fill_samples, .low = -3, .high = 3};

const op_reference op_reference_index_copy = {
    .reference = index_copy_reference, .samples = index_copy_samples, .low = -3, .high = 3};

const op_reference op_reference_index_put = {
    .reference = index_put_reference, .samples = index_put_samples, .low = -3, .high = 3};

const op_reference op_reference_masked_scatter = {
    .reference = masked_scatter_reference, .samples = masked_scatter_samples, .low = -3, .high = 3};
