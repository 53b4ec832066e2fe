/* SPDX-License-Identifier: Apache-2.0 */
/* Losses of elements: input and target have one shape, each pair of elements has a loss, and those are averaged, added
 * up or left as they are. One expression, then a sum. */
#ifndef WICK_OPS_LOSSES_H
#define WICK_OPS_LOSSES_H

#include "ops/reduce/reduction.h"

/* What one call was given. */
typedef struct wk__loss {
    const wk__op *op;
    const wk__op *expression; /* of input, target, the number and pos_weight if there is one */
    wk_site site;
    wk_tensor *in[4]; /* input, target; weight and pos_weight, broadcast, or NULL */
    wk_reduction reduction;
    double param;
    bool takes_weight;                /* the op takes weights */
    const char *const *grad_fn_names; /* by reduction: what the result prints as grad_fn; NULL: op->node */
} wk__loss;

/* The loss with its node. The attributes have what the sum is divided by, and the number. */
wk_tensor *wk__record_loss(const wk__loss *l);
/* A weight is a constant for losses, as in PyTorch. False, with the error recorded, for one that wants a gradient. */
bool wk__check_weight_is_constant(const wk__op *op, wk_site site, wk_tensor *weight, const char *name);

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* The slope of each element's loss, times what flows into it: its gradient and its weight. */
wk_tensor *wk__loss_input_grad(const wk__grad_ctx *g, wk_tensor *slope);
/* A slope that is the target's with the other sign. */
void wk__set_input_target_grads(wk__grad_ctx *g, wk_tensor *slope);
/* Input less target. */
wk_tensor *wk__loss_difference(const wk__grad_ctx *g);

/* ---- rows -------------------------------------------------------------------------------------------------------- */

#endif
