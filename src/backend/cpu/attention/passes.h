/* SPDX-License-Identifier: Apache-2.0 */
/* Passes over a block of scores of attention, compiled for each instruction set (isa/attention.c).
 *
 *     scores[key][query]      one row per key; `width` queries side by side, a multiple of the lanes
 *
 * With queries side by side, a vector holds one key of several queries: maximum and sum of a row of attention need no
 * exchange between lanes. */
#ifndef WICK_BACKEND_CPU_ATTENTION_PASSES_H
#define WICK_BACKEND_CPU_ATTENTION_PASSES_H

#include <stdbool.h>
#include <stdint.h>

/* Functions for f32 or f64. A vector of queries has `width` elements. */
typedef struct wk__attention_passes {
    /* Adds mask[key * mask_row + query] to the scores; mask_row 0: mask[key * mask_key] to all queries of a key. */
    void (*add_mask)(int64_t keys, int64_t width, void *scores, const void *mask, int64_t mask_row, int64_t mask_key);
    /* Hides keys from queries: sets scores to -infinity for query < key + offset. */
    void (*hide)(int64_t keys, int64_t width, void *scores, int64_t offset);
    /* Sets the maximum of each query to -infinity and its sum to 0. */
    void (*begin)(int64_t width, void *most, void *sum);
    /* Replaces the scores by e^(score - most), updates the maximum and the sum of each query, and sets `factor`, by
     * which earlier sums must be multiplied. Returns true if a factor is not 1. */
    bool (*exponentiate)(int64_t keys, int64_t width, void *scores, void *most, void *sum, void *factor);
    /* Multiplies each row of x by `factor`. */
    void (*multiply)(int64_t rows, int64_t width, void *x, const void *factor);
    /* Sets factor to 1 / sum, or 0 without any visible key, and lse to most + log(sum), or infinity. */
    void (*finish)(int64_t width, const void *most, const void *sum, void *factor, void *lse);
    /* Replaces the scores of one query, side by side, by their softmax, and sets lse as finish does. Without any
     * visible key the weights are 0. Room for the last vector is needed beyond `keys`. */
    void (*softmax)(int64_t keys, void *scores, void *lse);
    /* Replaces the scores by the weights e^(score - lse). */
    void (*weigh)(int64_t keys, int64_t width, void *scores, const void *lse);
    /* Replaces the gradients of the weights by those of the scores: weight (gradient - delta). */
    void (*differentiate)(int64_t keys, int64_t width, void *gradients, const void *weights, const void *delta);
} wk__attention_passes;

#endif
