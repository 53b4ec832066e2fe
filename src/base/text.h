/* SPDX-License-Identifier: Apache-2.0 */
/* Text that grows, and numbers in it that never depend on the locale. */
#ifndef WICK_BASE_TEXT_H
#define WICK_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct wk__text {
    char *data;     /* always terminated once anything was added; NULL while empty */
    int64_t length; /* without the terminator */
    int64_t capacity;
    bool failed; /* memory ran out: the rest was dropped, the text is still terminated */
} wk__text;

void wk__text_add(wk__text *text, const char *string);
void wk__text_add_n(wk__text *text, const char *bytes, int64_t count);
void wk__text_repeat(wk__text *text, char c, int64_t times);
/* printf's formats, with a point in numbers whatever the locale says */
__attribute__((format(printf, 2, 3))) void wk__text_format(wk__text *text, const char *format, ...);
void wk__text_vformat(wk__text *text, const char *format, va_list args);
/* printf's %.*f, %.*e, %.*g (style 'f', 'e', 'g') with a point whatever the locale says; nan, inf, -inf */
void wk__text_double(wk__text *text, double value, char style, int precision);
/* As few digits as name this number and no other, whatever the locale says; and what such a text, or any that C calls a
 * floating number, says: false unless all of it is one. */
void wk__text_double_shortest(wk__text *text, double value);
bool wk__parse_double(const char *text, double *value);
/* Bytes of the character at `at`, 0 if it is none: cut short, longer than needed, a surrogate or above U+10FFFF. */
int wk__utf8_bytes(const char *at, const char *end);
/* Writes what is no UTF-8 from that byte on, and control characters but for line ends and tabs, as \xff: names that a
 * message quotes may be any bytes. Where memory is short each of them becomes a question mark. */
void wk__text_escape(wk__text *text, int64_t from);
/* Frees the memory. */
void wk__text_free(wk__text *text);

/* Writes `value` into `out` (at least 400 bytes) in the given style; returns the length. */
int wk__format_double(char *out, size_t size, double value, char style, int precision);
/* "1.5 GiB", as all messages say sizes of memory: in `out`, or a constant. Room for any two numbers and a unit. */
enum { WK__FORMAT_BYTES_SIZE = 48 };
const char *wk__format_bytes(char out[WK__FORMAT_BYTES_SIZE], int64_t bytes);

#endif
