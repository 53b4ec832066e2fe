/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/shape/pad.c. */
#include "references/reference.h"
#include <string.h>

/* Returns the index in a dimension of size n of element k of the padded dimension, or -1 for a constant. */
static int64_t source(const char *mode, int64_t n, int64_t before, int64_t after, int64_t k)
{
    const int64_t place = k - before, first = before < 0 ? -before : 0, last = after < 0 ? n + after - 1 : n - 1;
    if (place >= first && place <= last) return place;
    if (strcmp(mode, "reflect") == 0) return place < 0 ? -place : 2 * (n - 1) - place;
    if (strcmp(mode, "replicate") == 0) return place < 0 ? 0 : n - 1;
    if (strcmp(mode, "circular") == 0) return place + (place < first ? last - first + 1 : first - last - 1);
    return -1;
}

static void reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    const wk_value *pad = &r->args[1];
    const char *mode = wk__value_text(&r->args[2], "constant");
    int64_t shape[WK__MAX_DIMS], before[WK__MAX_DIMS] = {0}, after[WK__MAX_DIMS] = {0};
    for (int k = 0; k < pad->count / 2; k++) {
        before[x->ndim - 1 - k] = pad->ints[2 * k];
        after[x->ndim - 1 - k] = pad->ints[2 * k + 1];
    }
    for (int d = 0; d < x->ndim; d++) shape[d] = x->shape[d] + before[d] + after[d];
    double *out = reference_out(r, 0, x->ndim, shape);
    for (int64_t k = 0; k < reference_numel(&r->out[0]); k++) {
        int64_t rest = k, at = 0, step = 1;
        bool inside = true;
        for (int d = x->ndim; d-- > 0; rest /= shape[d], step *= x->shape[d]) {
            const int64_t from = source(mode, x->shape[d], before[d], after[d], rest % shape[d]);
            inside = inside && from >= 0;
            at += from * step;
        }
        out[k] = inside ? x->data[at] : wk__value_float(&r->args[3], 0);
    }
}

static const char *const samples[] = {"[2,3], (1,2)",
                                      "[2,3], (1,2,2,0)",
                                      "[2,3], (-1,2,1,-1), \"constant\", 2.0",
                                      "[2,4], (-1,-2)",
                                      "[3], ()",
                                      "[], ()",
                                      "[0,3], (1,1)",
                                      "[2,3], (0,0,2,1), none, 1.0",
                                      "[2,4], (3,2), \"reflect\"",
                                      "[2,3,4], (1,2,2,1), \"reflect\"",
                                      "[2,4], (-1,3), \"reflect\"",
                                      "[2,3], (2,4), \"replicate\"",
                                      "[2,1,3], (1,-1,2,1), \"replicate\"",
                                      "[2,3], (3,1), \"circular\"",
                                      "[1,3,3], (1,2,2,3), \"circular\"",
                                      "[2,4], (-1,3), \"circular\"",
                                      "[2,2,2,2], (1,1,1,0,0,1), \"reflect\"",
                                      "[0,3], (1,1), \"replicate\"",
                                      NULL};

const op_reference op_reference_pad = {.reference = reference, .samples = samples, .low = -3, .high = 3};
