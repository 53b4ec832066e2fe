/* SPDX-License-Identifier: Apache-2.0 */
/* JSON, without numbers other than whole ones from 0 on, which can only be skipped. The reader pulls one token after
 * another and builds no tree; how deep things nest is written in the code that calls it, so a file cannot make it
 * recurse. */
#ifndef WICK_IO_JSON_H
#define WICK_IO_JSON_H

#include "base/platform/file.h"
#include "base/text.h"

typedef struct wk__json {
    const char *start; /* of the text */
    char *at, *end;    /* the rest of the text; strings are decoded in place */
    int64_t position;  /* of `start` in the file, for messages */
    const char *whole; /* name of the text in messages: "header", "file" */
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

/* The first character of the next token, without taking it; 0 at the end. */
char wk__json_peek(wk__json *json);
/* true or false. */
wk_code wk__json_bool(wk__json *json, bool *value, wk__io_error *error);
/* Takes a null if it is the next token: *is_null. */
wk_code wk__json_null(wk__json *json, bool *is_null, wk__io_error *error);
/* Takes any value, in which at most 32 objects and arrays may nest. */
wk_code wk__json_skip(wk__json *json, wk__io_error *error);
/* Nothing may follow the text. */
wk_code wk__json_end(wk__json *json, wk__io_error *error);

/* Adds a string in quotes, escaped. False when it is not UTF-8, with nothing added. */
bool wk__json_add_string(wk__text *text, const char *string);

#endif
