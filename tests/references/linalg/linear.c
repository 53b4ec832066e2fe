/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/linalg/linear.c. */
#include "references/reference.h"

/* ---- addmm, baddbmm ---------------------------------------------------------------------------------------------- */

static void added_reference(reference_call *r)
{
    double *out = reference_product(r, 1, false), beta = wk__value_float(&r->args[3], 1),
           alpha = wk__value_float(&r->args[4], 1);
    const reference_array *x = &r->in[0], *to = &r->out[0];
    for (int64_t k = 0; k < reference_numel(to); k++)
        out[k] = alpha * out[k] + (beta == 0 ? 0 : beta * reference_at(x, to->ndim, to->shape, k));
}

static const char *const addmm_samples[] = {"[5], [3,4], [4,5]",         "[3,5], [3,4], [4,5], 2, 3",
                                            "[], [3,4], [4,5], 0, 1",    "[3,1], [3,0], [0,2]",
                                            "[3,5], [3,4], [4,5], 1, 0", NULL};

static const char *const baddbmm_samples[] = {"[5], [2,3,4], [2,4,5]", "[2,3,5], [2,3,4], [2,4,5], 2, 3",
                                              "[0,3,2], [0,3,4], [0,4,2]", NULL};

const op_reference op_reference_addmm = {.reference = added_reference, .samples = addmm_samples, .low = -2, .high = 2};

const op_reference op_reference_baddbmm = {
    .reference = added_reference, .samples = baddbmm_samples, .low = -2, .high = 2};

/* ---- linear ------------------------------------------------------------------------------------------------------ */

static void linear_reference(reference_call *r)
{
    const bool row = r->in[1].ndim == 1;
    double *out = reference_product(r, 0, !row);
    int64_t n = row ? 1 : r->in[1].shape[0];
    for (int64_t k = 0; k < reference_numel(&r->out[0]) && r->inputs > 2; k++) out[k] += r->in[2].data[k % n];
}

static const char *const linear_samples[] = {"[3,4], [5,4], [5]",      "[3,4], [5,4]",     "[2,3,4], [5,4], [5]",
                                             "[2,3,4], [5,4]",         "[4], [5,4], [5]",  "[0,4], [5,4], [5]",
                                             "[33,65], [70,65], [70]", "[3,4], [4]",       "[4], [4]",
                                             "[4], [4], []",           "[2,3,4], [4], []", NULL};

const op_reference op_reference_linear = {
    .reference = linear_reference, .samples = linear_samples, .low = -2, .high = 2};

/* ---- outer ------------------------------------------------------------------------------------------------------- */

static void outer_reference(reference_call *r)
{
    int64_t shape[2] = {r->in[0].shape[0], r->in[1].shape[0]};
    double *out = reference_out(r, 0, 2, shape);
    for (int64_t k = 0; k < shape[0] * shape[1]; k++)
        out[k] = r->in[0].data[k / shape[1]] * r->in[1].data[k % shape[1]];
}

static const char *const outer_samples[] = {"[3], [4]", "[1], [1]", "[0], [3]", NULL};

const op_reference op_reference_outer = {.reference = outer_reference, .samples = outer_samples, .low = -2, .high = 2};
