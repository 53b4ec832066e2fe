/* SPDX-License-Identifier: Apache-2.0 */
/* wick/ops.h: what can be computed with tensors. Names, arguments and results are those of torch.* and
 * torch.nn.functional.*.
 *
 * Of every op: NULL in gives NULL out; operands must be on one device (numbers of the CPU come along: pointwise.h);
 * results belong to the innermost scope; floats keep their dtype, mixed dtypes meet as PyTorch's do; gradients flow
 * where the op has one (wk_op_info says so).
 *
 * Errors are recorded, never printed: wrong shapes WK_ERR_SHAPE, dtypes WK_ERR_DTYPE, devices WK_ERR_DEVICE,
 * all at the call. */
#ifndef WICK_OPS_H
#define WICK_OPS_H

#include "tensor.h"
#include "pointwise.h"
#include "reduce.h"
#include "shape.h"
#include "matmul.h"
#include "random.h"

#endif
