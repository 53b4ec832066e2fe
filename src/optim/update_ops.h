/* SPDX-License-Identifier: Apache-2.0 */
/* What the updates of several optimisers are made of; see update_ops.c. */
#ifndef WICK_OPTIM_UPDATE_H
#define WICK_OPTIM_UPDATE_H

#include "ops/core/call.h"
#include "optim.h"

/* x + a y, a x + b y, a v + b g^2 */
extern const wk__op wk__optim_op_axpy, wk__optim_op_axpby, wk__optim_op_ema_square;

/* x + factor y, a new tensor */
wk_tensor *wk__optim_axpy(wk_tensor *x, wk_tensor *y, double factor);
/* x += factor y */
bool wk__optim_axpy_(wk_tensor *x, wk_tensor *y, double factor);
/* m = keep m + (1 - keep) g, as a step from the nearer of the two: precise for every keep in [0, 1). */
bool wk__optim_ema_(wk_tensor *m, wk_tensor *g, double keep);
/* The gradient in the type that is computed in, its negative to maximise, with weight decay. NULL with the error
 * recorded. */
wk_tensor *wk__optim_effective_grad(wk_tensor *grad, wk_tensor *parameter, bool maximize, double weight_decay);

#endif
