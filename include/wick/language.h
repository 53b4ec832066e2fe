/* SPDX-License-Identifier: Apache-2.0 */
/* wick/language.h: language models that predict the next token, pretrained weights, and generation of text.
 *
 *     wk_module *net = wk_nn_pretrained("gpt2");           (a folder with config.json and model.safetensors)
 *     wk_tensor *scores = wk_forward(net, ids);            (ids (B, T), scores (B, T, vocab_size))
 *
 * Shapes:  ids (B, T) -> (B, T, vocab_size): scores of the following token before softmax, for wk_cross_entropy
 * Dtypes:  ids i64 or i32, in [0, vocab_size); scores as the parameters
 * Names:   parameters have the names and shapes that they have in transformers, so that wk_load reads its files and
 *          transformers reads those of wk_save.
 * Errors:  WK_ERR_ARGUMENT if an option is invalid; WK_ERR_INDEX if an id is out of range, possibly reported later
 *
 * A training step with windows of a text (wk_text_windows):
 *
 *     wk_tensor *scores = wk_forward(net, batch->x);
 *     wk_tensor *loss = wk_cross_entropy(wk_flatten(scores, 0, 1), wk_flatten(batch->y, 0)); */
#ifndef WICK_LANGUAGE_H
#define WICK_LANGUAGE_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "nn.h"
#include "text.h"

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
    bool untied;               /* lm_head.weight is another parameter than transformer.wte.weight; default false */
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
    bool quantized;   /* keep quantised weights of linear layers of a GGUF file in their blocks; default false */
    bool mmap;        /* map the files into memory instead of reading them; default false */
    char reserved[2];
} wk_nn_pretrained_options;
/* wk_nn_pretrained(folder): Creates the model that config.json in the folder describes, and reads its weights from
 * model.safetensors, or from the files that model.safetensors.index.json lists. Nothing is downloaded. folder may also
 * be a GGUF file, whose quantised weights become f32 (wick/io.h), except with .quantized those of linear layers, which
 * become layers of wk_nn_quantized_linear if wk_block_format has their format. So do layers of a folder whose weights
 * wk_save has written as blocks. The module is in evaluation mode.
 *     wk_module *net = wk_nn_pretrained("Qwen2.5-0.5B", .dtype = WK_F32);
 *     wk_module *net = wk_nn_pretrained("qwen2.5-0.5b-instruct-q4_k_m.gguf", .dtype = WK_BF16);
 *     wk_module *net = wk_nn_pretrained("qwen2.5-0.5b-instruct-q4_k_m.gguf", .dtype = WK_F32, .quantized = true);
 * Mapping:   with .mmap, weights on the CPU that need no conversion stay in the pages of the files, which the system
 *            reads when they are first used and shares between processes; changing a weight does not change its file.
 *            Do not shorten or overwrite a file while the model exists: using a missing page ends the process. Files
 *            that are replaced by renaming, as wk_save does, are safe.
 * Models:    model_type gpt2, llama and qwen2; general.architecture llama and qwen2
 * Errors:    WK_ERR_IO if a file cannot be read; WK_ERR_FORMAT if it is invalid; WK_ERR_UNSUPPORTED if it describes
 *            another kind of model, or a setting that changes the results and that this library does not have;
 *            WK_ERR_SHAPE if the weights do not fit
 * Ends:      wk_generate ends a row at "eos_token_id" of generation_config.json or config.json, or at
 *            tokenizer.ggml.eos_token_id of a GGUF file, unless it gets others. Tokens that are not in the
 *            vocabulary are left out. Other keys, such as that of the end of a turn in a chat, are not read: pass their
 *            tokens as .eos_token_ids
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
 * or i32 (batch).
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_SHAPE, WK_ERR_DTYPE if rows has another shape or dtype; WK_ERR_INDEX if the cache lacks a row,
 *            possibly reported later */
WK_API wk_code wk_kv_cache_reorder_at(wk_site site, wk_kv_cache *cache, wk_tensor *rows);

