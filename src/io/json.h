/* SPDX-License-Identifier: Apache-2.0 */
/* The part of JSON that a safetensors header may hold: objects, arrays, strings and whole numbers from 0 on. The reader
 * pulls one token after another and builds no tree; how deep things nest is written in the code that calls it, so a
 * file cannot make it recurse. */
#ifndef WICK_IO_JSON_H
#define WICK_IO_JSON_H

#include "base/platform/file.h"
#include "base/text.h"

typedef struct wk__json {
    const char *start; /* of the text */
    char *at, *end;    /* the rest of the text; strings are decoded in place */
    int64_t position;  /* of `start` in the file, for messages */
} wk__json;

/* The byte of the file that `at` stands for. */
int64_t wk__json_position(const wk__json *json, const char *at);
/* The next token must be the character `wanted`. Blanks before a token are skipped, here and below. */
wk_code wk__json_expect(wk__json *json, char wanted, wk__io_error *error);
/* Steps to the next item of a list that ends with `close`: takes the comma, which the first item has not, or the end.
 *     for (bool first = true, more;; first = false)
 *         if ((code = wk__json_item(json, '}', first, &more, error)) != WK_OK || !more) break;
 *         else read the item */
wk_code wk__json_item(wk__json *json, char close, bool first, bool *more, wk__io_error *error);
/* A string, decoded and terminated where it stands: its decoded form is never longer. Must be UTF-8 without the
 * character zero, which a C string cannot hold. */
wk_code wk__json_string(wk__json *json, const char **string, wk__io_error *error);
/* A whole number from 0 to INT64_MAX, without sign, fraction, exponent or leading zeros. */
wk_code wk__json_integer(wk__json *json, int64_t *value, wk__io_error *error);

/* Adds a string in quotes, escaped. False when it is not UTF-8, with nothing added. */
bool wk__json_add_string(wk__text *text, const char *string);

#endif
