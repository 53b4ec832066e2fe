/* SPDX-License-Identifier: Apache-2.0 */
/* Parts that GPT and Llama have in common (wick/language.h).
 *
 *     model              kind gpt2_lm_head_model, llama_for_causal_lm; state: wk__language
 *       body             transformer, model; state: begins with wk__language_body; ids -> features
 *         embedding      wte, embed_tokens
 *         blocks         h.0, layers.0, ...; attention is a child that calls wk__sequence_attend
 *         norm           ln_f, norm
 *       head             lm_head, absent if the embedding is the head as well
 *
 * A call passes a wk__sequence from the model to its body, the blocks and their parts, as the options of their forward
 * (nn/attention_call.h). A part that is called without one treats its input as a complete sequence. */
#ifndef WICK_NN_LANGUAGE_LANGUAGE_H
#define WICK_NN_LANGUAGE_LANGUAGE_H

#include "nn/module.h"
#include "tensor/call_scope.h"
#include <wick/language.h>

/* ---- models ------------------------------------------------------------------------------------------------------ */

enum { WK__LANGUAGE_ENDS = 16 };
/* State of a model. Pointers are to children. */
typedef struct wk__language {
    wk_module *body;
    wk_module *head; /* NULL: the embedding */
    int64_t vocab, positions, layers, kv_heads, head_dim;
    int64_t ends[WK__LANGUAGE_ENDS]; /* tokens that end a text, by default, in wk_generate */
    int end_count;
} wk__language;

/* First member of the state of a body. Pointers are to children. */
typedef struct wk__language_body {
    wk_module *embedding, *blocks, *norm;
} wk__language_body;

#define WK__LANGUAGE_STD 0.02 /* standard deviation of initial weights */

/* Create an embedding, and a linear layer, with the initial values of language models. NULL on error. */
wk_module *wk__language_table(int64_t rows, int64_t features, wk_dtype dtype);
wk_module *wk__language_linear(int64_t in, int64_t out, bool bias, wk_dtype dtype);
/* Creates a module of a kind, without children. NULL on error. */
wk_module *wk__language_part(const char *kind, size_t state, wk_tensor *(*forward1)(wk_module *, wk_tensor *));
/* Creates a model of this kind with two children: the body, and lm_head unless `tied`. Returns NULL on error. */
wk_module *wk__language_model(const char *kind, const char *body_name, wk_module *body, const wk__language *sizes,
                              int64_t features, bool tied, wk_dtype dtype);
/* Returns the state of a model; NULL if m is another kind of module. */
const wk__language *wk__language_find(const wk_module *m);
/* Returns the kind of a model, "llama_for_causal_lm", a static string. */
const char *wk__language_kind(const wk_module *model);
/* Returns the state of a model; NULL after recording an error if m is another kind of module. */
const wk__language *wk__language_of(wk_site site, const char *op, wk_module *m);
/* Sets the tokens that end a text; those that are not in the vocabulary, such as the default of a configuration of
 * transformers, never occur and are left out. */
void wk__language_set_ends(wk_module *m, const int64_t *ends, int count);
/* Returns the weight of the embedding, (vocab, features); NULL on error. */
wk_tensor *wk__language_embedding(const char *op, const wk__language *language);
/* Returns true if m is a body, or BERT: it computes features, and no scores of the next token. */
bool wk__language_lacks_head(const wk_module *m);

/* ---- ids --------------------------------------------------------------------------------------------------------- */

enum { WK__ID_DTYPES = 1 << WK_I64 | 1 << WK_I32 };
/* Records that ids have another dtype than these, or another shape than the text describes, and how to convert them.
 * Returns false. */
__attribute__((format(printf, 4, 5))) bool wk__ids_refuse(wk_site site, const wk_tensor *ids, unsigned dtypes,
                                                          const char *format, ...);
/* Returns the number of tokens of an embedding, or of the embedding of a model; INT64_MAX if another kind of module
 * replaces it. */
