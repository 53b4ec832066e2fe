/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of readers and writers of formats; see file.h. */
#include "file.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

wk_code wk__io_fail(wk__io_error *error, wk_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return error->code = code;
}

wk_code wk__io_fail_errno(wk__io_error *error, const char *path, const char *what, int number)
{
    /* strerror would depend on the locale */
    const char *reason = strerrordesc_np(number);
    if (reason) return wk__io_fail(error, WK_ERR_IO, "%s: cannot %s: %s", wk__printable_name(path).text, what, reason);
    return wk__io_fail(error, WK_ERR_IO, "%s: cannot %s: error %d", wk__printable_name(path).text, what, number);
}

wk_code wk__io_prefix(wk__io_error *error, const char *format, ...)
{
    char prefix[sizeof error->text];
    va_list args;
    va_start(args, format);
    int formatted = vsnprintf(prefix, sizeof prefix - 2, format, args);
    va_end(args);
    if (formatted < 0) return error->code;
    size_t used = strlen(prefix), length = strlen(error->text);
    prefix[used++] = ':';
    prefix[used++] = ' ';
    size_t room = sizeof error->text - 1 - used;
    if (length > room) length = room;
    memmove(error->text + used, error->text, length);
    memcpy(error->text, prefix, used);
    error->text[used + length] = '\0';
    return error->code;
}

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

wk__printable wk__printable_name(const char *name)
{
    return wk__printable_bytes(name, (int64_t)strlen(name));
}

wk__printable wk__printable_bytes(const char *name, int64_t bytes)
{
    enum { HEAD = 40, TAIL = 64 };
    wk__printable shown;
    size_t length = (size_t)bytes, out = 0;
    size_t gap = length, resume = length; /* bytes gap..resume-1 are omitted */
    if (length >= sizeof shown.text) {
        gap = HEAD, resume = length - TAIL;
        while (gap > HEAD - 4 && continues_character(name[gap])) gap--;
        while (resume < length - TAIL + 4 && continues_character(name[resume])) resume++;
    }
    for (size_t k = 0; k < length; k++) {
        if (k == gap) {
            memcpy(shown.text + out, "...", 3);
            out += 3, k = resume;
        }
        bool control = (unsigned char)name[k] < 0x20 || name[k] == 0x7f;
        shown.text[out++] = control ? '?' : name[k];
    }
    shown.text[out] = '\0';
    return shown;
}
