/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/reduce/histogram.c. */
#include "references/reference.h"
#include <math.h>

static void bincount_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    int64_t n = wk__value_int(&r->args[2], 0);
    for (int64_t k = 0; k < reference_numel(x); k++) n = (int64_t)fmax((double)n, x->data[k] + 1);
    double *out = reference_out(r, 0, 1, &n);
    for (int64_t k = 0; k < reference_numel(x); k++) out[(int64_t)x->data[k]] += r->inputs > 1 ? r->in[1].data[k] : 1;
}

static void histc_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    const int64_t bins = wk__value_int(&r->args[1], 100);
    double min = wk__value_float(&r->args[2], 0), max = wk__value_float(&r->args[3], 0);
    for (int64_t k = 0; k < reference_numel(x) && r->args[3].kind == WK_VALUE_NONE; k++) {
        min = k ? fmin(min, x->data[k]) : x->data[k];
        max = k ? fmax(max, x->data[k]) : x->data[k];
    }
    if (min == max) min--, max++;
    double *out = reference_out(r, 0, 1, &bins);
    for (int64_t k = 0; k < reference_numel(x); k++) {
        const double at = floor((x->data[k] - min) / (max - min) * (double)bins);
        if (x->data[k] >= min && x->data[k] <= max) out[at < (double)bins ? (int64_t)at : bins - 1]++;
    }
}

static const char *const bincount_samples[] = {"[7]:i64<5", "[9]:i32<4, [9]", "[5]:u8<3, none, 8", "[0]:i64", NULL};

static const char *const histc_samples[] = {"[20], 4, -2, 2", "[3,5], 3", "[7], 5, 0, 1", "[], 2", "[0], 3", NULL};

const op_reference op_reference_bincount = {
    .reference = bincount_reference, .samples = bincount_samples, .low = -3, .high = 3};

const op_reference op_reference_histc = {
    .reference = histc_reference, .samples = histc_samples, .low = -3, .high = 3, .discontinuous = true};
