/* SPDX-License-Identifier: Apache-2.0 */
/* Byte-pair encodings: their parts, normalisers, and the characters that stand for bytes. */
#include "bpe.h"
#include "base/alloc.h"
#include "base/integers.h"
#include "unicode.h"
#include "word_pieces.h"
#include <string.h>

/* ---- the encoding ------------------------------------------------------------------------------------------------ */

static void free_steps(wk__steps *steps)
{
    for (int k = 0; k < steps->count; k++) {
        wk__free(steps->step[k].pattern);
        wk__free(steps->step[k].content);
    }
}

static void destroy(wk__tokenizer *t)
{
    wk__bpe *b = t->bpe;
    if (!b) return;
    wk__merges_free(&b->merges);
    wk__free(b->words.prefix);
    for (int64_t k = 0; k < b->added_count; k++) {
        wk__free(b->added[k].content);
        wk__free(b->added[k].normalized);
    }
    wk__free(b->added);
    free_steps(&b->normalizer);
    free_steps(&b->pre_tokenizer);
    free_steps(&b->decoder);
    wk__ids_free(&b->before);
    wk__ids_free(&b->after);
    wk__free(b);
}

const wk__tokenizer_kind wk__bpe_kind = {.name = "byte pairs",
                                         .encode = wk__bpe_encode,
                                         .decode = wk__bpe_decode,
                                         .write = wk__tokenizer_json_write,
                                         .destroy = destroy,
                                         .what = "character"};

const wk__tokenizer_kind wk__word_piece_kind = {.name = "word pieces",
                                                .encode = wk__bpe_encode,
                                                .decode = wk__bpe_decode,
                                                .write = wk__tokenizer_json_write,
                                                .destroy = destroy,
                                                .what = "word"};

wk__tokenizer *wk__bpe_new(void)
{
    wk__tokenizer *t = wk__tokenizer_new(&wk__bpe_kind);
    if (!t) return NULL;
    t->bpe = wk__alloc_zero(1, sizeof *t->bpe);
    if (t->bpe) return t;
    wk__tokenizer_free(t);
    return NULL;
}

bool wk__bpe_set_word_pieces(wk__tokenizer *t, const char *prefix, int64_t max_characters)
{
    const wk__vocabulary *v = &t->vocabulary;
    wk__word_rules *rules = &t->bpe->words;
    t->kind = &wk__word_piece_kind;
    rules->max_characters = max_characters;
    for (int64_t id = 0; id < v->count; id++)
        if (wk__vocabulary_has(v, id)) rules->longest = wk__max_i64(rules->longest, v->entry[id].length);
    rules->prefix = wk__strdup(prefix);
    return rules->prefix != NULL;
}

void wk__bpe_set_byte_level(wk__bpe *b, wk_text_split rule)
{
    wk__steps *steps = &b->pre_tokenizer;
    *steps = (wk__steps){0};
    if (rule != WK_TEXT_SPLIT_GPT2) steps->step[steps->count++] = (wk__step){.kind = WK__STEP_SPLIT, .split = rule};
    steps->step[steps->count++] = (wk__step){.kind = WK__STEP_BYTES, .use_regex = rule == WK_TEXT_SPLIT_GPT2};
    b->decoder = (wk__steps){.count = 1};
    b->decoder.step[0] = (wk__step){.kind = WK__STEP_BYTES, .use_regex = true};
}

wk_text_split wk__bpe_byte_level(const wk__bpe *b)
{
    const wk__steps *steps = &b->pre_tokenizer;
    if (b->words.prefix || b->normalizer.count > 0 || steps->count < 1 || steps->count > 2) return WK_TEXT_SPLIT_COUNT;
    const wk__step *first = &steps->step[0], *last = &steps->step[steps->count - 1];
    if (last->kind != WK__STEP_BYTES || last->add_prefix_space || last->use_regex != (steps->count == 1) ||
        b->decoder.count != 1 || b->decoder.step[0].kind != WK__STEP_BYTES)
        return WK_TEXT_SPLIT_COUNT;
    if (steps->count == 1) return WK_TEXT_SPLIT_GPT2;
    return first->kind == WK__STEP_SPLIT ? first->split : WK_TEXT_SPLIT_COUNT;
}

