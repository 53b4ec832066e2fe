/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/logical.c. */
#include "references/reference.h"

static double and_exact(const double *x)
{
    return x[0] != 0 && x[1] != 0;
}

static double or_exact(const double *x)
{
    return x[0] != 0 || x[1] != 0;
}

static double xor_exact(const double *x)
{
    return (x[0] != 0) != (x[1] != 0);
}

static const char *const samples[] = {"[]:bool, []:bool",
                                      "[9]:bool, [9]:bool",
                                      "[30]:i64<2, [30]:i64<2",
                                      "[30]:i32<2, [30]:bool",
                                      "[30]:u8<2, 1",
                                      "0, [5]",
                                      "[3,4], [4]",
                                      "[0,3], [3]",
                                      NULL};

const op_reference op_reference_logical_and = {.scalar = and_exact, .samples = samples, .low = -3, .high = 3};

const op_reference op_reference_logical_or = {.scalar = or_exact, .samples = samples, .low = -3, .high = 3};

const op_reference op_reference_logical_xor = {.scalar = xor_exact, .samples = samples, .low = -3, .high = 3};

/* ---- logical_not ------------------------------------------------------------------------------------------------- */

static double not_exact(const double *x)
{
    return x[0] == 0;
}

static const char *const not_samples[] = {"[]:bool", "[9]:bool", "[30]:i64<3", "[3,5]", "[2,0]", NULL};

const op_reference op_reference_logical_not = {.scalar = not_exact, .samples = not_samples, .low = -3, .high = 3};
