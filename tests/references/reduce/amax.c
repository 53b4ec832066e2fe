/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/reduce/amax.c. */
#include "references/reference.h"

static double largest(const double *x, int64_t n)
{
    double best = x[0];
    for (int64_t k = 1; k < n; k++) best = x[k] > best || x[k] != x[k] ? x[k] : best;
    return best;
}

static double smallest(const double *x, int64_t n)
{
    double best = x[0];
    for (int64_t k = 1; k < n; k++) best = x[k] < best || x[k] != x[k] ? x[k] : best;
    return best;
}

static void amax_reference(reference_call *r)
{
    reference_reduce(r, largest);
}

static void amin_reference(reference_call *r)
{
    reference_reduce(r, smallest);
}

static const char *const samples[] = {
    "[]", "[7]", "[3,5]", "[3,5], (1)", "[2,3,4], (0,2)", "[2,3,4], (-2), true", "[3,0], (0)", "[130,3], (0)", NULL};

const op_reference op_reference_amax = {.reference = amax_reference, .samples = samples, .low = -3, .high = 3};

const op_reference op_reference_amin = {.reference = amin_reference, .samples = samples, .low = -3, .high = 3};
