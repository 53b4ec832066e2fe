/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers of the generator: a seed yields the same program on every machine. */
#ifndef TESTS_RANDOM_RNG_H
#define TESTS_RANDOM_RNG_H

#include <stdbool.h>
#include <stdint.h>

typedef struct rng {
    uint64_t state;
} rng;

/* splitmix64: any seed, including 0 and adjacent ones, starts an independent sequence. */
static inline uint64_t rng_bits(rng *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Returns a number in [0, below), or 0 if that is empty. */
static inline int rng_below(rng *d, int below)
{
    return below > 0 ? (int)((rng_bits(d) >> 33) % (uint64_t)below) : 0;
}

/* Returns a number in [low, high]. */
static inline int rng_range(rng *d, int low, int high)
{
    return low + rng_below(d, high - low + 1);
}

static inline bool rng_percent(rng *d, int percent)
{
    return rng_below(d, 100) < percent;
}

/* Returns a number in [0, 1). */
static inline double rng_unit(rng *d)
{
    return (double)(rng_bits(d) >> 11) * 0x1p-53;
}

#endif
