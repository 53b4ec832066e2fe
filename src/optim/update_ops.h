/* SPDX-License-Identifier: Apache-2.0 */
/* Update steps shared by several optimisers (update_ops.c). */
#ifndef WICK_OPTIM_UPDATE_OPS_H
#define WICK_OPTIM_UPDATE_OPS_H

#include "ops/core/call.h"
#include "optim.h"

/* x + a y, a x + b y, a v + b g^2 */
extern const wk__op wk__optim_op_axpy, wk__optim_op_axpby, wk__optim_op_ema_square;

/* x + factor y, a new tensor */
wk_tensor *wk__optim_axpy(wk_tensor *x, wk_tensor *y, double factor);
/* x += factor y */
bool wk__optim_axpy_(wk_tensor *x, wk_tensor *y, double factor);
/* m = keep m + (1 - keep) g, computed as a step from the nearer of the two, so that it is accurate for every keep in
 * [0, 1). */
bool wk__optim_ema_(wk_tensor *m, wk_tensor *g, double keep);
/* Returns the gradient in the computation dtype, negated if maximize, with weight decay. NULL on error. */
wk_tensor *wk__optim_effective_grad(wk_tensor *grad, wk_tensor *parameter, bool maximize, double weight_decay);

#endif
