/* SPDX-License-Identifier: Apache-2.0 */
/* Access to the values of a history, for calls of other rooms. */
#ifndef WICK_DATA_METRIC_HISTORY_H
#define WICK_DATA_METRIC_HISTORY_H

#include <stdbool.h>
#include <wick/data.h>

/* Computes sums[0] = sum of weight * value and sums[1] = sum of weights, in insertion order. Waits for the device.
 * Returns false after recording an error of `op`. */
bool wk__metric_history_sums(wk_site site, const char *op, wk_history *history, double sums[2]);

/* Stores the values, valid until the next call on the history, and their number. Waits for the device. Returns false
 * after recording an error of `op`. */
bool wk__metric_history_read(wk_site site, const char *op, wk_history *history, const double **values, int64_t *count);

#endif
