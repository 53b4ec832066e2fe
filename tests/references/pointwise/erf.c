/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/erf.c: the functions of C, in double precision. */
#include "references/reference.h"
#include <math.h>

/* ---- erf --------------------------------------------------------------------------------------------------------- */

static double erf_exact(const double *x)
{
    return erf(x[0]);
}

const op_reference op_reference_erf = {.scalar = erf_exact, .samples = samples_unary, .low = -3, .high = 3};

/* ---- erfc: for large x, 1 - erf(x) would have only rounding errors ----------------------------------------------- */

static double erfc_exact(const double *x)
{
    return erfc(x[0]);
}

/* The op multiplies two exponentials of up to 3 units each, a quotient and a polynomial. */
const op_reference op_reference_erfc = {
    .scalar = erfc_exact, .samples = samples_unary, .low = -3, .high = 9, .max_ulps = 16};
