/* SPDX-License-Identifier: Apache-2.0 */
/* A product in gradients (mul.c). */
#ifndef WICK_OPS_POINTWISE_MUL_H
#define WICK_OPS_POINTWISE_MUL_H

#include "ops/core/entries.h"

/* Returns grad times saved operand k, or times the scalar in the attributes if operand k was one. */
wk_tensor *wk__mul_saved_operand(const wk__grad_ctx *g, wk_tensor *grad, int k);

#endif
