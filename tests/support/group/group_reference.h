/* SPDX-License-Identifier: Apache-2.0 */
/* A simple reference interpreter for programs, with which every backend is compared. It computes one element at a time:
 * f32 arithmetic in double, then rounded (for + - x / and sqrt, that is the correctly rounded f32 result), integers in
 * 64 bits, then wrapped, sums in double. Conversions of the 16-bit floats use arithmetic instead of bits, independently
 * of the library's. */
#ifndef WICK_TESTS_SUPPORT_GROUP_REFERENCE_H
#define WICK_TESTS_SUPPORT_GROUP_REFERENCE_H

#include "backend/backend.h"

/* Runs the program on host memory. data[k] is the beginning of operand k's memory (its wk__memory is ignored; offset
 * and strides count elements from there). Returns the number of LOADX indices out of range; *bad, unless NULL, receives
 * the first of them in row-major order: index and bound. */
int64_t group_reference_run(const wk__program *group, void *const data[], wk__fail *bad);

/* Read and write one element as a double. Writing rounds or wraps; a bool is set to whether the value is not 0. */
double group_reference_get(wk_dtype dtype, const void *data, int64_t index);
void group_reference_put(wk_dtype dtype, void *data, int64_t index, double value);
/* Reads an i64 element, which a double cannot represent exactly. */
int64_t group_reference_get_integer(wk_dtype dtype, const void *data, int64_t index);

/* Returns the first of count elements that differs by more than relative x |want| + absolute, or -1. NaN equals NaN;
 * infinities must be equal, and integers too unless relative or absolute permits more. */
int64_t group_reference_differs(wk_dtype dtype, const void *got, const void *want, int64_t count, double relative,
                                double absolute);

#endif
