/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of an epoch and their order: all samples, a list, or random draws by weight; shuffled or not. The order
 * is a function of the options, the seed and the epoch. */
#ifndef WICK_DATA_SAMPLER_H
#define WICK_DATA_SAMPLER_H

#include "dataset.h"

typedef struct wk__sampler {
    int64_t count;   /* samples of an epoch */
    int64_t samples; /* of the dataset */
    int64_t *list;   /* [count] owned; NULL: all samples */
    double *weights; /* [samples] for .no_replacement; owned; NULL: none */
    double *sums;    /* [samples] owned; sums of the weights up to each sample; NULL: none */
    bool shuffle;
    uint64_t seed;
} wk__sampler;

/* Reads the sampling options of a loader over `samples` samples. Returns false after recording an error;
 * wk__sampler_free must be called in either case. */
bool wk__sampler_init(wk__sampler *s, wk_site site, const wk_loader_options *o, int64_t samples);
/* Writes the indices of the samples of an epoch in order. Returns false on allocation failure. */
bool wk__sampler_order(const wk__sampler *s, int64_t epoch, int64_t *order);
/* Returns true if an epoch may have a sample more than once. */
static inline bool wk__sampler_repeats(const wk__sampler *s)
{
    return s->list || s->sums;
}
/* Returns true if the order depends on the seed. */
static inline bool wk__sampler_is_random(const wk__sampler *s)
{
    return s->shuffle || s->weights || s->sums;
}
void wk__sampler_free(wk__sampler *s);

#endif
