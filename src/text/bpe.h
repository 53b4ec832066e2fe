/* SPDX-License-Identifier: Apache-2.0 */
/* Byte-pair encodings: merges of pairs of tokens, and the steps before and after them. Word pieces (word_pieces.h) have
 * the same steps, and another model than merges.
 *
 *     text -> added tokens -> normaliser -> added tokens -> pre-tokenizer -> merges within each piece -> ids
 *     ids  -> tokens -> decoder -> text
 *
 * Normaliser, pre-tokenizer and decoder are lists of steps, as a tokenizer.json has them. */
#ifndef WICK_TEXT_BPE_H
#define WICK_TEXT_BPE_H

#include "heap.h"
#include "pair_table.h"
#include "tokenizer.h"

extern const wk__tokenizer_kind wk__bpe_kind, wk__word_piece_kind;

/* ---- merges ------------------------------------------------------------------------------------------------------ */

/* A pair of tokens that is merged into one; its rank is its index in the list. */
typedef struct wk__merge {
    int32_t left, right, to;
} wk__merge;

typedef struct wk__merges {
    wk__merge *list; /* [count], owned */
    int64_t count, capacity;
    wk__pair_table ranks; /* by pairs */
} wk__merges;

/* Appends a merge. Returns false if memory is exhausted, or if the pair already has a merge (*known is true). */
bool wk__merges_add(wk__merges *m, wk__merge merge, bool *known);
/* Returns the rank of a pair; -1 if it is never merged. */
int64_t wk__merges_find(const wk__merges *m, int32_t left, int32_t right);
void wk__merges_free(wk__merges *m);

/* Memory for merging, which one call reuses for all pieces. */
typedef struct wk__merge_memory wk__merge_memory;
/* Merges the pairs of a list of tokens, those of the lowest rank first, and of equal ranks from left to right. Returns
 * the new number of tokens; -1 if memory is exhausted. */
int64_t wk__merge_all(const wk__merges *m, int64_t *tokens, int64_t count, wk__merge_memory *memory);
struct wk__merge_memory {
    struct wk__merge_symbol *symbol; /* owned */
    int64_t symbols;                 /* capacity */
    wk__heap heap;
};
void wk__merge_memory_free(wk__merge_memory *memory);

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Whether spaces are prepended to texts. */
typedef enum wk__prepend { WK__PREPEND_ALWAYS, WK__PREPEND_FIRST, WK__PREPEND_NEVER } wk__prepend;

/* Treatments of the separators of a text. */
typedef enum wk__separators {
    WK__SEPARATORS_ISOLATED, /* each is a piece */
    WK__SEPARATORS_REMOVED,
    WK__SEPARATORS_PREVIOUS, /* each ends the piece before it; of successive ones the first */
    WK__SEPARATORS_NEXT,     /* each begins the piece after it; of successive ones the last */
    WK__SEPARATORS_COUNT
} wk__separators;

/* Kinds of steps. */
typedef enum wk__step_kind {
    WK__STEP_NONE,
    /* normaliser */
    WK__STEP_PREPEND,   /* content before the text */
    WK__STEP_LOWERCASE, /* each character to lower case */
    WK__STEP_NFC,       /* normalisation form C */
    WK__STEP_BERT,      /* by the rules `bert` */
    /* normaliser, decoder: pattern -> content */
    WK__STEP_REPLACE,
    /* pre-tokenizer */
    WK__STEP_SPLIT,  /* by the rule `split` */
    WK__STEP_CUT,    /* at each `pattern`, see wk__separators */
    WK__STEP_DIGITS, /* digits from other text, and with `each` from one another */
    WK__STEP_WORDS,  /* words and punctuation of BERT; white space is removed */
    /* pre-tokenizer, decoder */
    WK__STEP_BYTES,  /* one character for each byte; first with add_prefix_space and use_regex */
    WK__STEP_SPACES, /* `content` for each space, see Metaspace; with `each` pieces begin there */
    /* decoder */
    WK__STEP_BYTE_TOKENS, /* <0x0A> -> a byte */
    WK__STEP_FUSE,        /* joins all tokens */
    WK__STEP_STRIP,       /* removes `content` up to start and stop times at the ends */
    WK__STEP_WORD_PIECES  /* joins tokens that begin with `content`, and with `each` punctuation */
} wk__step_kind;

/* Rules of BERT's normaliser. */
typedef struct wk__bert_rules {
    bool clean;         /* without control characters, white space as spaces */
    bool ideographs;    /* spaces around each */
    bool strip_accents; /* normalisation form D without combining marks */
    bool lower;         /* in lower case */
} wk__bert_rules;

