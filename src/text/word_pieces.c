/* SPDX-License-Identifier: Apache-2.0 */
/* BERT: its normaliser, the words of its pre-tokenizer, and the pieces of a word, each the longest token that
 * continues it. */
#include "word_pieces.h"
#include "base/integers.h"
#include "unicode.h"
#include <string.h>

/* ---- normaliser -------------------------------------------------------------------------------------------------- */

/* Returns true for a character that becomes a word: ideographs, but not kana and Hangul. */
static bool is_ideograph(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},  {0x20000, 0x2a6df},
                  {0x2a700, 0x2b81f}, {0x2b920, 0x2ceaf}, {0x2f800, 0x2fa1f}};
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
        if (code >= ranges[k].first && code <= ranges[k].last) return true;
    return false;
}

/* Appends a text with the changes to single characters. */
static void clean(const wk__bert_rules *rules, wk__span text, wk__text *out)
{
    int bytes;
    for (int64_t at = 0; at < text.bytes; at += bytes) {
        const uint32_t code = wk__utf8_code(text.at + at, &bytes);
        const bool alone = rules->ideographs && is_ideograph(code);
        if (rules->clean && wk__is_bert_control(code)) continue;
        if (alone) wk__text_add(out, " ");
        if (rules->clean && wk__char_class_of(code) == WK__CHAR_SPACE)
            wk__text_add(out, " ");
        else
            wk__text_add_n(out, text.at + at, bytes);
        if (alone) wk__text_add(out, " ");
    }
}

void wk__bert_normalize(const wk__bert_rules *rules, wk__span text, wk__text *out)
{
    wk__text cleaned = {0}, plain = {0};
    clean(rules, text, &cleaned);
    if (rules->strip_accents) wk__text_add_without_accents(&plain, cleaned.data, cleaned.length);
    const wk__text *const from = rules->strip_accents ? &plain : &cleaned;
    if (rules->lower)
        wk__text_add_lower(out, from->data, from->length);
    else if (from->length > 0)
        wk__text_add_n(out, from->data, from->length);
    out->failed |= cleaned.failed || plain.failed;
    wk__text_free(&cleaned);
    wk__text_free(&plain);
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

wk__span wk__bert_next_word(const char *at, const char *end)
{
    int bytes;
    while (at < end && wk__char_class_of(wk__utf8_code(at, &bytes)) == WK__CHAR_SPACE) at += bytes;
    const char *const begin = at;
    for (; at < end; at += bytes) {
        const uint32_t code = wk__utf8_code(at, &bytes);
        if (wk__char_class_of(code) == WK__CHAR_SPACE) break;
        if (!wk__is_bert_punctuation(code)) continue;
        if (at == begin) at += bytes;
        break;
    }
    return (wk__span){begin, at - begin};
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static int64_t characters_in(wk__span word)
{
    int64_t count = 0;
    for (int64_t k = 0; k < word.bytes; k++) count += ((unsigned char)word.at[k] & 0xc0) != 0x80;
    return count;
}

/* Returns the id of the longest token at the beginning of `bytes` bytes, and stores its length; -1 if no token begins
 * there. Each token is longer than `least` bytes. */
static int64_t longest_token(const wk__vocabulary *v, const char *at, int64_t bytes, int64_t least, int64_t longest,
                             int64_t *length)
{
    for (int64_t end = wk__min_i64(bytes, longest); end > least; end--) {
        if (end < bytes && ((unsigned char)at[end] & 0xc0) == 0x80) continue; /* within a character: no token ends */
        const int64_t id = wk__vocabulary_find(v, at, end);
        *length = end;
        if (id >= 0) return id;
    }
    return -1;
}

bool wk__word_pieces(const wk__vocabulary *v, const wk__word_rules *rules, wk__span word, wk__text *memory,
                     wk__ids *ids)
{
    const int64_t prefix = (int64_t)strlen(rules->prefix);
    if (characters_in(word) > rules->max_characters) return false;
    for (int64_t from = 0, length = 0; from < word.bytes;) {
        const int64_t rest = word.bytes - from;
        const char *at = word.at;
        if (from > 0) {
            memory->length = 0;
            wk__text_add(memory, rules->prefix);
            wk__text_add_n(memory, word.at + from, wk__min_i64(rest, rules->longest));
            if (memory->failed) return true; /* the caller checks it */
            at = memory->data;
        }
        const int64_t least = from > 0 ? prefix : 0, bytes = from > 0 ? memory->length : rest;
        const int64_t id = longest_token(v, at, bytes, least, rules->longest, &length);
        if (id < 0) return false;
        wk__ids_add(ids, id);
        from += length - least;
    }
    return true;
}

/* ---- decoder ----------------------------------------------------------------------------------------------------- */

/* Removes the spaces before punctuation and English contractions. */
static void clean_up(wk__text *token)
{
    static const char *const pairs[][2] = {{" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
                                           {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
                                           {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs && !token->failed; k++) {
        wk__text next = {0};
        wk__text_add(&next, "");
        wk__replace((wk__span){token->data, token->length}, pairs[k][0], pairs[k][1], &next);
        wk__text_free(token);
        *token = next;
    }
}

void wk__word_piece_decode(wk__span token, const char *prefix, bool first, bool cleanup, wk__text *out)
{
    const int64_t length = (int64_t)strlen(prefix);
    const bool continues = token.bytes >= length && memcmp(token.at, prefix, (size_t)length) == 0;
    wk__text text = {0};
    wk__text_add(&text, first || continues ? "" : " ");
    if (!first && continues) token = (wk__span){token.at + length, token.bytes - length};
    wk__text_add_n(&text, token.at, token.bytes);
    if (cleanup) clean_up(&text);
    if (text.length > 0) wk__text_add_n(out, text.data, text.length);
    out->failed |= text.failed;
    wk__text_free(&text);
}
