/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/random/randperm.c. */
#include "references/reference.h"

/* The rank of an element's bits: the number of elements with smaller bits, or equal bits and a smaller index. */
static void randperm_reference(reference_call *r)
{
    int64_t n = r->args[0].i;
    double *out = reference_out(r, 0, 1, &n);
    for (int64_t k = 0; k < n; k++) {
        int64_t place = 0, own = (int64_t)reference_bits(n, k);
        for (int64_t j = 0; j < n; j++) {
            int64_t other = (int64_t)reference_bits(n, j);
            place += other < own || (other == own && j < k);
        }
        out[place] = (double)k;
    }
}

static const char *const randperm_samples[] = {"10", "1", "0", "100, i32", NULL};

const op_reference op_reference_randperm = {.reference = randperm_reference, .samples = randperm_samples};
