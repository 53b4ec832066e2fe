/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/reduce/var.c. */
#include "references/reference.h"
#include <math.h>

static double squares(const double *x, int64_t n)
{
    double mean = 0, total = 0;
    for (int64_t k = 0; k < n; k++) mean += x[k] / (double)n;
    for (int64_t k = 0; k < n; k++) total += (x[k] - mean) * (x[k] - mean);
    return total;
}

static void reference(reference_call *r, bool root)
{
    const wk_value correction = r->args[2], args[3] = {r->args[0], r->args[1], r->args[3]};
    r->args = args;
    reference_reduce(r, squares);
    double places = (double)reference_numel(&r->out[0]),
           columns = places > 0 ? (double)reference_numel(&r->in[0]) / places : 1;
    double left = columns - wk__value_float(&correction, 1);
    for (int64_t k = 0; k < (int64_t)places; k++) {
        double var = r->out[0].data[k] / (left > 0 ? left : 0);
        r->out[0].data[k] = root ? sqrt(var) : var;
    }
}

static void var_reference(reference_call *r)
{
    reference(r, false);
}

static void std_reference(reference_call *r)
{
    reference(r, true);
}

static const char *const samples[] = {
    "[7]", "[3,5]", "[3,5], (1)", "[2,3,4], (0,2), 0", "[2,3,4], (-2), 1, true", "[3,5], none, 2", "[3,0], (0)", NULL};

const op_reference op_reference_var = {.reference = var_reference, .samples = samples, .low = -3, .high = 3};

const op_reference op_reference_std = {.reference = std_reference, .samples = samples, .low = -3, .high = 3};
