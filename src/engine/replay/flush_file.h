/* SPDX-License-Identifier: Apache-2.0 */
/* Flush files: written by WICK_CHECK=1 if planned and unplanned results differ, and run by `wick replay`. They are
 * complete: the records with the instructions of their ops, the contents of all inputs, and the owners of values.
 * docs/contributing/wire-formats.md describes the format. The reader validates everything. */
#ifndef WICK_ENGINE_FLUSH_FILE_H
#define WICK_ENGINE_FLUSH_FILE_H

#include "base/platform/file.h"
#include "flush_expression.h"
#include "engine/verify/shadow.h"

enum {
    WK__FLUSH_VERSION = 2,
    WK__FLUSH_HEAD = 32, /* bytes before the message: mark, version, flags, size, counts */
    WK__FLUSH_RECORDS = WK__OP_QUEUE_MAX,
    WK__FLUSH_RESULTS = 3,                                 /* per record, */
    WK__FLUSH_REFS = WK__FLUSH_RESULTS + WK__MAX_OPERANDS, /* and operands */
    WK__FLUSH_STRING = 4096                                /* maximum bytes of a string */
};

/* Flags of a value before the flush. */
enum {
    WK__FLUSH_IN_MEMORY = 1,  /* it is in memory; otherwise a record computes it */
    WK__FLUSH_HAS_DATA = 2,   /* its contents are in the file, because a record reads them */
    WK__FLUSH_FAILED = 4,     /* it has failed */
    WK__FLUSH_OBSERVABLE = 8, /* it has owners outside the queue */
    WK__FLUSH_EXPOSED = 16,
    WK__FLUSH_BORROWED = 32,
    WK__FLUSH_WANTED = 64,
    WK__FLUSH_REVIVED = 128,
    WK__FLUSH_KEEP = 256,
    WK__FLUSH_ALL = 511
};

typedef struct wk__flush_value {
    wk_device device;
    int64_t bytes;
    uint32_t flags;
    const char *data; /* in `bytes`, or NULL */
} wk__flush_value;

typedef struct wk__flush_record {
    wk__record *record;            /* its `ref[].value` and `prior` are NULL: */
    int32_t value[WK__FLUSH_REFS]; /* indices in wk__flush_data.value; -1: an immediate */
    int32_t prior;                 /* the same; -1: none */
    wk__flush_op *op;
    /* its strings while it is being read; after that they are interned */
    char *strings;
} wk__flush_record;

typedef struct wk__flush_data {
    char *message;  /* message that reported the difference */
    bool may_defer; /* unneeded values may be deferred */
    wk__flush_value *value;
    int64_t values;
    wk__flush_record *record;
    int64_t records;
    char *bytes; /* contents of the file; owned */
} wk__flush_data;

/* Writes a flush; called while its shadows still exist. */
wk_code wk__flush_write(const wk__shadow_map *shadows, const char *said, const char *path, wk__io_error *error);

/* Reads and validates a file. On success the caller must call wk__flush_free(); on failure not. */
wk_code wk__flush_read(const char *path, wk__flush_data *out, wk__io_error *error);
/* Like wk__flush_read(), but from memory, whose ownership it takes (freed with wk__free()). */
wk_code wk__flush_parse(char *bytes, int64_t count, wk__flush_data *out, wk__io_error *error);
void wk__flush_free(wk__flush_data *flush);

#endif
