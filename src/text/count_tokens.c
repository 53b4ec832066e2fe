/* SPDX-License-Identifier: Apache-2.0 */
/* wk_text_chars, wk_text_words: count the tokens of a text and make a vocabulary of those that are kept. */
#include "base/alloc.h"
#include "base/options.h"
#include "io/save_load.h"
#include "tokenizer.h"
#include <stdlib.h>
#include <string.h>

/* ---- counting ---------------------------------------------------------------------------------------------------- */

/* Counts the tokens of a text: their ids are in the order of their first occurrence. */
static wk_code count_tokens(const wk__tokenizer *t, wk__span text, wk__vocabulary *counts, wk__io_error *error)
{
    for (wk__span rest = text, token; t->kind->next(t, &rest, &token);) {
        const int64_t id = wk__vocabulary_add(counts, token.at, token.bytes);
        if (id < 0) return wk__vocabulary_full(counts, token.bytes, t->kind->what, error);
        counts->entry[id].frequency++;
    }
    return WK_OK;
}

/* A counted token, for sorting. */
typedef struct counted {
    const char *token;
    int64_t frequency;
    int64_t first; /* order of the first occurrences */
} counted;

static int by_frequency(const void *a, const void *b)
{
    const counted *one = a, *other = b;
    if (one->frequency != other->frequency) return one->frequency < other->frequency ? 1 : -1;
    return one->first < other->first ? -1 : one->first > other->first;
}

/* The order of UTF-8 strings is that of their characters. */
static int by_code(const void *a, const void *b)
{
    return strcmp(((const counted *)a)->token, ((const counted *)b)->token);
}

/* ---- the vocabulary ---------------------------------------------------------------------------------------------- */

/* Adds the out-of-vocabulary token and the reserved tokens. */
static wk_code add_reserved(wk__tokenizer *t, const wk_text_options *o, wk__io_error *error)
{
    const char *unknown = o->unknown ? o->unknown : t->kind->unknown, *list = o->reserved_tokens;
    wk__span token = {unknown, unknown ? (int64_t)strlen(unknown) : 0};
    if (token.bytes > 0 && (t->unknown = wk__vocabulary_add(&t->vocabulary, token.at, token.bytes)) < 0)
        return wk__text_no_memory(error);
    while (wk__next_listed(&list, &token))
        if (wk__vocabulary_add(&t->vocabulary, token.at, token.bytes) < 0) return wk__text_no_memory(error);
    t->reserved = t->vocabulary.count;
    return WK_OK;
}

/* Adds the counted tokens that the options keep, in the order of the kind. Adds the frequencies of the others to the
 * out-of-vocabulary token. */
static wk_code keep_tokens(wk__tokenizer *t, const wk__vocabulary *counts, const wk_text_options *o,
                           wk__io_error *error)
{
    wk__vocabulary *v = &t->vocabulary;
    int64_t kept = 0, room = o->max_size > 0 ? o->max_size - v->count : INT64_MAX;
    counted *list = wk__realloc(NULL, (size_t)counts->count + 1, sizeof *list);
    bool fine = list != NULL;
    for (int64_t k = 0; k < counts->count && fine; k++) {
        const char *token = wk__vocabulary_token(counts, k);
        list[k] = (counted){token, counts->entry[k].frequency, k};
    }
    if (fine) qsort(list, (size_t)counts->count, sizeof *list, by_frequency);
    for (int64_t k = 0; k < counts->count && fine; k++) { /* the kept ones move to the front */
        const int64_t reserved = wk__vocabulary_find(v, list[k].token, (int64_t)strlen(list[k].token));
        if (reserved >= 0) {
            v->entry[reserved].frequency += list[k].frequency;
        } else if (list[k].frequency >= o->min_frequency && kept < room) {
            list[kept++] = list[k];
        } else if (t->unknown >= 0) {
            v->entry[t->unknown].frequency += list[k].frequency;
        }
    }
    if (fine && t->kind->by_code) qsort(list, (size_t)kept, sizeof *list, by_code);
    for (int64_t k = 0; k < kept && fine; k++) {
        const int64_t id = wk__vocabulary_add(v, list[k].token, (int64_t)strlen(list[k].token));
        fine = id >= 0;
        if (fine) v->entry[id].frequency = list[k].frequency;
    }
    wk__free(list);
    return fine ? WK_OK : wk__text_no_memory(error);
}

