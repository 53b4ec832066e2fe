/* SPDX-License-Identifier: Apache-2.0 */
/* Reference of the op in src/ops/linalg/rotary.c. */
#include "references/reference.h"
#include <math.h>

static void rotary_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    const double base = wk__value_float(&r->args[2], 10000);
    const bool interleaved = wk__value_int(&r->args[3], 0);
    const int64_t n = x->shape[x->ndim - 1], half = n / 2;
    double *out = reference_out(r, 0, x->ndim, x->shape);
    for (int64_t k = 0; k < reference_numel(x); k++) {
        const int64_t row = k / n, j = k % n, pair = interleaved ? j / 2 : j % half;
        const bool second = interleaved ? j % 2 : j >= half;
        const double t = reference_at(&r->in[1], x->ndim - 1, x->shape, row) * pow(base, -2 * (double)pair / (double)n);
        const double a = x->data[row * n + (interleaved ? 2 * pair : pair)];
        const double b = x->data[row * n + (interleaved ? 2 * pair + 1 : pair + half)];
        out[k] = second ? b * cos(t) + a * sin(t) : a * cos(t) - b * sin(t);
    }
}

static const char *const rotary_samples[] = {"[5,4], [5]:i64<9",
                                             "[2,3,5,6], [5]:i64<9, 100.0",
                                             "[2,3,4], [2,3]:i64<9, 50.0, true",
                                             "[3,2], []:i64<4",
                                             "[0,4], [0]:i64<9",
                                             NULL};

const op_reference op_reference_rotary = {
    .reference = rotary_reference, .samples = rotary_samples, .low = -3, .high = 3, .max_ulps = 64};
