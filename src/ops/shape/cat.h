/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors that are written part by part. */
#ifndef WICK_OPS_CAT_H
#define WICK_OPS_CAT_H

#include "ops/core/call.h"

/* Records that x is written into `out`, a tensor of wk__tensor_pending() with x's device and number of dimensions, to
 * the elements from `offset` on, with out's strides. Parts must not overlap. first: no part has been written yet.
 * op->expression must return its operand. Returns false and records the error on failure. */
bool wk__write_part(const wk__op *op, wk_site site, wk_tensor *out, int64_t offset, wk_tensor *x, bool first);

#endif
