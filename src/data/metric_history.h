/* SPDX-License-Identifier: Apache-2.0 */
/* What else is made of the figures of a history: wk_dist_history_mean. */
#ifndef WICK_DATA_HISTORY_H
#define WICK_DATA_HISTORY_H

#include <stdbool.h>
#include <wick/data.h>

/* sums[0] = the sum of weight times figure, sums[1] = that of the weights, in the order of wk_history_add. Waits for
 * the device, as reading does. False with the error of `op` recorded. */
bool wk__metric_history_sums(wk_site site, const char *op, wk_history *history, double sums[2]);

#endif
