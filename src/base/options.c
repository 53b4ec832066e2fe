/* SPDX-License-Identifier: Apache-2.0 */
/* Versioned structs; see options.h. */
#include "options.h"
#include "context.h"
#include "text.h"
#include <string.h>

/* Upper bound of all structs of the library; a greater size was never initialised. */
enum { MAX_STRUCT_SIZE = 4096 };

typedef struct head {
    size_t size;
    wk_by_name by_name;
} head;

static size_t size_of(const void *given)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

wk_code wk__sized_read(const void *given, size_t least, void *own, size_t size)
{
    const size_t theirs = size_of(given), both = theirs < size ? theirs : size;
    memset(own, 0, size);
    if (theirs < least || theirs > MAX_STRUCT_SIZE) return WK_ERR_ARGUMENT;
    for (size_t k = size; k < theirs; k++)
        if (((const char *)given)[k]) return WK_ERR_UNSUPPORTED;
    memcpy(own, given, both);
    memcpy(own, &size, sizeof size);
    return WK_OK;
}

bool wk__options_read(wk_site site, const char *op, const void *given, void *own, size_t size)
{
    const head none = {.size = sizeof none};
    const head *from = given ? given : &none;
    const wk_code code = wk__sized_read(from, sizeof none, own, size);
    if (code == WK_ERR_ARGUMENT)
        wk__error_set(site, code, "%s: .size of the options is %zu; set it to the sizeof of their struct", op,
                      from->size);
    else if (code != WK_OK)
        wk__error_set(site, code,
                      "%s: the options set a member that library version %s does not support; leave it zero", op,
                      wk_version());
    else if (((const head *)own)->by_name)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: options must be named (.key = value); leave .by_name NULL", op);
    else
        return true;
    memset(own, 0, size);
    return false;
}

/* Appends "A, B or C"; quote surrounds each name. */
static void list_names(wk__text *text, const char *const names[], int count, const char *quote)
{
    for (int k = 0; k < count; k++)
        wk__text_format(text, "%s%s%s%s", k == 0 ? "" : k < count - 1 ? ", " : " or ", quote, names[k], quote);
}

bool wk__option_choice(wk_site site, const char *op, const char *option, const char *const names[], int count,
                       int first, int *value)
{
    wk__text expected = {0};
    if (*value == 0) *value = first;
    if (*value >= first && *value < first + count) return true;
    list_names(&expected, names, count, "");
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: unknown %s %d; expected %s", op, option, *value,
                  expected.data ? expected.data : "another");
    wk__text_free(&expected);
    return false;
}

int wk__option_word(wk_site site, const char *op, const char *option, const char *const words[], int count,
                    const char *given)
{
    wk__text expected = {0};
    if (!given) return 0;
    for (int k = 0; k < count; k++)
        if (strcmp(given, words[k]) == 0) return k;
    list_names(&expected, words, count, "\"");
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: unknown %s \"%.40s\"; expected %s", op, option, given,
                  expected.data ? expected.data : "another");
    wk__text_free(&expected);
    return -1;
}

bool wk__sized_is_valid(const void *given)
{
    const size_t room = size_of(given);
    return room > sizeof room && room <= MAX_STRUCT_SIZE;
}

wk_code wk__sized_write(wk_site site, const char *op, const char *type, void *given, const void *own, size_t size)
{
    if (!given || !wk__sized_is_valid(given)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: set .size = sizeof(%s) first", op, type);
        return WK_ERR_ARGUMENT;
    }
    const size_t room = size_of(given);
    memset(given, 0, room);
    memcpy(given, own, room < size ? room : size);
    memcpy(given, &room, sizeof room);
    return WK_OK;
}
