/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/loss/embedding_loss.c. */
#include "references/reference.h"
#include "base/alloc.h"
#include <math.h>

/* Stores loss(r, k) of each vector k and reduces. */
static void of_vectors(reference_call *r, double (*loss)(const reference_call *r, int64_t k), int reduction_at)
{
    const reference_array *first = &r->in[0];
    const int64_t rows = first->ndim == 2 ? first->shape[0] : 1;
    double *losses = wk__alloc_zero((size_t)rows + 1, sizeof *losses);
    for (int64_t k = 0; k < rows; k++) losses[k] = loss(r, k);
    reference_reduced(r, &r->args[reduction_at], first->ndim - 1, first->shape, losses);
    wk__free(losses);
}

/* ---- cosine_embedding_loss --------------------------------------------------------------------------------------- */

static double cosine_loss(const reference_call *r, int64_t k)
{
    const int64_t n = r->in[0].shape[r->in[0].ndim - 1];
    const double *a = r->in[0].data + k * n, *b = r->in[1].data + k * n, y = r->in[2].data[k];
    double ab = 0, aa = 1e-12, bb = 1e-12;
    for (int64_t d = 0; d < n; d++) ab += a[d] * b[d], aa += a[d] * a[d], bb += b[d] * b[d];
    const double cos = ab / sqrt(aa * bb);
    return y == 1 ? 1 - cos : y == -1 ? fmax(0, cos - wk__value_float(&r->args[3], 0)) : 0;
}

static void cosine_reference(reference_call *r)
{
    of_vectors(r, cosine_loss, 4);
}

static const char *const cosine_samples[] = {"[4,5], [4,5], [4]:i64<2", "[5], [5], []:i64<2",
                                             "[4,5], [4,5], [4]:i64<2, 0.25, \"sum\"",
                                             "[3,4], [3,4], [3]:i64<2, -0.5, \"none\"", NULL};

const op_reference op_reference_cosine_embedding_loss = {
    .reference = cosine_reference, .samples = cosine_samples, .low = -3, .high = 3};

/* ---- triplet_margin_loss ----------------------------------------------------------------------------------------- */

static double distance(const reference_call *r, int from, int to, int64_t k)
{
    const int64_t n = r->in[0].shape[r->in[0].ndim - 1];
    const double p = wk__value_float(&r->args[4], 2), eps = wk__value_float(&r->args[5], 1e-6);
    double sum = 0;
    for (int64_t d = 0; d < n; d++) sum += pow(fabs(r->in[from].data[k * n + d] - r->in[to].data[k * n + d] + eps), p);
    return pow(sum, 1 / p);
}

static double triplet_loss(const reference_call *r, int64_t k)
{
    double away = distance(r, 0, 2, k);
    if (wk__value_int(&r->args[6], 0)) away = fmin(away, distance(r, 1, 2, k));
    return fmax(0, distance(r, 0, 1, k) - away + wk__value_float(&r->args[3], 1));
}

static void triplet_reference(reference_call *r)
{
    of_vectors(r, triplet_loss, 7);
}

static const char *const triplet_samples[] = {"[4,5], [4,5], [4,5]",
                                              "[5], [5], [5], 2",
                                              "[4,5], [4,5], [4,5], 4, 1, 1e-6, true",
                                              "[4,5], [4,5], [4,5], 3, 2, 0.5, true, \"sum\"",
                                              "[3,4], [3,4], [3,4], 2.5, 3, 1e-6, false, \"none\"",
                                              NULL};

const op_reference op_reference_triplet_margin_loss = {
    .reference = triplet_reference, .samples = triplet_samples, .low = -3, .high = 3};
