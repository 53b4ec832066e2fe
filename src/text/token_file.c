/* SPDX-License-Identifier: Apache-2.0 */
/* Files of vocabularies of characters and words: lines that end in a newline, UTF-8.
 *
 *     wick vocabulary 1
 *     tokens words            or characters
 *     lower 1                 rules of wk_text_options: 0 or 1
 *     letters_only 0
 *     punctuation 0
 *     unknown 0               id of the unknown token; -1: none
 *     reserved 1              number of the first ids that belong to unknown and reserved tokens
 *     count 3                 number of the lines that follow, one for each id
 *     12 <unk>                frequency and token, in which \\, \n and \r stand for backslash, newline and carriage
 *     40 the                  return
 *     7 time */
#include "base/alloc.h"
#include "tokenizer.h"
#include <string.h>

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void write_escaped(const char *token, wk__text *out)
{
    for (size_t plain; *token; token++) {
        plain = strcspn(token, "\\\n\r");
        wk__text_add_n(out, token, (int64_t)plain);
        token += plain;
        if (!*token) return;
        wk__text_add(out, *token == '\\' ? "\\\\" : *token == '\n' ? "\\n" : "\\r");
    }
}

void wk__token_file_write(const wk__tokenizer *t, wk__text *out)
{
    const wk__vocabulary *v = &t->vocabulary;
    wk__text_format(out, "wick vocabulary 1\ntokens %s\nlower %d\nletters_only %d\npunctuation %d\n", t->kind->name,
                    t->lower, t->letters_only, t->punctuation);
    wk__text_format(out, "unknown %lld\nreserved %lld\ncount %lld\n", (long long)t->unknown, (long long)t->reserved,
                    (long long)v->count);
    for (int64_t id = 0; id < v->count; id++) {
        wk__text_format(out, "%lld ", (long long)v->entry[id].frequency);
        write_escaped(wk__vocabulary_token(v, id), out);
        wk__text_add(out, "\n");
    }
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* The rest of a file that is being read. */
typedef struct reader {
    wk__span rest;
    int64_t line; /* number of the last line taken, from 1 on */
    wk__io_error *error;
} reader;

static wk_code bad_line(const reader *r, const char *problem)
{
    return wk__io_fail(r->error, WK_ERR_FORMAT, "invalid vocabulary: %s (line %lld)", problem, (long long)r->line);
}

/* Takes the next line, without its newline. */
static wk_code take_line(reader *r, wk__span *line)
{
    r->line++;
    const char *end = r->rest.bytes > 0 ? memchr(r->rest.at, '\n', (size_t)r->rest.bytes) : NULL;
    if (!end) return bad_line(r, r->rest.bytes > 0 ? "the line does not end" : "the file is truncated");
    *line = (wk__span){r->rest.at, end - r->rest.at};
    r->rest = (wk__span){end + 1, r->rest.bytes - line->bytes - 1};
    return WK_OK;
}

/* Takes an integer from the beginning of a line, without leading zeros; `least` is 0 or -1. */
static bool take_number(wk__span *line, int64_t least, int64_t *value)
{
    const char *at = line->at, *const end = at + line->bytes;
    const bool negative = least < 0 && at < end && *at == '-';
    const char *const first = at += negative;
    for (*value = 0; at < end && *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, *at - '0', value)) return false;
    const bool whole = at > first && (*first != '0' || at == first + 1) && !(negative && *value != 1);
    if (negative) *value = -1;
    *line = (wk__span){at, end - at};
    return whole;
}

/* Takes the line "NAME NUMBER", with a number in [least, most]. */
static wk_code take_field(reader *r, const char *name, int64_t least, int64_t most, int64_t *value)
{
    wk__span line = {0};
    const int64_t length = (int64_t)strlen(name);
    const wk_code code = take_line(r, &line);
    if (code != WK_OK) return code;
    bool fine = line.bytes > length + 1 && memcmp(line.at, name, (size_t)length) == 0 && line.at[length] == ' ';
    if (fine) {
        line = (wk__span){line.at + length + 1, line.bytes - length - 1};
        fine = take_number(&line, least, value) && line.bytes == 0 && *value >= least && *value <= most;
    }
    if (fine) return WK_OK;
    return wk__io_fail(r->error, WK_ERR_FORMAT,
                       "invalid vocabulary: expected \"%s\" and a number in [%lld, %lld] (line %lld)", name,
                       (long long)least, (long long)most, (long long)r->line);
}

