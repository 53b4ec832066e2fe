/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/random/multinomial.c. */
#include "references/reference.h"
#include "base/alloc.h"
#include "ir/random.h"
#include <math.h>

/* ---- the call ---------------------------------------------------------------------------------------------------- */

/* Draws from a row by its running sums, added in order; returns the index. */
static double drawn(const double *p, int64_t n, double uniform)
{
    double total = 0, sum = 0, place = 0;
    for (int64_t j = 0; j < n; j++) total += p[j];
    for (int64_t j = 0; j < n; j++) place += (sum += p[j]) <= uniform * total;
    return place;
}

/* Writes the indices of the first `count` arrival times of a row, in order. */
static void first_of(double *times, int64_t n, int64_t count, double *out)
{
    for (int64_t k = 0; k < count; k++) {
        int64_t best = 0;
        for (int64_t j = 1; j < n; j++)
            if (times[j] < times[best]) best = j;
        out[k] = (double)best;
        times[best] = INFINITY;
    }
}

static void reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    const wk_dtype class = wk__compute_class(x->dtype);
    int64_t rows = x->ndim > 1 ? x->shape[0] : 1, n = x->shape[x->ndim - 1], count = wk__value_int(&r->args[1], 1),
            shape[2] = {rows, count};
    double *out = reference_out(r, 0, x->ndim, x->ndim > 1 ? shape : &count);
    if (wk__value_int(&r->args[2], 0)) {
        for (int64_t k = 0; k < rows * count; k++)
            out[k] = drawn(x->data + k / count * n, n, reference_uniform(class, rows * count, k));
        return;
    }
    double *times = wk__alloc_zero((size_t)(rows * n) + 1, sizeof *times);
    for (int64_t k = 0; k < rows * n; k++) {
        uint64_t bits = reference_bits(rows * n, k);
        float a = wk__ndtri32((uint32_t)bits), b = wk__ndtri32((uint32_t)(bits >> 32)), square = a * a, sum = b * b;
        sum = square + sum;
        times[k] = class == WK_F64 ? sum / x->data[k] : sum / (float)x->data[k];
    }
    for (int64_t row = 0; row < rows; row++) first_of(times + row * n, n, count, out + row * count);
    wk__free(times);
}

static const char *const samples[] = {"[5], 1", "[5], 7, true", "[3,4], 1", "[3,4], 6, true",
                                      "[1], 1", "[3,8], 8",     "[70], 5",  NULL};

const op_reference op_reference_multinomial = {.reference = reference, .samples = samples, .low = 0.1, .high = 3};
