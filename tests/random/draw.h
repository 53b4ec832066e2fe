/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers of the generator: the same seed draws the same program on every machine. */
#ifndef TESTS_RANDOM_DRAW_H
#define TESTS_RANDOM_DRAW_H

#include <stdbool.h>
#include <stdint.h>

typedef struct draw {
    uint64_t state;
} draw;

/* splitmix64: any seed, 0 and neighbours too, begins a sequence of its own. */
static inline uint64_t draw_bits(draw *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* A number in [0, below); 0 when there is none. */
static inline int draw_below(draw *d, int below)
{
    return below > 0 ? (int)((draw_bits(d) >> 33) % (uint64_t)below) : 0;
}

/* In [low, high]. */
static inline int draw_from(draw *d, int low, int high)
{
    return low + draw_below(d, high - low + 1);
}

static inline bool draw_percent(draw *d, int percent)
{
    return draw_below(d, 100) < percent;
}

/* In [0, 1). */
static inline double draw_fraction(draw *d)
{
    return (double)(draw_bits(d) >> 11) * 0x1p-53;
}

#endif
