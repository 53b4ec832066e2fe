/* SPDX-License-Identifier: Apache-2.0 */
/* Attention of grouped heads: operands and parameters of the op and of its gradient.
 *
 *     query (batch.., L, E)    key (batch.., S, E)    value (batch.., S, Ev)    mask (batch.., L, S)
 *
 * Leading dimensions and those of the mask broadcast. Grouped queries have one more leading dimension: query (.., H, G,
 * L, E), key and value (.., H, 1, S, E). */
#ifndef WICK_OPS_ATTENTION_H
#define WICK_OPS_ATTENTION_H

#include "ops/core/entries.h"

typedef struct wk__attention {
    wk_tensor *query, *key, *value; /* in the computation dtype, heads grouped */
    wk_tensor *mask;                /* bool, or in the computation dtype; NULL: none */
    int64_t rows, keys;             /* L, S */
    int64_t batch;                  /* product of the broadcast leading dimensions */
    wk__scaled_dot_product_attention_attributes how;
} wk__attention;

/* Gradients by the operands of a wk__attention, in broadcast shapes; NULL where none is required or on error. */
typedef struct wk__attention_grads {
    wk_tensor *query, *key, *value, *mask;
    bool needs[4]; /* those that are computed: query, key, value, mask */
} wk__attention_grads;

/* Returns true if the device has kernels for it. */
bool wk__attention_has_kernel(const wk__attention *a);
/* Records the kernel: out[0] is the result, out[1] (batch.., L, 1) the logarithm of each row's sum. Returns false on
 * error; out[] is then NULL. */
bool wk__attention_by_kernel(const wk__attention *a, wk_tensor *out[2]);
/* Records the kernel of the gradients by query, key and value, from the results of wk__attention_by_kernel(). */
void wk__attention_gradient_by_kernel(const wk__attention *a, wk_tensor *grad, wk_tensor *result, wk_tensor *lse,
                                      wk__attention_grads *out);

/* Returns the softmax of scores along the last dimension, after applying a mask, which is bool or added; NULL: none.
 * Rows whose scores are all -infinite are 0. */
wk_tensor *wk__attention_softmax(wk_tensor *score, wk_tensor *mask);

/* Computes attention by public ops, in blocks of rows of query, so that memory is linear in L and S. */
wk_tensor *wk__attention_composed(const wk__attention *a);
/* Computes the gradients from grad (batch.., L, Ev) likewise. Differentiable: the blocks then stay in memory. */
void wk__attention_composed_gradient(const wk__attention *a, wk_tensor *grad, wk__attention_grads *out);

#endif
