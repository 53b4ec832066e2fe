/* SPDX-License-Identifier: Apache-2.0 */
/* Characters: their classes, lower case, and UTF-8. */
#ifndef WICK_TEXT_UNICODE_H
#define WICK_TEXT_UNICODE_H

#include "base/text.h"
#include "base/utf8.h"

/* The class of a character, as regular expressions name it. */
typedef enum wk__char_class {
    WK__CHAR_OTHER,
    WK__CHAR_LETTER, /* \p{L} */
    WK__CHAR_NUMBER, /* \p{N} */
    WK__CHAR_SPACE   /* \s */
} wk__char_class;

wk__char_class wk__char_class_of(uint32_t code);
/* Appends valid UTF-8 in lower case. */
void wk__text_add_lower(wk__text *text, const char *bytes, int64_t count);
/* Appends valid UTF-8 in normalisation form C. */
void wk__text_add_nfc(wk__text *text, const char *bytes, int64_t count);
/* Classes of characters of BERT: those that it removes, accents, and punctuation, of which each is a word. */
bool wk__is_bert_control(uint32_t code);
bool wk__is_bert_mark(uint32_t code);
bool wk__is_bert_punctuation(uint32_t code);
/* Appends valid UTF-8 in normalisation form D without accents, as BERT. */
void wk__text_add_without_accents(wk__text *text, const char *bytes, int64_t count);
/* Appends a character as UTF-8. */
void wk__text_add_code(wk__text *text, uint32_t code);

/* Returns the code of the character at `at`, whose length in bytes it stores; the character must be valid UTF-8. */
static inline uint32_t wk__utf8_code(const char *at, int *bytes)
{
    const unsigned char *byte = (const unsigned char *)at;
    *bytes = byte[0] < 0x80 ? 1 : byte[0] < 0xe0 ? 2 : byte[0] < 0xf0 ? 3 : 4;
    uint32_t code = *bytes == 1 ? byte[0] : byte[0] & (0x7fu >> *bytes);
    for (int k = 1; k < *bytes; k++) code = code << 6 | (byte[k] & 0x3f);
    return code;
}

/* Returns the index of the last element of a table whose code is at most `code`, or 0. The elements of
 * `size` bytes begin with a uint32_t, their code, by which they are sorted. Inline, so that size is a constant. */
static inline int wk__code_search(const void *table, int count, size_t size, uint32_t code)
{
    int low = 0, high = count;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (*(const uint32_t *)(const void *)((const char *)table + (size_t)middle * size) <= code)
            low = middle;
        else
            high = middle;
    }
    return low;
}
#define WK__CODE_SEARCH(table, code)                                                                                   \
    wk__code_search(table, (int)(sizeof(table) / sizeof *(table)), sizeof *(table), code)

/* Returns the position of the first byte that is not part of a valid character, or count. */
int64_t wk__utf8_valid_bytes(const char *bytes, int64_t count);
/* Appends bytes, with U+FFFD for each maximal part of a truncated character and for each other invalid byte. */
void wk__text_add_lossy(wk__text *text, const char *bytes, int64_t count);

#endif
