/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/where.c. */
#include "references/reference.h"

/* ---- where ------------------------------------------------------------------------------------------------------- */

static double where_exact(const double *x)
{
    return x[0] != 0 ? x[1] : x[2];
}

static const char *const where_samples[] = {
    "[]:bool, [], []",  "[9]:bool, [9], [9]", "[3,4]:bool, [4], [3,1]", "[4]:bool, [3,4], 0.5",
    "[5]:bool, 2, [5]", "[5]:bool, 1, 0.5",   "[0,2]:bool, [2], 0",     NULL};

const op_reference op_reference_where = {.scalar = where_exact, .samples = where_samples, .low = -3, .high = 3};

/* ---- masked_fill: the value is converted to x's dtype, without promotion ----------------------------------------- */

static double masked_fill_exact(const double *x)
{
    return x[1] != 0 ? x[2] : x[0];
}

static const char *const masked_fill_samples[] = {"[], []:bool, 2",
                                                  "[9], [9]:bool, 1",
                                                  "[3,4], [4]:bool, -1",
                                                  "[3,4], [3,1]:bool, []",
                                                  "[2,0], []:bool, 1",
                                                  "[6]:i64<9, [6]:bool, 3",
                                                  NULL};

const op_reference op_reference_masked_fill = {
    .scalar = masked_fill_exact, .samples = masked_fill_samples, .low = -3, .high = 3};
