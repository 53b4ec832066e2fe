/* SPDX-License-Identifier: Apache-2.0 */
/* Update steps shared by several optimisers (update_ops.c). */
#ifndef WICK_OPTIM_UPDATE_OPS_H
#define WICK_OPTIM_UPDATE_OPS_H

#include "ops/core/call.h"
#include "optim.h"

/* a x + b y; in: x, y, a, b, each a number or a tensor */
extern const wk__op wk__optim_op_axpby;

/* x + factor y, a new tensor */
wk_tensor *wk__optim_axpy(wk_tensor *x, wk_tensor *y, double factor);
/* x += factor y */
bool wk__optim_axpy_(wk_tensor *x, wk_tensor *y, double factor);
/* x = a x + b y */
bool wk__optim_axpby_(wk_tensor *x, wk_tensor *y, double a, double b);
/* m = keep m + (1 - keep) g, computed as a step from the nearer of the two, so that it is accurate for every keep in
 * [0, 1). */
bool wk__optim_ema_(wk_tensor *m, wk_tensor *g, double keep);
/* v = keep v + share g^2 */
bool wk__optim_ema_square_(wk_tensor *v, wk_tensor *g, double keep, double share);
/* g / (sqrt(v) + eps) and m / (sqrt(v) / root + eps), new tensors */
wk_tensor *wk__optim_over_root(wk_tensor *g, wk_tensor *v, double eps);
wk_tensor *wk__optim_over_scaled_root(wk_tensor *m, wk_tensor *v, double root, double eps);
/* Returns the gradient in the computation dtype, negated if maximize, with weight decay. NULL on error. */
wk_tensor *wk__optim_effective_grad(wk_tensor *grad, wk_tensor *parameter, bool maximize, double weight_decay);

#endif
