/* SPDX-License-Identifier: Apache-2.0 */
/* wick/nn_bert.h: BERT, an encoder of text that is trained to fill in masked tokens.
 *
 *     wk_module *bert = wk_nn_bert();
 *     wk_load(bert, "model.safetensors");
 *     wk_module_train(bert, false);                                    (no dropout)
 *     wk_tensor *pooled, *hidden = wk_forward_bert(bert, ids, .attention_mask = mask, .pooled = &pooled);
 *     wk_tensor *scores = wk_forward(classifier, pooled);              (classifier: wk_nn_linear(768, classes))
 *
 * config.json is not read: pass sizes other than those of BERT-base as options.
 *
 * Parameters and children have the names of BertModel in Hugging Face's transformers. In a file of a network around it,
 * such as BertForMaskedLM, the names begin with bert.; a module with this child loads the file:
 *
 *     wk_module *around = wk_nn_sequential();
 *     wk_module_add(around, "bert", bert);
 *     wk_load(around, "model.safetensors", .strict = false); */
#ifndef WICK_NN_BERT_H
#define WICK_NN_BERT_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "nn.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wk_nn_bert_options {
    size_t size;
    wk_by_name by_name;
    int64_t vocab_size;              /* number of tokens; default 30522 */
    int64_t hidden_size;             /* features of a token; default 768 */
    int64_t num_hidden_layers;       /* default 12 */
    int64_t num_attention_heads;     /* default 12 */
    int64_t intermediate_size;       /* features between the linear layers of a layer; default 3072 */
    int64_t max_position_embeddings; /* largest number of tokens in a sequence; default 512 */
    int64_t type_vocab_size;         /* number of types of tokens; default 2 */
    double dropout;                  /* also of the weights of the attention; default 0.1 */
    double layer_norm_eps;           /* default 1e-12 */
    wk_device device;                /* default WK_DEVICE, else the CPU */
} wk_nn_bert_options;
/* wk_nn_bert(): Creates a network that adds the embeddings of tokens, token types and positions, and encodes them with
 * layers of self-attention and linear layers with GELU, each part followed by dropout, the sum with its input and a
 * layer norm. The defaults are those of BERT-base.
 *     wk_module *tiny = wk_nn_bert(.hidden_size = 128, .num_hidden_layers = 2, .num_attention_heads = 2,
 *                                  .intermediate_size = 512);
 * wk_forward(m, ids) returns the hidden states alone. wk_forward_n takes ids, token types and an attention mask, of
 * which the last one or two may be omitted, and returns 1 output, or 2: hidden states and pooled output.
 * Values:    weights are initially normal with standard deviation 0.02, biases 0; the embedding of token 0, the
 *            padding, is 0 and gets no gradient
 * Errors:    WK_ERR_ARGUMENT if a size is negative, .hidden_size is not a multiple of .num_attention_heads, .dropout is
 *            outside [0, 1] or .layer_norm_eps is negative
 * Source:    Devlin et al. 2018, arXiv 1810.04805; transformers.BertModel (.dropout: hidden_dropout_prob and
 *            attention_probs_dropout_prob) */
WK_RESULT_API wk_module *wk_nn_bert_at(wk_site site, const wk_nn_bert_options *options);

typedef struct wk_forward_bert_options {
    size_t size;
    wk_by_name by_name;
    wk_tensor *token_type_ids; /* i64 or i32 (N, T): 0 in a first sentence, 1 in a second; default NULL, all 0 */
    wk_tensor *attention_mask; /* (N, T), any dtype: false or 0 hides padding; default NULL, all tokens are seen */
    wk_tensor **pooled;        /* receives the pooled output; default NULL */
} wk_forward_bert_options;
/* wk_forward_bert(m, ids): Encodes sequences of tokens with a network of wk_nn_bert. The pooled output is computed from
 * the hidden state of the first token:
 *     pooled = tanh(pooler.dense(hidden[:, 0]))
 * Shapes:    ids (N, T) -> (N, T, hidden_size); pooled (N, hidden_size)
 * Dtypes:    ids i64 or i32; out and pooled as the parameters
 * Returns:   the hidden states; NULL on error
 * Errors:    WK_ERR_ARGUMENT if m is another kind of module; WK_ERR_SHAPE if ids has not 2 dimensions, T exceeds
 *            max_position_embeddings, or token_type_ids or attention_mask has another shape than ids; WK_ERR_INDEX if
 *            a token or a type is out of range, possibly reported later */
WK_RESULT_API wk_tensor *wk_forward_bert_at(wk_site site, wk_module *m, wk_tensor *ids,
                                            const wk_forward_bert_options *options);

#ifndef __cplusplus
#define wk_nn_bert(...) WK_NEW_MODULE_(WK_OPT0_(wk_module *, wk_nn_bert, wk_nn_bert_options, __VA_ARGS__))
#define wk_forward_bert(m, ...)                                                                                        \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_forward_bert, wk_forward_bert_options, "m, ids", m, __VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
