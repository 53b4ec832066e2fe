/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/core/reshape.c. */
#include "references/reference.h"
#include <string.h>

/* ---- expand ------------------------------------------------------------------------------------------------------ */

static void expand_reference(reference_call *r)
{
    const reference_array *in = &r->in[0];
    int ndim = r->args[1].count;
    int64_t shape[WK__MAX_DIMS];
    for (int d = 0; d < ndim; d++) {
        int64_t size = r->args[1].ints[d];
        shape[d] = size == -1 ? in->shape[d - (ndim - in->ndim)] : size;
    }
    double *out = reference_out(r, 0, ndim, shape);
    for (int64_t k = 0; k < reference_numel(&r->out[0]); k++) out[k] = reference_at(in, ndim, shape, k);
}

static const char *const expand_samples[] = {"[3,1], (3,4)",    "[1], (5)",     "[], (2,2)",
                                             "[3,1], (2,-1,4)", "[0,1], (0,3)", NULL};

const op_reference op_reference_expand = {
    .reference = expand_reference, .samples = expand_samples, .low = -3, .high = 3};

/* ---- reshape ----------------------------------------------------------------------------------------------------- */

static void reshape_reference(reference_call *r)
{
    const reference_array *in = &r->in[0];
    int64_t shape[WK__MAX_DIMS], known = 1;
    for (int d = 0; d < r->args[1].count; d++)
        if (r->args[1].ints[d] != -1) known *= r->args[1].ints[d];
    for (int d = 0; d < r->args[1].count; d++)
        shape[d] = r->args[1].ints[d] == -1 ? reference_numel(in) / known : r->args[1].ints[d];
    double *out = reference_out(r, 0, r->args[1].count, shape);
    memcpy(out, in->data, sizeof *out * (size_t)reference_numel(in));
}

static const char *const reshape_samples[] = {
    "[2,3], (6)", "[4,3], (2,2,3)", "[2,3,4], (-1,4)", "[], (1,1)", "[0,3], (3,0)", "[6], (2,-1)", NULL};

const op_reference op_reference_reshape = {
    .reference = reshape_reference, .samples = reshape_samples, .low = -3, .high = 3};
