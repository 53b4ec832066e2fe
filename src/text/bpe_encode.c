/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding of byte pairs and word pieces: the stages of bpe.h; each passes parts of the text to the next. A call caches
 * the tokens of short pieces, because most words of a text occur often. */
#include "base/alloc.h"
#include "bpe.h"
#include "split.h"
#include "unicode.h"
#include "word_pieces.h"
#include <string.h>

/* A cache of the tokens of pieces. */
typedef struct piece_cache {
    wk__vocabulary pieces;
    wk__ids ids;    /* of all pieces, one after the other */
    wk__ids starts; /* of each piece in ids; its end is the start of the next */
} piece_cache;

enum { CACHED_PIECES = 1 << 16, CACHED_BYTES = 64 }; /* most pieces, and bytes of one */

/* A call of the encoder. */
typedef struct encoder {
    const wk__tokenizer *t;
    const wk__bpe *bpe;
    wk__ids *out;
    wk__ids symbols; /* of the current piece */
    wk__merge_memory memory;
    wk__text text; /* memory for the pieces of a word */
    piece_cache cache;
    wk_code code; /* of the first error */
    wk__io_error *error;
} encoder;

static void fail_memory(encoder *e)
{
    if (e->code == WK_OK) e->code = wk__text_no_memory(e->error);
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

/* Appends the tokens of the bytes of a character. Returns false if one is missing. */
static bool add_byte_tokens(encoder *e, wk__span c)
{
    const int64_t before = e->symbols.count;
    for (int64_t k = 0; k < c.bytes; k++) {
        static const char digits[] = "0123456789ABCDEF";
        const unsigned char byte = (unsigned char)c.at[k];
        const char token[] = {'<', '0', 'x', digits[byte >> 4], digits[byte & 15], '>'};
        const int64_t id = wk__vocabulary_find(&e->t->vocabulary, token, sizeof token);
        if (id < 0) {
            e->symbols.count = before;
            return false;
        }
        wk__ids_add(&e->symbols, id);
    }
    return true;
}

/* Reports a character or word. */
static void unknown_part(encoder *e, wk__span c)
{
    if (e->code == WK_OK)
        e->code =
            wk__io_fail(e->error, WK_ERR_ARGUMENT, "the %s \"%s\" is not in the vocabulary, which has no unknown token",
                        e->t->kind->what, wk__printable_bytes(c.at, c.bytes).text);
}

/* Sets symbols to the tokens of the characters of a piece. */
static void take_characters(encoder *e, wk__span piece)
{
    int bytes;
    bool was_unknown = false;
    e->symbols.count = 0;
    for (int64_t at = 0; at < piece.bytes; at += bytes) {
        (void)wk__utf8_code(piece.at + at, &bytes);
        const wk__span c = {piece.at + at, bytes};
        const int64_t id = wk__vocabulary_find(&e->t->vocabulary, c.at, bytes);
        const bool known = id >= 0 || (e->bpe->byte_fallback && add_byte_tokens(e, c));
        if (id >= 0)
            wk__ids_add(&e->symbols, id);
        else if (!known && e->t->unknown < 0)
            unknown_part(e, c);
        else if (!known && !(was_unknown && e->bpe->fuse_unknown))
            wk__ids_add(&e->symbols, e->t->unknown);
        was_unknown = !known;
    }
    if (e->symbols.failed) fail_memory(e);
}

/* Sets symbols to the pieces of a word, or to the unknown token. */
static void take_word(encoder *e, wk__span word)
{
    e->symbols.count = 0;
    if (!wk__word_pieces(&e->t->vocabulary, &e->bpe->words, word, &e->text, &e->symbols)) {
        e->symbols.count = 0;
        if (e->t->unknown < 0)
            unknown_part(e, word);
        else
            wk__ids_add(&e->symbols, e->t->unknown);
    }
    if (e->symbols.failed || e->text.failed) fail_memory(e);
}

/* Sets symbols to the tokens of a piece. */
static void take_piece(encoder *e, wk__span piece)
{
    if (e->bpe->words.prefix) {
        take_word(e, piece);
        return;
    }
    const int64_t whole = e->bpe->ignore_merges ? wk__vocabulary_find(&e->t->vocabulary, piece.at, piece.bytes) : -1;
    if (whole >= 0) {
        e->symbols.count = 0;
        wk__ids_add(&e->symbols, whole);
        return;
    }
    take_characters(e, piece);
    if (e->code != WK_OK) return;
    const int64_t count = wk__merge_all(&e->bpe->merges, e->symbols.at, e->symbols.count, &e->memory);
    if (count < 0)
        fail_memory(e);
    else
        e->symbols.count = count;
}

/* Caches the tokens of a piece; does nothing once an allocation has failed. */
static void remember(piece_cache *cache, wk__span piece, const wk__ids *ids)
{
    if (cache->pieces.count >= CACHED_PIECES || cache->ids.failed || cache->starts.failed) return;
    if (cache->starts.count == 0) wk__ids_add(&cache->starts, 0);
    for (int64_t k = 0; k < ids->count; k++) wk__ids_add(&cache->ids, ids->at[k]);
    if (cache->ids.failed) return;
    wk__ids_add(&cache->starts, cache->ids.count);
    if (!cache->starts.failed && !wk__vocabulary_put(&cache->pieces, cache->pieces.count, piece.at, piece.bytes))
        cache->starts.failed = true;
}

static void encode_piece(encoder *e, wk__span piece)
{
    const bool is_short = piece.bytes <= CACHED_BYTES;
    const int64_t known = is_short ? wk__vocabulary_find(&e->cache.pieces, piece.at, piece.bytes) : -1;
    if (known >= 0) {
        for (int64_t k = e->cache.starts.at[known]; k < e->cache.starts.at[known + 1]; k++)
            wk__ids_add(e->out, e->cache.ids.at[k]);
        return;
    }
    take_piece(e, piece);
    if (e->code != WK_OK) return;
    for (int64_t k = 0; k < e->symbols.count; k++) wk__ids_add(e->out, e->symbols.at[k]);
    if (is_short) remember(&e->cache, piece, &e->symbols);
}

/* ---- pre-tokenizer ----------------------------------------------------------------------------------------------- */

static void pre_tokenize(encoder *e, int step, wk__span text, bool first);

/* Splits a text by a rule and passes the pieces to the next step. */
static void split_by_rule(encoder *e, int step, wk_text_split rule, wk__span text, bool first)
{
    const char *const end = text.at + text.bytes;
    for (const char *at = text.at; at < end && e->code == WK_OK; first = false) {
        const int64_t bytes = wk__split_piece(rule, at, end);
        pre_tokenize(e, step + 1, (wk__span){at, bytes}, first);
        at += bytes;
    }
}

/* Cuts a text at each occurrence of a string. */
static void cut(encoder *e, int step, wk__span text, bool first)
{
    const wk__step *s = &e->bpe->pre_tokenizer.step[step];
    const size_t length = strlen(s->pattern);
    const bool previous = s->separators == WK__SEPARATORS_PREVIOUS, next = s->separators == WK__SEPARATORS_NEXT;
    const char *at = text.at, *const end = at + text.bytes; /* the next piece begins at `at` */
    for (const char *from = at; at < end && e->code == WK_OK;) {
        const char *found = memmem(from, (size_t)(end - from), s->pattern, length);
        const char *stop = found ? found + length : end;
        /* text before the separator, with it if it ends there */
        const char *before = !found ? end : previous && found > at ? stop : found;
        pre_tokenize(e, step + 1, (wk__span){at, before - at}, first);
        first = first && before == at;
        at = next && found ? found : stop; /* a separator may begin the next piece */
        if (found && (s->separators == WK__SEPARATORS_ISOLATED || (previous && before == found))) {
            pre_tokenize(e, step + 1, (wk__span){found, stop - found}, first);
            first = false;
        }
        from = stop;
    }
}

static void split_digits(encoder *e, int step, wk__span text, bool first)
{
    const char *at = text.at, *const end = at + text.bytes;
    while (at < end && e->code == WK_OK) {
        const char *const from = at;
        int bytes;
        const bool number = wk__char_class_of(wk__utf8_code(at, &bytes)) == WK__CHAR_NUMBER;
        at += bytes;
        while (at < end && !(number && e->bpe->pre_tokenizer.step[step].each) &&
               (wk__char_class_of(wk__utf8_code(at, &bytes)) == WK__CHAR_NUMBER) == number)
            at += bytes;
        pre_tokenize(e, step + 1, (wk__span){from, at - from}, first);
        first = false;
    }
}

static void split_words(encoder *e, int step, wk__span text, bool first)
{
    const char *const end = text.at + text.bytes;
    for (const char *at = text.at; at < end && e->code == WK_OK; first = false) {
        const wk__span word = wk__bert_next_word(at, end);
        pre_tokenize(e, step + 1, word, first);
        at = word.at + word.bytes;
    }
}

/* Passes a piece to the next step with one character for each byte. */
static void hand_bytes(encoder *e, int step, wk__span text, bool first)
{
    wk__text mapped = {0};
    for (int64_t k = 0; k < text.bytes; k++) wk__text_add_code(&mapped, wk__char_of_byte((unsigned char)text.at[k]));
    if (mapped.failed)
        fail_memory(e);
    else
        pre_tokenize(e, step + 1, (wk__span){mapped.data, mapped.length}, first);
    wk__text_free(&mapped);
}

static void as_bytes(encoder *e, int step, wk__span text, bool first)
{
    const wk__step *s = &e->bpe->pre_tokenizer.step[step];
    wk__text spaced = {0};
    if (s->add_prefix_space && *text.at != ' ') {
        wk__text_add(&spaced, " ");
        wk__text_add_n(&spaced, text.at, text.bytes);
        if (spaced.failed) fail_memory(e);
        text = (wk__span){spaced.data, spaced.length};
    }
    const char *const end = text.at + text.bytes;
    for (const char *at = text.at; at < end && e->code == WK_OK; first = false) {
        const int64_t bytes = s->use_regex ? wk__split_piece(WK_TEXT_SPLIT_GPT2, at, end) : end - at;
        hand_bytes(e, step, (wk__span){at, bytes}, first);
        at += bytes;
    }
    wk__text_free(&spaced);
}

/* Replaces spaces, puts one before the text, and splits before each. */
static void as_spaces(encoder *e, int step, wk__span text, bool first)
{
    const wk__step *s = &e->bpe->pre_tokenizer.step[step];
    const size_t length = strlen(s->content);
    wk__text out = {0};
    const bool starts = text.bytes >= (int64_t)length && memcmp(text.at, s->content, length) == 0;
    if (!starts && *text.at != ' ' && (s->prepend == WK__PREPEND_ALWAYS || (s->prepend == WK__PREPEND_FIRST && first)))
        wk__text_add(&out, s->content);
    wk__replace(text, " ", s->content, &out);
    if (out.failed) fail_memory(e);
    const char *at = out.data, *const end = at + out.length;
    while (e->code == WK_OK && at < end) {
        const char *next = end;
        if (s->each && end - at > 1) next = memmem(at + 1, (size_t)(end - at - 1), s->content, length);
        if (!next) next = end;
        pre_tokenize(e, step + 1, (wk__span){at, next - at}, first);
        at = next;
        first = false;
    }
    wk__text_free(&out);
}

/* Applies the steps from `step` on to a part of the text; `first` if it begins the text. Nests once for each step. */
static void pre_tokenize(encoder *e, int step, wk__span text, bool first)
{
    const wk__steps *steps = &e->bpe->pre_tokenizer;
    if (text.bytes == 0 || e->code != WK_OK) return;
    if (step == steps->count)
        encode_piece(e, text);
    else if (steps->step[step].kind == WK__STEP_SPLIT)
        split_by_rule(e, step, steps->step[step].split, text, first);
    else if (steps->step[step].kind == WK__STEP_CUT)
        cut(e, step, text, first);
    else if (steps->step[step].kind == WK__STEP_DIGITS)
        split_digits(e, step, text, first);
    else if (steps->step[step].kind == WK__STEP_WORDS)
        split_words(e, step, text, first);
    else if (steps->step[step].kind == WK__STEP_BYTES)
        as_bytes(e, step, text, first);
    else
        as_spaces(e, step, text, first);
}

/* ---- added tokens ------------------------------------------------------------------------------------------------ */

/* A search for added tokens: for those in the text as given, or in normalised text. */
typedef struct search {
    encoder *e;
    bool normalized;
    bool any, starts[256]; /* first bytes of the tokens */
} search;

static const char *content_of(const wk__added_token *token, bool normalized)
{
    return normalized ? token->normalized : token->content;
}

static search begin_search(encoder *e, bool normalized)
{
    search s = {.e = e, .normalized = normalized};
    for (int64_t k = 0; k < e->bpe->added_count; k++) {
        const wk__added_token *token = &e->bpe->added[k];
        if (token->in_normalized != normalized || !*content_of(token, normalized)) continue;
        s.any = s.starts[(unsigned char)*content_of(token, normalized)] = true;
    }
    return s;
}

/* Returns the longest added token at `at`, or NULL. */
static const wk__added_token *token_at(const search *s, const char *at, const char *end, int64_t *bytes)
{
    const wk__added_token *best = NULL;
    *bytes = 0;
    for (int64_t k = 0; k < s->e->bpe->added_count; k++) {
        const wk__added_token *token = &s->e->bpe->added[k];
        if (token->in_normalized != s->normalized) continue;
        const char *content = content_of(token, s->normalized);
        const int64_t length = (int64_t)strlen(content);
        if (length <= *bytes || length > end - at || memcmp(content, at, (size_t)length) != 0) continue;
        best = token;
        *bytes = length;
    }
    return best;
}

static const char *skip_space(const char *at, const char *end)
{
    int bytes;
    while (at < end && wk__char_class_of(wk__utf8_code(at, &bytes)) == WK__CHAR_SPACE) at += bytes;
    return at;
}

/* Returns the beginning of the white space before `at`, not before `from`. */
static const char *skip_space_back(const char *from, const char *at)
{
    const char *begin = at;
    int bytes;
    while (at > from) {
        do at--;
        while (at > from && ((unsigned char)*at & 0xc0) == 0x80);
        if (wk__char_class_of(wk__utf8_code(at, &bytes)) != WK__CHAR_SPACE) break;
        begin = at;
    }
    return begin;
}

/* Finds the first added token in [from, end): stores its beginning and end with the space that it takes. */
static const wk__added_token *next_token(const search *s, const char *from, const char *end, const char **begin,
                                         const char **stop)
{
    const wk__added_token *token = NULL;
    int64_t bytes = 0;
    const char *at = from;
    for (; s->any && at < end && !token; at += token ? 0 : 1)
        if (s->starts[(unsigned char)*at]) token = token_at(s, at, end, &bytes);
    *begin = token && token->strip_left ? skip_space_back(from, at) : token ? at : end;
    *stop = token ? at + bytes : end;
    if (token && token->strip_right) *stop = skip_space(*stop, end);
    return token;
}

/* Calls part(e, span, first) for the text between added tokens, and appends these. */
static void between_tokens(const search *s, wk__span text, bool first, void (*part)(encoder *, wk__span, bool))
{
    const char *at = text.at, *const end = at + text.bytes;
    while (at < end && s->e->code == WK_OK) {
        const char *begin, *stop;
        const wk__added_token *token = next_token(s, at, end, &begin, &stop);
        if (begin > at) part(s->e, (wk__span){at, begin - at}, first);
        if (token) wk__ids_add(s->e->out, token->id);
        at = stop;
        first = false;
    }
}

static void encode_normalized(encoder *e, wk__span text, bool first)
{
    pre_tokenize(e, 0, text, first);
}

static void encode_given(encoder *e, wk__span text, bool first)
{
    wk__text normal = {0};
    const wk__span result = wk__bpe_normalize(&e->bpe->normalizer, text, &normal);
    const search s = begin_search(e, true);
    if (normal.failed)
        fail_memory(e);
    else
        between_tokens(&s, result, first, encode_normalized);
    wk__text_free(&normal);
}

wk_code wk__bpe_encode(const wk__tokenizer *t, wk__span text, bool special, wk__ids *ids, wk__io_error *error)
{
    encoder e = {.t = t, .bpe = t->bpe, .out = ids, .code = WK_OK, .error = error};
    for (int64_t k = 0; special && k < e.bpe->before.count; k++) wk__ids_add(ids, e.bpe->before.at[k]);
    const search s = begin_search(&e, false);
    between_tokens(&s, text, true, encode_given);
    for (int64_t k = 0; special && k < e.bpe->after.count; k++) wk__ids_add(ids, e.bpe->after.at[k]);
    if (e.symbols.failed) fail_memory(&e);
    wk__ids_free(&e.symbols);
    wk__merge_memory_free(&e.memory);
    wk__text_free(&e.text);
    wk__vocabulary_free(&e.cache.pieces);
    wk__ids_free(&e.cache.ids);
    wk__ids_free(&e.cache.starts);
    return e.code;
}
