/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/compare.c. */
#include "references/reference.h"

static double eq_exact(const double *x)
{
    return x[0] == x[1];
}

static double ne_exact(const double *x)
{
    return x[0] != x[1];
}

static double lt_exact(const double *x)
{
    return x[0] < x[1];
}

static double le_exact(const double *x)
{
    return x[0] <= x[1];
}

static double gt_exact(const double *x)
{
    return x[0] > x[1];
}

static double ge_exact(const double *x)
{
    return x[0] >= x[1];
}

/* Integer samples have many equal pairs. */
static const char *const samples[] = {
    "[], []",     "[50]:i64<4, [50]:i64<4", "[50]:i32<4, 2", "3, [50]:u8<4", "[9]:bool, [9]:bool",
    "[3,4], [4]", "[2,1,3], [4,1]",         "[0,3], [3]",    "[3,4], 0.5",   NULL};

const op_reference op_reference_eq = {
    .scalar = eq_exact, .samples = samples, .low = -3, .high = 3, .discontinuous = true};

const op_reference op_reference_ne = {
    .scalar = ne_exact, .samples = samples, .low = -3, .high = 3, .discontinuous = true};

const op_reference op_reference_lt = {
    .scalar = lt_exact, .samples = samples, .low = -3, .high = 3, .discontinuous = true};

const op_reference op_reference_le = {
    .scalar = le_exact, .samples = samples, .low = -3, .high = 3, .discontinuous = true};

const op_reference op_reference_gt = {
    .scalar = gt_exact, .samples = samples, .low = -3, .high = 3, .discontinuous = true};

const op_reference op_reference_ge = {
    .scalar = ge_exact, .samples = samples, .low = -3, .high = 3, .discontinuous = true};
