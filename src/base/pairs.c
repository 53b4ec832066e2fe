/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of texts; see pairs.h. */
#include "pairs.h"
#include "alloc.h"
#include <stdio.h>
#include <string.h>

void wk__pairs_add(wk__pairs *pairs, const char *value, const char *key, ...)
{
    wk__text block = {0};
    va_list args;
    va_start(args, key);
    wk__text_vformat(&block, key, args);
    va_end(args);
    const int64_t length = block.length;
    wk__text_char(&block, '\0', 1);
    wk__text_add(&block, value);
    if (!block.failed && wk__grow(&pairs->item, &pairs->capacity, pairs->count + 1, sizeof *pairs->item)) {
        pairs->item[pairs->count++] = (wk__pair){block.data, block.data + length + 1};
        return;
    }
    wk__text_end(&block);
    pairs->failed = true;
}

void wk__pairs_number(wk__pairs *pairs, const char *key, int64_t number)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", (long long)number);
    wk__pairs_add(pairs, digits, "%s", key);
}

void wk__pairs_end(wk__pairs *pairs)
{
    for (int64_t k = 0; k < pairs->count; k++) wk__free((void *)pairs->item[k].key);
    wk__free(pairs->item);
    *pairs = (wk__pairs){0};
}

/* No key that is looked for is longer: names of settings with a number in front. */
enum { LONGEST = 96 };

const char *wk__pairs_find(const wk__pair *item, int64_t count, const char *key, ...)
{
    char wanted[LONGEST];
    va_list args;
    va_start(args, key);
    vsnprintf(wanted, sizeof wanted, key, args);
    va_end(args);
    for (int64_t k = 0; k < count; k++)
        if (strcmp(item[k].key, wanted) == 0) return item[k].value;
    return NULL;
}

int64_t wk__pairs_find_number(const wk__pair *item, int64_t count, const char *key)
{
    const char *text = wk__pairs_find(item, count, "%s", key);
    int64_t number = 0;
    if (!text || !*text || (*text == '0' && text[1])) return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return -1;
        if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, *text - '0', &number))
            return -1;
    }
    return number;
}