typedef struct wk_decode_options {
    size_t size;
    wk_by_name by_name;
    wk_tensor *mask;        /* bool (B, positions in use + T): true for tokens, false for padding, before tokens of a
                             * row or behind them; default: new ids are tokens, and earlier positions as before */
    int64_t logits_to_keep; /* compute only the scores of the last ones of the T ids; default 0, all */
} wk_decode_options;
/* wk_decode(net, ids, cache): Computes the scores of ids that follow those in the cache, and appends their keys and
 * values to it. Gradients are not recorded, and dropout is off. The position of a token is the number of tokens before
 * it in its row: padding does not count. Scores at padding are unspecified.
 *     wk_tensor *scores = wk_decode(net, prompts, cache, .mask = tokens, .logits_to_keep = 1);
 * Shapes:    ids (B, T), B the batch of the cache -> (B, T, vocab_size), or (B, logits_to_keep, vocab_size)
 * Dtypes:    ids i64 or i32; scores as the parameters
 * Errors:    WK_ERR_ARGUMENT if net differs in kind, sizes, dtype or device from the model of the cache; WK_ERR_SHAPE,
 *            WK_ERR_DTYPE if ids or the mask do not match; WK_ERR_STATE if the cache has not enough positions left;
 *            WK_ERR_INDEX if an id is out of range, possibly reported later
 * Source:    the forward of transformers' models with past_key_values, attention_mask and logits_to_keep */
WK_RESULT_API wk_tensor *wk_decode_at(wk_site site, wk_module *net, wk_tensor *ids, wk_kv_cache *cache,
                                      const wk_decode_options *options);

/* ---- generation -------------------------------------------------------------------------------------------------- */

typedef struct wk_process_logits_options {
    size_t size;
    wk_by_name by_name;
    wk_tensor *ids;             /* integers (B, L): the tokens that .repetition_penalty concerns; default none */
    double repetition_penalty;  /* divides scores of these tokens above 0, multiplies those below 0; default 1 */
    double temperature;         /* divides all scores; default 1 */
    double top_p;               /* keep the likeliest tokens whose probabilities reach this sum; default 1, all */
    double min_p;               /* keep the tokens with at least this fraction of the greatest probability; default 0 */
    int64_t top_k;              /* keep scores not below the k-th greatest; default 0, all */
    int64_t min_tokens_to_keep; /* tokens that .top_k, .top_p and .min_p keep in any case; default 1 */
} wk_process_logits_options;
/* wk_process_logits(logits): Changes scores as wk_generate does before it draws a token: applies .repetition_penalty,
 * .temperature, .top_k, .top_p and .min_p, in this order. A token that is not kept gets the score -infinity. Draw one
 * in a loop of your own:
 *     wk_tensor *scores = wk_process_logits(wk_select(logits, 1, -1), .top_k = 50);
 *     wk_tensor *next = wk_multinomial(wk_softmax(scores, 1), 1);
 * Shapes:    (B, V) -> (B, V)
 * Dtypes:    floating; out f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE, WK_ERR_DTYPE if logits or .ids have another shape or dtype; WK_ERR_ARGUMENT if an option is
 *            invalid; WK_ERR_INDEX if a token is not in [0, V), possibly reported later
 * Source:    transformers.generation.logits_process */
WK_RESULT_API wk_tensor *wk_process_logits_at(wk_site site, wk_tensor *logits,
                                              const wk_process_logits_options *options);

/* Receives the tokens of one step of wk_generate, one for each row, or the next piece of a text. Returns false to end
 * the generation. */
typedef bool wk_on_token(const int64_t *tokens, int64_t rows, void *user);
typedef bool wk_on_text(const char *piece, void *user);

/* When beam search ends, as transformers' early_stopping. */
typedef enum wk_early_stopping {
    WK_EARLY_STOPPING_OFF,  /* False: if the best running sequence scores below the finished ones at its length */
    WK_EARLY_STOPPING_ON,   /* True: once .num_beams sequences are finished */
    WK_EARLY_STOPPING_NEVER /* "never": if no longer sequence can score above the finished ones */
} wk_early_stopping;

