/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/normalisation/normalize.c. */
#include "references/reference.h"
#include <math.h>

static double norm(const double *x, int64_t n, int64_t step, double p)
{
    double sum = p == -INFINITY ? INFINITY : 0;
    for (int64_t k = 0; k < n; k++) {
        const double size = fabs(x[k * step]);
        sum = p == INFINITY    ? fmax(sum, size)
              : p == -INFINITY ? fmin(sum, size)
                               : sum + (p == 0 ? size != 0 : pow(size, p));
    }
    return isinf(p) || p == 0 ? sum : pow(sum, 1 / p);
}

static void reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    const double p = wk__value_float(&r->args[1], 2), eps = wk__value_float(&r->args[3], 1e-12);
    int64_t dim = wk__value_int(&r->args[2], 1), inner = 1;
    double *out = reference_out(r, 0, x->ndim, x->shape);
    if (dim < 0) dim += x->ndim;
    for (int d = (int)dim + 1; d < x->ndim; d++) inner *= x->shape[d];
    const int64_t n = x->ndim ? x->shape[dim] : 1;
    for (int64_t k = 0; k < reference_numel(x); k++) {
        const int64_t first = k / (n * inner) * n * inner + k % inner;
        out[k] = x->data[k] / fmax(norm(x->data + first, n, inner, p), eps);
    }
}

static const char *const samples[] = {"[3,4]",         "[2,3,4], 1.0, 0",    "[2,3,2], 3.0, -1",
                                      "[4,3], inf, 1", "[3,4], 2.0, 1, 4.0", "[5], 2.0, 0",
                                      "[0,3]",         "[], 2.0, 0",         NULL};

const op_reference op_reference_normalize = {.reference = reference, .samples = samples, .low = -3, .high = 3};
