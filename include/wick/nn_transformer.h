/* SPDX-License-Identifier: Apache-2.0 */
/* wick/nn_transformer.h: attention with several heads, and the layers of transformers.
 *
 *     wk_module *layer = wk_nn_transformer_encoder_layer(512, 8, .batch_first = true);
 *     wk_module *encoder = wk_nn_transformer_encoder(layer, 6);
 *     wk_tensor *y = wk_forward_encoder(encoder, x, .src_key_padding_mask = padding);     (x and y: (N, S, 512))
 *
 * Sequences are (L, N, E): positions, samples, features; with .batch_first (N, L, E). Without N a sequence is one
 * sample. Masks are those of torch.nn, the opposite of wk_scaled_dot_product_attention: in a bool mask, true hides a
 * key; a floating mask is added to the products. A query for which all keys are hidden yields the bias of out_proj.
 *
 * Attention does not see the order of a sequence: add wk_sinusoidal_positions to its input, or wk_alibi_bias to the
 * products. */
#ifndef WICK_NN_TRANSFORMER_H
#define WICK_NN_TRANSFORMER_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "nn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- attention --------------------------------------------------------------------------------------------------- */

typedef struct wk_nn_multihead_attention_options {
    size_t size;
    wk_by_name by_name;
    double dropout;     /* of the weights, in training; in [0, 1], default 0 */
    int64_t kdim, vdim; /* features of key and value; default embed_dim */
    bool no_bias;       /* without bias of the projections; default false */
    bool add_bias_kv;   /* with a trained key and value, bias_k and bias_v, after those of the input; default false */
    bool add_zero_attn; /* with a key and value of zeros after those of the input; default false */
    bool batch_first;   /* default false */
    wk_dtype dtype;     /* default f32 */
    wk_device device;   /* default WK_DEVICE, else the CPU */
    char reserved[4];
} wk_nn_multihead_attention_options;
/* wk_nn_multihead_attention(embed_dim, num_heads): Creates a layer that projects query, key and value, computes
 * wk_scaled_dot_product_attention in num_heads heads of embed_dim / num_heads features, and projects the result.
 * Parameters are in_proj_weight (3 embed_dim, embed_dim), in_proj_bias and those of the linear layer out_proj; with
 * .kdim or .vdim q_proj_weight, k_proj_weight and v_proj_weight instead of the first. Weights of the input are
 * initialised by wk_init_xavier_uniform_, biases with 0. wk_forward(m, x) attends from x to x. wk_forward_n takes x, or
 * query, key and value, and returns 1 output, or 2: the result and the mean of the weights over the heads.
 * Errors:    WK_ERR_ARGUMENT unless embed_dim is a positive multiple of num_heads, or if .kdim or .vdim is negative or
 *            .dropout outside [0, 1]
 * PyTorch:   torch.nn.MultiheadAttention */
WK_RESULT_API wk_module *wk_nn_multihead_attention_at(wk_site site, int64_t embed_dim, int64_t num_heads,
                                                      const wk_nn_multihead_attention_options *options);

typedef struct wk_forward_attention_options {
    size_t size;
    wk_by_name by_name;
    wk_tensor *key_padding_mask; /* (N, S) or (S): hides keys of a sample; default none */
    wk_tensor *attn_mask;        /* (L, S) or (N num_heads, L, S); default none */
    wk_tensor **weights;         /* receives the weights (N, L, S), the mean over the heads; default NULL */
    bool no_average_weights;     /* weights of each head, (N, num_heads, L, S); default false */
    bool is_causal;              /* row i of query sees keys 0 to i, besides the masks; default false */
    char reserved[6];
} wk_forward_attention_options;
/* wk_forward_attention(m, query, key, value): Calls a layer of wk_nn_multihead_attention with masks. Requested weights
 * need a matrix of (L, S) for each head; without them memory grows linearly.
 * Shapes:    query (L, N, embed_dim), key (S, N, kdim), value (S, N, vdim) -> (L, N, embed_dim), also without N; with
 *            .batch_first of the layer N is first
 * Errors:    WK_ERR_ARGUMENT if m is another kind of module; WK_ERR_SHAPE if shapes do not match; WK_ERR_DTYPE if a
 *            mask is neither bool nor floating
 * PyTorch:   m(query, key, value, need_weights=False) */
WK_RESULT_API wk_tensor *wk_forward_attention_at(wk_site site, wk_module *m, wk_tensor *query, wk_tensor *key,
                                                 wk_tensor *value, const wk_forward_attention_options *options);

