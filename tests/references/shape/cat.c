/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/shape/cat.c. */
#include "references/reference.h"
#include <string.h>

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Copies operand k to index `at` of rows of `row` elements. */
static void lay_down(reference_call *r, double *out, int k, int64_t row, int64_t *at, int64_t inner)
{
    for (int64_t j = 0; j < reference_numel(&r->in[k]); j++) out[j / inner * row + *at + j % inner] = r->in[k].data[j];
    *at += inner;
}

static void cat_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    int64_t shape[WK__MAX_DIMS], tail = 1, at = 0;
    int d = 0;
    wk__wrap_dim(x->ndim, wk__value_int(&r->args[1], 0), &d);
    memcpy(shape, x->shape, sizeof shape);
    for (int k = 1; k < r->inputs; k++) shape[d] += r->in[k].shape[d];
    for (int k = d + 1; k < x->ndim; k++) tail *= shape[k];
    double *out = reference_out(r, 0, x->ndim, shape);
    for (int k = 0; k < r->inputs; k++) lay_down(r, out, k, shape[d] * tail, &at, r->in[k].shape[d] * tail);
}

static void stack_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    int64_t shape[WK__MAX_DIMS], tail = 1, at = 0;
    int d = 0;
    wk__wrap_dim(x->ndim + 1, wk__value_int(&r->args[1], 0), &d);
    for (int k = 0; k <= x->ndim; k++) shape[k] = k < d ? x->shape[k] : k == d ? r->inputs : x->shape[k - 1];
    for (int k = d; k < x->ndim; k++) tail *= x->shape[k];
    double *out = reference_out(r, 0, x->ndim + 1, shape);
    for (int k = 0; k < r->inputs; k++) lay_down(r, out, k, r->inputs * tail, &at, tail);
}

static const char *const cat_samples[] = {
    "{[2,3] [4,3]}, 0", "{[2,3] [2,1] [2,4]}, 1", "{[2,3]}, 0", "{[1] [2] [3] [4] [5] [6]}, 0",
    "{[0,3] [2,3]}, 0", "{[2,2,2] [2,2,2]}, -1",  NULL};

static const char *const stack_samples[] = {"{[2,3] [2,3]}, 0", "{[2,3] [2,3] [2,3]}, -1", "{[] [] [] [] []}, 0",
                                            "{[0] [0]}, 0", NULL};

const op_reference op_reference_cat = {.reference = cat_reference, .samples = cat_samples, .low = -3, .high = 3};

const op_reference op_reference_stack = {.reference = stack_reference, .samples = stack_samples, .low = -3, .high = 3};
