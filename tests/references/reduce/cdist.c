/* SPDX-License-Identifier: Apache-2.0 */
/* Reference of the op in src/ops/reduce/cdist.c. */
#include "references/reference.h"
#include <math.h>
#include <string.h>

static void cdist_reference(reference_call *r)
{
    const reference_array *a = &r->in[0], *b = &r->in[1];
    const double p = wk__value_float(&r->args[2], 2);
    const int64_t n = a->shape[a->ndim - 1], rows = a->shape[a->ndim - 2], columns = b->shape[b->ndim - 2];
    int64_t shape[WK__MAX_DIMS], left[WK__MAX_DIMS], right[WK__MAX_DIMS];
    int ndim;
    wk__broadcast(a->ndim - 2, a->shape, b->ndim - 2, b->shape, &ndim, shape);
    memcpy(left, shape, sizeof left);
    memcpy(right, shape, sizeof right);
    left[ndim] = shape[ndim] = rows;
    right[ndim] = shape[ndim + 1] = columns;
    left[ndim + 1] = right[ndim + 1] = n;
    double *out = reference_out(r, 0, ndim + 2, shape);
    for (int64_t k = 0; k < reference_numel(&r->out[0]); k++) {
        const int64_t batch = k / (rows * columns), i = k / columns % rows, j = k % columns;
        double total = 0;
        for (int64_t m = 0; m < n; m++) {
            const double d = fabs(reference_at(a, ndim + 2, left, (batch * rows + i) * n + m) -
                                  reference_at(b, ndim + 2, right, (batch * columns + j) * n + m));
            total = isinf(p) ? fmax(total, d) : total + (p == 0 ? d != 0 : pow(d, p));
        }
        out[k] = isinf(p) || p == 0 ? total : pow(total, 1 / p);
    }
}

static const char *const cdist_samples[] = {"[3,4], [2,4]",      "[2,3,4], [2,4], 1", "[3,2], [2,2], 3",
                                            "[3,2], [2,2], inf", "[3,2], [2,2], 0",   "[2,1,3,2], [3,2,2], 1.5",
                                            "[2,0], [3,0], inf", "[0,2], [3,2]",      NULL};

const op_reference op_reference_cdist = {.reference = cdist_reference, .samples = cdist_samples, .low = -3, .high = 3};