/* ---- transformers ------------------------------------------------------------------------------------------------ */

/* Activations of the layers. */
enum { WK_TRANSFORMER_RELU, WK_TRANSFORMER_GELU };

typedef struct wk_nn_transformer_layer_options {
    size_t size;
    wk_by_name by_name;
    double dropout;          /* default 0.1 */
    double layer_norm_eps;   /* default 1e-5 */
    int64_t dim_feedforward; /* features between linear1 and linear2; default 2048 */
    int activation;          /* WK_TRANSFORMER_RELU or WK_TRANSFORMER_GELU; default relu */
    bool batch_first;        /* default false */
    bool norm_first;         /* normalises the input of each part instead of its output; default false */
    bool no_bias;            /* without bias of linear layers and norms; default false */
    wk_dtype dtype;          /* default f32 */
    wk_device device;        /* default WK_DEVICE, else the CPU */
} wk_nn_transformer_layer_options;
/* wk_nn_transformer_encoder_layer(d_model, nhead): Creates a layer of self-attention, self_attn, and two linear layers,
 * linear1 and linear2, each part added to its input and normalised by norm1 and norm2.
 *     x = norm1(x + dropout1(self_attn(x)));  x = norm2(x + dropout2(linear2(dropout(activation(linear1(x))))))
 * Errors:    those of wk_nn_multihead_attention; WK_ERR_ARGUMENT if .dim_feedforward or .layer_norm_eps is negative or
 *            .activation unknown
 * PyTorch:   torch.nn.TransformerEncoderLayer */
WK_RESULT_API wk_module *wk_nn_transformer_encoder_layer_at(wk_site site, int64_t d_model, int64_t nhead,
                                                            const wk_nn_transformer_layer_options *options);
/* wk_nn_transformer_decoder_layer(d_model, nhead): The same with attention to memory, multihead_attn, and norm3 after
 * self_attn and norm2.
 * PyTorch:   torch.nn.TransformerDecoderLayer */
WK_RESULT_API wk_module *wk_nn_transformer_decoder_layer_at(wk_site site, int64_t d_model, int64_t nhead,
                                                            const wk_nn_transformer_layer_options *options);

typedef struct wk_nn_transformer_stack_options {
    size_t size;
    wk_by_name by_name;
    wk_module *norm; /* of the result, for example wk_nn_layer_norm((512)); default none */
} wk_nn_transformer_stack_options;
/* wk_nn_transformer_encoder(layer, num_layers), wk_nn_transformer_decoder(layer, num_layers): Create a module of
 * num_layers copies of layer, layers.0, layers.1, ..., and norm. The copies have the values and requires_grad of the
 * layer's parameters and the training modes of its modules, but neither gradients nor changes to its children. layer
 * stays the caller's.
 * Errors:    WK_ERR_ARGUMENT if layer is another kind of module or num_layers is negative
 * PyTorch:   torch.nn.TransformerEncoder, TransformerDecoder */
WK_RESULT_API wk_module *wk_nn_transformer_encoder_at(wk_site site, wk_module *layer, int64_t num_layers,
                                                      const wk_nn_transformer_stack_options *options);
WK_RESULT_API wk_module *wk_nn_transformer_decoder_at(wk_site site, wk_module *layer, int64_t num_layers,
                                                      const wk_nn_transformer_stack_options *options);

typedef struct wk_nn_transformer_options {
    size_t size;
    wk_by_name by_name;
    double dropout;             /* default 0.1 */
    double layer_norm_eps;      /* default 1e-5 */
    int64_t num_encoder_layers; /* default 6 */
    int64_t num_decoder_layers; /* default 6 */
    int64_t dim_feedforward;    /* default 2048 */
    int activation;             /* WK_TRANSFORMER_RELU or WK_TRANSFORMER_GELU; default relu */
    bool batch_first;           /* default false */
    bool norm_first;            /* default false */
    bool no_bias;               /* default false */
    wk_dtype dtype;             /* default f32 */
    wk_device device;           /* default WK_DEVICE, else the CPU */
} wk_nn_transformer_options;
/* wk_nn_transformer(d_model, nhead): Creates encoder and decoder, each with layers and a layer norm. All matrices are
 * initialised by wk_init_xavier_uniform_.
 * Errors:    those of the layers
 * PyTorch:   torch.nn.Transformer; d_model and nhead have no defaults (512, 8) */
