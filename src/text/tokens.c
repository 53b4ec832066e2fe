/* SPDX-License-Identifier: Apache-2.0 */
/* Tokenizers of characters and of words: cutting a text, ids of its tokens, and text of ids. */
#include "base/alloc.h"
#include "tokenizer.h"
#include "unicode.h"
#include <string.h>

/* ---- cleaning ---------------------------------------------------------------------------------------------------- */

static bool is_ascii_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Appends the text with a space for each run of other characters than ASCII letters, without those at its ends. */
static void keep_letters(wk__span text, wk__text *out)
{
    for (int64_t at = 0, from; at < text.bytes;) {
        while (at < text.bytes && !is_ascii_letter(text.at[at])) at++;
        for (from = at; at < text.bytes && is_ascii_letter(text.at[at]);) at++;
        if (at > from && out->length > 0) wk__text_add(out, " ");
        wk__text_add_n(out, text.at + from, at - from);
    }
}

wk__span wk__text_clean(const wk__tokenizer *t, wk__span text, wk__text *out)
{
    wk__text letters = {0};
    if (t->letters_only) {
        wk__text_add(&letters, ""); /* so that it has memory even if no letter follows */
        keep_letters(text, &letters);
        text = (wk__span){letters.data, letters.length};
    }
    if (!t->lower) {
        *out = letters;
        return text;
    }
    wk__text_add(out, "");
    if (!letters.failed) wk__text_add_lower(out, text.at, text.bytes);
    out->failed |= letters.failed;
    wk__text_free(&letters);
    return (wk__span){out->data, out->length};
}

/* ---- cutting ----------------------------------------------------------------------------------------------------- */

static bool next_char(const wk__tokenizer *t, wk__span *rest, wk__span *token)
{
    int bytes;
    (void)t;
    if (rest->bytes == 0) return false;
    (void)wk__utf8_code(rest->at, &bytes);
    *token = (wk__span){rest->at, bytes};
    *rest = (wk__span){rest->at + bytes, rest->bytes - bytes};
    return true;
}

static bool is_punctuation(char c)
{
    return c == '.' || c == ',' || c == '!' || c == '?';
}

static bool next_word(const wk__tokenizer *t, wk__span *rest, wk__span *token)
{
    const char *at = rest->at, *const end = at + rest->bytes;
    int bytes;
    while (at < end && wk__char_class_of(wk__utf8_code(at, &bytes)) == WK__CHAR_SPACE) at += bytes;
    const char *const from = at;
    while (at < end && wk__char_class_of(wk__utf8_code(at, &bytes)) != WK__CHAR_SPACE) {
        const bool alone = t->punctuation && is_punctuation(*at);
        if (alone && at > from) break;
        at += bytes;
        if (alone) break;
    }
    *token = (wk__span){from, at - from};
    *rest = (wk__span){at, end - at};
    return at > from;
}

/* ---- ids --------------------------------------------------------------------------------------------------------- */

/* Fails because a token at byte `position` of the cleaned text is not in the vocabulary. */
static wk_code unknown_token(const wk__tokenizer *t, wk__span token, int64_t position, wk__io_error *error)
{
    const char *cleaned = t->letters_only && t->lower ? " after .letters_only and .lower"
                          : t->letters_only           ? " after .letters_only"
                          : t->lower                  ? " after .lower"
                                                      : "";
    return wk__io_fail(error, WK_ERR_ARGUMENT,
                       "the %s \"%s\" (byte %lld%s) is not in the vocabulary; name an out-of-vocabulary token with "
                       ".unknown",
                       t->kind->what, wk__printable_bytes(token.at, token.bytes).text, (long long)position, cleaned);
}

static wk_code encode(const wk__tokenizer *t, wk__span text, bool special, wk__ids *ids, wk__io_error *error)
{
    (void)special;
    wk__text clean = {0};
    const wk__span all = wk__text_clean(t, text, &clean);
    wk_code code = clean.failed ? wk__text_no_memory(error) : WK_OK;
    for (wk__span rest = all, token; code == WK_OK && t->kind->next(t, &rest, &token);) {
        int64_t id = wk__vocabulary_find(&t->vocabulary, token.at, token.bytes);
        if (id < 0) id = t->unknown;
        if (id < 0) code = unknown_token(t, token, token.at - all.at, error);
        wk__ids_add(ids, id);
    }
    wk__text_free(&clean);
    return code;
}

static void decode(const wk__tokenizer *t, const int64_t *ids, int64_t count, bool skip, wk__text *out)
{
    bool first = true;
    for (int64_t k = 0; k < count; k++) {
        if (skip && ids[k] < t->reserved && ids[k] != t->unknown) continue;
        if (!first) wk__text_add(out, t->kind->separator);
        const wk__vocabulary_entry *entry = &t->vocabulary.entry[ids[k]];
        wk__text_add_n(out, wk__vocabulary_token(&t->vocabulary, ids[k]), entry->length);
        first = false;
    }
}

const wk__tokenizer_kind wk__char_kind = {.name = "characters",
                                          .encode = encode,
                                          .decode = decode,
                                          .write = wk__token_file_write,
                                          .next = next_char,
                                          .what = "character",
                                          .separator = "",
                                          .by_code = true};
const wk__tokenizer_kind wk__word_kind = {.name = "words",
                                          .encode = encode,
                                          .decode = decode,
                                          .write = wk__token_file_write,
                                          .next = next_word,
                                          .what = "word",
                                          .separator = " ",
                                          .unknown = "<unk>"};
