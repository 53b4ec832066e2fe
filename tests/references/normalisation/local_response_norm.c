/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/normalisation/local_response_norm.c. */
#include "references/reference.h"
#include <math.h>

static void reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    const int64_t size = r->args[1].i, channels = x->shape[1];
    const double alpha = wk__value_float(&r->args[2], 1e-4), beta = wk__value_float(&r->args[3], 0.75);
    const double k = wk__value_float(&r->args[4], 1);
    double *out = reference_out(r, 0, x->ndim, x->shape);
    int64_t inner = 1;
    for (int d = 2; d < x->ndim; d++) inner *= x->shape[d];
    for (int64_t i = 0; i < reference_numel(x); i++) {
        const int64_t c = i / inner % channels;
        double sum = 0;
        for (int64_t o = -(size / 2); o <= (size - 1) / 2; o++)
            if (c + o >= 0 && c + o < channels) sum += x->data[i + o * inner] * x->data[i + o * inner];
        out[i] = x->data[i] / pow(k + alpha / (double)size * sum, beta);
    }
}

static const char *const samples[] = {"[2,5,3], 2, 0.5",
                                      "[2,4,2,2], 3, 0.3, 0.5, 2.0",
                                      "[1,3,4], 5, 0.9, 1.5, 0.7",
                                      "[2,3,2], 1, 0.5",
                                      "[2,3,4], 4",
                                      "[0,3,2], 3",
                                      NULL};

const op_reference op_reference_local_response_norm = {
    .reference = reference, .samples = samples, .low = -3, .high = 3};