static bool is_line(wk__span line, const char *expected)
{
    return line.bytes == (int64_t)strlen(expected) && memcmp(line.at, expected, (size_t)line.bytes) == 0;
}

/* Takes the first lines, up to the count. */
static wk_code take_header(reader *r, wk__tokenizer *t, int64_t *count)
{
    int64_t lower, letters, punctuation;
    wk_code code = take_field(r, "lower", 0, 1, &lower);
    if (code == WK_OK) code = take_field(r, "letters_only", 0, 1, &letters);
    if (code == WK_OK) code = take_field(r, "punctuation", 0, 1, &punctuation);
    if (code == WK_OK) code = take_field(r, "unknown", -1, WK__VOCABULARY_MOST, &t->unknown);
    if (code == WK_OK) code = take_field(r, "reserved", 0, WK__VOCABULARY_MOST, &t->reserved);
    if (code == WK_OK) code = take_field(r, "count", 0, WK__VOCABULARY_MOST, count);
    if (code != WK_OK) return code;
    t->lower = lower, t->letters_only = letters, t->punctuation = punctuation;
    if (t->reserved > *count || t->unknown >= t->reserved)
        return bad_line(r, "unknown must be below reserved, which is at most count");
    return WK_OK;
}

/* Takes the line of a token; `token` is memory for its characters. */
static wk_code take_token(reader *r, wk__text *token, int64_t *frequency)
{
    wk__span line = {0};
    const wk_code code = take_line(r, &line);
    if (code != WK_OK) return code;
    if (!take_number(&line, 0, frequency) || line.bytes < 2 || *line.at != ' ')
        return bad_line(r, "expected a frequency, a space and a token");
    token->length = 0;
    for (int64_t k = 1; k < line.bytes; k++) {
        char c = line.at[k];
        if (c == '\r') return bad_line(r, "a carriage return, which is written \\r; do not convert the file");
        if (c == '\\') {
            c = ++k < line.bytes ? line.at[k] : ' ';
            if (c != '\\' && c != 'n' && c != 'r') return bad_line(r, "unknown escape; expected \\\\, \\n or \\r");
            c = (char)(c == 'n' ? '\n' : c == 'r' ? '\r' : c);
        }
        wk__text_add_n(token, &c, 1);
    }
    return token->failed ? wk__text_no_memory(r->error) : WK_OK;
}

static wk_code take_tokens(reader *r, wk__tokenizer *t, int64_t count)
{
    wk__vocabulary *v = &t->vocabulary;
    wk__text token = {0};
    wk_code code = WK_OK;
    for (int64_t id = 0; id < count && code == WK_OK; id++) {
        int64_t frequency;
        code = take_token(r, &token, &frequency);
        if (code == WK_OK && wk__vocabulary_find(v, token.data, token.length) >= 0)
            code = bad_line(r, "the token occurs twice");
        if (code == WK_OK && !wk__vocabulary_put(v, id, token.data, token.length)) code = wk__text_no_memory(r->error);
        if (code == WK_OK) v->entry[id].frequency = frequency;
    }
    wk__text_free(&token);
    if (code == WK_OK && r->rest.bytes > 0) return bad_line(r, "text follows the last token");
    return code;
}

wk_code wk__token_file_read(wk__span file, wk__tokenizer **t, wk__io_error *error)
{
    reader r = {.rest = file, .error = error};
    wk__span line = {0};
    int64_t count = 0;
    wk_code code = wk__text_check(file, error);
    if (code == WK_OK) code = take_line(&r, &line);
    if (code == WK_OK && !is_line(line, "wick vocabulary 1")) code = bad_line(&r, "expected \"wick vocabulary 1\"");
    if (code == WK_OK) code = take_line(&r, &line);
    if (code != WK_OK) return code;
    const bool words = is_line(line, "tokens words");
    if (!words && !is_line(line, "tokens characters"))
        return bad_line(&r, "expected \"tokens words\" or \"tokens characters\"");
    *t = wk__tokenizer_new(words ? &wk__word_kind : &wk__char_kind);
    if (!*t) return wk__text_no_memory(error);
    code = take_header(&r, *t, &count);
    return code == WK_OK ? take_tokens(&r, *t, count) : code;
}