typedef struct wk__step {
    wk__step_kind kind;
    char *pattern, *content; /* owned; may be NULL */
    wk_text_split split;
    bool add_prefix_space, use_regex, each;
    wk__prepend prepend;
    wk__separators separators;
    int64_t start, stop;
    wk__bert_rules bert;
} wk__step;

enum { WK__STEPS = 8 };
typedef struct wk__steps {
    wk__step step[WK__STEPS];
    int count;
} wk__steps;

/* ---- the encoding ------------------------------------------------------------------------------------------------ */

/* A token that is searched in texts before any other rule applies. */
typedef struct wk__added_token {
    int64_t id;
    char *content;                /* owned */
    char *normalized;             /* the content after the normaliser; owned, NULL unless in_normalized */
    bool special, in_normalized;  /* special: see .skip_special_tokens; searched in normalised text */
    bool strip_left, strip_right; /* takes the white space beside it */
} wk__added_token;

/* Rules of word pieces. */
typedef struct wk__word_rules {
    char *prefix;           /* of tokens that continue a word, "##"; owned */
    int64_t max_characters; /* longer words are unknown */
    int64_t longest;        /* bytes of the longest token */
} wk__word_rules;

typedef struct wk__bpe {
    wk__merges merges;
    wk__word_rules words;   /* of word pieces; prefix is NULL in byte-pair encodings */
    wk__added_token *added; /* [added_count], owned */
    int64_t added_count, added_capacity;
    wk__steps normalizer, pre_tokenizer, decoder;
    wk__ids before, after; /* special tokens around a text */
    bool byte_fallback;    /* out-of-vocabulary characters become the tokens <0x00> to <0xFF> of their bytes */
    bool fuse_unknown;     /* successive out-of-vocabulary characters become one token */
    bool ignore_merges;    /* a piece that is a token is encoded as that token, without merges */
} wk__bpe;

/* Creates a tokenizer with an empty encoding; NULL if memory is exhausted. */
wk__tokenizer *wk__bpe_new(void);
/* Makes it one of word pieces, once its vocabulary is set. Returns false if memory is exhausted. */
bool wk__bpe_set_word_pieces(wk__tokenizer *t, const char *prefix, int64_t max_characters);
/* Adds the steps of a byte-level encoding with a rule. */
void wk__bpe_set_byte_level(wk__bpe *b, wk_text_split rule);
/* Returns the rule with which wk__bpe_set_byte_level makes this encoding; else WK_TEXT_SPLIT_COUNT. */
wk_text_split wk__bpe_byte_level(const wk__bpe *b);
/* Appends an added token, whose content is copied; the vocabulary has it. Returns false if memory is exhausted. */
bool wk__bpe_add_token(wk__tokenizer *t, int64_t id, const char *content, bool special);
/* Normalises the added tokens once all tokens and steps are set. Returns false if memory is exhausted. */
bool wk__bpe_finish(wk__bpe *b);

/* Returns the added token of an id, which exists, or NULL. */
const wk__added_token *wk__bpe_added(const wk__tokenizer *t, int64_t id);

/* Applies the steps of a normaliser. Returns the result: in *out, which the caller frees, or without steps the text
 * itself. */
wk__span wk__bpe_normalize(const wk__steps *steps, wk__span text, wk__text *out);
/* Appends a text with all occurrences of pattern replaced, from left to right. */
void wk__replace(wk__span text, const char *pattern, const char *content, wk__text *out);

wk_code wk__bpe_encode(const wk__tokenizer *t, wk__span text, bool special, wk__ids *ids, wk__io_error *error);
void wk__bpe_decode(const wk__tokenizer *t, const int64_t *ids, int64_t count, bool skip, wk__text *out);

/* The character for a byte in the tokens of byte-level encodings; the byte of such a character, or -1. */
uint32_t wk__char_of_byte(unsigned char byte);
int wk__byte_of_char(uint32_t code);

/* Returns the name of a treatment of separators in files. */
const char *wk__separators_name(wk__separators separators);

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Reads a tokenizer.json and modifies its text. The caller frees *t, which may be NULL, also after an error. */
wk_code wk__tokenizer_json_read(wk__text *file, wk__tokenizer **t, wk__io_error *error);
/* Reads the vocabulary in a GGUF file, whose metadata it changes. As above. */
struct wk__safetensors;
wk_code wk__tokenizer_gguf_read(const struct wk__safetensors *file, wk__tokenizer **t, wk__io_error *error);
void wk__tokenizer_json_write(const wk__tokenizer *t, wk__text *out);
/* Appends the object {"token": id, ...} of the vocabulary. */
void wk__bpe_vocab_write(const wk__tokenizer *t, wk__text *out);

#endif
