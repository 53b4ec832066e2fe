/* SPDX-License-Identifier: Apache-2.0 */
/* Monotonic clock for measurements and timeouts. */
#ifndef WICK_BASE_CLOCK_H
#define WICK_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t wk__monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
