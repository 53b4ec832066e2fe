/* SPDX-License-Identifier: Apache-2.0 */
/* Modules of BERT. There is one for each child of transformers' BertModel, so that parameters have the same paths:
 *
 *     bert_model: embeddings, encoder, pooler
 *     bert_encoder: layer.0, layer.1, ...
 *     bert_layer: attention (bert_attention: self, output), intermediate, output */
#ifndef WICK_NN_MODELS_BERT_H
#define WICK_NN_MODELS_BERT_H

#include "build.h"
#include <wick/nn_bert.h>

/* The forward functions of a module: one with several inputs, or NULL and one with a single input. */
typedef int wk__forward_n(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs);
typedef wk_tensor *wk__forward_1(wk_module *self, wk_tensor *x);
/* Creates a module with a zeroed state of this size. */
wk_module *wk__bert_module(const char *name, size_t state, wk__forward_n *forward, wk__forward_1 *forward1);
/* Creates a layer norm of hidden_size features. */
wk_module *wk__bert_norm(const wk_nn_bert_options *o);
/* Creates a layer. Its inputs are hidden states and, or not, a mask of keys, bool (N, 1, 1, T). */
wk_module *wk__bert_layer(const wk_nn_bert_options *o);

/* Calls a module with x and, unless it is NULL, a second input. Returns NULL on error, and if x is NULL. */
wk_tensor *wk__bert_call(wk_module *m, wk_tensor *x, wk_tensor *second);
/* Checks the number of inputs of a module, between least and 2, and that an output was requested. */
bool wk__bert_takes(const wk_module *self, int inputs, int least, int outputs);

#endif
