/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/index/indexing.c. */
#include "references/reference.h"
#include <string.h>

/* ---- index_select ------------------------------------------------------------------------------------------------ */

static int64_t place_of(double index, int64_t bound)
{
    return (int64_t)index < 0 ? (int64_t)index + bound : (int64_t)index;
}

static void index_select_reference(reference_call *r)
{
    const reference_array *x = &r->in[0], *index = &r->in[1];
    int64_t shape[WK__MAX_DIMS], inner = 1, n = reference_numel(index);
    int d = 0;
    wk__wrap_dim(x->ndim, r->args[1].i, &d);
    memcpy(shape, x->shape, sizeof shape);
    for (int k = d + 1; k < x->ndim; k++) inner *= x->shape[k];
    int64_t size = shape[d];
    shape[d] = n;
    double *out = reference_out(r, 0, x->ndim, shape);
    for (int64_t k = 0; k < reference_numel(&r->out[0]); k++)
        out[k] = x->data[(k / (n * inner) * size + place_of(index->data[k / inner % n], size)) * inner + k % inner];
}

static const char *const index_select_samples[] = {"[5], 0, [3]:i64<5",
                                                   "[4,3], 0, [6]:i64<4",
                                                   "[2,3,4], -1, [2]:i64<4",
                                                   "[4,3], 1, [2]:i32<3",
                                                   "[3,2], 0, [0]:i64<1",
                                                   "[], 0, []:i64<1",
                                                   NULL};

const op_reference op_reference_index_select = {
    .reference = index_select_reference, .samples = index_select_samples, .low = -3, .high = 3};

/* ---- gather, take_along_dim -------------------------------------------------------------------------------------- */

/* A one-dimensional view of all elements. */
static reference_array as_row(const reference_array *x)
{
    reference_array row = {.ndim = 1, .shape = {reference_numel(x)}, .data = x->data};
    return row;
}

/* If one operand is 0-d, or no dimension is given, both operands are treated as one-dimensional; the result has the
 * index's shape. */
static bool gather_in_a_row(reference_call *r, bool flat)
{
    const reference_array x = as_row(&r->in[0]), index = as_row(&r->in[1]);
    const reference_array *like = flat ? &index : &r->in[1];
    if (!flat && r->in[0].ndim && r->in[1].ndim && index.shape[0]) return false;
    double *out = reference_out(r, 0, like->ndim, like->shape);
    for (int64_t k = 0; k < index.shape[0]; k++) out[k] = x.data[place_of(index.data[k], x.shape[0])];
    return true;
}

static void gather_along(reference_call *r, int64_t dim)
{
    const reference_array *x = &r->in[0], *index = &r->in[1];
    const int ndim = x->ndim;
    int64_t shape[WK__MAX_DIMS];
    int d = 0;
    wk__wrap_dim(ndim, dim, &d);
    for (int k = 0; k < ndim; k++)
        shape[k] = k == d || index->shape[k] > 1 || r->args[1].kind == WK_VALUE_INT ? index->shape[k] : x->shape[k];
    double *out = reference_out(r, 0, ndim, shape);
    for (int64_t k = 0; k < reference_numel(&r->out[0]); k++) {
        int64_t rest = k, at = 0, step = 1, place = 0, stride = 1, of_dim = 1;
        for (int e = ndim; e-- > 0; rest /= shape[e], step *= x->shape[e], stride *= index->shape[e]) {
            int64_t here = rest % shape[e];
            place += (index->shape[e] == 1 ? 0 : here) * stride;
            if (e == d) of_dim = step;
            if (e != d) at += (x->shape[e] == 1 ? 0 : here) * step;
        }
        out[k] = x->data[at + place_of(index->data[place], ndim ? x->shape[d] : 1) * of_dim];
    }
}

static void gather_reference(reference_call *r)
{
    if (!gather_in_a_row(r, false)) gather_along(r, r->args[1].i);
}

static void take_along_dim_reference(reference_call *r)
{
    const bool flat = r->args[2].kind == WK_VALUE_NONE;
    if (!flat || !gather_in_a_row(r, true)) gather_along(r, wk__value_int(&r->args[2], 0));
}

static const char *const gather_samples[] = {"[5], 0, [7]:i64<5",     "[3,4], 1, [3,2]:i64<4",
                                             "[3,4], 0, [5,3]:i64<3", "[2,3,4], -2, [2,2,4]:i64<3",
                                             "[3,4], 1, [0,4]:i64<4", "[], 0, []:i64<1",
                                             "[], 0, [3]:i64<1",      "[4], -1, []:i64<4",
                                             "[3,4], 0, [0]:u8<2",    NULL};

static const char *const take_along_dim_samples[] = {"[3,4], [3,2]:i64<4, 1",
                                                     "[3,4], [1,4]:i64<3, 0",
                                                     "[1,4], [3,2]:i64<4, 1",
                                                     "[3,4], [2,5]:i64<12",
                                                     "[], [2]:i32<1",
                                                     "[3,0], [2,0]:i64<3, 0",
                                                     NULL};

const op_reference op_reference_gather = {
    .reference = gather_reference, .samples = gather_samples, .low = -3, .high = 3};

const op_reference op_reference_take_along_dim = {
    .reference = take_along_dim_reference, .samples = take_along_dim_samples, .low = -3, .high = 3};

/* ---- take -------------------------------------------------------------------------------------------------------- */

static void take_reference(reference_call *r)
{
    const reference_array *index = &r->in[1];
    double *out = reference_out(r, 0, index->ndim, index->shape);
    for (int64_t k = 0; k < reference_numel(index); k++)
        out[k] = r->in[0].data[place_of(index->data[k], reference_numel(&r->in[0]))];
}

static const char *const take_samples[] = {"[3,4], [5]:i64<12", "[6], [2,2]:i64<6", "[2,3], []:i64<6", "[3], [0]:i64<1",
                                           NULL};

const op_reference op_reference_take = {.reference = take_reference, .samples = take_samples, .low = -3, .high = 3};
