/* SPDX-License-Identifier: Apache-2.0 */
/* wick/language.h: language models that predict the next token, pretrained weights, and generation of text.
 *
 *     wk_module *net = wk_nn_pretrained("gpt2");           (a folder with config.json and model.safetensors)
 *     wk_tensor *scores = wk_forward(net, ids);            (ids (B, T), scores (B, T, vocab_size))
 *
 * Shapes:  ids i64 (B, T) -> (B, T, vocab_size): scores of the following token before softmax, for wk_cross_entropy
 * Names:   parameters have the names and shapes that they have in transformers, so that wk_load reads its files and
 *          transformers reads those of wk_save.
 * Errors:  WK_ERR_ARGUMENT if an option is invalid
 *
 * A training step with windows of a text (wk_text_windows):
 *
 *     wk_tensor *scores = wk_forward(net, batch->x);
 *     wk_tensor *loss = wk_cross_entropy(wk_flatten(scores, 0, 1), wk_flatten(batch->y)); */
#ifndef WICK_LANGUAGE_H
#define WICK_LANGUAGE_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "nn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- models ------------------------------------------------------------------------------------------------------ */

typedef struct wk_nn_gpt_options {
    size_t size;
    wk_by_name by_name;
    int64_t vocab_size;        /* default 50257 */
    int64_t n_positions;       /* longest sequence; default 1024 */
    int64_t n_embd;            /* features; default 768 */
    int64_t n_layer;           /* blocks; default 12 */
    int64_t n_head;            /* heads, which divide n_embd; default 12 */
    int64_t n_inner;           /* features within the MLP of a block; default 4 n_embd */
    double dropout;            /* of embeddings, weights of attention and results of both parts; default 0.1 */
    double layer_norm_epsilon; /* default 1e-5 */
    bool untied;               /* lm_head.weight is a parameter of its own; default false: transformer.wte.weight */
    wk_dtype dtype;            /* default f32 */
    wk_device device;          /* of the parameters; default WK_DEVICE, else the CPU */
} wk_nn_gpt_options;
/* wk_nn_gpt(): Creates GPT-2. Blocks normalise the input of each part (pre-norm); the activation is gelu, approximated
 * with tanh.
 *     x = wte[ids] + wpe[positions];  x = x + attn(ln_1(x));  x = x + mlp(ln_2(x));  out = lm_head(ln_f(x))
 *     wk_module *small = wk_nn_gpt(.vocab_size = 65, .n_positions = 256, .n_embd = 128, .n_layer = 4, .n_head = 4);
 * Names:     transformer.wte, transformer.wpe, transformer.h.0.ln_1, .attn.c_attn, .attn.c_proj, .ln_2, .mlp.c_fc,
 *            .mlp.c_proj, ..., transformer.ln_f, lm_head. Weights of c_attn, c_proj and c_fc are (in, out).
 * Values:    weights are normal with standard deviation 0.02, those of c_proj with 0.02 / sqrt(2 n_layer); biases are 0
 * Source:    Radford et al. 2019, Language models are unsupervised multitask learners; transformers.GPT2LMHeadModel */
WK_RESULT_API wk_module *wk_nn_gpt_at(wk_site site, const wk_nn_gpt_options *options);

