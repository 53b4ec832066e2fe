/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/reduce/logsumexp.c. */
#include "references/reference.h"
#include <math.h>

static double exact(const double *x, int64_t n)
{
    double most = -INFINITY, total = 0;
    for (int64_t k = 0; k < n; k++) most = fmax(most, x[k]);
    for (int64_t k = 0; k < n; k++) total += exp(x[k] - most);
    return most + log(total);
}

static void reference(reference_call *r)
{
    reference_reduce(r, exact);
}

static const char *const samples[] = {
    "[]", "[7]", "[3,5], (1)", "[2,3,4], (0,2)", "[2,3,4], (-2), true", "[130,3], (0)", "[0,3], (1)", NULL};

const op_reference op_reference_logsumexp = {.reference = reference, .samples = samples, .low = -3, .high = 3};
