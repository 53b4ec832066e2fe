/* SPDX-License-Identifier: Apache-2.0 */
/* See batch_split.h. */
#include "batch_split.h"
#include <wick/parallel.h>

static void equal(int64_t total, int n, int64_t *share)
{
    for (int k = 0; k < n; k++) share[k] = total / n + (k < total % n);
}

/* Distributes the remainder after rounding down, one each, to the shares with the largest fractional parts. */
void wk__split_batch(int64_t total, int n, const double *weight, int64_t *share)
{
    if (!weight) {
        equal(total, n, share);
        return;
    }
    double sum = 0, lost[WK_MIRRORED_DEVICES];
    int64_t left = total;
    for (int k = 0; k < n; k++) sum += weight[k];
    for (int k = 0; k < n; k++) {
        const double exact = (double)total * (weight[k] / sum);
        share[k] = (int64_t)exact < left ? (int64_t)exact : left;
        lost[k] = exact - (double)share[k];
        left -= share[k];
    }
    for (; left > 0; left--) {
        int most = 0;
        for (int k = 1; k < n; k++)
            if (lost[k] > lost[most]) most = k;
        share[most]++;
        lost[most] -= 1;
    }
}