typedef struct wk_nn_llama_options {
    size_t size;
    wk_by_name by_name;
    int64_t vocab_size;              /* default 32000 */
    int64_t hidden_size;             /* features; default 4096 */
    int64_t intermediate_size;       /* features within the MLP of a layer; default 11008 */
    int64_t num_hidden_layers;       /* default 32 */
    int64_t num_attention_heads;     /* heads of queries; default 32 */
    int64_t num_key_value_heads;     /* heads of keys and values, which divide those of queries; default as many */
    int64_t head_dim;                /* features of a head, even; default hidden_size / num_attention_heads */
    int64_t max_position_embeddings; /* longest sequence; default 2048 */
    double rms_norm_eps;             /* default 1e-6 */
    double rope_theta;               /* base of the wavelengths of rotary positions; default 10000 */
    double rope_factor;              /* divides the frequencies of long wavelengths, as in Llama 3.1; default none */
    double rope_low_freq_factor;     /* completely from rope_original_positions / this on; default 1 */
    double rope_high_freq_factor;    /* not at all up to rope_original_positions / this; default 4 */
    int64_t rope_original_positions; /* original_max_position_embeddings of rope_scaling; default 8192 */
    bool tie_word_embeddings;        /* lm_head.weight is model.embed_tokens.weight; default false */
    bool attention_bias;             /* bias of q_proj, k_proj and v_proj, as in Qwen2; default false */
    wk_dtype dtype;                  /* default f32 */
    wk_device device;                /* of the parameters; default WK_DEVICE, else the CPU */
} wk_nn_llama_options;
/* wk_nn_llama(): Creates Llama or, with .attention_bias, Qwen2: RMS norm before each part, rotary positions, grouped
 * queries, and an MLP with SwiGLU.
 *     x = embed_tokens[ids];  x = x + self_attn(input_layernorm(x));  x = x + mlp(post_attention_layernorm(x))
 *     mlp(x) = down_proj(silu(gate_proj(x)) up_proj(x));  out = lm_head(norm(x))
 * Names:     model.embed_tokens, model.layers.0.input_layernorm, .self_attn.q_proj, .k_proj, .v_proj, .o_proj,
 *            .post_attention_layernorm, .mlp.gate_proj, .up_proj, .down_proj, ..., model.norm, lm_head
 * Values:    weights are normal with standard deviation 0.02; biases are 0
 * Source:    Touvron et al. 2023, arXiv 2302.13971 and 2307.09288; Yang et al. 2024, arXiv 2407.10671;
 *            transformers.LlamaForCausalLM, Qwen2ForCausalLM */
WK_RESULT_API wk_module *wk_nn_llama_at(wk_site site, const wk_nn_llama_options *options);

typedef struct wk_nn_pretrained_options {
    size_t size;
    wk_by_name by_name;
    wk_dtype dtype;   /* of the parameters; default that of the first floating tensor in the files, or of the embedding
                       * in a GGUF file */
    wk_device device; /* of the parameters; default WK_DEVICE, else the CPU */
    char reserved[4];
} wk_nn_pretrained_options;
/* wk_nn_pretrained(folder): Creates the model that config.json in the folder describes, and reads its weights from
 * model.safetensors, or from the files that model.safetensors.index.json lists. folder may also be a GGUF file, whose
 * quantised weights become f32 (wick/io.h). The module is in evaluation mode.
 *     wk_module *net = wk_nn_pretrained("Qwen2.5-0.5B", .dtype = WK_F32);
 *     wk_module *net = wk_nn_pretrained("qwen2.5-0.5b-instruct-q4_k_m.gguf", .dtype = WK_BF16);
 * Models:    model_type gpt2, llama and qwen2; general.architecture llama and qwen2
 * Errors:    WK_ERR_IO if a file cannot be read; WK_ERR_FORMAT if it is invalid; WK_ERR_UNSUPPORTED if it describes
 *            another kind of model, or a setting that changes the results and that this library does not have;
 *            WK_ERR_SHAPE if the weights do not fit
 * Source:    transformers.AutoModelForCausalLM.from_pretrained */
WK_RESULT_API wk_module *wk_nn_pretrained_at(wk_site site, const char *folder, const wk_nn_pretrained_options *options);

/* ---- decoding token by token ------------------------------------------------------------------------------------- */

typedef struct wk_kv_cache wk_kv_cache; /* keys and values that a model has computed for the tokens of a batch */

/* wk_kv_cache_new(net, batch, capacity): Creates an empty cache for a model of this header: memory for keys and values
 * of all its layers, for `batch` rows of at most `capacity` positions. It has the device and dtype of the model. One
 * thread at a time may use it.
 *     wk_kv_cache *cache = wk_kv_cache_new(net, 1, 256);
 *     wk_tensor *scores = wk_decode(net, prompt, cache);               (prompt (1, T))
 *     scores = wk_decode(net, next, cache);                            (next (1, 1))
 * Returns:   the cache, owned by the innermost scope; wk_free ends it earlier. NULL on error
 * Errors:    WK_ERR_ARGUMENT if net is another kind of module, batch or capacity is below 1, or capacity above the
 *            positions of the model */
