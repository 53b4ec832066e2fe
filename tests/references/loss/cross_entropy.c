/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/loss/cross_entropy.c. */
#include "references/reference.h"
#include <math.h>
#include <string.h>

/* ---- rows -------------------------------------------------------------------------------------------------------- */

typedef struct row_reference {
    const double *x, *weight; /* scores are `step` apart; weight NULL: ones */
    int64_t classes, step;
    double smoothing;
    bool logs; /* the scores are log-probabilities */
} row_reference;

/* Returns the loss of one row whose target has probability p(c), and adds the weight of the label's class to
 * *weight. */
static double row_loss(const row_reference *r, const double *p, int64_t p_step, int64_t label)
{
    double most = -INFINITY, sum = 0, loss = 0;
    for (int64_t c = 0; c < r->classes; c++) most = fmax(most, r->x[c * r->step]);
    for (int64_t c = 0; c < r->classes; c++) sum += exp(r->x[c * r->step] - most);
    double base = r->logs ? 0 : most + log(sum);
    for (int64_t c = 0; c < r->classes; c++) {
        double t = p ? p[c * p_step] : c == label;
        t = (t * (1 - r->smoothing) + r->smoothing / (double)r->classes) * (r->weight ? r->weight[c] : 1);
        loss += t * (base - r->x[c * r->step]);
    }
    return loss;
}

static void reference_of(reference_call *r, bool logs)
{
    const reference_array *in = &r->in[0], *target = &r->in[1];
    int axis = in->ndim > 1;
    bool fractions = target->ndim == in->ndim;
    int64_t reduction = reference_reduction(&r->args[3]), ignored = wk__value_int(&r->args[4], -100), step = 1,
            shape[WK__MAX_DIMS];
    row_reference row = {.weight = r->inputs > 2 ? r->in[2].data : NULL, .classes = in->shape[axis], .logs = logs};
    if (!logs) row.smoothing = wk__value_float(&r->args[5], 0);
    for (int d = 0; d < in->ndim - 1; d++) shape[d] = in->shape[d + (d >= axis)];
    for (int d = axis + 1; d < in->ndim; d++) step *= in->shape[d];
    double *out = reference_out(r, 0, reduction == WK_REDUCE_NONE ? in->ndim - 1 : 0, shape), total = 0, over = 0;
    row.step = step;
    const int64_t rows = row.classes ? reference_numel(in) / row.classes : 0;
    for (int64_t k = 0; k < rows; k++) {
        int64_t first = k / step * step * row.classes + k % step, label = fractions ? 0 : (int64_t)target->data[k];
        if (!fractions && label == ignored) continue;
        row.x = in->data + first;
        double loss = row_loss(&row, fractions ? target->data + first : NULL, step, label);
        total += loss;
        over += fractions || !row.weight ? 1 : row.weight[label];
        if (reduction == WK_REDUCE_NONE) out[k] = loss;
    }
    if (reduction != WK_REDUCE_NONE) out[0] = reduction == WK_REDUCE_MEAN ? total / over : total;
}

static void cross_entropy_reference(reference_call *r)
{
    reference_of(r, false);
}

static void nll_reference(reference_call *r)
{
    reference_of(r, true);
}

static const char *const cross_entropy_samples[] = {"[4,5], [4]:i64<5",
                                                    "[5], []:i64<5",
                                                    "[2,5,3], [2,3]:i64<5",
                                                    "[4,5], [4]:i64<5, [5]:f32",
                                                    "[4,5], [4]:i64<5, none, \"sum\"",
                                                    "[4,5], [4]:i64<5, [5]:f32, \"none\"",
                                                    "[4,5], [4]:i64<5, none, \"mean\", 2",
                                                    "[4,5], [4]:i64<5, [5]:f32, \"mean\", -100, 0.1",
                                                    "[4,5], [4,5]",
                                                    "[4,5], [4,5], [5]:f32, \"sum\"",
                                                    "[4,5], [4,5], [5]",
                                                    "[2,5,3], [2,5,3], [5], \"none\", -100, 0.1",
                                                    "[3,300], [3]:i64<300",
                                                    "[2,1024], [2]:i64<1024, [1024]:f32",
                                                    "[1,1025,2], [1,2]:i64<1025, none, \"sum\"",
                                                    NULL};

static const char *const nll_samples[] = {"[4,5], [4]:i64<5",
                                          "[5], []:i64<5",
                                          "[2,5,3], [2,3]:i64<5",
                                          "[4,5], [4]:i64<5, [5]:f32, \"sum\"",
                                          "[4,5], [4]:i64<5, none, \"none\", 3",
                                          "[2,1024], [2]:i64<1024",
                                          NULL};

const op_reference op_reference_cross_entropy = {
    .reference = cross_entropy_reference, .samples = cross_entropy_samples, .low = 0.1, .high = 2};

const op_reference op_reference_nll_loss = {
    .reference = nll_reference, .samples = nll_samples, .low = -3, .high = -0.1};
