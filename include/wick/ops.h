/* SPDX-License-Identifier: Apache-2.0 */
/* wick/ops.h: includes all operations on tensors. Names, arguments and results are those of torch.* and
 * torch.nn.functional.*.
 *
 * Of every op: a NULL operand gives NULL; operands are on one device (pointwise.h: numbers of the CPU); results
 * belong to the innermost scope; floating dtypes are kept, and mixed dtypes promoted as in PyTorch; wk_op_info
 * tells whether an op is differentiable.
 *
 * Errors are recorded, never printed, at the call: WK_ERR_SHAPE if shapes do not match, WK_ERR_DTYPE if a dtype is
 * not supported, WK_ERR_DEVICE if operands are on different devices. */
#ifndef WICK_OPS_H
#define WICK_OPS_H

#include "tensor.h"
#include "activation.h"
#include "pointwise.h"
#include "reduce.h"
#include "shape.h"
#include "index.h"
#include "matmul.h"
#include "random.h"
#include "vision.h"

#endif
