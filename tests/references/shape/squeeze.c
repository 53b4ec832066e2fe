/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/shape/squeeze.c. */
#include "references/reference.h"

static void squeeze_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    const wk_value *dims = &r->args[1];
    int64_t shape[WK__MAX_DIMS];
    int ndim = 0;
    for (int d = 0; d < x->ndim; d++) {
        bool named =
            dims->kind == WK_VALUE_NONE || (dims->kind == WK_VALUE_INT && (dims->i == d || dims->i == d - x->ndim));
        for (int k = 0; dims->kind == WK_VALUE_INTS && k < dims->count; k++)
            named = named || dims->ints[k] == d || dims->ints[k] == d - x->ndim;
        if (x->shape[d] != 1 || !named) shape[ndim++] = x->shape[d];
    }
    reference_same(r, ndim, shape);
}

static void unsqueeze_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    int64_t shape[WK__MAX_DIMS];
    int d = 0;
    wk__wrap_dim(x->ndim + 1, wk__value_int(&r->args[1], 0), &d);
    for (int k = 0; k <= x->ndim; k++) shape[k] = k < d ? x->shape[k] : k == d ? 1 : x->shape[k - 1];
    reference_same(r, x->ndim + 1, shape);
}

static const char *const squeeze_samples[] = {"[1,3,1]",     "[1,3,1], (0)", "[1,3,1], (-1)", "[1,3,1], (0,1)",
                                              "[1,3,1], ()", "[]",           "[1,0]",         NULL};

static const char *const unsqueeze_samples[] = {"[3,4], 0", "[3,4], 1", "[3,4], -1", "[], 0", "[0], 1", NULL};

const op_reference op_reference_squeeze = {
    .reference = squeeze_reference, .samples = squeeze_samples, .low = -3, .high = 3};

const op_reference op_reference_unsqueeze = {
    .reference = unsqueeze_reference, .samples = unsqueeze_samples, .low = -3, .high = 3};
