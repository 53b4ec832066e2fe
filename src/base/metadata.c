/* SPDX-License-Identifier: Apache-2.0 */
/* Key-value strings; see metadata.h. */
#include "metadata.h"
#include "alloc.h"
#include <stdio.h>
#include <string.h>

void wk__metadata_add(wk__metadata *pairs, const char *value, const char *key, ...)
{
    wk__text block = {0};
    va_list args;
    va_start(args, key);
    wk__text_vformat(&block, key, args);
    va_end(args);
    const int64_t length = block.length;
    wk__text_repeat(&block, '\0', 1);
    wk__text_add(&block, value);
    if (!block.failed && wk__grow(&pairs->item, &pairs->capacity, pairs->count + 1, sizeof *pairs->item)) {
        pairs->item[pairs->count++] = (wk__metadata_entry){block.data, block.data + length + 1};
        return;
    }
    wk__text_free(&block);
    pairs->failed = true;
}

void wk__metadata_add_int(wk__metadata *pairs, const char *key, int64_t number)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", (long long)number);
    wk__metadata_add(pairs, digits, "%s", key);
}

void wk__metadata_free(wk__metadata *pairs)
{
    for (int64_t k = 0; k < pairs->count; k++) wk__free((void *)pairs->item[k].key);
    wk__free(pairs->item);
    *pairs = (wk__metadata){0};
}

/* Upper bound of queried keys: setting names with a numeric prefix. */
enum { MAX_KEY = 96 };

const char *wk__metadata_find(const wk__metadata_entry *item, int64_t count, const char *key, ...)
{
    char wanted[MAX_KEY];
    va_list args;
    va_start(args, key);
    vsnprintf(wanted, sizeof wanted, key, args);
    va_end(args);
    for (int64_t k = 0; k < count; k++)
        if (strcmp(item[k].key, wanted) == 0) return item[k].value;
    return NULL;
}

int64_t wk__metadata_find_int(const wk__metadata_entry *item, int64_t count, const char *key)
{
    const char *text = wk__metadata_find(item, count, "%s", key);
    int64_t number = 0;
    if (!text || !*text || (*text == '0' && text[1])) return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return -1;
        if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, *text - '0', &number))
            return -1;
    }
    return number;
}
