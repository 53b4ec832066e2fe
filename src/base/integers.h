/* SPDX-License-Identifier: Apache-2.0 */
/* Integer helpers: minimum, maximum, rounded quotients, and chunks of a range. */
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

/* a / b rounded down; b > 0 */
static inline int64_t wk__floor_div(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((-a - 1) / b) - 1;
}

/* a / b rounded up; b > 0 */
static inline int64_t wk__ceil_div(int64_t a, int64_t b)
{
    return a > 0 ? (a - 1) / b + 1 : -(-a / b);
}

/* Returns the number of chunks of size `part` in `whole`, of which the last may be smaller; 0 if whole is 0. */
static inline int64_t wk__chunk_count(int64_t whole, int64_t part)
{
    return (whole + part - 1) / part;
}

/* Returns a chunk size of at most `part` that divides `whole` into the same number of nearly equal chunks. */
static inline int64_t wk__even_chunk(int64_t whole, int64_t part)
{
    return wk__chunk_count(whole, wk__chunk_count(whole, part));
}

#endif
