/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8: validation and writing. The command includes this header too, so it has no functions to link. */
#ifndef WICK_BASE_UTF8_H
#define WICK_BASE_UTF8_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Returns the length in bytes of the UTF-8 character at `at`; 0 if it is invalid: truncated, overlong, a surrogate or
 * above U+10FFFF. */
static inline int wk__utf8_bytes(const char *at, const char *end)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char lead = (unsigned char)*at;
    if (lead < 0x80) return 1;
    int bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc0 || lead > 0xf4 || end - at < bytes) return 0;
    uint32_t code = lead & (0x7fu >> bytes);
    for (int k = 1; k < bytes; k++) {
        if (((unsigned char)at[k] & 0xc0) != 0x80) return 0;
        code = code << 6 | ((unsigned char)at[k] & 0x3f);
    }
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < smallest[bytes] || surrogate || code > 0x10ffff ? 0 : bytes;
}

/* Writes a character as 1 to 4 bytes. Returns the end of them. */
static inline char *wk__utf8_put(char *to, uint32_t code)
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

/* Returns the first byte that is zero or begins no valid character, or end. */
static inline const char *wk__utf8_invalid(const char *at, const char *end)
{
    for (int bytes; at < end && *at && (bytes = wk__utf8_bytes(at, end)) > 0;) at += bytes;
    return at;
}

/* Returns true if a string consists of valid characters. */
static inline bool wk__is_utf8(const char *string)
{
    const char *end = string + strlen(string);
    for (int bytes; string < end; string += bytes)
        if ((bytes = wk__utf8_bytes(string, end)) == 0) return false;
    return true;
}

#endif
