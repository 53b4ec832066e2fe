/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of a safetensors header; see json.h. */
#include "json.h"
#include "base/utf8.h"
#include <string.h>

/* ---- UTF-8 ------------------------------------------------------------------------------------------------------- */

static char *put_character(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3; /* bytes after the first */
    *to++ = (char)((0xf0u << (3 - more) & 0xffu) | code >> 6 * more);
    while (more-- > 0) *to++ = (char)(0x80u | (code >> 6 * more & 0x3f));
    return to;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

int64_t wk__json_position(const wk__json *json, const char *at)
{
    return json->position + (at - json->start);
}

/* "expected WHAT, found 'x' (byte 57)" for what stands at json->at. */
static wk_code unexpected(const wk__json *json, const char *what, wk__io_error *error)
{
    long long position = wk__json_position(json, json->at);
    if (json->at == json->end)
        return wk__io_fail(error, WK_ERR_FORMAT, "expected %s, found the end of the header (byte %lld)", what,
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

/* The next token's first character; 0, which starts no token, at the end. */
static char peek(wk__json *json)
{
    while (json->at < json->end && *json->at && strchr(" \t\r\n", *json->at)) json->at++;
    return json->at < json->end ? *json->at : '\0';
}

wk_code wk__json_expect(wk__json *json, char wanted, wk__io_error *error)
{
    if (peek(json) != wanted) return unexpected(json, (char[]){'\'', wanted, '\'', '\0'}, error);
    json->at++;
    return WK_OK;
}

wk_code wk__json_item(wk__json *json, char close, bool first, bool *more, wk__io_error *error)
{
    char next = peek(json);
    *more = next != close;
    if (first && *more) return WK_OK; /* the item itself */
    if (*more && next != ',') return unexpected(json, close == '}' ? "',' or '}'" : "',' or ']'", error);
    json->at++;
    return WK_OK;
}

/* Four hexadecimal digits, or -1. */
static int32_t hex4(const char *at, const char *end)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    int32_t value = 0;
    if (end - at < 4) return -1;
    for (int k = 0; k < 4; k++) {
        const char *digit = at[k] ? strchr(digits, at[k]) : NULL;
        if (!digit) return -1;
        value = value << 4 | ((int32_t)(digit - digits) & 15);
    }
    return value;
}

/* The character that the escape at json->at stands for; steps over it. Characters above U+FFFF are written as two
 * escapes, a high and a low surrogate. */
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
    if (peek(json) != '"') return unexpected(json, "a string", error);
    char *to = ++json->at;
    *string = to;
    while (json->at < json->end && *json->at != '"') {
        if (*json->at == '\\') {
            uint32_t code = 0;
            wk_code failed = take_escape(json, &code, error);
            if (failed != WK_OK) return failed;
            to = put_character(to, code);
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
    if (!is_digit(peek(json))) return unexpected(json, wanted, error);
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

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* Bytes up to the first that must be escaped, or to the end. */
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
