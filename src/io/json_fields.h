/* SPDX-License-Identifier: Apache-2.0 */
/* Reading JSON objects by tables of their fields. Strings stay in the text of the file. */
#ifndef WICK_IO_JSON_FIELDS_H
#define WICK_IO_JSON_FIELDS_H

#include "json.h"

typedef enum wk__field_kind {
    WK__FIELD_STRING,  /* const char * */
    WK__FIELD_BOOL,    /* bool */
    WK__FIELD_INTEGER, /* int64_t */
    WK__FIELD_NUMBER,  /* double */
    WK__FIELD_READ,    /* by a function */
    WK__FIELD_SKIPPED  /* any value */
} wk__field_kind;

/* A field of an object. A null leaves it as it is. */
typedef struct wk__field {
    const char *name;
    wk__field_kind kind;
    size_t offset;                                                    /* of its value in the struct */
    wk_code (*read)(wk__json *json, void *into, wk__io_error *error); /* WK__FIELD_READ: into is the struct */
} wk__field;

#define WK__FIELD_OF(type, member, kind_)                                                                              \
    {                                                                                                                  \
        .name = #member, .kind = kind_, .offset = offsetof(type, member)                                               \
    }

/* Reads an object into a struct. A field that occurs twice is an error, and one that the table lacks unless its value
 * is null or false. At most 64 fields. */
wk_code wk__json_object(wk__json *json, const wk__field *fields, int count, void *into, wk__io_error *error);
/* The same for an object of which the table has only some fields: skips the others. */
wk_code wk__json_part_of_object(wk__json *json, const wk__field *fields, int count, void *into, wk__io_error *error);
/* Reads an array: calls read for each item. */
wk_code wk__json_array(wk__json *json, wk_code (*read)(wk__json *, void *, wk__io_error *), void *into,
                       wk__io_error *error);

#endif
