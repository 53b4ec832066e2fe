/* SPDX-License-Identifier: Apache-2.0 */
/* wk_text_encode_lines: rows of ids, one for each line of a string. */
#include "base/integers.h"
#include "base/options.h"
#include "tensor/call_scope.h"
#include "tokenizer.h"
#include <string.h>

/* Tokens around lines; -1: none. */
typedef struct around {
    int64_t begin, end;
} around;

/* Finds the id of a token that an option names; -1 for NULL. Returns false after recording an error. */
static bool find_token(wk_site site, const char *op, const wk__tokenizer *t, const char *option, const char *token,
                       int64_t *id)
{
    *id = token ? wk__vocabulary_find(&t->vocabulary, token, (int64_t)strlen(token)) : -1;
    if (!token || *id >= 0) return true;
    wk__error_set(site, WK_ERR_ARGUMENT,
                  "%s: the token \"%s\" of %s is not in the vocabulary; add it with .reserved_tokens", op,
                  wk__printable_name(token).text, option);
    return false;
}

/* Appends the ids of each line. */
static wk_code encode_lines(const wk__tokenizer *t, wk__span text, const around *tokens, wk__id_lists *lists,
                            wk__io_error *error)
{
    wk_code code = WK_OK;
    for (wk__span line; code == WK_OK && wk__next_line(&text, &line);) {
        const int64_t before = lists->ids.count;
        if (tokens->begin >= 0) wk__ids_add(&lists->ids, tokens->begin);
        code = t->kind->encode(t, line, false, &lists->ids, error);
        if (tokens->end >= 0) wk__ids_add(&lists->ids, tokens->end);
        wk__ids_add(&lists->lengths, lists->ids.count - before);
        if (code == WK_OK && (lists->ids.failed || lists->lengths.failed)) code = wk__text_no_memory(error);
        if (code != WK_OK) wk__io_prefix(error, "line %lld", (long long)lists->lengths.count);
    }
    if (code != WK_OK || lists->lengths.count > 0) return code;
    return wk__io_fail(error, WK_ERR_ARGUMENT, "the string is empty; expected at least one line");
}

static bool encode(wk_site site, const char *op, const wk__tokenizer *t, wk__span text, const wk_text_lines_options *o,
                   wk_tensor *out[3])
{
    around tokens;
    wk__io_error error;
    wk__padding p = {.value = -1, .lengths = o->lengths, .mask = o->mask};
    if (!wk__padding_side(site, op, o->padding_side, &p.left) ||
        !find_token(site, op, t, ".begin", o->begin, &tokens.begin) ||
        !find_token(site, op, t, ".end", o->end, &tokens.end))
        return false;
    wk__id_lists lists = {0};
    const wk_code code = encode_lines(t, text, &tokens, &lists, &error);
    int64_t longest = 0, shortest = INT64_MAX;
    for (int64_t k = 0; k < lists.lengths.count && code == WK_OK; k++) {
        longest = wk__max_i64(longest, lists.lengths.at[k]);
        shortest = wk__min_i64(shortest, lists.lengths.at[k]);
    }
    bool fine = code == WK_OK;
    if (!fine) wk__error_set(site, code, "%s: %s", op, error.text);
    if (fine && (shortest < longest || shortest < o->length))
        fine = find_token(site, op, t, ".pad", o->pad ? o->pad : "<pad>", &p.value);
    p.width = o->length > 0 ? o->length : longest;
    fine = fine && wk__id_lists_pad(site, op, &lists, &p, NULL, out);
    wk__id_lists_free(&lists);
    return fine;
}

wk_tensor *wk_text_encode_lines_at(wk_site site, wk_text *text, const char *string,
                                   const wk_text_lines_options *options)
{
    static const char op[] = "text_encode_lines";
    wk_text_lines_options o;
    wk__call_scope c;
    wk__io_error error;
    const wk__tokenizer *t = wk__tokenizer_of(text, site, op);
    if (!t || !wk__options(site, op, options, &o)) return NULL;
    if (o.lengths) *o.lengths = NULL;
    if (o.mask) *o.mask = NULL;
    const wk__span all = {string, string ? (int64_t)strlen(string) : 0};
    const wk_code code = wk__text_check(all, &error);
    if (!string)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: the string is NULL", op);
    else if (o.length < 0)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .length must be at least 0, got %lld", op, (long long)o.length);
    else if (code != WK_OK)
        wk__error_set(site, code, "%s: %s", op, error.text);
    else if (wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF)) {
        wk_tensor *out[3] = {NULL, NULL, NULL};
        const bool fine = encode(site, op, t, all, &o, out);
        wk__call_end(&c, out, fine ? 3 : 0);
        if (fine && o.lengths) *o.lengths = out[1];
        if (fine && o.mask) *o.mask = out[2];
        return fine ? out[0] : NULL;
    }
    return NULL;
}
