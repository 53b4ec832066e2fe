/* SPDX-License-Identifier: Apache-2.0 */
/* Word pieces, the encoding of BERT: parts of the pipeline of bpe.h.
 *
 *     normaliser       wk__bert_normalize: control characters, ideographs, accents, case
 *     pre-tokenizer    wk__bert_next_word: words between white space, and characters of punctuation
 *     model            wk__word_pieces: "playing" -> "play", "##ing"
 *     decoder          wk__word_piece_decode */
#ifndef WICK_TEXT_WORD_PIECES_H
#define WICK_TEXT_WORD_PIECES_H

#include "bpe.h"

/* Returns true if a text has the lines [UNK], [CLS] and [SEP], and so is the vocab.txt of BERT. */
bool wk__is_bert_file(wk__span text);
/* Reads a vocab.txt and modifies its text. The caller frees *t, which may be NULL, also after an error. */
wk_code wk__bert_file_read(wk__text *file, const wk__bert_rules *rules, wk__tokenizer **t, wk__io_error *error);
/* Appends a normalised text. */
void wk__bert_normalize(const wk__bert_rules *rules, wk__span text, wk__text *out);
/* Returns the first word in [at, end); empty, at the end, if only white space follows. */
wk__span wk__bert_next_word(const char *at, const char *end);
/* Appends the ids of the pieces of a word. Returns false if it cannot be composed, and is unknown. `memory` is reused;
 * it and ids are `failed` on allocation failure. */
bool wk__word_pieces(const wk__vocabulary *v, const wk__word_rules *rules, wk__span word, wk__text *memory,
                     wk__ids *ids);
/* Appends a token, with a space before it unless it continues the one before or is the first. */
void wk__word_piece_decode(wk__span token, const char *prefix, bool first, bool cleanup, wk__text *out);

#endif