typedef struct wk_generate_options {
    size_t size;
    wk_by_name by_name;
    int64_t max_new_tokens; /* at least 1; default, also for 0: 20 */
    int64_t context;        /* greatest number of tokens that the network sees: the last ones; default all */
    int64_t top_k; /* the next five as in wk_process_logits; all but the penalty need .do_sample. Default 0, all
                             * tokens, where transformers has 50 */
    double temperature;
    double top_p;
    double min_p;
    double repetition_penalty;    /* concerns the prompt without padding and the new tokens */
    double eos_token_id;          /* token that ends a row; -1: none; default that of a pretrained model */
    const int64_t *eos_token_ids; /* further ones; default none */
    int64_t eos_count;            /* number of eos_token_ids */
    double pad_token_id;          /* token of a row after its end; default .eos_token_id or the first further one */
    wk_tensor *mask;              /* bool or integers (B, T): 0 for padding, which is at the left; default no padding */
    int64_t num_beams;            /* sequences of beam search for each row; default 1: no beam search */
    double length_penalty;        /* exponent of the length by which beam search divides scores; default 1 */
    wk_early_stopping early_stopping; /* default WK_EARLY_STOPPING_OFF; true is WK_EARLY_STOPPING_ON */
    bool do_sample;                   /* draw tokens at random, in beam search its candidates; default false: take the
                                       * likeliest ones */
    char reserved[3];
    wk_on_token *on_token;   /* called after each step, without beam search; default none */
    wk_on_text *on_text;     /* wk_generate_text: called with each piece of text; default none */
    void *user;              /* passed to .on_token and .on_text */
    const char *const *stop; /* wk_generate_text: texts that end the generation; default none */
    int64_t stop_count;      /* number of them */
} wk_generate_options;
/* wk_generate(net, ids): Continues each row of ids with the tokens that a language model predicts. net is a model of
 * this header, which computes each position once (wk_decode), or all that it sees once rows are longer than .context;
 * or any module whose wk_forward returns scores (B, T, V) for ids (B, T), which computes all positions in each step and
 * takes no .mask. Scores are processed as f32. The call computes without gradients and in evaluation mode; it restores
 * the modes of all modules.
 *     wk_tensor *out = wk_generate(net, ids, .max_new_tokens = 100, .do_sample = true, .top_k = 50);
 * Shapes:    ids of integers (B, T) -> i64 (B, T + n): the prompts, then n <= .max_new_tokens tokens: fewer if all
 *            rows end earlier. With .num_beams, the sequence with the best score for each row.
 * Random:    draws use the thread's random stream (wk_seed), whose numbers are the same on all devices. Scores differ
 *            between devices by rounding, so the same seed gives the same tokens unless two of them are a rounding
 *            error apart in a draw.
 * Callback:  .on_token gets .pad_token_id for rows that have ended. It must not change net or ids.
 * Returns:   a new tensor on the device of ids, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE, WK_ERR_DTYPE if ids, .mask or the scores have another shape or dtype; WK_ERR_ARGUMENT if an
 *            option is invalid, net is BERT or the body of a model, the network lacks an end or padding token, or a row
 *            of .mask has padding behind a token, or only padding; WK_ERR_UNSUPPORTED if net takes no .mask;
 *            WK_ERR_INDEX if a token is negative or not in the network, possibly reported later
 * Source:    transformers.GenerationMixin.generate */
WK_RESULT_API wk_tensor *wk_generate_at(wk_site site, wk_module *net, wk_tensor *ids,
                                        const wk_generate_options *options);
/* wk_generate_text(net, text, prompt): Continues a text: wk_generate with the tokens of text, whose options it takes
 * except .mask. .on_text receives the continuation in pieces of complete characters. The continuation ends before the
 * first text of .stop that occurs in it. Special tokens are left out; bytes that are not UTF-8, and the character zero,
 * become U+FFFD.
 *     const char *more = wk_generate_text(net, text, "To be, or", .do_sample = true, .on_text = print);
 * Lifetime:  the innermost scope owns the string; without a scope it is valid as long as text
 * Returns:   the continuation, without the prompt; NULL on error
 * Errors:    WK_ERR_FORMAT if prompt is not UTF-8; WK_ERR_ARGUMENT if it has no tokens, a text of .stop is empty, or as
 *            wk_generate */
WK_RESULT_API const char *wk_generate_text_at(wk_site site, wk_module *net, wk_text *text, const char *prompt,
                                              const wk_generate_options *options);

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
#define wk_process_logits(...)                                                                                         \
    WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_process_logits, wk_process_logits_options, __VA_ARGS__))
#define wk_generate(net, ...)                                                                                          \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_generate, wk_generate_options, "net, ids", net, __VA_ARGS__))
#define wk_generate_text(net, text, ...)                                                                               \
    WK_OPT3_(const char *, wk_generate_text, wk_generate_options, "net, text, prompt", net, text, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
