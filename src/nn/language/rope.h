/* SPDX-License-Identifier: Apache-2.0 */
/* Rotary positions of language models. The tables of a call serve all of its layers. */
#ifndef WICK_NN_LANGUAGE_ROPE_H
#define WICK_NN_LANGUAGE_ROPE_H

#include <wick/tensor.h>

/* Frequency of pair i of a head: theta^(-2 i / head_dim), in radians per position. With a factor those of long
 * wavelengths are divided by it, as for Llama 3: completely above original / low positions, not at all below original /
 * high. */
typedef struct wk__rope {
    int64_t head_dim;
    double theta;
    double factor; /* 0: none */
    double low, high, original;
} wk__rope;

/* Returns the frequency of a pair of features, in radians for each position. */
double wk__rope_frequency(const wk__rope *rope, int64_t pair);
/* Sets table[] to cosines and sines, f32, of positions (T) or (B, T): (T, head_dim / 2) or (B, 1, T, head_dim / 2).
 * Returns false on error. */
bool wk__rope_tables(const wk__rope *rope, wk_tensor *positions, wk_tensor *table[2]);
/* Rotates elements i and i + D / 2 of x (B, heads, T, D). Returns a tensor as x; NULL on error, also if x is NULL. */
wk_tensor *wk__rope_rotate(wk_tensor *x, wk_tensor *const table[2]);

#endif
