/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of characters and lower case by binary search in ranges; UTF-8. See unicode.h. */
#include "unicode.h"

/* Characters first, ..., last. */
typedef struct code_range {
    uint32_t first, last;
} code_range;

/* Characters first, first + step, ..., last, each of whose lower case is `difference` further. */
typedef struct lower_range {
    uint32_t first, last, step;
    int32_t difference;
} lower_range;

#include "unicode_tables.inc"

static bool is_in(const code_range *range, uint32_t code)
{
    return code >= range->first && code <= range->last;
}

static bool is_space(uint32_t code)
{
    return (code >= 9 && code <= 13) || code == ' ' || code == 0x85 || code == 0xa0 || code == 0x1680 ||
           (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f || code == 0x205f ||
           code == 0x3000;
}

wk__char_class wk__char_class_of(uint32_t code)
{
    if (code < 0x80) {
        const uint32_t small = code | 0x20;
        if (small >= 'a' && small <= 'z') return WK__CHAR_LETTER;
        if (code >= '0' && code <= '9') return WK__CHAR_NUMBER;
        return is_space(code) ? WK__CHAR_SPACE : WK__CHAR_OTHER;
    }
    if (is_in(&letters[WK__CODE_SEARCH(letters, code)], code)) return WK__CHAR_LETTER;
    if (is_in(&numbers[WK__CODE_SEARCH(numbers, code)], code)) return WK__CHAR_NUMBER;
    return is_space(code) ? WK__CHAR_SPACE : WK__CHAR_OTHER;
}

bool wk__is_bert_control(uint32_t code)
{
    return is_in(&bert_controls[WK__CODE_SEARCH(bert_controls, code)], code);
}

bool wk__is_bert_mark(uint32_t code)
{
    return is_in(&bert_marks[WK__CODE_SEARCH(bert_marks, code)], code);
}

bool wk__is_bert_punctuation(uint32_t code)
{
    return is_in(&bert_punctuation[WK__CODE_SEARCH(bert_punctuation, code)], code);
}

static uint32_t lower_of(uint32_t code)
{
    if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + 32 : code;
    const lower_range *range = &lower_ranges[WK__CODE_SEARCH(lower_ranges, code)];
    const bool covered = code >= range->first && code <= range->last && (code - range->first) % range->step == 0;
    return covered ? (uint32_t)((int32_t)code + range->difference) : code;
}

void wk__text_add_lower(wk__text *text, const char *bytes, int64_t count)
{
    enum { I_WITH_DOT = 0x130, DOT_ABOVE = 0x307 }; /* the only character with a lower case of two */
    int length;
    for (int64_t at = 0; at < count; at += length) {
        const uint32_t code = wk__utf8_code(bytes + at, &length);
        wk__text_add_code(text, code == I_WITH_DOT ? 'i' : lower_of(code));
        if (code == I_WITH_DOT) wk__text_add_code(text, DOT_ABOVE);
    }
}

void wk__text_add_code(wk__text *text, uint32_t code)
{
    char bytes[4];
    wk__text_add_n(text, bytes, wk__utf8_put(bytes, code) - bytes);
}

int64_t wk__utf8_valid_bytes(const char *bytes, int64_t count)
{
    int64_t at = 0;
    while (at < count) {
        const int length = wk__utf8_bytes(bytes + at, bytes + count);
        if (length == 0) break;
        at += length;
    }
    return at;
}

/* Returns the length of the longest part of a character at `at` that more bytes could complete; at least 1. */
static int broken_bytes(const unsigned char *at, const unsigned char *end)
{
    const unsigned char lead = at[0];
    const int whole = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4) return 1;
    unsigned char low = 0x80, high = 0xbf; /* of the second byte: no overlong form, surrogate or code past U+10FFFF */
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
    int bytes = 1;
    for (; bytes < whole && at + bytes < end && at[bytes] >= low && at[bytes] <= high; bytes++) low = 0x80, high = 0xbf;
    return bytes;
}

void wk__text_add_lossy(wk__text *text, const char *bytes, int64_t count)
{
    while (count > 0) {
        const int64_t valid = wk__utf8_valid_bytes(bytes, count);
        wk__text_add_n(text, bytes, valid);
        bytes += valid, count -= valid;
        if (count == 0) break;
        const int broken = broken_bytes((const unsigned char *)bytes, (const unsigned char *)bytes + count);
        wk__text_add(text, "\xef\xbf\xbd");
        bytes += broken, count -= broken;
    }
}