/* ---- added tokens ------------------------------------------------------------------------------------------------ */

bool wk__bpe_add_token(wk__tokenizer *t, int64_t id, const char *content, bool special)
{
    wk__bpe *b = t->bpe;
    char *copy = wk__strdup(content);
    if (!copy || !wk__grow(&b->added, &b->added_capacity, b->added_count + 1, sizeof *b->added)) {
        wk__free(copy);
        return false;
    }
    b->added[b->added_count++] = (wk__added_token){.id = id, .content = copy, .special = special};
    t->vocabulary.entry[id].added = (int32_t)b->added_count;
    return true;
}

bool wk__bpe_finish(wk__bpe *b)
{
    for (int64_t k = 0; k < b->added_count; k++) {
        wk__added_token *token = &b->added[k];
        if (!token->in_normalized) continue;
        wk__text text = {0};
        const wk__span given = {token->content, (int64_t)strlen(token->content)};
        const wk__span normal = wk__bpe_normalize(&b->normalizer, given, &text);
        token->normalized = text.failed ? NULL : normal.at == given.at ? wk__strdup(given.at) : text.data;
        if (token->normalized != text.data) wk__text_free(&text);
        if (!token->normalized) return false;
    }
    return true;
}

const wk__added_token *wk__bpe_added(const wk__tokenizer *t, int64_t id)
{
    const int32_t added = t->vocabulary.entry[id].added;
    return added > 0 ? &t->bpe->added[added - 1] : NULL;
}

/* ---- normalisers ------------------------------------------------------------------------------------------------- */

void wk__replace(wk__span text, const char *pattern, const char *content, wk__text *out)
{
    const size_t length = strlen(pattern);
    const char *at = text.at, *const end = at + text.bytes;
    for (const char *found; length > 0 && (found = memmem(at, (size_t)(end - at), pattern, length));) {
        wk__text_add_n(out, at, found - at);
        wk__text_add(out, content);
        at = found + length;
    }
    wk__text_add_n(out, at, end - at);
}

static void normalize_step(const wk__step *step, wk__span text, wk__text *out)
{
    if (step->kind == WK__STEP_REPLACE) {
        wk__replace(text, step->pattern, step->content, out);
    } else if (step->kind == WK__STEP_PREPEND) {
        if (text.bytes > 0) wk__text_add(out, step->content);
        wk__text_add_n(out, text.at, text.bytes);
    } else if (step->kind == WK__STEP_BERT) {
        wk__bert_normalize(&step->bert, text, out);
    } else if (step->kind == WK__STEP_NFC) {
        wk__text_add_nfc(out, text.at, text.bytes);
    } else {
        wk__text_add_lower(out, text.at, text.bytes);
    }
}

wk__span wk__bpe_normalize(const wk__steps *steps, wk__span text, wk__text *out)
{
    for (int k = 0; k < steps->count; k++) {
        wk__text next = {0};
        wk__text_add(&next, "");
        normalize_step(&steps->step[k], text, &next);
        next.failed |= out->failed;
        wk__text_free(out);
        *out = next;
        text = (wk__span){out->data, out->length};
        if (out->failed) break;
    }
    return text;
}

/* ---- bytes as characters ----------------------------------------------------------------------------------------- */

/* Bytes that are printable in Latin-1 stand for themselves; the others for U+0100, U+0101, ... */
static bool is_printable(int byte)
{
    return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

/* The bytes that are not printable, in order: 0 to ' ', 0x7f to 0xa0, 0xad. */
enum { LOW = ' ' + 1, MIDDLE = 0xa0 - 0x7f + 1 };

uint32_t wk__char_of_byte(unsigned char byte)
{
    if (is_printable(byte)) return byte;
    return 0x100u + (byte < LOW ? byte : byte == 0xad ? LOW + MIDDLE : (uint32_t)byte - 0x7f + LOW);
}

int wk__byte_of_char(uint32_t code)
{
    if (code < 0x100) return is_printable((int)code) ? (int)code : -1;
    const int order = (int)(code - 0x100);
    if (code > 0x100 + LOW + MIDDLE) return -1;
    return order < LOW ? order : order == LOW + MIDDLE ? 0xad : order - LOW + 0x7f;
}
