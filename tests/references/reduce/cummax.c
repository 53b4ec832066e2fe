/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/reduce/cummax.c. */
#include "references/reference.h"
#include <math.h>

/* Sets *n to the size of the dimension of args[1] and returns the distance of its elements. */
static int64_t stride_of(const reference_call *r, int64_t *n)
{
    const reference_array *x = &r->in[0];
    int64_t step = 1;
    int d = 0;
    wk__wrap_dim(x->ndim, r->args[1].i, &d);
    *n = x->ndim ? x->shape[d] : 1;
    for (int k = d + 1; k < x->ndim; k++) step *= x->shape[k];
    return step;
}

static void extremes_reference(reference_call *r, double sign)
{
    const reference_array *x = &r->in[0];
    int64_t n;
    const int64_t step = stride_of(r, &n);
    double *values = reference_out(r, 0, x->ndim, x->shape), *indices = reference_out(r, 1, x->ndim, x->shape);
    for (int64_t k = 0; k < reference_numel(x); k++) {
        const int64_t here = k / step % n;
        const bool first = here == 0;
        const double before = first ? 0 : values[k - step];
        const bool wins = first || isnan(x->data[k]) || (!isnan(before) && sign * x->data[k] >= sign * before);
        values[k] = wins ? x->data[k] : before;
        indices[k] = wins ? (double)here : indices[k - step];
    }
}

static void cummax_reference(reference_call *r)
{
    extremes_reference(r, 1);
}

static void cummin_reference(reference_call *r)
{
    extremes_reference(r, -1);
}

static void logcumsumexp_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    int64_t n;
    const int64_t step = stride_of(r, &n);
    double *out = reference_out(r, 0, x->ndim, x->shape);
    for (int64_t k = 0; k < reference_numel(x); k++) {
        const bool first = k / step % n == 0;
        const double a = first ? -INFINITY : out[k - step], b = x->data[k], most = fmax(a, b);
        out[k] = first ? b : most + log1p(exp(-fabs(a - b)));
    }
}

static const char *const scan_samples[] = {"[7], 0",     "[3,5], 1", "[3,5], 0", "[2,3,4], -2", "[2,1], 1",
                                           "[3,17], -1", "[], 0",    "[0,3], 0", "[3,0], 1",    NULL};

const op_reference op_reference_cummax = {.reference = cummax_reference, .samples = scan_samples, .low = -3, .high = 3};

const op_reference op_reference_cummin = {.reference = cummin_reference, .samples = scan_samples, .low = -3, .high = 3};

const op_reference op_reference_logcumsumexp = {
    .reference = logcumsumexp_reference, .samples = scan_samples, .low = -3, .high = 3};
