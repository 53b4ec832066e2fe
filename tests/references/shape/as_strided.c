/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/shape/as_strided.c. */
#include "references/reference.h"

static void reference(reference_call *r)
{
    const wk_value *a = r->args;
    double *out = reference_out(r, 0, a[1].count, a[1].ints);
    for (int64_t k = 0; k < reference_numel(&r->out[0]); k++) {
        int64_t rest = k, at = wk__value_int(&a[3], 0);
        for (int d = a[1].count; d-- > 0; rest /= a[1].ints[d]) at += rest % a[1].ints[d] * a[2].ints[d];
        out[k] = r->in[0].data[at];
    }
}

static const char *const samples[] = {"[3,4], (4,3), (1,4)", "[6], (2,2), (3,1), 1", "[5], (3,5), (0,1)",
                                      "[2,3], (), (), 4",    "[6], (0,2), (2,1)",    NULL};

const op_reference op_reference_as_strided = {
    .reference = reference, .samples = samples, .low = -3, .high = 3, .dense = true};
