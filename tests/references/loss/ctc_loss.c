/* SPDX-License-Identifier: Apache-2.0 */
/* Reference of the op in src/ops/loss/ctc_loss.c: the sum over all sequences of classes, one per step, that become the
 * labels when repeated classes and then blanks are removed. */
#include "references/reference.h"
#include <math.h>

/* Returns true if the classes, one per step, become the labels. */
static bool becomes(const int64_t *class, int64_t steps, const double *labels, int64_t count, int64_t blank)
{
    int64_t found = 0;
    for (int64_t t = 0; t < steps; t++) {
        if (class[t] == blank || (t && class[t] == class[t - 1])) continue;
        if (found == count || class[t] != (int64_t)labels[found]) return false;
        found++;
    }
    return found == count;
}

static double loss_of(const reference_array *x, int64_t n, int64_t k, int64_t steps, const double *labels,
                      int64_t count, int64_t blank)
{
    const int64_t classes = x->shape[x->ndim - 1];
    double total = 0;
    int64_t class[16], all = 1;
    for (int64_t t = 0; t < steps; t++) all *= classes;
    for (int64_t way = 0; way < all; way++) {
        double sum = 0;
        for (int64_t t = 0, rest = way; t < steps; t++, rest /= classes) {
            class[t] = rest % classes;
            sum += x->data[(t * n + k) * classes + class[t]];
        }
        if (becomes(class, steps, labels, count, blank)) total += exp(sum);
    }
    return -log(total);
}

static void reference(reference_call *r)
{
    const reference_array *x = &r->in[0], *targets = &r->in[1];
    const bool batch = x->ndim == 3, zero = wk__value_int(&r->args[6], 0);
    const int64_t n = batch ? x->shape[1] : 1, blank = wk__value_int(&r->args[4], 0);
    double loss[16];
    int64_t first = 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t count = (int64_t)r->in[3].data[k];
        if (targets->ndim == 2) first = k * targets->shape[1];
        loss[k] = loss_of(x, n, k, (int64_t)r->in[2].data[k], targets->data + first, count, blank);
        if (zero && isinf(loss[k])) loss[k] = 0;
        if (reference_reduction(&r->args[5]) == WK_REDUCE_MEAN) loss[k] /= count > 0 ? (double)count : 1;
        first += count;
    }
    reference_reduced(r, &r->args[5], batch, &n, loss);
}

/* No label is the blank, the last class. */
static const char *const samples[] = {"[4,2,4], [2,2]:i64<3, [2]:i64<5, [2]:i64<2, 3, \"none\"",
                                      "[4,2,3], [2,2]:i64<2, [2]:i64<5, [2]:i64<3, 2, \"sum\", true",
                                      "[5,3,3], [3,3]:i64<2, [3]:i64<6, [3]:i64<3, 2, \"mean\", true",
                                      "[5,3,3], [9]:i64<2, [3]:i64<6, [3]:i64<3, 2, \"none\", true",
                                      "[4,4], [3]:i64<3, []:i64<5, []:i64<3, 3, \"none\", true",
                                      "[4,3], [2]:i64<2, []:i64<5, []:i64<2, 2",
                                      NULL};

const op_reference op_reference_ctc_loss = {.reference = reference, .samples = samples, .low = -3, .high = -0.1};
