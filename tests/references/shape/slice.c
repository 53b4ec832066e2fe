/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/shape/slice.c. */
#include "references/reference.h"
#include <string.h>

/* ---- slice and narrow -------------------------------------------------------------------------------------------- */

static int64_t within(int64_t place, int64_t size)
{
    if (place < 0) place += size;
    return place < 0 ? 0 : place > size ? size : place;
}

static void part_reference(reference_call *r, int64_t start, int64_t count, int64_t step)
{
    const reference_array *x = &r->in[0];
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
    int d = 0;
    wk__wrap_dim(x->ndim, wk__value_int(&r->args[1], 0), &d);
    wk__strides_dense(x->ndim, x->shape, stride);
    memcpy(shape, x->shape, sizeof shape);
    shape[d] = count;
    int64_t offset = start * stride[d];
    stride[d] *= step;
    reference_strided(r, x->ndim, shape, stride, offset);
}

static void slice_reference(reference_call *r)
{
    int d = 0;
    wk__wrap_dim(r->in[0].ndim, wk__value_int(&r->args[1], 0), &d);
    int64_t size = r->in[0].shape[d], start = within(wk__value_int(&r->args[2], 0), size), count = 0;
    int64_t end = within(wk__value_int(&r->args[3], INT64_MAX), size), step = wk__value_int(&r->args[4], 1);
    for (int64_t k = start; k < end; k += step) count++;
    part_reference(r, start, count, step);
}

static void narrow_reference(reference_call *r)
{
    int d = 0;
    wk__wrap_dim(r->in[0].ndim, r->args[1].i, &d);
    part_reference(r, r->args[2].i < 0 ? r->args[2].i + r->in[0].shape[d] : r->args[2].i, r->args[3].i, 1);
}

static const char *const slice_samples[] = {"[5], 0, 1, 4", "[5,3], 1, -2, 9", "[7], 0, 0, 7, 3", "[7,2], 0, 1, 7, 2",
                                            "[3], 0, 2, 1", "[0,3], 1, 1, 2",  "[4], 0",          NULL};

static const char *const narrow_samples[] = {"[5], 0, 1, 3",    "[5,3], 1, -2, 2", "[3,4], 0, 3, 0",
                                             "[3,4], -1, 0, 4", "[0,3], 1, 1, 2",  NULL};

const op_reference op_reference_slice = {.reference = slice_reference, .samples = slice_samples, .low = -3, .high = 3};

const op_reference op_reference_narrow = {
    .reference = narrow_reference, .samples = narrow_samples, .low = -3, .high = 3};

/* ---- select ------------------------------------------------------------------------------------------------------ */

static void select_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    int64_t dense[WK__MAX_DIMS], shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
    int d = 0, ndim = 0;
    wk__wrap_dim(x->ndim, r->args[1].i, &d);
    wk__strides_dense(x->ndim, x->shape, dense);
    for (int e = 0; e < x->ndim; e++) {
        if (e == d) continue;
        shape[ndim] = x->shape[e];
        stride[ndim++] = dense[e];
    }
    reference_strided(r, ndim, shape, stride, (r->args[2].i + (r->args[2].i < 0 ? x->shape[d] : 0)) * dense[d]);
}

static const char *const select_samples[] = {"[5], 0, 2", "[3,4], 1, -1", "[2,3,4], 1, 0", "[2,0], 0, 1", NULL};

const op_reference op_reference_select = {
    .reference = select_reference, .samples = select_samples, .low = -3, .high = 3};

/* ---- diagonal ---------------------------------------------------------------------------------------------------- */

/* Elements (i + down, i + right) of the two dimensions, for each valid i, along the last dimension. */
static void diagonal_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    const int64_t offset = wk__value_int(&r->args[1], 0), down = offset < 0 ? -offset : 0,
                  right = offset > 0 ? offset : 0;
    int64_t dense[WK__MAX_DIMS], shape[WK__MAX_DIMS], stride[WK__MAX_DIMS], length = 0;
    int row = 0, column = 0, ndim = 0;
    wk__wrap_dim(x->ndim, wk__value_int(&r->args[2], 0), &row);
    wk__wrap_dim(x->ndim, wk__value_int(&r->args[3], 1), &column);
    wk__strides_dense(x->ndim, x->shape, dense);
    for (int d = 0; d < x->ndim; d++) {
        if (d == row || d == column) continue;
        shape[ndim] = x->shape[d];
        stride[ndim++] = dense[d];
    }
    while (length + down < x->shape[row] && length + right < x->shape[column]) length++;
    shape[ndim] = length;
    stride[ndim++] = dense[row] + dense[column];
    reference_strided(r, ndim, shape, stride, length ? down * dense[row] + right * dense[column] : 0);
}

static const char *const diagonal_samples[] = {
    "[3,4]", "[3,4], 1", "[4,3], -2", "[2,3,4], 0, 0, 2", "[2,3,4], 1, -1, 1", "[3,3], 5", "[0,3]", NULL};

const op_reference op_reference_diagonal = {
    .reference = diagonal_reference, .samples = diagonal_samples, .low = -3, .high = 3};

/* ---- unfold ------------------------------------------------------------------------------------------------------ */

static void unfold_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS], size = r->args[2].i, step = r->args[3].i;
    int d = 0;
    wk__wrap_dim(x->ndim, r->args[1].i, &d);
    wk__strides_dense(x->ndim, x->shape, stride);
    memcpy(shape, x->shape, sizeof shape);
    shape[x->ndim] = size;
    stride[x->ndim] = x->ndim ? stride[d] : 1;
    if (x->ndim) {
        shape[d] = (x->shape[d] - size) / step + 1;
        stride[d] *= step;
    }
    reference_strided(r, x->ndim + 1, shape, stride, 0);
}

static const char *const unfold_samples[] = {"[7], 0, 3, 2", "[7], 0, 3, 1", "[2,6], 1, 2, 2", "[5,2], 0, 5, 1",
                                             "[], 0, 1, 1",  "[], -1, 0, 3", "[0,4], 1, 2, 1", NULL};

const op_reference op_reference_unfold = {
    .reference = unfold_reference, .samples = unfold_samples, .low = -3, .high = 3};
