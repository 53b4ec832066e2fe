/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/shape/transpose.c. */
#include "references/reference.h"

/* ---- transpose, t, swapaxes -------------------------------------------------------------------------------------- */

static void permuted_reference(reference_call *r, const int *order)
{
    const reference_array *x = &r->in[0];
    const int ndim = x->ndim;
    int64_t dense[WK__MAX_DIMS], shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
    wk__strides_dense(ndim, x->shape, dense);
    for (int d = 0; d < ndim; d++) {
        shape[d] = x->shape[order[d]];
        stride[d] = dense[order[d]];
    }
    reference_strided(r, ndim, shape, stride, 0);
}

static void transpose_reference(reference_call *r)
{
    int order[WK__MAX_DIMS], d = 0, e = 0, ndim = r->in[0].ndim;
    wk__wrap_dim(ndim, wk__value_int(&r->args[1], 0), &d);
    wk__wrap_dim(ndim, wk__value_int(&r->args[2], 1), &e);
    for (int k = 0; k < ndim; k++) order[k] = k == d ? e : k == e ? d : k;
    permuted_reference(r, order);
}

static void t_reference(reference_call *r)
{
    permuted_reference(r, r->in[0].ndim == 2 ? (const int[WK__MAX_DIMS]){1, 0} : (const int[WK__MAX_DIMS]){0});
}

static const char *const transpose_samples[] = {"[3,4], 0, 1", "[2,3,4], 1, -1", "[5], 0, 0",
                                                "[], 0, 0",    "[0,3], 0, 1",    NULL};

static const char *const t_samples[] = {"[3,4]", "[5]", "[]", "[0,3]", NULL};

const op_reference op_reference_transpose = {
    .reference = transpose_reference, .samples = transpose_samples, .low = -3, .high = 3};

const op_reference op_reference_swapaxes = {
    .reference = transpose_reference, .samples = transpose_samples, .low = -3, .high = 3};

const op_reference op_reference_t = {.reference = t_reference, .samples = t_samples, .low = -3, .high = 3};

/* ---- permute, movedim -------------------------------------------------------------------------------------------- */

static void permute_reference(reference_call *r)
{
    int order[WK__MAX_DIMS];
    for (int k = 0; k < r->in[0].ndim; k++) wk__wrap_dim(r->in[0].ndim, r->args[1].ints[k], &order[k]);
    permuted_reference(r, order);
}

/* Moves `from` to `to`; the other dimensions keep their order. */
static void movedim_reference(reference_call *r)
{
    const int ndim = r->in[0].ndim;
    int from = 0, to = 0, order[WK__MAX_DIMS], k = 0;
    wk__wrap_dim(ndim, r->args[1].i, &from);
    wk__wrap_dim(ndim, r->args[2].i, &to);
    for (int d = 0; d < ndim; d++)
        if (d != from) order[k++] = d;
    for (; k > to; k--) order[k] = order[k - 1];
    order[to] = from;
    permuted_reference(r, order);
}

static const char *const permute_samples[] = {"[2,3,4], (2,0,1)", "[2,3,4], (0,-1,1)", "[3], (0)",
                                              "[], ()",           "[0,3], (1,0)",      NULL};

static const char *const movedim_samples[] = {"[2,3,4], 0, 2", "[2,3,4], -1, 0", "[2,3,4], 1, 1", "[0,3], 1, 0", NULL};

const op_reference op_reference_permute = {
    .reference = permute_reference, .samples = permute_samples, .low = -3, .high = 3};

const op_reference op_reference_movedim = {
    .reference = movedim_reference, .samples = movedim_samples, .low = -3, .high = 3};
