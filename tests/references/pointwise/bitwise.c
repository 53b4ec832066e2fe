/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/bitwise.c. */
#include "references/reference.h"
#include <math.h>

static double and_exact(const double *x)
{
    return (double)((int64_t)x[0] & (int64_t)x[1]);
}

static double or_exact(const double *x)
{
    return (double)((int64_t)x[0] | (int64_t)x[1]);
}

static double xor_exact(const double *x)
{
    return (double)((int64_t)x[0] ^ (int64_t)x[1]);
}

static const char *const samples[] = {
    "[]:bool, []:bool", "[9]:bool, [9]:bool",       "[30]:i64<99, [30]:i64<99", "[30]:i32<99, 6",
    "3, [30]:i16<99",   "[3,4]:i64<99, [4]:i64<99", "[0,3]:i64<9, [3]:i64<9",   NULL};

const op_reference op_reference_bitwise_and = {.scalar = and_exact, .samples = samples, .low = 0, .high = 9};

const op_reference op_reference_bitwise_or = {.scalar = or_exact, .samples = samples, .low = 0, .high = 9};

const op_reference op_reference_bitwise_xor = {.scalar = xor_exact, .samples = samples, .low = 0, .high = 9};

/* ---- shifts ------------------------------------------------------------------------------------------------------ */

static double left_shift_exact(const double *x)
{
    return x[1] < 0 || x[1] > 63 ? 0 : x[0] * exp2(x[1]);
}

static double right_shift_exact(const double *x)
{
    return x[1] < 0 || x[1] > 63 ? -(x[0] < 0) : floor(x[0] * exp2(-x[1]));
}

static const char *const shift_samples[] = {"[9]<9, [9]<4",  "[3,4]:i64<99, [4]:i64<9", "[30]:i32<99, 6",
                                            "3, [30]:i16<9", "[0,3]:i64<9, [3]:i64<9",  NULL};

const op_reference op_reference_bitwise_left_shift = {
    .scalar = left_shift_exact, .samples = shift_samples, .low = 0, .high = 3};

const op_reference op_reference_bitwise_right_shift = {
    .scalar = right_shift_exact, .samples = shift_samples, .low = 0, .high = 9};

/* ---- bitwise_not: a bool has one bit ----------------------------------------------------------------------------- */

static double not_exact(const double *x)
{
    return (double)~(int64_t)x[0];
}

static const char *const not_samples[] = {"[]:i64<9", "[9]:i32<9", "[3,5]:i16<9", "[2,0]:i64<9", NULL};

const op_reference op_reference_bitwise_not = {.scalar = not_exact, .samples = not_samples, .low = 0, .high = 9};
