/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of layer_norm and rms_norm by a kernel of the backend (WK__NORM_BACKWARD in backend/work.h). */
#ifndef WICK_OPS_REDUCE_ROW_NORM_H
#define WICK_OPS_REDUCE_ROW_NORM_H

#include "ops/core/entries.h"

/* Sets the gradients of x, weight and bias, in g->in[0..2], if they are needed and the device has the kernel; returns
 * false if they are the caller's responsibility. The normalised dimensions are the masked, last ones; operand 0 is x
 * and operand 1 weight or NULL. mean NULL: rms_norm, which has no bias. */
bool wk__row_norm_gradient(wk__grad_ctx *g, int64_t mask, wk_tensor *mean, wk_tensor *factor);

#endif
