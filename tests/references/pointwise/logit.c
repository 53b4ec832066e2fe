/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/logit.c. */
#include "references/reference.h"
#include <math.h>

/* Near 1/2 digits cancel, so 4 units of the result are too strict. */
static void logit_reference(reference_call *r)
{
    const double eps = wk__value_float(&r->args[1], -INFINITY), low = eps >= 0 ? eps : -INFINITY;
    double *out = reference_out(r, 0, r->in[0].ndim, r->in[0].shape);
    for (int64_t k = 0; k < reference_numel(&r->in[0]); k++) {
        const double x = r->in[0].data[k], limited = x < low ? low : x > 1 - low ? 1 - low : x;
        out[k] = log(limited) - log1p(-limited);
    }
}

static const char *const samples[] = {"[]", "[7]", "[3,5], 0.25", "[2,0]", "[2,3,4], 0.4", "[5], 0", "[5], -1", NULL};

const op_reference op_reference_logit = {.reference = logit_reference, .samples = samples, .low = 0.1, .high = 0.9};
