/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of JSON; see json.h. */
#include "json.h"
#include "base/utf8.h"
#include <string.h>

/* ---- reading ----------------------------------------------------------------------------------------------------- */

int64_t wk__json_position(const wk__json *json, const char *at)
{
    return json->position + (at - json->start);
}

/* Fails with "expected WHAT, found 'x' (byte 57)" for the character at json->at. */
static wk_code unexpected(const wk__json *json, const char *what, wk__io_error *error)
{
    long long position = wk__json_position(json, json->at);
    if (json->at == json->end)
        return wk__io_fail(error, WK_ERR_FORMAT, "expected %s, found the end of the %s (byte %lld)", what, json->whole,
                           position);
    unsigned char found = (unsigned char)*json->at;
    if (found < 0x20 || found >= 0x7f)
        return wk__io_fail(error, WK_ERR_FORMAT, "expected %s, found 0x%02x (byte %lld)", what, found, position);
    return wk__io_fail(error, WK_ERR_FORMAT, "expected %s, found '%c' (byte %lld)", what, found, position);
}

static wk_code bad_string(const wk__json *json, const char *what, wk__io_error *error)
{
    return wk__io_fail(error, WK_ERR_FORMAT, "invalid string: %s (byte %lld)", what,
                       (long long)wk__json_position(json, json->at));
}

char wk__json_peek(wk__json *json)
{
    while (json->at < json->end && *json->at && strchr(" \t\r\n", *json->at)) json->at++;
    return json->at < json->end ? *json->at : '\0';
}

wk_code wk__json_expect(wk__json *json, char wanted, wk__io_error *error)
{
    if (wk__json_peek(json) != wanted) return unexpected(json, (char[]){'\'', wanted, '\'', '\0'}, error);
    json->at++;
    return WK_OK;
}

wk_code wk__json_item(wk__json *json, char close, bool first, bool *more, wk__io_error *error)
{
    char next = wk__json_peek(json);
    *more = next != close;
    if (first && *more) return WK_OK; /* the item itself */
    if (*more && next != ',') return unexpected(json, close == '}' ? "',' or '}'" : "',' or ']'", error);
    json->at++;
    return WK_OK;
}

/* Returns the value of four hexadecimal digits, or -1. */
static int32_t hex4(const char *at, const char *end)
{
    int32_t value = 0;
    if (end - at < 4) return -1;
    for (int k = 0; k < 4; k++) {
        const int digit = wk__hex_digit(at[k]);
        if (digit < 0) return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* Takes the escape at json->at and stores its character. A character above U+FFFF is written as two escapes, a high and
 * a low surrogate. */
static wk_code take_escape(wk__json *json, uint32_t *code, wk__io_error *error)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *at = json->at + 1;
    const char *letter = at < json->end && *at ? strchr(letters, *at) : NULL;
    if (letter) {
        *code = (uint32_t)(unsigned char)meanings[letter - letters];
        json->at += 2;
        return WK_OK;
    }
    if (at >= json->end || *at != 'u') return bad_string(json, "an unknown escape", error);
    int32_t value = hex4(at + 1, json->end);
    if (value < 0) return bad_string(json, "\\u without four hexadecimal digits", error);
    if (value == 0) return bad_string(json, "a zero character", error);
    int64_t length = 6;
    if (value >= 0xd800 && value <= 0xdfff) {
        const char *second = at + 5;
        int32_t low =
            json->end - second >= 2 && second[0] == '\\' && second[1] == 'u' ? hex4(second + 2, json->end) : -1;
        if (value > 0xdbff || low < 0xdc00 || low > 0xdfff) return bad_string(json, "an unpaired surrogate", error);
        value = 0x10000 + ((value - 0xd800) << 10) + (low - 0xdc00);
        length = 12;
    }
    *code = (uint32_t)value;
    json->at += length;
    return WK_OK;
}

wk_code wk__json_string(wk__json *json, const char **string, wk__io_error *error)
{
    if (wk__json_peek(json) != '"') return unexpected(json, "a string", error);
    char *to = ++json->at;
    *string = to;
    while (json->at < json->end && *json->at != '"') {
        if (*json->at == '\\') {
            uint32_t code = 0;
            wk_code failed = take_escape(json, &code, error);
            if (failed != WK_OK) return failed;
            to = wk__utf8_put(to, code);
            continue;
        }
        if ((unsigned char)*json->at < 0x20) return bad_string(json, "an unescaped control character", error);
        int bytes = wk__utf8_bytes(json->at, json->end);
        if (bytes == 0) return bad_string(json, "invalid UTF-8", error);
        while (bytes-- > 0) *to++ = *json->at++;
    }
    if (json->at == json->end) return unexpected(json, "the end of a string", error);
    json->at++;
    *to = '\0';
    return WK_OK;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

wk_code wk__json_integer(wk__json *json, int64_t *value, wk__io_error *error)
{
    static const char wanted[] = "a non-negative integer";
    if (!is_digit(wk__json_peek(json))) return unexpected(json, wanted, error);
    const char *from = json->at;
    int64_t number = 0;
    for (; json->at < json->end && is_digit(*json->at); json->at++) {
        if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, *json->at - '0', &number))
            return wk__io_fail(error, WK_ERR_FORMAT, "a number exceeds 9223372036854775807 (byte %lld)",
                               (long long)wk__json_position(json, from));
    }
    if (*from == '0' && json->at - from > 1)
        return wk__io_fail(error, WK_ERR_FORMAT, "a number has a leading zero (byte %lld)",
                           (long long)wk__json_position(json, from));
    if (json->at < json->end && (*json->at == '.' || *json->at == 'e' || *json->at == 'E'))
        return unexpected(json, wanted, error);
    *value = number;
    return WK_OK;
}