WK_RESULT_API wk_kv_cache *wk_kv_cache_new_at(wk_site site, wk_module *net, int64_t batch, int64_t capacity);
/* wk_kv_cache_length(cache), wk_kv_cache_capacity(cache): Return the number of positions in use, with those of padding,
 * and the greatest one; 0 for NULL. */
WK_RESULT_API int64_t wk_kv_cache_length_at(wk_site site, const wk_kv_cache *cache);
WK_RESULT_API int64_t wk_kv_cache_capacity_at(wk_site site, const wk_kv_cache *cache);
/* wk_kv_cache_reorder(cache, rows): Replaces row b of the cache by row rows[b], for example in beam search. rows is i64
 * (batch).
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_SHAPE, WK_ERR_DTYPE if rows has another shape or dtype; WK_ERR_INDEX if the cache lacks a row,
 *            possibly reported later */
WK_API wk_code wk_kv_cache_reorder_at(wk_site site, wk_kv_cache *cache, wk_tensor *rows);

typedef struct wk_decode_options {
    size_t size;
    wk_by_name by_name;
    wk_tensor *mask;        /* bool (B, positions in use + T): true for tokens, false for padding before the first token
                             * of a row; default: new ids are tokens, and earlier positions as before */
    int64_t logits_to_keep; /* compute only the scores of the last ones of the T ids; default 0, all */
} wk_decode_options;
/* wk_decode(net, ids, cache): Computes the scores of ids that follow those in the cache, and appends their keys and
 * values to it. Gradients are not recorded, and dropout is off. The position of a token is the number of tokens before
 * it in its row: padding does not count. Scores at padding are unspecified.
 *     wk_tensor *scores = wk_decode(net, prompts, cache, .mask = tokens, .logits_to_keep = 1);
 * Shapes:    ids i64 (B, T), B the batch of the cache -> (B, T, vocab_size), or (B, logits_to_keep, vocab_size)
 * Errors:    WK_ERR_ARGUMENT if net differs in its sizes from the model of the cache; WK_ERR_SHAPE, WK_ERR_DTYPE if ids
 *            or the mask do not match; WK_ERR_STATE if the cache has not enough positions left
 * Source:    the forward of transformers' models with past_key_values, attention_mask and logits_to_keep */
WK_RESULT_API wk_tensor *wk_decode_at(wk_site site, wk_module *net, wk_tensor *ids, wk_kv_cache *cache,
                                      const wk_decode_options *options);

/* ---- generation -------------------------------------------------------------------------------------------------- */

/* ---- call forms -------------------------------------------------------------------------------------------------- */

#define wk_kv_cache_new(net, batch, capacity) wk_kv_cache_new_at(WK_HERE, net, batch, capacity)
#define wk_kv_cache_length(cache)             wk_kv_cache_length_at(WK_HERE, cache)
#define wk_kv_cache_capacity(cache)           wk_kv_cache_capacity_at(WK_HERE, cache)
#define wk_kv_cache_reorder(cache, rows)      wk_kv_cache_reorder_at(WK_HERE, cache, rows)

#ifndef __cplusplus
#define wk_nn_gpt(...)   WK_NEW_MODULE_(WK_OPT0_(wk_module *, wk_nn_gpt, wk_nn_gpt_options, __VA_ARGS__))
#define wk_nn_llama(...) WK_NEW_MODULE_(WK_OPT0_(wk_module *, wk_nn_llama, wk_nn_llama_options, __VA_ARGS__))
#define wk_nn_pretrained(...)                                                                                          \
    WK_NEW_MODULE_(WK_OPT_(wk_module *, wk_nn_pretrained, wk_nn_pretrained_options, __VA_ARGS__))
#define wk_decode(net, ids, ...)                                                                                       \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_decode, wk_decode_options, "net, ids, cache", net, ids, __VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