static wk_code make(wk__tokenizer *t, wk__span text, const wk_text_options *o, wk__io_error *error)
{
    wk__text clean = {0};
    wk__vocabulary counts = {0};
    wk_code code = add_reserved(t, o, error);
    if (code == WK_OK) code = wk__text_check(text, error);
    if (code == WK_OK) {
        const wk__span all = wk__text_clean(t, text, &clean);
        code = clean.failed ? wk__text_no_memory(error) : count_tokens(t, all, &counts, error);
    }
    wk__text_free(&clean);
    if (code == WK_OK) code = keep_tokens(t, &counts, o, error);
    wk__vocabulary_free(&counts);
    if (code == WK_OK) code = t->kind->encode(t, text, false, &t->ids, error);
    if (code == WK_OK && t->ids.failed) code = wk__text_no_memory(error);
    t->has_ids = true;
    return code;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static bool check_options(wk_site site, const char *op, const wk__tokenizer_kind *kind, const wk_text_options *o)
{
    const char *problem = o->punctuation && kind->by_code         ? ".punctuation is an option of words"
                          : o->punctuation && o->letters_only     ? ".letters_only leaves no .punctuation; choose one"
                          : o->min_frequency < 0                  ? ".min_frequency must be at least 0"
                          : o->max_size < 0                       ? ".max_size must be at least 0"
                          : o->unknown && strchr(o->unknown, ' ') ? ".unknown must be one token, without spaces"
                                                                  : NULL;
    if (problem) wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s", op, problem);
    return !problem && wk__check_option_text(site, op, ".unknown", o->unknown) &&
           wk__check_option_text(site, op, ".reserved_tokens", o->reserved_tokens);
}

/* Makes a vocabulary of a file, or if path is NULL of a string. */
static wk_text *make_text(wk_site site, const char *op, const wk__tokenizer_kind *kind, const char *path,
                          const char *string, const wk_text_options *options)
{
    wk_text_options o;
    if (!wk__options(site, op, options, &o) || !check_options(site, op, kind, &o)) return NULL;
    wk__text content = {0};
    wk__io_error error;
    wk__tokenizer *t = wk__tokenizer_new(kind);
    wk_code code = t ? WK_OK : wk__text_no_memory(&error);
    if (code == WK_OK && path) code = wk__text_file_read(path, &content, &error);
    if (code == WK_OK) {
        t->lower = o.lower, t->letters_only = o.letters_only, t->punctuation = o.punctuation;
        const wk__span text = {path ? content.data : string, path ? content.length : (int64_t)strlen(string)};
        code = make(t, text, &o, &error);
        if (code != WK_OK && path) wk__io_prefix(&error, "%s", wk__printable_name(path).text);
    }
    wk__text_free(&content);
    return wk__tokenizer_wrap(site, op, t, code, &error);
}

static wk_text *make_of(wk_site site, const char *op, const wk__tokenizer_kind *kind, const char *string,
                        const wk_text_options *options)
{
    if (string) return make_text(site, op, kind, NULL, string, options);
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: the string is NULL", op);
    return NULL;
}

wk_text *wk_text_chars_at(wk_site site, const char *path, const wk_text_options *options)
{
    static const char op[] = "text_chars";
    return wk__check_path(site, op, path) ? make_text(site, op, &wk__char_kind, path, NULL, options) : NULL;
}

wk_text *wk_text_chars_of_at(wk_site site, const char *string, const wk_text_options *options)
{
    return make_of(site, "text_chars_of", &wk__char_kind, string, options);
}

wk_text *wk_text_words_at(wk_site site, const char *path, const wk_text_options *options)
{
    static const char op[] = "text_words";
    return wk__check_path(site, op, path) ? make_text(site, op, &wk__word_kind, path, NULL, options) : NULL;
}

wk_text *wk_text_words_of_at(wk_site site, const char *string, const wk_text_options *options)
{
    return make_of(site, "text_words_of", &wk__word_kind, string, options);
}
