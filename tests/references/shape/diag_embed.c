/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/shape/diag_embed.c. */
#include "references/reference.h"
#include <string.h>

static void trace_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    double *out = reference_out(r, 0, 0, NULL);
    for (int64_t k = 0; k < x->shape[0] && k < x->shape[1]; k++) out[0] += x->data[k * x->shape[1] + k];
}

static const char *const trace_samples[] = {"[3,3]", "[2,4]", "[4,2]", "[0,3]", NULL};

const op_reference op_reference_trace = {.reference = trace_reference, .samples = trace_samples, .low = -3, .high = 3};

static void diag_embed_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    const int64_t offset = wk__value_int(&r->args[1], 0), n = x->shape[x->ndim - 1];
    const int64_t size = n + (offset < 0 ? -offset : offset);
    int64_t shape[WK__MAX_DIMS];
    int row = 0, column = 0;
    wk__wrap_dim(x->ndim + 1, wk__value_int(&r->args[2], -2), &row);
    wk__wrap_dim(x->ndim + 1, wk__value_int(&r->args[3], -1), &column);
    for (int d = 0, next = 0; d <= x->ndim; d++) shape[d] = d == row || d == column ? size : x->shape[next++];
    double *out = reference_out(r, 0, x->ndim + 1, shape);
    for (int64_t k = 0; k < reference_numel(&r->out[0]); k++) {
        int64_t index[WK__MAX_DIMS] = {0}, rest = k, at = 0;
        for (int d = x->ndim + 1; d-- > 0; rest /= shape[d]) index[d] = rest % shape[d];
        if (index[column] - index[row] != offset) continue;
        for (int d = 0; d <= x->ndim; d++)
            if (d != row && d != column) at = at * shape[d] + index[d];
        out[k] = x->data[at * n + (offset < 0 ? index[column] : index[row])];
    }
}

static const char *const diag_embed_samples[] = {"[3]", "[2,3], 1", "[2,3], -2", "[2,2,3], 1, 0, 2", "[2,3], 0, 1, 0",
                                                 "[0]", NULL};

const op_reference op_reference_diag_embed = {
    .reference = diag_embed_reference, .samples = diag_embed_samples, .low = -3, .high = 3};
