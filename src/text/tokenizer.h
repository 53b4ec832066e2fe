/* SPDX-License-Identifier: Apache-2.0 */
/* Tokenizers: a vocabulary and the rules of its kind, which convert text to ids and back.
 *
 * Ownership: a handle owns its tokenizer.
 * Threads: a tokenizer does not change once it has a handle; any number of threads may use it. */
#ifndef WICK_TEXT_TOKENIZER_H
#define WICK_TEXT_TOKENIZER_H

#include "base/attached.h"
#include "base/platform/file.h"
#include "vocabulary.h"
#include <wick/text.h>

/* ---- ids --------------------------------------------------------------------------------------------------------- */

/* A growing list of ids; after a failed allocation further ids are dropped. */
typedef struct wk__ids {
    int64_t *at; /* owned */
    int64_t count, capacity;
    bool failed;
} wk__ids;

void wk__ids_add(wk__ids *ids, int64_t id);
void wk__ids_free(wk__ids *ids);
/* Creates a tensor of i64 with one dimension on the default device, or NULL after recording an error. */
wk_tensor *wk__ids_tensor(wk_site site, const int64_t *ids, int64_t count);
/* Reads the elements of an integer tensor, row by row, to new memory. Returns NULL after recording an error. */
int64_t *wk__ids_read(wk_site site, const char *op, wk_tensor *x, int64_t *count);

/* Sequences of ids, one after the other. */
typedef struct wk__id_lists {
    wk__ids ids, lengths;
} wk__id_lists;

void wk__id_lists_free(wk__id_lists *lists);
/* How sequences become rows. */
typedef struct wk__padding {
    int64_t width, value; /* size of a row, and the id that fills it */
    bool left;            /* before the ids of a row, else behind them */
    bool lengths, mask;   /* whether these tensors are wanted */
} wk__padding;

/* Creates the rows of sequences, which are cut or padded: out[0], i64 (N, width); if wanted out[1], i64 (N), their
 * lengths without padding, and out[2], bool (N, width), true for ids. `where` has the device; NULL: the default one.
 * Returns false after recording an error. */
bool wk__id_lists_pad(wk_site site, const char *op, const wk__id_lists *lists, const wk__padding *p,
                      const wk_tensor_options *where, wk_tensor *out[3]);
/* Reads the option .padding_side. Returns false after recording an error. */
bool wk__padding_side(wk_site site, const char *op, const char *side, bool *left);

/* ---- tokenizers -------------------------------------------------------------------------------------------------- */

typedef struct wk__tokenizer wk__tokenizer;

/* A part of a text, in UTF-8 unless noted otherwise. */
typedef struct wk__span {
    const char *at;
    int64_t bytes;
} wk__span;

/* A kind of tokenizer. */
typedef struct wk__tokenizer_kind {
    const char *name; /* of its tokens, as in files: "characters" */
    /* Appends the ids of a text, which is valid UTF-8; if special, also the tokens before and after a text. */
    wk_code (*encode)(const wk__tokenizer *t, wk__span text, bool special, wk__ids *ids, wk__io_error *error);
    /* Appends the text of ids that exist; if skip, without special tokens. */
    void (*decode)(const wk__tokenizer *t, const int64_t *ids, int64_t count, bool skip, wk__text *out);
    /* Appends the content of a file that wk_text_load reads as this tokenizer. */
    void (*write)(const wk__tokenizer *t, wk__text *out);
    void (*destroy)(wk__tokenizer *t); /* frees the kind's own memory; may be NULL */

    /* Characters and words only. next takes the next token of a text: stores it in *token and moves *rest behind it;
     * returns false at the end. */
    bool (*next)(const wk__tokenizer *t, wk__span *rest, wk__span *token);
    const char *what, *separator, *unknown; /* "word"; between decoded tokens; default of .unknown, or NULL */
    bool by_code;                           /* ids in the order of the characters, else by falling frequency */
} wk__tokenizer_kind;

struct wk__tokenizer {
    const wk__tokenizer_kind *kind;
    wk__vocabulary vocabulary;
    int64_t unknown;                 /* id of the out-of-vocabulary token; -1: none */
    wk__ids ids;                     /* of the text from which the vocabulary was made */
    bool has_ids;                    /* it was made from a text, whose ids are in `ids` */
    _Atomic(wk__attached *) strings; /* returned while no scope was open */
    int64_t reserved; /* characters, words: the number of out-of-vocabulary and reserved tokens, which come first */
    bool lower, letters_only, punctuation; /* characters, words: rules of wk_text_options */
    struct wk__bpe *bpe;                   /* byte pairs, word pieces: their rules, owned; else NULL */
};

/* Creates a tokenizer without tokens; NULL if memory is exhausted. */
wk__tokenizer *wk__tokenizer_new(const wk__tokenizer_kind *kind);
void wk__tokenizer_free(wk__tokenizer *t); /* accepts NULL */
/* Returns a handle that owns the tokenizer. If code is not WK_OK, frees it, records "op: message", and returns NULL. */
wk_text *wk__tokenizer_wrap(wk_site site, const char *op, wk__tokenizer *t, wk_code code, const wk__io_error *error);
/* Returns the tokenizer of a handle, or NULL after recording an error. */
wk__tokenizer *wk__tokenizer_of(const wk_text *text, wk_site site, const char *op);

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* Reads an entire file and adds a terminator; the caller frees it. */
wk_code wk__text_file_read(const char *path, wk__text *out, wk__io_error *error);
/* Checks that a text is UTF-8 without the character zero; the message names the byte. */
wk_code wk__text_check(wk__span text, wk__io_error *error);
wk_code wk__text_no_memory(wk__io_error *error);
/* Returns true if the string of an option is NULL or UTF-8; else records the error. */
bool wk__check_option_text(wk_site site, const char *op, const char *option, const char *string);
/* Fails because a part of a text, of `bytes` bytes and called `what`, cannot be added to a vocabulary of parts. */
wk_code wk__vocabulary_full(const wk__vocabulary *v, int64_t bytes, const char *what, wk__io_error *error);
/* Takes the next line: stores it without its end in *line and moves *rest behind it. Returns false at the end. */
bool wk__next_line(wk__span *rest, wk__span *line);
/* Takes the next of the tokens that spaces separate: stores it in *token and moves *list behind it. Returns false at
 * the end. */
bool wk__next_listed(const char **list, wk__span *token);

/* ---- characters and words ---------------------------------------------------------------------------------------- */

extern const wk__tokenizer_kind wk__char_kind, wk__word_kind;

/* Applies .letters_only and .lower to a text. Returns the result: in *out, which the caller frees, or the text itself
 * without these options. Sets out->failed if memory is exhausted. */
wk__span wk__text_clean(const wk__tokenizer *t, wk__span text, wk__text *out);
/* Appends a vocabulary file, and reads one (token_file.c). */
void wk__token_file_write(const wk__tokenizer *t, wk__text *out);
wk_code wk__token_file_read(wk__span file, wk__tokenizer **t, wk__io_error *error);

#endif
