/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices: what matmul, linear and their relatives share. */
#ifndef WICK_OPS_MATMUL_H
#define WICK_OPS_MATMUL_H

#include "ops/core/entries.h"

/* in[0] in[1] as matmul defines it, without a node, in the class of the operands: what is added to it is rounded
 * with it, once. `turned`: the last two dimensions of in[1] change places first. Errors name `op`. Soft
 * placement may replace in[]. */
wk_tensor *wk__matmul_opmath(const wk__op *op, wk_site site, wk_tensor *in[], bool turned);
/* Gradients of operands k and k + 1, whose product has the gradient `grad`: as matrices of the operands' shapes, or
 * more dimensions in front. */
void wk__matmul_gradient(const wk__grad_ctx *g, wk_tensor *grad, int k);
/* A tensor of any number of dimensions as rows of its last one. */
wk_tensor *wk__flatten_to_2d(wk_tensor *x);

#endif
