/* SPDX-License-Identifier: Apache-2.0 */
/* How a batch is divided among devices. */
#ifndef WICK_DIST_SHARES_H
#define WICK_DIST_SHARES_H

#include <stdint.h>

/* share[n], whole numbers that make up `total`: in the ratio of weight[n], which are not negative and not all 0; NULL:
 * equal ones, the first ones larger by 1 where n does not divide the total. n <= WK_MIRRORED_DEVICES. */
void wk__split_batch(int64_t total, int n, const double *weight, int64_t *share);

#endif
