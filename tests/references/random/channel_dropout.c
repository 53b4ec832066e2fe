/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/random/channel_dropout.c. */
#include "references/reference.h"
#include <math.h>

/* Draws for the first `dims` dimensions; an element becomes kept x + shift or lost. */
static void drop(reference_call *r, int dims, double kept, double shift, double lost, bool training)
{
    const reference_array *x = &r->in[0];
    const double p = wk__value_float(&r->args[1], 0.5);
    double *out = reference_out(r, 0, x->ndim, x->shape);
    int64_t draws = 1, inner = 1;
    for (int d = 0; d < x->ndim; d++) *(d < dims ? &draws : &inner) *= x->shape[d];
    for (int64_t k = 0; k < reference_numel(x); k++) {
        const bool stays = (double)(uint32_t)reference_bits(draws, k / inner) >= ldexp(p, 32);
        out[k] = !training ? x->data[k] : stays ? x->data[k] * kept + shift : lost;
    }
}

static void channels(reference_call *r, int batched)
{
    const double p = wk__value_float(&r->args[1], 0.5);
    drop(r, r->in[0].ndim == batched ? 2 : 1, 1 / (1 - p), 0, 0, wk__value_int(&r->args[2], 1));
}

static void dropout1d(reference_call *r)
{
    channels(r, 3);
}
static void dropout2d(reference_call *r)
{
    channels(r, 4);
}
static void dropout3d(reference_call *r)
{
    channels(r, 5);
}

static void alpha(reference_call *r, int dims)
{
    const double limit = 1.7580993408473766, p = wk__value_float(&r->args[1], 0.5);
    const double a = p < 1 ? 1 / sqrt((limit * limit * p + 1) * (1 - p)) : 0;
    drop(r, dims, a, limit * a * p, limit * a * (p - 1), wk__value_int(&r->args[2], 0));
}

static void alpha_dropout(reference_call *r)
{
    alpha(r, r->in[0].ndim);
}
static void feature_alpha_dropout(reference_call *r)
{
    alpha(r, 2);
}

static const char *const samples_1d[] = {"[3,4,5]",      "[6,4], 0.25", "[2,3,4], 0.5, false",
                                         "[2,2,2], 1.0", "[0,2,3]",     NULL};
static const char *const samples_2d[] = {"[3,4,2,2]", "[2,3,2,1], 0.5, false", "[2,2,1,2], 0.0", "[1,2,0,3]", NULL};
static const char *const samples_3d[] = {"[2,3,2,1,2]", "[4,1,2,2], 0.25", "[1,2,2,1,1], 0.5, false", NULL};
static const char *const samples_alpha[] = {"[20], 0.5, true",
                                            "[3,4], 0.25, true",
                                            "[3], 0.0, true",
                                            "[3], 1.0, true",
                                            "[4]",
                                            "[], 0.5, true",
                                            "[0,2], 0.5, true",
                                            NULL};
static const char *const samples_feature[] = {
    "[3,4,5], 0.5, true", "[2,3,2,2], 0.25, true", "[4,3], 0.5, true", "[2,2,3], 1.0, true", "[2,3,4]", NULL};

const op_reference op_reference_dropout1d = {.reference = dropout1d, .samples = samples_1d, .low = -3, .high = 3};
const op_reference op_reference_dropout2d = {.reference = dropout2d, .samples = samples_2d, .low = -3, .high = 3};
const op_reference op_reference_dropout3d = {.reference = dropout3d, .samples = samples_3d, .low = -3, .high = 3};
const op_reference op_reference_alpha_dropout = {
    .reference = alpha_dropout, .samples = samples_alpha, .low = -3, .high = 3};
const op_reference op_reference_feature_alpha_dropout = {
    .reference = feature_alpha_dropout, .samples = samples_feature, .low = -3, .high = 3};
