/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/pow.c. */
#include "references/reference.h"
#include <math.h>

/* ---- square ------------------------------------------------------------------------------------------------------ */

static double square_exact(const double *x)
{
    return x[0] * x[0];
}

const op_reference op_reference_square = {.scalar = square_exact, .samples = samples_unary, .low = -3, .high = 3};

/* ---- pow --------------------------------------------------------------------------------------------------------- */

static double pow_exact(const double *x)
{
    return pow(x[0], x[1]);
}

static const char *const pow_samples[] = {"[], []",   "[3,4], [4]", "[2,1,3], [4,1]", "[0,3], [3]",
                                          "[3,4], 2", "[3,4], 3",   "[3,4], 0.5",     "[3], -1.5",
                                          "2, [3]",   "0.5, [3]",   "[4]:i64<5, 3",   NULL};

const op_reference op_reference_pow = {.scalar = pow_exact, .samples = pow_samples, .low = 0.5, .high = 2};
