/* SPDX-License-Identifier: Apache-2.0 */
/* wk_text_encode_lines: rows of ids, one for each line of a string. */
#include "base/alloc.h"
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

/* Takes the next line: stores it without its end in *line and moves *rest behind it. */
static bool next_line(wk__span *rest, wk__span *line)
{
    if (rest->bytes == 0) return false;
    const char *const newline = memchr(rest->at, '\n', (size_t)rest->bytes);
    const int64_t bytes = newline ? newline - rest->at : rest->bytes, taken = bytes + (newline != NULL);
    *line = (wk__span){rest->at, bytes - (newline && bytes > 0 && newline[-1] == '\r')};
    *rest = (wk__span){rest->at + taken, rest->bytes - taken};
    return true;
}

/* Returns the ids of a line as a tensor; NULL after recording an error. */
static wk_tensor *encode_line(wk_site site, const char *op, const wk__tokenizer *t, wk__span line, int64_t number,
                              const around *tokens)
{
    wk__ids ids = {0};
    wk__io_error error;
    wk_tensor *row = NULL;
    if (tokens->begin >= 0) wk__ids_add(&ids, tokens->begin);
    wk_code code = t->kind->encode(t, line, false, &ids, &error);
    if (tokens->end >= 0) wk__ids_add(&ids, tokens->end);
    if (code == WK_OK && ids.failed) code = wk__text_no_memory(&error);
    if (code == WK_OK)
        row = wk__ids_tensor(site, ids.at, ids.count);
    else
        wk__error_set(site, code, "%s: line %lld: %s", op, (long long)number, error.text);
    wk__ids_free(&ids);
    return row;
}

/* The rows of all lines. */
typedef struct rows {
    wk_tensor **at; /* [count], owned */
    int64_t count, capacity;
    bool different; /* they have different lengths */
} rows;

static bool encode_rows(wk_site site, const char *op, const wk__tokenizer *t, wk__span text, const around *tokens,
                        rows *r)
{
    for (wk__span line; next_line(&text, &line); r->count++) {
        if (!wk__grow(&r->at, &r->capacity, r->count + 1, sizeof *r->at)) {
            wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
            return false;
        }
        r->at[r->count] = encode_line(site, op, t, line, r->count + 1, tokens);
        if (!r->at[r->count]) return false;
        r->different |= wk_numel(r->at[r->count]) != wk_numel(r->at[0]);
    }
    if (r->count == 0) wk__error_set(site, WK_ERR_ARGUMENT, "%s: the string is empty; expected at least one line", op);
    return r->count > 0;
}

static bool encode(wk_site site, const char *op, const wk__tokenizer *t, wk__span text, const wk_text_lines_options *o,
                   wk_tensor *out[2])
{
    around tokens;
    rows r = {0};
    wk_text_pad_options pad = {.size = sizeof pad, .length = o->length, .lengths = o->lengths ? &out[1] : NULL};
    bool fine = find_token(site, op, t, ".begin", o->begin, &tokens.begin) &&
                find_token(site, op, t, ".end", o->end, &tokens.end) && encode_rows(site, op, t, text, &tokens, &r);
    const bool padded = fine && (r.different || o->length > wk_numel(r.at[0]));
    if (padded) fine = find_token(site, op, t, ".pad", o->pad ? o->pad : "<pad>", &pad.value);
    if (fine) out[0] = wk_text_pad_at(site, r.at, r.count, &pad);
    wk__free(r.at);
    return out[0] != NULL;
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
    const wk__span all = {string, string ? (int64_t)strlen(string) : 0};
    const wk_code code = wk__text_check(all, &error);
    if (!string)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: the string is NULL", op);
    else if (o.length < 0)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .length must be at least 0, got %lld", op, (long long)o.length);
    else if (code != WK_OK)
        wk__error_set(site, code, "%s: %s", op, error.text);
    else if (wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF)) {
        wk_tensor *out[2] = {NULL, NULL};
        const bool fine = encode(site, op, t, all, &o, out);
        wk__call_end(&c, out, fine ? (o.lengths ? 2 : 1) : 0);
        if (fine && o.lengths) *o.lengths = out[1];
        return fine ? out[0] : NULL;
    }
    return NULL;
}
