/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise losses: input and target have one shape; each pair of elements has a loss, and the losses are averaged,
 * summed or returned as they are. One expression followed by a sum. A loss may have a third operand, in[3]. */
#ifndef WICK_OPS_LOSSES_H
#define WICK_OPS_LOSSES_H

#include "ops/reduce/reduction.h"

/* Arguments of one call. */
typedef struct wk__loss {
    const wk__op *op;
    const wk__op *expression; /* of input, target, param, and in[3] if there is one */
    wk_site site;
    wk_tensor *in[4]; /* input, target; weight or NULL; pos_weight, the third operand or NULL: [2], [3] broadcast */
    wk_reduction reduction;
    double param;
    int64_t mode;                        /* stored for the gradient */
    bool takes_weight, takes_pos_weight; /* whether the op has these options */
    const char *name;                    /* of the target in messages; NULL: "target" */
    const char *third;                   /* name of the third operand, which is required; NULL: none */
    const char *const *grad_fn_names;    /* by reduction: printed as grad_fn; NULL: op->node */
} wk__loss;

/* Records the loss and its node. The attributes have the divisor of the sum, param and mode. */
wk_tensor *wk__record_loss(const wk__loss *l);
/* Returns true unless weight requires grad: weights are constants of a loss, as in PyTorch. Else records the error. */
bool wk__check_weight_is_constant(const wk__op *op, wk_site site, wk_tensor *weight, const char *name);

/* Checks a weight, which may be omitted but not have failed, and must be a constant. */
bool wk__check_loss_weight(const wk__op *op, wk_site site, wk_tensor *weight, const char *name);
/* Returns true for WK_REDUCE_MEAN, WK_REDUCE_SUM and WK_REDUCE_NONE. Else records the error. */
bool wk__check_reduction(const wk__op *op, wk_site site, wk_reduction reduction);
/* Returns the losses averaged, summed or as they are; NULL if loss is NULL. *divisor: of the sum. */
wk_tensor *wk__reduce_losses(wk_site site, wk_tensor *loss, wk_reduction reduction, double *divisor);

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* Returns each element's slope times the incoming gradient and the weight. */
wk_tensor *wk__loss_input_grad(const wk__grad_ctx *g, wk_tensor *slope);
/* Sets the gradient of the input to slope and the target's to -slope. */
void wk__set_input_target_grads(wk__grad_ctx *g, wk_tensor *slope);
/* Returns input - target. */
wk_tensor *wk__loss_difference(const wk__grad_ctx *g);

#endif
