/* SPDX-License-Identifier: Apache-2.0 */
/* Splitters that are equivalent to the regular expressions of well-known tokenizers. Each function below matches a part
 * of an expression at `at` and returns the end of the match or NULL. */
#include "split.h"
#include "unicode.h"
#include <string.h>

/* A character and its class; bytes is 0 at the end of the text. */
typedef struct character {
    uint32_t code;
    int bytes;
    wk__char_class class;
} character;

static character character_at(const char *at, const char *end)
{
    character c = {0};
    if (at >= end) return c;
    c.code = wk__utf8_code(at, &c.bytes);
    c.class = wk__char_class_of(c.code);
    return c;
}

/* CLASS{1,most} */
static const char *run_of(const char *at, const char *end, wk__char_class class, int64_t most)
{
    const char *const from = at;
    for (character c; most > 0 && (c = character_at(at, end)).bytes > 0 && c.class == class; most--) at += c.bytes;
    return at > from ? at : NULL;
}

/* " ?" CLASS+ */
static const char *spaced_run_of(const char *at, const char *end, wk__char_class class)
{
    return run_of(*at == ' ' ? at + 1 : at, end, class, INT64_MAX);
}

/* 's|'t|'re|'ve|'m|'ll|'d; if any_case also in capitals, and with the long s */
static const char *contraction(const char *at, const char *end, bool any_case)
{
    static const char *const endings[] = {"s", "t", "re", "ve", "m", "ll", "d"};
    if (*at != '\'') return NULL;
    at++;
    if (any_case && end - at >= 2 && memcmp(at, "\xc5\xbf", 2) == 0) return at + 2;
    for (int k = 0; k < 7; k++) {
        const size_t length = strlen(endings[k]);
        size_t same = 0;
        while (same < length && at + same < end && (at[same] | (any_case ? 0x20 : 0)) == endings[k][same]) same++;
        if (same == length) return at + length;
    }
    return NULL;
}

/* \s+(?!\S)|\s+: all white space at the end of the text, else all but the last of several characters */
static const char *white_space(const char *at, const char *end)
{
    const char *last = at, *const from = at;
    for (character c; (c = character_at(at, end)).class == WK__CHAR_SPACE; at += c.bytes) last = at;
    return at == end || last == from ? at : last;
}

static const char *next_gpt2(const char *at, const char *end)
{
    const char *piece = contraction(at, end, false);
    if (!piece) piece = spaced_run_of(at, end, WK__CHAR_LETTER);
    if (!piece) piece = spaced_run_of(at, end, WK__CHAR_NUMBER);
    if (!piece) piece = spaced_run_of(at, end, WK__CHAR_OTHER);
    return piece ? piece : white_space(at, end);
}

static bool is_newline(char c)
{
    return c == '\r' || c == '\n';
}

/* [^\r\n\p{L}\p{N}]?\p{L}+ */
static const char *word(const char *at, const char *end)
{
    const character c = character_at(at, end);
    const bool joins = c.class != WK__CHAR_LETTER && c.class != WK__CHAR_NUMBER && !is_newline(*at);
    return run_of(joins ? at + c.bytes : at, end, WK__CHAR_LETTER, INT64_MAX);
}

/* " ?"[^\s\p{L}\p{N}]+[\r\n]* */
static const char *symbols(const char *at, const char *end)
{
    at = spaced_run_of(at, end, WK__CHAR_OTHER);
    while (at && at < end && is_newline(*at)) at++;
    return at;
}

/* \s*[\r\n]+: white space up to the last newline in it */
static const char *lines(const char *at, const char *end)
{
    const char *last = NULL;
    for (character c; (c = character_at(at, end)).class == WK__CHAR_SPACE;) {
        at += c.bytes;
        if (c.code == '\r' || c.code == '\n') last = at;
    }
    return last;
}

static const char *next_llama3(const char *at, const char *end, int64_t digits)
{
    const char *piece = contraction(at, end, true);
    if (!piece) piece = word(at, end);
    if (!piece) piece = run_of(at, end, WK__CHAR_NUMBER, digits);
    if (!piece) piece = symbols(at, end);
    if (!piece) piece = lines(at, end);
    return piece ? piece : white_space(at, end);
}

int64_t wk__split_piece(wk_text_split rule, const char *at, const char *end)
{
    const char *piece =
        rule == WK_TEXT_SPLIT_GPT2 ? next_gpt2(at, end) : next_llama3(at, end, rule == WK_TEXT_SPLIT_LLAMA3 ? 3 : 1);
    return piece - at;
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

#define ENDINGS "(?i:'s|'t|'re|'ve|'m|'ll|'d)|"

/* wk_text_save writes the first expression of a rule. */
static const struct {
    const char *pattern;
    wk_text_split rule;
} patterns[] = {
    {"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", WK_TEXT_SPLIT_GPT2},
    {ENDINGS "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
     WK_TEXT_SPLIT_LLAMA3},
    {ENDINGS "[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+",
     WK_TEXT_SPLIT_LLAMA3},
    {ENDINGS "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
     WK_TEXT_SPLIT_QWEN2},
};

enum { PATTERNS = sizeof patterns / sizeof *patterns };

wk_text_split wk__split_of_pattern(const char *pattern)
{
    for (int k = 0; k < PATTERNS; k++)
        if (strcmp(patterns[k].pattern, pattern) == 0) return patterns[k].rule;
    return WK_TEXT_SPLIT_COUNT;
}

const char *wk__split_pattern(wk_text_split rule)
{
    int k = 0;
    while (patterns[k].rule != rule) k++;
    return patterns[k].pattern;
}
