/* SPDX-License-Identifier: Apache-2.0 */
/* Reference of the op in src/ops/loss/multi_margin_loss.c. */
#include "references/reference.h"
#include "base/alloc.h"
#include <math.h>

static void reference(reference_call *r)
{
    const reference_array *x = &r->in[0], *label = &r->in[1], *weight = r->inputs > 2 ? &r->in[2] : NULL;
    const int64_t classes = x->shape[x->ndim - 1], rows = reference_numel(label);
    const double p = wk__value_float(&r->args[2], 1), margin = wk__value_float(&r->args[3], 1);
    double *loss = wk__alloc_zero((size_t)rows + 1, sizeof *loss);
    for (int64_t k = 0; k < rows; k++) {
        const double *row = x->data + k * classes;
        const int64_t own = (int64_t)label->data[k];
        for (int64_t c = 0; c < classes; c++)
            if (c != own) loss[k] += pow(fmax(0, margin - row[own] + row[c]), p) / (double)classes;
        if (weight) loss[k] *= weight->data[own];
    }
    reference_reduced(r, &r->args[5], label->ndim, label->shape, loss);
    wk__free(loss);
}

static const char *const samples[] = {"[4,5], [4]:i64<5",
                                      "[5], []:i64<5",
                                      "[4,5], [4]:i64<5, 2",
                                      "[4,5], [4]:i64<5, 1, 0.5, [5]:f32, \"sum\"",
                                      "[3,4], [3]:i64<4, 2, 2.5, [4]:f32, \"none\"",
                                      "[5], []:i64<5, 1, 1, none, \"none\"",
                                      NULL};

const op_reference op_reference_multi_margin_loss = {.reference = reference, .samples = samples, .low = 0.1, .high = 3};
