/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/linalg/vector_products.c. */
#include "references/reference.h"
#include <string.h>

/* ---- kron -------------------------------------------------------------------------------------------------------- */

static int64_t size_of(const reference_array *x, int ndim, int d)
{
    return d < ndim - x->ndim ? 1 : x->shape[d - (ndim - x->ndim)];
}

static void kron_reference(reference_call *r)
{
    const reference_array *a = &r->in[0], *b = &r->in[1];
    const int ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
    int64_t shape[WK__MAX_DIMS];
    for (int d = 0; d < ndim; d++) shape[d] = size_of(a, ndim, d) * size_of(b, ndim, d);
    double *out = reference_out(r, 0, ndim, shape);
    for (int64_t k = 0; k < reference_numel(&r->out[0]); k++) {
        int64_t rest = k, i = 0, j = 0, a_step = 1, b_step = 1;
        for (int d = ndim; d-- > 0; rest /= shape[d]) {
            const int64_t m = size_of(a, ndim, d), n = size_of(b, ndim, d), here = rest % shape[d];
            i += here / n * a_step;
            j += here % n * b_step;
            a_step *= m;
            b_step *= n;
        }
        out[k] = a->data[i] * b->data[j];
    }
}

static const char *const kron_samples[] = {"[2], [3]", "[2,3], [3,2]",       "[2,2,2], [3]", "[], [3]",
                                           "[], []",   "[1,3,1], [2,1,2,3]", "[0,2], [2]",   NULL};

const op_reference op_reference_kron = {.reference = kron_reference, .samples = kron_samples, .low = -3, .high = 3};

/* ---- cross ------------------------------------------------------------------------------------------------------- */

static void cross_reference(reference_call *r)
{
    const reference_array *a = &r->in[0], *b = &r->in[1];
    int64_t shape[WK__MAX_DIMS], step = 1;
    int ndim, d = 0;
    wk__broadcast(a->ndim, a->shape, b->ndim, b->shape, &ndim, shape);
    if (r->args[2].kind == WK_VALUE_NONE)
        while (a->shape[d] != 3) d++;
    else
        wk__wrap_dim(ndim, r->args[2].i, &d);
    for (int k = d + 1; k < ndim; k++) step *= shape[k];
    double *out = reference_out(r, 0, ndim, shape);
    for (int64_t k = 0; k < reference_numel(&r->out[0]); k++) {
        const int64_t here = k / step % 3, first = k - here * step;
        const int64_t i = first + (here + 1) % 3 * step, j = first + (here + 2) % 3 * step;
        out[k] = reference_at(a, ndim, shape, i) * reference_at(b, ndim, shape, j) -
                 reference_at(a, ndim, shape, j) * reference_at(b, ndim, shape, i);
    }
}

static const char *const cross_samples[] = {"[3], [3], 0",          "[2,3], [2,3]",    "[3,4], [3,4], 0",
                                            "[2,3,2], [1,3,2], -2", "[0,3], [0,3], 1", NULL};

const op_reference op_reference_cross = {.reference = cross_reference, .samples = cross_samples, .low = -3, .high = 3};
