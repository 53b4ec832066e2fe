/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing JSON. The reader takes one token after another and builds no tree. Its callers and wk__json_skip
 * limit the depth of nesting, so that no file causes deep recursion. */
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

/* Returns the position of `at` in the file, in bytes. */
int64_t wk__json_position(const wk__json *json, const char *at);
/* Takes the next token, which must be the character `wanted`. Like all functions below, skips blanks before a token. */
wk_code wk__json_expect(wk__json *json, char wanted, wk__io_error *error);
/* Moves to the next item of a list that ends with `close`: takes the comma before every item but the first, or the end,
 * for which *more is false.
 *     for (bool first = true, more;; first = false)
 *         if ((code = wk__json_item(json, '}', first, &more, error)) != WK_OK || !more) break;
 *         else read the item */
wk_code wk__json_item(wk__json *json, char close, bool first, bool *more, wk__io_error *error);
/* Reads a string, which is decoded and terminated within the text: it never becomes longer. It must be UTF-8 without
 * the character zero, which a C string cannot hold. */
wk_code wk__json_string(wk__json *json, const char **string, wk__io_error *error);
/* Reads an integer from 0 to INT64_MAX, without sign, fraction, exponent or leading zeros. */
wk_code wk__json_integer(wk__json *json, int64_t *value, wk__io_error *error);

/* Reads a number. One of more than 63 characters is an error. */
wk_code wk__json_number(wk__json *json, double *value, wk__io_error *error);

/* Returns the first character of the next token without taking it; 0 at the end. */
char wk__json_peek(wk__json *json);
/* Reads true or false. */
wk_code wk__json_bool(wk__json *json, bool *value, wk__io_error *error);
/* Takes a null if it is the next token, and stores whether it is. */
wk_code wk__json_null(wk__json *json, bool *is_null, wk__io_error *error);
/* Takes any value, in which at most 32 objects and arrays may nest. */
wk_code wk__json_skip(wk__json *json, wk__io_error *error);
/* Fails if anything but blanks follows. */
wk_code wk__json_end(wk__json *json, wk__io_error *error);

/* Appends a string in quotes, escaped. Returns false and appends nothing if it is not UTF-8. */
bool wk__json_add_string(wk__text *text, const char *string);

#endif
