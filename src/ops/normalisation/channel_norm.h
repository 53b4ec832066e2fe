/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisation with one mean and variance per channel (dimension 1), per sample and channel, or per sample and group
 * of adjacent channels.
 *
 *     out = (x - mean) rstd weight + bias,    rstd = 1 / sqrt(var + eps)
 *
 * mean and rstd are further results of the node, which keeps them, so that backward does not compute them again: one
 * kernel sums over x and the gradient, one computes the gradient of x. They depend on x, so their own gradients, which
 * arrive in backward of backward, count as well.
 *
 * Statistics have the dtype that x computes in, and the dimensions of x; those that are reduced have size 1. Statistics
 * of groups are repeated for each channel, so that the result has the space of x and shares its kernel with the ops
 * that follow. */
#ifndef WICK_OPS_CHANNEL_NORM_H
#define WICK_OPS_CHANNEL_NORM_H

#include "ops/reduce/reduction.h"

/* Mean and variance of the population; NULL after an error. */
typedef struct wk__moments {
    wk_tensor *mean, *var;
} wk__moments;
/* Computes the moments over the masked dimensions. Reads x once, and another 1/32 of it if rows are too long for a
 * cache or cross samples. Cancellation costs at most five bits. For use inside composite ops. */
wk__moments wk__moments_of(wk_site site, wk_tensor *x, uint16_t mask);

/* A call: operands, and values that the op sets. */
typedef struct wk__channel_norm {
    const wk__op *op; /* set by the op */
    wk_site site;
    wk_tensor *x, *running_mean, *running_var, *weight, *bias; /* all but x may be NULL */
    uint16_t mask;                                             /* reduced dimensions; set by the op */
    int64_t groups;                                            /* of channels, per sample; 0: none; set by the op */
    bool training;                                             /* statistics are those of x */
    double momentum, eps;
    wk_tensor *factor; /* 0-d: replaces momentum; NULL: none */
} wk__channel_norm;
/* Checks the operands but for the shape of x. Records the error. */
bool wk__channel_norm_check(const wk__channel_norm *c);
/* Calls the op: updates running statistics in training, and returns the result with its node. NULL on error. */
wk_tensor *wk__channel_norm_call(const wk__channel_norm *c);
/* Gradient of ops whose operands are x, weight, bias and whose node has wk__channel_norm_attributes. */
void wk__channel_norm_gradient(wk__grad_ctx *g);
#define WK__CHANNEL_NORM_SAVES                                                                                         \
    {                                                                                                                  \
        WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_OUT_1 | WK__SAVE_OUT_2, WK__SAVE_0 | WK__SAVE_OUT_1 | WK__SAVE_OUT_2        \
    }
/* wk_batch_norm with all members of a call but those that the op sets. */
wk_tensor *wk__batch_norm(wk__channel_norm call);

/* Returns the mask of all dimensions but the channels, the second. */
static inline uint16_t wk__all_but_channels(int ndim)
{
    return (uint16_t)(((1u << ndim) - 1) & ~2u);
}

/* Returns true if sums over the masked dimensions are taken in two steps: over those after the channels, then over the
 * samples. Rows of positions are contiguous, rows that cross samples are not, and there are fewer of these to share
 * between threads. It does not pay for a few positions. */
static inline bool wk__sums_in_two_steps(int ndim, const int64_t *shape, int64_t mask)
{
    int64_t positions = 1;
    for (int d = 2; d < ndim; d++) positions *= mask >> d & 1 ? shape[d] : 1;
    return (mask & 3) == 1 && positions >= 4;
}

/* Returns the mask of the dimensions after the channels. */
static inline uint16_t wk__after_channels(int ndim)
{
    return (uint16_t)(((1u << ndim) - 1) & ~3u);
}

#endif
