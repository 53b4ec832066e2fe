/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/reduce/softmax.c. */
#include "references/reference.h"
#include <math.h>

/* Computes one row of n elements that are `step` apart. */
static void line(const double *x, double *y, int64_t n, int64_t step, double sign, bool logs)
{
    double most = -INFINITY, total = 0;
    for (int64_t k = 0; k < n; k++) most = fmax(most, sign * x[k * step]);
    for (int64_t k = 0; k < n; k++) total += exp(sign * x[k * step] - most);
    for (int64_t k = 0; k < n; k++) {
        double log_share_of_k = sign * x[k * step] - most - log(total);
        y[k * step] = logs ? log_share_of_k : exp(log_share_of_k);
    }
}

static void along(reference_call *r, double sign, bool logs)
{
    const reference_array *in = &r->in[0];
    double *out = reference_out(r, 0, in->ndim, in->shape);
    int64_t dim = wk__value_int(&r->args[1], -1), n = 1, step = 1, total = reference_numel(in);
    if (dim < 0) dim += in->ndim;
    if (in->ndim) n = in->shape[dim];
    for (int d = (int)dim + 1; d < in->ndim; d++) step *= in->shape[d];
    for (int64_t outer = 0; outer < (n ? total / n : 0); outer++) {
        int64_t first = outer / step * step * n + outer % step;
        line(in->data + first, out + first, n, step, sign, logs);
    }
}

static void softmax_reference(reference_call *r)
{
    along(r, 1, false);
}

static void softmin_reference(reference_call *r)
{
    along(r, -1, false);
}

static void log_softmax_reference(reference_call *r)
{
    along(r, 1, true);
}

static const char *const samples[] = {"[], 0",       "[7], 0",   "[3,5], 1", "[3,5], 0",   "[2,3,4], 1",
                                      "[2,3,4], -1", "[2,0], 1", "[0,3], 1", "[3,300], 1", NULL};

const op_reference op_reference_softmax = {.reference = softmax_reference, .samples = samples, .low = -3, .high = 3};

const op_reference op_reference_softmin = {.reference = softmin_reference, .samples = samples, .low = -3, .high = 3};

const op_reference op_reference_log_softmax = {
    .reference = log_softmax_reference, .samples = samples, .low = -3, .high = 3};