WK_RESULT_API wk_module *wk_nn_transformer_at(wk_site site, int64_t d_model, int64_t nhead,
                                              const wk_nn_transformer_options *options);

/* Masks of sequences: src of the encoder, tgt of the decoder, memory of the decoder's attention to the encoder. */
typedef struct wk_forward_transformer_options {
    size_t size;
    wk_by_name by_name;
    wk_tensor *src_mask, *tgt_mask, *memory_mask; /* of the products: as .attn_mask of wk_forward_attention */
    /* of keys, (N, S) or (S): as .key_padding_mask */
    wk_tensor *src_key_padding_mask, *tgt_key_padding_mask, *memory_key_padding_mask;
    bool src_is_causal;    /* position i of src sees positions 0 to i, besides the masks; default false */
    bool tgt_is_causal;    /* the same of tgt */
    bool memory_is_causal; /* position i of tgt sees positions 0 to i of memory; default false */
    char reserved[5];
} wk_forward_transformer_options;
/* wk_forward_encoder(m, src), wk_forward_decoder(m, tgt, memory), wk_forward_transformer(m, src, tgt): Call an encoder
 * or its layer, a decoder or its layer, or a transformer, with masks. An encoder uses the masks of src, a decoder those
 * of tgt and memory. Without masks, wk_forward and wk_forward_n do the same.
 * Returns:   a tensor of the shape of src, tgt and tgt; NULL on error
 * Errors:    those of wk_forward_attention
 * PyTorch:   m(src), m(tgt, memory), m(src, tgt) */
WK_RESULT_API wk_tensor *wk_forward_encoder_at(wk_site site, wk_module *m, wk_tensor *src,
                                               const wk_forward_transformer_options *options);
WK_RESULT_API wk_tensor *wk_forward_decoder_at(wk_site site, wk_module *m, wk_tensor *tgt, wk_tensor *memory,
                                               const wk_forward_transformer_options *options);
WK_RESULT_API wk_tensor *wk_forward_transformer_at(wk_site site, wk_module *m, wk_tensor *src, wk_tensor *tgt,
                                                   const wk_forward_transformer_options *options);

/* ---- positions --------------------------------------------------------------------------------------------------- */

/* wk_sinusoidal_positions(length, features): Computes a vector for each position, of sines and cosines whose
 * wavelengths grow from 2 pi to 10000 2 pi, to be added to the input of the first layer.
 *     out[i][2j] = sin(i / 10000^(2j / features));  out[i][2j + 1] = cos(i / 10000^(2j / features))
 *     x = wk_add(wk_mul(x, sqrt(512)), wk_sinusoidal_positions(wk_size(x, 1), 512));            (x: (N, S, 512))
 * Options:   .dtype, .device, .requires_grad: see wk_zeros
 * Returns:   a new tensor (length, features), owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if length is negative or features less than 1
 * Example:   wk_sinusoidal_positions(2, 2) is {{0, 1}, {0.8415, 0.5403}}
 * Source:    Vaswani et al. 2017, arXiv 1706.03762; Dive into Deep Learning, 11.6 */
WK_RESULT_API wk_tensor *wk_sinusoidal_positions_at(wk_site site, int64_t length, int64_t features,
                                                    const wk_tensor_options *options);
/* wk_alibi_slopes(num_heads): Computes the slope of each head for wk_alibi_bias: powers of 2^(-8 / num_heads) if
 * num_heads is a power of 2; else those of the next smaller power n, and of 2 n the first, third, ...
 * Options:   .dtype, .device, .requires_grad: see wk_zeros
 * Returns:   a new tensor (num_heads), owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if num_heads is less than 1
 * Example:   wk_alibi_slopes(4) is {0.25, 0.0625, 0.015625, 0.00390625}
 * Source:    Press et al. 2022, arXiv 2108.12409 */
WK_RESULT_API wk_tensor *wk_alibi_slopes_at(wk_site site, int64_t num_heads, const wk_tensor_options *options);

