/* SPDX-License-Identifier: Apache-2.0 */
/* Growing strings and locale-independent conversion of numbers; see text.h. */
#include "text.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "utf8.h"

/* ---- growing ------------------------------------------------------------------------------------------------- */

/* Makes room for `count` more bytes and the terminator. After a failure nothing is appended any more, so that the text
 * has no gaps. */
static bool reserve(wk__text *text, int64_t count)
{
    int64_t need;
    if (text->failed) return false;
    bool fits = wk__add_size(text->length, count, &need) && wk__add_size(need, 1, &need);
    if (fits && wk__grow(&text->data, &text->capacity, need, 1)) return true;
    text->failed = true;
    return false;
}

static void advance(wk__text *text, int64_t count)
{
    text->length += count;
    text->data[text->length] = '\0';
}

void wk__text_add_n(wk__text *text, const char *bytes, int64_t count)
{
    if (!reserve(text, count)) return;
    memcpy(text->data + text->length, bytes, (size_t)count);
    advance(text, count);
}

void wk__text_add(wk__text *text, const char *string)
{
    wk__text_add_n(text, string, (int64_t)strlen(string));
}

void wk__text_repeat(wk__text *text, char c, int64_t times)
{
    if (times < 0) times = 0;
    if (!reserve(text, times)) return;
    memset(text->data + text->length, c, (size_t)times);
    advance(text, times);
}

/* A thread's locale overrides setlocale, so numbers have "." even if the program uses another locale. "C" is built into
 * glibc and musl, so creating it cannot fail. */
static locale_t point_locale;

static void find_point_locale(void)
{
    point_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static locale_t locale_with_point(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_point_locale);
    return point_locale;
}

void wk__text_vformat(wk__text *text, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    locale_t before = uselocale(locale_with_point());
    int64_t guess = 64; /* most additions are shorter and are formatted once, in place */
    if (reserve(text, guess)) {
        int64_t room = text->capacity - text->length;
        int count = vsnprintf(text->data + text->length, (size_t)room, format, args);
        if (count >= room && reserve(text, count)) {
            vsnprintf(text->data + text->length, (size_t)count + 1, format, again);
        }
        if (count < 0) text->failed = true; /* invalid format */
        advance(text, text->failed ? 0 : count);
    }
    uselocale(before);
    va_end(again);
}

void wk__text_format(wk__text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    wk__text_vformat(text, format, args);
    va_end(args);
}

void wk__text_free(wk__text *text)
{
    wk__free(text->data);
    *text = (wk__text){0};
}

/* ---- UTF-8 --------------------------------------------------------------------------------------------------- */

static int readable_bytes(const char *at, const char *end)
{
    const bool control = ((unsigned char)*at < 0x20 && *at != '\n' && *at != '\t') || *at == 0x7f;
    return control ? 0 : wk__utf8_bytes(at, end);
}

void wk__text_escape(wk__text *text, int64_t from)
{
    wk__text out = {0};
    const char *const end = text->data ? text->data + text->length : NULL;
    char *at = text->data ? text->data + from : NULL;
    for (int bytes; at < end && (bytes = readable_bytes(at, end)) > 0;) at += bytes;
    if (at == end) return;
    for (at = text->data; at < end;) {
        const int bytes = at < text->data + from ? 1 : readable_bytes(at, end);
        if (bytes > 0)
            wk__text_add_n(&out, at, bytes);
        else
            wk__text_format(&out, "\\x%02x", (unsigned char)*at);
        at += bytes > 0 ? bytes : 1;
    }
    for (at = text->data + from; out.failed && at < end;) { /* allocation failure: replace in place */
        const int bytes = readable_bytes(at, end);
        if (bytes == 0) *at = '?';
        at += bytes > 0 ? bytes : 1;
    }
    if (out.failed) {
        wk__text_free(&out);
    } else {
        wk__text_free(text);
        *text = out;
    }
}

/* ---- numbers ------------------------------------------------------------------------------------------------- */

int wk__format_double(char *out, size_t size, double value, char style, int precision)
{
    /* The greatest double has 309 digits before the point: the result always fits 400 bytes. */
    enum { MAX_DIGITS = 64 };
    int count;
    if (precision > MAX_DIGITS) precision = MAX_DIGITS;
    if (isnan(value)) {
        count = snprintf(out, size, "nan"); /* printf may print the sign of a NaN */
    } else {
        locale_t before = uselocale(locale_with_point());
        switch (style) {
        case 'f': count = snprintf(out, size, "%.*f", precision, value); break;
        case 'e': count = snprintf(out, size, "%.*e", precision, value); break;
        default: count = snprintf(out, size, "%.*g", precision, value); break;
        }
        uselocale(before);
    }
    return count < (int)size ? count : (int)size - 1;
}

void wk__text_double(wk__text *text, double value, char style, int precision)
{
    char digits[400];
    int count = wk__format_double(digits, sizeof digits, value, style, precision);
    wk__text_add_n(text, digits, count);
}

bool wk__parse_double(const char *text, double *value)
{
    char *end;
    locale_t before = uselocale(locale_with_point());
    *value = strtod(text, &end);
    uselocale(before);
    return *text > ' ' && *end == '\0';
}

void wk__text_double_shortest(wk__text *text, double value)
{
    enum {
        MIN_PRECISION = 15,
        MAX_PRECISION = 17
    }; /* digits that preserve any decimal literal; that identify any double */
    char digits[400];
    double again;
    for (int precision = MIN_PRECISION; precision <= MAX_PRECISION; precision++) {
        wk__format_double(digits, sizeof digits, value, 'g', precision);
        if (wk__parse_double(digits, &again) && again == value) break;
    }
    wk__text_add(text, digits);
}

/* Integer arithmetic, independent of the locale. */
const char *wk__format_bytes(char out[WK__FORMAT_BYTES_SIZE], int64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int unit = 0;
    int64_t size = 1;
    if (bytes == 1) return "1 byte";
    while (unit < 5 && bytes / size >= 1024) {
        size *= 1024;
        unit++;
    }
    long long whole = bytes / size, tenths = (bytes % size * 10 + size / 2) / size;
    if (tenths == 10) whole++, tenths = 0;
    if (tenths == 0)
        snprintf(out, WK__FORMAT_BYTES_SIZE, "%lld %s", whole, units[unit]);
    else
        snprintf(out, WK__FORMAT_BYTES_SIZE, "%lld.%lld %s", whole, tenths, units[unit]);
    return out;
}
