/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for ops whose result shape depends on data: the host waits for the device and reads the data. */
#ifndef WICK_OPS_INDEX_NONZERO_H
#define WICK_OPS_INDEX_NONZERO_H

#include "ops/core/entries.h"

/* Returns the positions, in row-major order, of the nonzero elements of x. The caller frees *out. False on error. */
bool wk__find_nonzero(wk_site site, const wk__op *op, wk_tensor *x, int64_t **out, int64_t *count);
/* Returns host integers as a tensor on x's device. */
wk_tensor *wk__i64_on_device_of(wk_site site, const wk_tensor *x, const int64_t *data, const int64_t *shape, int ndim);

#endif
