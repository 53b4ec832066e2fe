/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/reduce/distance.c. */
#include "references/reference.h"
#include <math.h>

/* ---- dist: the norm of a - b ------------------------------------------------------------------------------------- */

static void dist_reference(reference_call *r)
{
    const reference_array *a = &r->in[0], *b = &r->in[1];
    double p = wk__value_float(&r->args[2], 2), total = 0, *out = reference_out(r, 0, 0, NULL);
    int64_t shape[WK__MAX_DIMS];
    int ndim;
    wk__broadcast(a->ndim, a->shape, b->ndim, b->shape, &ndim, shape);
    for (int64_t k = 0; k < wk__numel(ndim, shape); k++) {
        double d = fabs(reference_at(a, ndim, shape, k) - reference_at(b, ndim, shape, k));
        total = isinf(p) ? fmax(total, d) : total + (p == 0 ? d != 0 : pow(d, p));
    }
    out[0] = isinf(p) || p == 0 ? total : pow(total, 1 / p);
}

static const char *const dist_samples[] = {"[], []",          "[7], [7]",      "[3,5], [3,5], 1", "[3,5], [5], 3",
                                           "[2,3,1], [4], 0", "[5], [5], inf", "[0,3], [3]",      NULL};

const op_reference op_reference_dist = {.reference = dist_reference, .samples = dist_samples, .low = -3, .high = 3};

/* ---- pairwise_distance: the norm of a - b + eps along the last dimension ----------------------------------------- */

static void pairwise_reference(reference_call *r)
{
    const reference_array *a = &r->in[0], *b = &r->in[1];
    const double p = wk__value_float(&r->args[2], 2), eps = wk__value_float(&r->args[3], 1e-6);
    int64_t shape[WK__MAX_DIMS], kept[WK__MAX_DIMS];
    int ndim;
    wk__broadcast(a->ndim, a->shape, b->ndim, b->shape, &ndim, shape);
    const int64_t n = ndim ? shape[ndim - 1] : 1;
    for (int d = 0; d < ndim; d++) kept[d] = d < ndim - 1 ? shape[d] : 1;
    double *out = reference_out(r, 0, wk__value_int(&r->args[4], 0) || !ndim ? ndim : ndim - 1, kept);
    for (int64_t line = 0; line < reference_numel(&r->out[0]); line++) {
        double total = 0;
        for (int64_t k = line * n; k < (line + 1) * n; k++) {
            double d = fabs(reference_at(a, ndim, shape, k) - reference_at(b, ndim, shape, k) + eps);
            total = isinf(p) ? fmax(total, d) : total + (p == 0 ? d != 0 : pow(d, p));
        }
        out[line] = isinf(p) || p == 0 ? total : pow(total, 1 / p);
    }
}

static const char *const pairwise_samples[] = {"[3,5], [3,5]",
                                               "[7], [7], 1",
                                               "[2,3,4], [3,4], 3, 0.25",
                                               "[3,1], [1,4], 2, 1e-6, true",
                                               "[4,5], [4,5], inf, 0",
                                               "[4,5], [5], 0, 0.5",
                                               "[], []",
                                               "[0,3], [3]",
                                               NULL};

const op_reference op_reference_pairwise_distance = {
    .reference = pairwise_reference, .samples = pairwise_samples, .low = -3, .high = 3};

/* ---- cosine_similarity ------------------------------------------------------------------------------------------- */

static void cosine_reference(reference_call *r)
{
    const reference_array *in = r->in;
    double eps = wk__value_float(&r->args[3], 1e-8);
    int64_t shape[WK__MAX_DIMS], kept[WK__MAX_DIMS], n = 1, step = 1;
    int ndim, d = 0, nkept = 0;
    wk__broadcast(in[0].ndim, in[0].shape, in[1].ndim, in[1].shape, &ndim, shape);
    wk__wrap_dim(ndim, wk__value_int(&r->args[2], 1), &d);
    if (ndim) n = shape[d];
    for (int k = 0; k < ndim; k++) {
        if (k != d) kept[nkept++] = shape[k];
        if (k > d) step *= shape[k];
    }
    double *out = reference_out(r, 0, nkept, kept);
    for (int64_t line = 0; line < reference_numel(&r->out[0]); line++) {
        double dot = 0, square[2] = {0, 0}, x[2];
        for (int64_t k = 0; k < n; k++) {
            int64_t at = line / step * step * n + line % step + k * step;
            for (int i = 0; i < 2; i++) {
                x[i] = reference_at(&in[i], ndim, shape, at);
                square[i] += x[i] * x[i];
            }
            dot += x[0] * x[1];
        }
        out[line] = dot / (fmax(sqrt(square[0]), eps) * fmax(sqrt(square[1]), eps));
    }
}

static const char *const cosine_samples[] = {"[3,5], [3,5]", "[3,5], [3,5], 0", "[2,3,4], [3,4], -1",
                                             "[5], [5], 0",  "[3,1], [1,4]",    "[4,5], [4,5], 1, 3",
                                             "[0,3], [3]",   "[], [], 0",       NULL};

const op_reference op_reference_cosine_similarity = {
    .reference = cosine_reference, .samples = cosine_samples, .low = 0.5, .high = 3};