typedef struct wk_alibi_options {
    size_t size;
    wk_by_name by_name;
    bool is_causal;   /* -infinity for keys after the query; default false */
    wk_dtype dtype;   /* default f32 */
    wk_device device; /* default WK_DEVICE, else the CPU */
    char reserved[4];
} wk_alibi_options;
/* wk_alibi_bias(num_heads, rows, keys): Computes what attention with linear biases adds to its products: a penalty
 * proportional to the distance of query and key. The queries are the last rows of the positions of the keys, as in a
 * decoder that has computed the keys before.
 *     out[h][i][j] = -slope[h] |i + keys - rows - j|
 *     y = wk_scaled_dot_product_attention(q, k, v, .attn_mask = wk_alibi_bias(8, 10, 10, .is_causal = true));
 * q has shape (N, 8, 10, E). A layer of wk_nn_multihead_attention takes it as .attn_mask repeated for each sample:
 *     wk_repeat(bias, (samples, 1, 1))
 * Returns:   a new tensor (num_heads, rows, keys), owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if num_heads is less than 1, rows negative or greater than keys; WK_ERR_DTYPE if .dtype is
 *            not floating
 * Example:   wk_alibi_bias(1, 2, 2) is {{{0, -0.00390625}, {-0.00390625, 0}}}
 * Source:    Press et al. 2022, arXiv 2108.12409 */
WK_RESULT_API wk_tensor *wk_alibi_bias_at(wk_site site, int64_t num_heads, int64_t rows, int64_t keys,
                                          const wk_alibi_options *options);

/* ---- call forms -------------------------------------------------------------------------------------------------- */

#ifndef __cplusplus
#define wk_nn_multihead_attention(embed_dim, ...)                                                                      \
    WK_NEW_MODULE_(WK_OPT2_(wk_module *, wk_nn_multihead_attention, wk_nn_multihead_attention_options,                 \
                            "embed_dim, num_heads", embed_dim, __VA_ARGS__))
#define wk_nn_transformer_encoder_layer(d_model, ...)                                                                  \
    WK_NEW_MODULE_(WK_OPT2_(wk_module *, wk_nn_transformer_encoder_layer, wk_nn_transformer_layer_options,             \
                            "d_model, nhead", d_model, __VA_ARGS__))
#define wk_nn_transformer_decoder_layer(d_model, ...)                                                                  \
    WK_NEW_MODULE_(WK_OPT2_(wk_module *, wk_nn_transformer_decoder_layer, wk_nn_transformer_layer_options,             \
                            "d_model, nhead", d_model, __VA_ARGS__))
#define wk_nn_transformer_encoder(layer, ...)                                                                          \
    WK_NEW_MODULE_(WK_OPT2_(wk_module *, wk_nn_transformer_encoder, wk_nn_transformer_stack_options,                   \
                            "layer, num_layers", layer, __VA_ARGS__))
#define wk_nn_transformer_decoder(layer, ...)                                                                          \
    WK_NEW_MODULE_(WK_OPT2_(wk_module *, wk_nn_transformer_decoder, wk_nn_transformer_stack_options,                   \
                            "layer, num_layers", layer, __VA_ARGS__))
#define wk_nn_transformer(d_model, ...)                                                                                \
    WK_NEW_MODULE_(                                                                                                    \
        WK_OPT2_(wk_module *, wk_nn_transformer, wk_nn_transformer_options, "d_model, nhead", d_model, __VA_ARGS__))
#define wk_sinusoidal_positions(length, ...)                                                                           \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_OPT2_(wk_tensor *, wk_sinusoidal_positions, wk_tensor_options, "length, features", length, __VA_ARGS__))
#define wk_alibi_slopes(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_alibi_slopes, wk_tensor_options, __VA_ARGS__))
#define wk_alibi_bias(num_heads, rows, ...)                                                                            \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_OPT3_(wk_tensor *, wk_alibi_bias, wk_alibi_options, "num_heads, rows, keys", num_heads, rows, __VA_ARGS__))
#define wk_forward_attention(m, query, key, ...)                                                                       \
    WK_NEW_TENSOR_(WK_OPT4_(wk_tensor *, wk_forward_attention, wk_forward_attention_options, "m, query, key, value",   \
                            m, query, key, __VA_ARGS__))
#define wk_forward_encoder(m, ...)                                                                                     \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_forward_encoder, wk_forward_transformer_options, "m, src", m, __VA_ARGS__))
#define wk_forward_decoder(m, tgt, ...)                                                                                \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_forward_decoder, wk_forward_transformer_options, "m, tgt, memory", m, tgt, \
                            __VA_ARGS__))
#define wk_forward_transformer(m, src, ...)                                                                            \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_forward_transformer, wk_forward_transformer_options, "m, src, tgt", m,     \
                            src, __VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
