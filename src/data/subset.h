/* SPDX-License-Identifier: Apache-2.0 */
/* Datasets of selected samples of another. */
#ifndef WICK_DATA_SUBSET_H
#define WICK_DATA_SUBSET_H

#include "dataset.h"

/* Returns the samples of data at the `count` indices, all valid, of which it makes a copy. */
wk_dataset *wk__dataset_select(wk_site site, const char *op, wk__dataset *data, const int64_t *indices, int64_t count);
/* Reads a tensor of integers with one dimension, `role` in messages, each in [0, limit). Returns an array that the
 * caller frees, and their number; NULL on error. */
int64_t *wk__read_indices(wk_site site, const char *op, const char *role, wk_tensor *x, int64_t limit, int64_t *count);

#endif
