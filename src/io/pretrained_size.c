/* SPDX-License-Identifier: Apache-2.0 */
/* The least size of a pretrained model; see pretrained.h. Files smaller than it are refused, so that memory is in
 * proportion to the files. A layer takes memory even if its matrices are small, so each must have a tensor.
 * Products of sizes may exceed int64_t and are doubles. */
#include "pretrained.h"
#include <math.h>

/* Returns the number of elements of the matrices, without those of a head. */
static double elements_of_gpt(const wk_nn_gpt_options *o)
{
    const double features = (double)o->n_embd, inner = o->n_inner ? (double)o->n_inner : 4 * features;
    const double layer = 4 * features * features + 2 * features * inner;
    return ((double)o->vocab_size + (double)o->n_positions) * features + (double)o->n_layer * layer;
}

static double elements_of_llama(const wk_nn_llama_options *o)
{
    const double features = (double)o->hidden_size, heads = (double)o->num_attention_heads;
    const double keys = o->num_key_value_heads ? (double)o->num_key_value_heads : heads;
    const double size = o->head_dim ? (double)o->head_dim : floor(features / heads);
    const double attention = 2 * features * size * (heads + keys), mlp = 3 * features * (double)o->intermediate_size;
    return (double)o->vocab_size * features + (double)o->num_hidden_layers * (attention + mlp);
}

bool wk__pretrained_check_size(const wk__pretrained_call *l)
{
    const wk__pretrained_config *c = &l->config;
    const bool gpt = c->kind == WK__PRETRAINED_GPT2;
    const double elements = gpt ? elements_of_gpt(&c->gpt) : elements_of_llama(&c->llama);
    const int64_t layers = gpt ? c->gpt.n_layer : c->llama.num_hidden_layers;
    if (elements > l->elements) {
        wk__error_set(l->site, WK_ERR_SHAPE, WK__PRETRAINED_OP ": %s: %s describes %.0f numbers, the files have %.0f",
                      wk__printable_name(l->folder).text, l->source, elements, l->elements);
        return false;
    }
    if (layers <= l->tensors) return true;
    wk__error_set(l->site, WK_ERR_SHAPE, WK__PRETRAINED_OP ": %s: %s describes %lld layers, the tensors are %lld",
                  wk__printable_name(l->folder).text, l->source, (long long)layers, (long long)l->tensors);
    return false;
}