int64_t wk__ids_bound(wk_module *embedding);
int64_t wk__language_bound(const wk__language *language);
/* Check that tokens of integer ids are in [0, bound), or in the model `net`, if they are in host memory already;
 * nothing is run or waited for. Return false after recording an error. */
bool wk__ids_check(wk_site site, const char *name, const wk_tensor *ids, int64_t bound);
bool wk__ids_check_of(wk_site site, const char *op, const wk_module *net, const wk_tensor *ids);

/* ---- cache ------------------------------------------------------------------------------------------------------- */

/* Body of a wk_kv_cache. Keys and values of layer k are (batch, kv_heads, capacity, head_dim), of which the first
 * `length` positions are in use. */
typedef struct wk__kv_cache {
    int64_t batch, capacity, length;
    int64_t vocab, layers, kv_heads, head_dim; /* of the model */
    const char *kind;                          /* of the model, static */
    wk_tensor **key, **value;                  /* [layers] each; owned */
    wk_tensor *tokens; /* bool (batch, capacity): false for padding; NULL: there has been none. Owned */
} wk__kv_cache;

extern const wk__handle_type wk__kv_cache_kind;
/* Returns the body of a cache; NULL after recording an error if it is another object. */
wk__kv_cache *wk__kv_cache_of(wk_site site, const char *op, const wk_kv_cache *cache);
/* Appends how to create a cache with the rows and positions of this one. */
void wk__kv_cache_add_hint(wk__text *text, const wk__kv_cache *cache);
/* Empties a cache. */
void wk__kv_cache_clear(wk_kv_cache *cache);

/* ---- sequences --------------------------------------------------------------------------------------------------- */

/* A call of a model: the positions of its ids, and the keys that each of them attends to. The call owns the tensors. */
typedef struct wk__sequence {
    wk__kv_cache *cache;    /* that of wk_decode, without dropout; NULL: the ids are a complete sequence */
    wk_tensor *positions;   /* i64 (T) or (B, T) */
    wk_tensor *mask;        /* of attention, broadcasts to (B, heads, T, keys); NULL: none */
    bool causal;            /* without mask: row i attends to keys 0 to i */
    wk_tensor *rotary[2];   /* tables of wk__rope_tables; NULL before the body of Llama, and in GPT */
    int64_t layer;          /* number of the block that is called */
    int64_t logits_to_keep; /* last positions with scores; 0: all */
} wk__sequence;

/* Returns the sequence of the running forward; without one, that of x (B, T, ...) as a complete one, in *own. NULL on
 * error. */
const wk__sequence *wk__sequence_of_call(wk__sequence *own, wk_tensor *x);
/* Checks ids (B, T) of a call of the body `name` of a model with this embedding and that many positions. Returns false
 * on error. */
bool wk__sequence_check(const char *name, const wk__sequence *s, wk_tensor *ids, wk_module *embedding,
                        int64_t positions);
/* Calls a part of this kind with the sequence. NULL on error, also if x is NULL or m another kind of module. */
wk_tensor *wk__sequence_call(const wk__sequence *s, const char *kind, wk_module *m, wk_tensor *x);
/* Calls a part whose result does not depend on other positions: a kind of this library with the sequence, others as
 * wk_forward. */
wk_tensor *wk__sequence_call_mlp(const wk__sequence *s, const char *kind, wk_module *m, wk_tensor *x);
/* Calls the dropout module, except in wk_decode. */
wk_tensor *wk__sequence_dropout(const wk__sequence *s, wk_module *dropout, wk_tensor *x);
/* Calls the blocks of a body with x, then its norm. */
wk_tensor *wk__sequence_blocks(const wk__sequence *s, const wk__language_body *body, const char *kind, wk_tensor *x);
/* Attends from query (B, heads, T, D) to the keys and values (B, kv_heads, T, D) of the call and those before it, which
 * it appends to the cache. Returns (B, T, heads D); NULL on error. */
wk_tensor *wk__sequence_attend(const wk__sequence *s, wk_tensor *query, wk_tensor *key, wk_tensor *value,
                               double dropout);

#endif
