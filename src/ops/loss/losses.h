/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise losses: input and target have one shape; each pair of elements has a loss, and the losses are averaged,
 * summed or returned as they are. One expression followed by a sum. */
#ifndef WICK_OPS_LOSSES_H
#define WICK_OPS_LOSSES_H

#include "ops/reduce/reduction.h"

/* Arguments of one call. */
typedef struct wk__loss {
    const wk__op *op;
    const wk__op *expression; /* of input, target, param, and pos_weight if there is one */
    wk_site site;
    wk_tensor *in[4]; /* input, target; weight and pos_weight, broadcast, or NULL */
    wk_reduction reduction;
    double param;
    bool takes_weight;                /* whether the op takes weights */
    const char *const *grad_fn_names; /* by reduction: printed as grad_fn; NULL: op->node */
} wk__loss;

/* Records the loss and its node. The attributes have the divisor of the sum and param. */
wk_tensor *wk__record_loss(const wk__loss *l);
/* Returns true unless weight requires grad: weights are constants of a loss, as in PyTorch. Else records the error. */
bool wk__check_weight_is_constant(const wk__op *op, wk_site site, wk_tensor *weight, const char *name);

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* Returns each element's slope times the incoming gradient and the weight. */
wk_tensor *wk__loss_input_grad(const wk__grad_ctx *g, wk_tensor *slope);
/* Sets the gradient of the input to slope and the target's to -slope. */
void wk__set_input_target_grads(wk__grad_ctx *g, wk_tensor *slope);
/* Returns input - target. */
wk_tensor *wk__loss_difference(const wk__grad_ctx *g);

#endif
