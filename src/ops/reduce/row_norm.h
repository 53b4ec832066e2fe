/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients that layer_norm and rms_norm compute alike: by a kernel of the backend (WK__NORM_BACKWARD in
 * backend/work.h), and that of the weight by a sum. */
#ifndef WICK_OPS_REDUCE_ROW_NORM_H
#define WICK_OPS_REDUCE_ROW_NORM_H

#include "ops/core/entries.h"

/* Sets the gradients of x, which must be needed, weight and bias, in g->in[0..2], if the device has the kernel; returns
 * false if they are the caller's responsibility. The normalised dimensions are the masked, last ones; operand 0 is x
 * and operand 1 weight or NULL. mean NULL: rms_norm, which has no bias. */
bool wk__row_norm_gradient(wk__grad_ctx *g, int64_t mask, wk_tensor *mean, wk_tensor *factor);

/* Returns the gradient of weight: the sum over the rows of the gradient of the result times x normalised, or NULL on
 * error. The sum is one record, so that no kernel stores its terms. If there is only one row, or a graph of the
 * gradients is needed, returns the terms, which autograd sums.
 * term:       computes a term from the gradient of the result, x, and the results 1 to arity - 2 of the norm
 * normalised: computes x normalised from the saved tensors */
wk_tensor *wk__row_norm_sum(const wk__grad_ctx *g, int64_t mask, const wk__op *term,
                            wk_tensor *(*normalised)(const wk__grad_ctx *g));

#endif
