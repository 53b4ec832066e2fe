/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of a group program, written down as plainly as can be: what every backend is compared with. One element
 * at a time, f32 arithmetic in double and then rounded (which for + - x / and sqrt is the correctly rounded f32),
 * integers in 64 bits and then wrapped, sums in double. Own conversions of the 16-bit floats, by arithmetic instead of
 * bits. */
#ifndef WICK_TESTS_SUPPORT_GROUP_REFERENCE_H
#define WICK_TESTS_SUPPORT_GROUP_REFERENCE_H

#include "backend/backend.h"

/* Runs the group on host memory: data[k] is where operand k's memory begins (its wk__memory is not looked at; offset
 * and strides are in elements from there). Returns the number of indices of LOADX that were out of range; *bad, if not
 * NULL, gets the first in row-major order: index and bound. */
int64_t group_reference_run(const wk__program *group, void *const data[], wk__fail *bad);

/* One element of a dtype as a number, from and to memory; to memory rounds or wraps, and bool is whether it
 * is not 0. */
double group_reference_get(wk_dtype dtype, const void *data, int64_t index);
void group_reference_put(wk_dtype dtype, void *data, int64_t index, double value);
/* The same for i64, which a double does not hold. */
int64_t group_reference_get_integer(wk_dtype dtype, const void *data, int64_t index);

/* The first of `count` elements that differ by more than relative x |want| + absolute, or -1. NaN equals NaN,
 * infinities have to be the same, integers too unless relative or absolute allows more. */
int64_t group_reference_differs(wk_dtype dtype, const void *got, const void *want, int64_t count, double relative,
                                double absolute);

#endif
