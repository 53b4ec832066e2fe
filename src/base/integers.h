/* SPDX-License-Identifier: Apache-2.0 */
/* Whole numbers: the lesser and the greater of two, quotients that are rounded, and parts of a whole. */
#ifndef WICK_BASE_INTEGERS_H
#define WICK_BASE_INTEGERS_H

#include <stdint.h>

static inline int64_t wk__min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t wk__max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* a / b, rounded down; b > 0 */
static inline int64_t wk__floor_div(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((-a - 1) / b) - 1;
}

/* a / b, rounded up; b > 0 */
static inline int64_t wk__ceil_div(int64_t a, int64_t b)
{
    return a > 0 ? (a - 1) / b + 1 : -(-a / b);
}

/* How many parts of that size there are, the last of which may be smaller. None of nothing. */
static inline int64_t wk__chunk_count(int64_t whole, int64_t part)
{
    return (whole + part - 1) / part;
}

/* The size of parts that are about equal, and no larger than `part`. */
static inline int64_t wk__even_chunk(int64_t whole, int64_t part)
{
    return wk__chunk_count(whole, wk__chunk_count(whole, part));
}

#endif
