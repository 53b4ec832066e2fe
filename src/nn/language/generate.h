/* SPDX-License-Identifier: Apache-2.0 */
/* Generation of tokens (wick/language.h): rules that change scores, and the state of a generation. */
#ifndef WICK_NN_LANGUAGE_GENERATE_H
#define WICK_NN_LANGUAGE_GENERATE_H

#include "nn/module.h"
#include <wick/language.h>

/* Reports an option with another value than expected. Returns false. */
bool wk__bad_option(wk_site site, const char *op, const char *option, const char *expected, double value);

/* ---- scores ------------------------------------------------------------------------------------------------------ */

/* Rules of wk_process_logits, with their defaults filled in. */
typedef struct wk__logits_rules {
    double repetition_penalty, temperature, top_p, min_p;
    int64_t top_k; /* 0: all */
    int64_t keep;  /* tokens that the last three keep in any case, at least 1 */
} wk__logits_rules;

/* Fills in the defaults of doubles that are 0 and checks all rules. Returns false after recording an error. */
bool wk__logits_rules_set(wk_site site, const char *op, wk__logits_rules *rules);
/* Applies the rules to scores (B, V) of f32. ids (B, L): tokens for the penalty; NULL: none. NULL on error. */
wk_tensor *wk__logits_rules_apply(const wk__logits_rules *rules, wk_tensor *scores, wk_tensor *ids);

/* ---- a generation ------------------------------------------------------------------------------------------------ */

/* A generation in progress. All tensors belong to the scope of the call. */
typedef struct wk__generation {
    wk_site site;
    wk_module *net;
    wk_generate_options options;
    wk__logits_rules rules;
    int64_t prompt, most; /* tokens of a row in the prompt; greatest number of new ones, at least 1 */
    int64_t *eos;         /* tokens that end a row */
    int64_t eos_count;
    int64_t pad;        /* token behind the end of a row */
    wk_tensor *mask;    /* bool (rows, prompt): true for tokens; NULL: no padding */
    wk_kv_cache *cache; /* NULL: each step computes all positions; else of rows * num_beams rows */
} wk__generation;

/* Returns zeroed memory that the end of the call frees, also if an error handler leaves it by longjmp. NULL after
 * recording an error. */
void *wk__generation_memory(wk_site site, int64_t count, size_t size);
/* Checks the options and ids of the program, and fills in the generation except for its cache. Returns ids as i64
 * (rows, prompt); NULL on error. */
wk_tensor *wk__generation_read(wk__generation *g, wk_tensor *ids);
/* Returns the scores f32 (rows, V) of the token that follows the first `length` of `tokens`, i64 (rows, ...). NULL on
 * error. */
wk_tensor *wk__generation_scores(const wk__generation *g, wk_tensor *tokens, int64_t length);
/* Returns true if the token ends a row. */
bool wk__generation_ends(const wk__generation *g, int64_t token);
/* Returns ids i64 (rows, prompt) with the last token of a row instead of its padding, so that a penalty for the tokens
 * of a row does not concern padding. NULL on error. */
wk_tensor *wk__generation_seen(const wk__generation *g, wk_tensor *ids);

/* Generates with beam search: returns i64 (rows, prompt + n). NULL on error. */
wk_tensor *wk__generate_beams(wk__generation *g, wk_tensor *ids);

#endif