/* ---- values that are skipped ------------------------------------------------------------------------------------- */

/* Takes a word if it is the next token. */
static bool take_word(wk__json *json, const char *word)
{
    const int64_t length = (int64_t)strlen(word);
    if (wk__json_peek(json) != *word || json->end - json->at < length || memcmp(json->at, word, (size_t)length) != 0)
        return false;
    json->at += length;
    return true;
}

wk_code wk__json_bool(wk__json *json, bool *value, wk__io_error *error)
{
    *value = take_word(json, "true");
    return *value || take_word(json, "false") ? WK_OK : unexpected(json, "true or false", error);
}

wk_code wk__json_null(wk__json *json, bool *is_null, wk__io_error *error)
{
    *is_null = take_word(json, "null");
    return *is_null || wk__json_peek(json) != 'n' ? WK_OK : unexpected(json, "null", error);
}

static void take_digits(wk__json *json)
{
    while (json->at < json->end && is_digit(*json->at)) json->at++;
}

/* Takes the next character if it is one of these. */
static bool take_one_of(wk__json *json, const char *characters)
{
    const bool there = json->at < json->end && *json->at && strchr(characters, *json->at);
    json->at += there;
    return there;
}

/* Takes a number: -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)? */
static wk_code skip_number(wk__json *json, wk__io_error *error)
{
    take_one_of(json, "-");
    const char *digits = json->at;
    if (!take_one_of(json, "0")) take_digits(json);
    bool fine = json->at > digits;
    if (fine && take_one_of(json, ".")) {
        digits = json->at;
        take_digits(json);
        fine = json->at > digits;
    }
    if (fine && take_one_of(json, "eE")) {
        take_one_of(json, "+-");
        digits = json->at;
        take_digits(json);
        fine = json->at > digits;
    }
    return fine ? WK_OK : unexpected(json, "a value", error);
}

wk_code wk__json_number(wk__json *json, double *value, wk__io_error *error)
{
    char copy[64];
    (void)wk__json_peek(json); /* skips blanks */
    const char *from = json->at;
    const wk_code code = skip_number(json, error);
    if (code != WK_OK) return code;
    const int64_t length = json->at - from;
    if (length < (int64_t)sizeof copy) {
        memcpy(copy, from, (size_t)length);
        copy[length] = '\0';
        if (wk__parse_double(copy, value)) return WK_OK;
    }
    return wk__io_fail(error, WK_ERR_FORMAT, "a number is too long (byte %lld)",
                       (long long)wk__json_position(json, from));
}

static wk_code skip_value(wk__json *json, int depth, wk__io_error *error);

/* Takes an object or an array, whose first character is at json->at. */
static wk_code skip_list(wk__json *json, int depth, wk__io_error *error)
{
    const char *key, close = *json->at == '{' ? '}' : ']';
    if (depth == 0)
        return wk__io_fail(error, WK_ERR_FORMAT, "objects and arrays nest too deeply (byte %lld)",
                           (long long)wk__json_position(json, json->at));
    json->at++;
    for (bool first = true, more;; first = false) {
        wk_code code = wk__json_item(json, close, first, &more, error);
        if (code != WK_OK || !more) return code;
        if (close == '}') code = wk__json_string(json, &key, error);
        if (code == WK_OK && close == '}') code = wk__json_expect(json, ':', error);
        if (code == WK_OK) code = skip_value(json, depth - 1, error);
        if (code != WK_OK) return code;
    }
}

static wk_code skip_value(wk__json *json, int depth, wk__io_error *error)
{
    const char *string;
    const char next = wk__json_peek(json);
    if (next == '{' || next == '[') return skip_list(json, depth, error);
    if (next == '"') return wk__json_string(json, &string, error);
    if (take_word(json, "true") || take_word(json, "false") || take_word(json, "null")) return WK_OK;
    return skip_number(json, error);
}

wk_code wk__json_skip(wk__json *json, wk__io_error *error)
{
    enum { DEPTH = 32 };
    return skip_value(json, DEPTH, error);
}

wk_code wk__json_end(wk__json *json, wk__io_error *error)
{
    (void)wk__json_peek(json); /* skips blanks */
    if (json->at == json->end) return WK_OK;
    return wk__io_fail(error, WK_ERR_FORMAT, "the %s ends, but more follows (byte %lld)", json->whole,
                       (long long)wk__json_position(json, json->at));
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* Returns the number of bytes before the first that must be escaped. */
static int64_t plain_bytes(const char *string)
{
    int64_t count = 0;
    while ((unsigned char)string[count] >= 0x20 && string[count] != '"' && string[count] != '\\') count++;
    return count;
}

bool wk__json_add_string(wk__text *text, const char *string)
{
    static const char special[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    if (!wk__is_utf8(string)) return false;
    wk__text_repeat(text, '"', 1);
    for (;; string++) {
        int64_t plain = plain_bytes(string);
        wk__text_add_n(text, string, plain);
        string += plain;
        if (!*string) break;
        const char *found = strchr(special, *string);
        if (found)
            wk__text_format(text, "\\%c", letters[found - special]);
        else
            wk__text_format(text, "\\u%04x", (unsigned)(unsigned char)*string);
    }
    wk__text_repeat(text, '"', 1);
    return true;
}
