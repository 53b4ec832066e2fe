/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/shape/pixel_shuffle.c. */
#include "references/reference.h"
#include <string.h>

/* Visits the pixels of the large image (C, H f, W f) in order; `turned`: x is the large image. */
static void rearrange(reference_call *r, bool turned)
{
    const reference_array *x = &r->in[0];
    const int64_t f = r->args[1].i, *last = x->shape + x->ndim - 3;
    int64_t shape[WK__MAX_DIMS];
    memcpy(shape, x->shape, sizeof shape);
    shape[x->ndim - 3] = turned ? last[0] * f * f : last[0] / (f * f);
    for (int d = x->ndim - 2; d < x->ndim; d++) shape[d] = turned ? x->shape[d] / f : x->shape[d] * f;
    double *out = reference_out(r, 0, x->ndim, shape);
    const int64_t *large = turned ? last : shape + x->ndim - 3;
    for (int64_t k = 0; k < reference_numel(x); k++) {
        const int64_t column = k % large[2], row = k / large[2] % large[1], plane = k / large[2] / large[1];
        const int64_t channel = (plane * f + row % f) * f + column % f;
        const int64_t small = (channel * (large[1] / f) + row / f) * (large[2] / f) + column / f;
        out[turned ? small : k] = x->data[turned ? k : small];
    }
}

static void shuffle_reference(reference_call *r)
{
    rearrange(r, false);
}

static void unshuffle_reference(reference_call *r)
{
    rearrange(r, true);
}

static void channel_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    const int64_t groups = r->args[1].i, each = x->shape[1] / groups;
    double *out = reference_out(r, 0, x->ndim, x->shape);
    int64_t inner = 1;
    for (int d = 2; d < x->ndim; d++) inner *= x->shape[d];
    for (int64_t k = 0; k < reference_numel(x); k++) {
        const int64_t channel = k / inner % x->shape[1], start = (k / inner - channel) * inner;
        out[k] = x->data[start + (channel % groups * each + channel / groups) * inner + k % inner];
    }
}

static const char *const shuffle_samples[] = {"[4,2,3], 2", "[2,9,1,2], 3", "[2,1,4,1,1], 2",
                                              "[3,2,2], 1", "[0,4,2,2], 2", NULL};
static const char *const unshuffle_samples[] = {"[1,4,6], 2", "[2,1,3,3], 3", "[3,2,2], 1", "[2,2,2,4], 2", NULL};
static const char *const channel_samples[] = {"[2,6,2], 2", "[1,6,2,2], 3", "[2,4,1], 1", "[2,0,3], 2", NULL};

const op_reference op_reference_pixel_shuffle = {
    .reference = shuffle_reference, .samples = shuffle_samples, .low = -3, .high = 3};

const op_reference op_reference_pixel_unshuffle = {
    .reference = unshuffle_reference, .samples = unshuffle_samples, .low = -3, .high = 3};

const op_reference op_reference_channel_shuffle = {
    .reference = channel_reference, .samples = channel_samples, .low = -3, .high = 3};
