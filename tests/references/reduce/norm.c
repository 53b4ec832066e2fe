/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/reduce/norm.c. */
#include "references/reference.h"
#include "base/alloc.h"
#include <math.h>

/* Sums the powers of the elements, then takes the root of each sum. */
static void reference(reference_call *r)
{
    double p = wk__value_float(&r->args[1], 2), *given = r->in[0].data;
    int64_t n = reference_numel(&r->in[0]);
    double *powers = wk__alloc_zero((size_t)n + 1, sizeof *powers);
    for (int64_t k = 0; k < n && powers; k++) powers[k] = p == 0 ? given[k] != 0 : pow(fabs(given[k]), p);
    const wk_value args[3] = {r->args[0], r->args[2], r->args[3]};
    r->args = args;
    r->in[0].data = powers ? powers : given;
    reference_reduce(r, reference_sum);
    r->in[0].data = given;
    wk__free(powers);
    for (int64_t k = 0; k < reference_numel(&r->out[0]) && p != 0; k++)
        r->out[0].data[k] = pow(r->out[0].data[k], 1 / p);
}

static const char *const samples[] = {
    "[]",       "[7]",           "[3,5]", "[3,5], 1, (1)", "[2,3,4], 2, (0,2)", "[2,3,4], 3, (-2), true",
    "[3,5], 0", "[0,3], 2, (0)", NULL};

const op_reference op_reference_norm = {.reference = reference, .samples = samples, .low = 0.5, .high = 3};
