/* SPDX-License-Identifier: Apache-2.0 */
/* Growing strings, and conversion of numbers independent of the locale. Appending never fails visibly: an allocation
 * failure sets `failed` and drops further text. */
#ifndef WICK_BASE_TEXT_H
#define WICK_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct wk__text {
    char *data;     /* NUL-terminated once anything was added; NULL while empty */
    int64_t length; /* without the terminator */
    int64_t capacity;
    bool failed; /* an allocation failed: later text was dropped; data is still terminated */
} wk__text;

void wk__text_add(wk__text *text, const char *string);
void wk__text_add_n(wk__text *text, const char *bytes, int64_t count);
void wk__text_repeat(wk__text *text, char c, int64_t times);
/* Append by printf formats, with "." as the decimal point in every locale. */
__attribute__((format(printf, 2, 3))) void wk__text_format(wk__text *text, const char *format, ...);
void wk__text_vformat(wk__text *text, const char *format, va_list args);
/* Appends like printf's %.*f, %.*e or %.*g (style 'f', 'e', 'g'), with "." in every locale; nan, inf, -inf. */
void wk__text_double(wk__text *text, double value, char style, int precision);
/* wk__text_double_shortest appends the fewest digits that identify the value. wk__parse_double reads those and every
 * other C floating-point literal; returns false unless the entire text is one. Both are independent of the locale. */
void wk__text_double_shortest(wk__text *text, double value);
bool wk__parse_double(const char *text, double *value);
/* Replaces invalid UTF-8 and control characters other than newline and tab, from byte `from` on, by \xff escapes, since
 * names quoted in messages may contain any bytes. On allocation failure replaces each by "?". */
void wk__text_escape(wk__text *text, int64_t from);
/* Frees the memory and empties the text. */
void wk__text_free(wk__text *text);

/* Returns the article of a name, "a" or "an". */
static inline const char *wk__article(const char *name)
{
    for (const char *vowel = "aeiou"; *vowel; vowel++)
        if (*name == *vowel) return "an";
    return "a";
}

/* Returns the value of a hexadecimal digit; -1 for another character. */
static inline int wk__hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Writes `value` to `out` (at least 400 bytes) in the given style; returns the length. */
int wk__format_double(char *out, size_t size, double value, char style, int precision);
/* Formats a memory size as in all messages, "1.5 GiB". Returns `out` or a static string. */
enum { WK__FORMAT_BYTES_SIZE = 48 };
const char *wk__format_bytes(char out[WK__FORMAT_BYTES_SIZE], int64_t bytes);

#endif
