/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products: helpers shared by matmul, linear and related ops. */
#ifndef WICK_OPS_MATMUL_H
#define WICK_OPS_MATMUL_H

#include "ops/core/entries.h"

/* Returns in[0] in[1], as matmul defines it, without a node and in the computation dtype, so that a term added to it is
 * rounded together with it, once. turned: transposes the last two dimensions of in[1] first. Errors name `op`. Soft
 * placement may replace in[]. */
wk_tensor *wk__matmul_opmath(const wk__op *op, wk_site site, wk_tensor *in[], bool turned);
/* Computes the gradients of operands k and k + 1, whose product has the gradient `grad`: matrices of the operands'
 * shapes, possibly with additional leading dimensions. */
void wk__matmul_gradient(const wk__grad_ctx *g, wk_tensor *grad, int k);
/* Returns x as a matrix whose rows are x's last dimension. */
wk_tensor *wk__flatten_to_2d(wk_tensor *x);

#endif
