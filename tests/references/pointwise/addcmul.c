/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/addcmul.c. */
#include "references/reference.h"

/* ---- addcmul ----------------------------------------------------------------------------------------------------- */

static double mul_exact(const double *x)
{
    return x[0] + reference_given(x[3], 1) * x[1] * x[2];
}

static const char *const mul_samples[] = {"[], [], []",
                                          "[5], [5], [5], 0.5",
                                          "[3,4], [4], [3,1], 2",
                                          "[2,1,3], [4,1], [], -1.5",
                                          "[0,3], [3], [3]",
                                          "[4]:i64<9, [4]:i64<9, [4]:i64<9, 2",
                                          NULL};

const op_reference op_reference_addcmul = {.scalar = mul_exact, .samples = mul_samples, .low = -3, .high = 3};

/* ---- addcdiv ----------------------------------------------------------------------------------------------------- */

static double div_exact(const double *x)
{
    return x[0] + reference_given(x[3], 1) * x[1] / x[2];
}

static const char *const div_samples[] = {
    "[], [], []", "[5], [5], [5], 0.5", "[3,4], [4], [3,1], 2", "[2,1,3], [4,1], [], -1.5", "[0,3], [3], [3]", NULL};

const op_reference op_reference_addcdiv = {.scalar = div_exact, .samples = div_samples, .low = 0.5, .high = 3};
