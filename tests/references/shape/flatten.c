/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/shape/flatten.c. */
#include "references/reference.h"

static void flatten_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    int64_t shape[WK__MAX_DIMS] = {1};
    int ndim = x->ndim == 0, first = 0, last = 0;
    wk__wrap_dim(x->ndim, wk__value_int(&r->args[1], 0), &first);
    wk__wrap_dim(x->ndim, wk__value_int(&r->args[2], -1), &last);
    for (int d = 0; d < x->ndim; d++) {
        if (d > first && d <= last)
            shape[ndim - 1] *= x->shape[d];
        else
            shape[ndim++] = x->shape[d];
    }
    reference_same(r, ndim, shape);
}

static void unflatten_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    const wk_value *sizes = &r->args[2];
    int64_t shape[WK__MAX_DIMS], known = 1;
    int d, ndim = 0;
    wk__wrap_dim(x->ndim, r->args[1].i, &d);
    for (int k = 0; k < sizes->count; k++) known *= sizes->ints[k] == -1 ? 1 : sizes->ints[k];
    for (int k = 0; k < d; k++) shape[ndim++] = x->shape[k];
    for (int k = 0; k < sizes->count; k++) shape[ndim++] = sizes->ints[k] == -1 ? x->shape[d] / known : sizes->ints[k];
    for (int k = d + 1; k < x->ndim; k++) shape[ndim++] = x->shape[k];
    reference_same(r, ndim, shape);
}

static void view_as_reference(reference_call *r)
{
    reference_same(r, r->in[1].ndim, r->in[1].shape);
}

static void expand_as_reference(reference_call *r)
{
    const reference_array *x = &r->in[0], *like = &r->in[1];
    double *out = reference_out(r, 0, like->ndim, like->shape);
    for (int64_t k = 0; k < reference_numel(like); k++) out[k] = reference_at(x, like->ndim, like->shape, k);
}

static const char *const flatten_samples[] = {"[2,3,4]",    "[2,3,4], 1", "[2,3,4], 0, 1", "[]", "[2,0,3], 1",
                                              "[5], 0, -1", NULL};

static const char *const unflatten_samples[] = {"[6,2], 0, (2,3)", "[2,6], -1, (3,-1)", "[4], 0, (2,2,1)",
                                                "[0,4], 1, (2,2)", NULL};

static const char *const expand_as_samples[] = {"[3,1], [3,4]", "[], [2,2]", "[1,3], [5,2,3]", "[0,1], [0,3]", NULL};

static const char *const view_as_samples[] = {"[2,6], [3,4]", "[1], []", "[0,2], [3,0]", NULL};

const op_reference op_reference_flatten = {
    .reference = flatten_reference, .samples = flatten_samples, .low = -3, .high = 3};

const op_reference op_reference_unflatten = {
    .reference = unflatten_reference, .samples = unflatten_samples, .low = -3, .high = 3};

const op_reference op_reference_view_as = {
    .reference = view_as_reference, .samples = view_as_samples, .low = -3, .high = 3};

const op_reference op_reference_expand_as = {
    .reference = expand_as_reference, .samples = expand_as_samples, .low = -3, .high = 3};
