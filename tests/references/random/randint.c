/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/random/randint.c. */
#include "references/reference.h"
#include "ir/random.h"

static void randint_reference(reference_call *r)
{
    double *out = reference_out(r, 0, r->args[2].count, r->args[2].ints);
    int64_t n = reference_numel(&r->out[0]), low = r->args[0].i;
    for (int64_t k = 0; k < n; k++)
        out[k] = (double)(int64_t)((uint64_t)low +
                                   wk__random_below(reference_bits(n, k), (uint64_t)r->args[1].i - (uint64_t)low));
}

static const char *const randint_samples[] = {
    "0, 10, (20)", "-5, 6, (2,3)",     "0, 2147483648, (5)", "-4611686018427387904, 4611686018427387904, (5)",
    "3, 4, ()",    "0, 100, (7), i32", "0, 2, (0)",          NULL};

const op_reference op_reference_randint = {.reference = randint_reference, .samples = randint_samples};
