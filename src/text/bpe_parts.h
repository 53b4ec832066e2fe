/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a byte-pair encoding as they are in files, not yet checked against one another. */
#ifndef WICK_TEXT_BPE_PARTS_H
#define WICK_TEXT_BPE_PARTS_H

#include "bpe.h"
#include "io/json.h"

/* A token with its id. */
typedef struct wk__listed_token {
    const char *token;
    int64_t id;
} wk__listed_token;

/* A merge of two tokens. */
typedef struct wk__listed_merge {
    const char *left, *right;
} wk__listed_merge;

/* Lists whose strings are in the text of a file. */
typedef struct wk__bpe_parts {
    wk__listed_token *token; /* [tokens], owned */
    wk__listed_merge *merge; /* [merges], owned */
    int64_t tokens, token_capacity, merges, merge_capacity;
} wk__bpe_parts;

/* The lists of steps. */
typedef enum wk__step_list { WK__NORMALIZER, WK__PRE_TOKENIZER, WK__DECODER } wk__step_list;

/* Reads the object of a step, or of a sequence of steps, and appends them. */
wk_code wk__bpe_steps_read(wk__json *json, wk__step_list list, wk__steps *steps, wk__io_error *error);

void wk__bpe_parts_free(wk__bpe_parts *parts);
/* Reads the object {"token": id, ...} of a vocabulary. `into` is a wk__bpe_parts. */
wk_code wk__bpe_parts_read_vocab(wk__json *json, void *into, wk__io_error *error);
/* Appends a token. */
wk_code wk__bpe_parts_add_token(wk__bpe_parts *parts, const char *token, int64_t id, wk__io_error *error);
/* Appends a merge written as two tokens with a space between them. Changes the string. */
wk_code wk__bpe_parts_add_merge(wk__bpe_parts *parts, char *merge, wk__io_error *error);
/* Builds vocabulary and merges of a tokenizer. */
wk_code wk__bpe_parts_build(const wk__bpe_parts *parts, wk__tokenizer *t, wk__io_error *error);
/* Adds merges to a vocabulary of tokens 0 to count - 1, which have scores. */
wk_code wk__bpe_add_scored_merges(wk__tokenizer *t, const double *score, int64_t count, wk__io_error *error);

#endif
