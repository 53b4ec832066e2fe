/* SPDX-License-Identifier: Apache-2.0 */
/* What ops whose result's shape depends on data share: the host looks, and waits for the device. */
#ifndef WICK_OPS_MASKED_H
#define WICK_OPS_MASKED_H

#include "ops/core/entries.h"

/* The places, counted in row-major order, of the elements that are not 0; *out is the caller's to free. False
 * with the error recorded. */
bool wk__find_nonzero(wk_site site, const wk__op *op, wk_tensor *x, int64_t **out, int64_t *count);
/* Whole numbers of the host as a tensor on the device of x. */
wk_tensor *wk__i64_on_device_of(wk_site site, const wk_tensor *x, const int64_t *data, const int64_t *shape, int ndim);

#endif
