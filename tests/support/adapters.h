/* SPDX-License-Identifier: Apache-2.0 */
/* Common parts of tests of adapters: a small model, its input, and random numbers for the adapters. */
#ifndef TESTS_SUPPORT_ADAPTERS_H
#define TESTS_SUPPORT_ADAPTERS_H

#include "wick.h"

static inline wk_module *small_gpt(void)
{
    return wk_nn_gpt(.vocab_size = 11, .n_positions = 8, .n_embd = 8, .n_layer = 2, .n_head = 2, .dropout = 0);
}

static inline wk_tensor *some_ids(void)
{
    return wk_of(int64_t, (2, 4), 1, 5, 2, 7, 10, 0, 3, 3);
}

/* Fills all lora_B.weight with random numbers, so that the adapters change the results. */
static inline void fill_adapters(wk_module *net)
{
    wk_tensors *all = wk_parameters(net);
    for (int k = 0; k < wk_tensors_count(all); k++)
        if (strstr(wk_tensors_name(all, k), "lora_B")) wk_init_normal_(wk_tensors_get(all, k), 0, 0.5);
}

/* Returns the largest difference of two elements, in double precision. */
static inline double difference(wk_tensor *a, wk_tensor *b)
{
    return wk_item(wk_amax(wk_abs(wk_sub(wk_to_dtype(a, WK_F64), wk_to_dtype(b, WK_F64)))));
}

#endif
