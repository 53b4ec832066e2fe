/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/index/scatter.c. */
#include "references/reference.h"
#include <string.h>

static void reference(reference_call *r)
{
    const reference_array *x = &r->in[0], *index = &r->in[1], *source = r->inputs > 2 ? &r->in[2] : NULL;
    int d = 0;
    wk__wrap_dim(x->ndim, r->args[1].i, &d);
    double *out = reference_out(r, 0, x->ndim, x->shape);
    memcpy(out, x->data, sizeof *out * (size_t)reference_numel(x));
    for (int64_t k = 0; k < reference_numel(index); k++) {
        int64_t rest = k, to = 0, from = 0, to_step = 1, from_step = 1, at = (int64_t)index->data[k];
        if (at < 0) at += x->ndim ? x->shape[d] : 1;
        if (x->ndim == 0 || index->ndim == 0) {
            out[at] = source ? source->data[k] : wk__value_float(&r->args[3], 0);
            continue;
        }
        for (int e = x->ndim; e-- > 0; rest /= index->shape[e]) {
            int64_t own = rest % index->shape[e];
            to += (e == d ? at : own) * to_step;
            to_step *= x->shape[e];
            from += own * from_step;
            from_step *= source ? source->shape[e] : 1;
        }
        out[to] = source ? source->data[from] : wk__value_float(&r->args[3], 0);
    }
}

static const char *const samples[] = {"[4], 0, [6]:i64<4, [6]",
                                      "[3,4], 1, [3,2]:i64<4, [3,2]",
                                      "[3,4], 0, [5,3]:i64<3, [6,4]",
                                      "[3], 0, [0]:i64<1, [2]",
                                      "[3,4], 1, [2,3]:i64<4, 2",
                                      "[], 0, []:i64<1, []",
                                      "[], -1, [1]:i64<1, []",
                                      "[4], 0, []:i64<4, [3]",
                                      "[], 0, []:i64<1, 2",
                                      "[3], 0, [0,2]:u8<3, [2]",
                                      NULL};

const op_reference op_reference_scatter = {.reference = reference, .samples = samples, .low = -3, .high = 3};
