/* SPDX-License-Identifier: Apache-2.0 */
/* A flush as a file: what WICK_CHECK=1 writes when the planned run gave something else than the calls one by one,
 * and what `wick replay` runs. Nothing else is needed to run it again: the records with what their ops write into
 * programs, the bytes of everything that they read, who holds what. docs/formats.md describes the bytes; the
 * reader takes nothing on trust. */
#ifndef WICK_ENGINE_FLUSH_FILE_H
#define WICK_ENGINE_FLUSH_FILE_H

#include "base/platform/file.h"
#include "flush_expression.h"
#include "engine/verify/shadow.h"

enum {
    WK__FLUSH_VERSION = 2,
    WK__FLUSH_HEAD = 32, /* bytes before the message: mark, version, flags, size, counts */
    WK__FLUSH_RECORDS = WK__OP_QUEUE_MAX,
    WK__FLUSH_REFS = 2 + WK__MAX_OPERANDS, /* of one record */
    WK__FLUSH_STRING = 4096                /* bytes, the longest name */
};

/* A value before the flush. */
enum {
    WK__FLUSH_IN_MEMORY = 1,  /* it was in memory, else a record makes it */
    WK__FLUSH_HAS_DATA = 2,   /* and its bytes are in the file: something reads them */
    WK__FLUSH_FAILED = 4,     /* it had failed */
    WK__FLUSH_OBSERVABLE = 8, /* somebody besides the ring holds it */
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
    const char *data; /* into the file, or NULL */
} wk__flush_value;

typedef struct wk__flush_record {
    wk__record *record;            /* its values and `prior` are NULL: */
    int32_t value[WK__FLUSH_REFS]; /* they are these, -1 for an immediate */
    int32_t prior;                 /* -1: none */
    wk__flush_op *op;
    char *strings; /* its names while they are being read; when the file is accepted they live for ever
                     (base/intern.h) */
} wk__flush_record;

typedef struct wk__flush_data {
    char *message;  /* the message of the difference */
    bool may_defer; /* what nobody has asked for may be parked */
    wk__flush_value *value;
    int64_t values;
    wk__flush_record *record;
    int64_t records;
    char *bytes; /* of the file */
} wk__flush_data;

/* Writes the flush whose twins these are, and which has not been forgotten. */
wk_code wk__flush_write(const wk__shadow_map *twins, const char *said, const char *path, wk__io_error *error);

/* Reads and checks a file; what it says can be run then. A failed call leaves nothing to end. */
wk_code wk__flush_read(const char *path, wk__flush_data *out, wk__io_error *error);
/* The same from the bytes of a file, which it takes over (wk__free). */
wk_code wk__flush_parse(char *bytes, int64_t count, wk__flush_data *out, wk__io_error *error);
void wk__flush_free(wk__flush_data *flush);

#endif
