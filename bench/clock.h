/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of the benchmarks. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include "base/platform/clock.h"

static inline double bench_seconds(void)
{
    return 1e-9 * (double)wk__monotonic_ns();
}

#endif
