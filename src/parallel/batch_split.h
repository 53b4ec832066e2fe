/* SPDX-License-Identifier: Apache-2.0 */
/* Division of a batch among devices. */
#ifndef WICK_PARALLEL_BATCH_SPLIT_H
#define WICK_PARALLEL_BATCH_SPLIT_H

#include <stdint.h>

/* Computes share[n], integers with the sum `total` and in the ratio of weight[n]. Weights are not negative and not all
 * 0; NULL: equal shares, the first ones larger by 1 if n does not divide total. n <= WK_MIRRORED_DEVICES. */
void wk__split_batch(int64_t total, int n, const double *weight, int64_t *share);

#endif
