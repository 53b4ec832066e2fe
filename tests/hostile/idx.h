/* SPDX-License-Identifier: Apache-2.0 */
/* IDX files that must be rejected, and unusual ones that must be accepted. */
#ifndef WICK_TESTS_HOSTILE_IDX_H
#define WICK_TESTS_HOSTILE_IDX_H

#include "file.h"
#include <zlib.h>

/* The first bytes of a file, and the number of zero bytes that follow. */
typedef struct idx_case {
    const char *start;
    int64_t length;
    int64_t data;
    const char *word; /* in the error; NULL: must be accepted */
} idx_case;

#define START(literal) literal, sizeof(literal) - 1

static const idx_case idx_cases[] = {
    /* ---- the first four bytes ---- */
    {START(""), 0, "truncated"},
    {START("\0"), 0, "truncated"},
    {START("\0\0"), 0, "truncated"},
    {START("\0\0\x08"), 0, "truncated"},
    {START("\1\0\x08\1\0\0\0\1"), 1, "two zero bytes"},
    {START("\0\1\x08\1\0\0\0\1"), 1, "two zero bytes"},
    {START("PK\3\4"), 100, "two zero bytes"},
    {START("\1\x08\0\0\1\0\0\0"), 1, "two zero bytes"}, /* little-endian */
    {START("\x89PNG"), 100, "two zero bytes"},
    {START("\0\0\0\1\0\0\0\1"), 1, "unknown dtype 0x00"},
    {START("\0\0\1\1\0\0\0\1"), 1, "unknown dtype 0x01"},
    {START("\0\0\7\1\0\0\0\1"), 1, "unknown dtype 0x07"},
    {START("\0\0\x0a\1\0\0\0\1"), 1, "unknown dtype 0x0a"},
    {START("\0\0\x0f\1\0\0\0\1"), 1, "unknown dtype 0x0f"},
    {START("\0\0\x10\1\0\0\0\1"), 1, "unknown dtype 0x10"},
    {START("\0\0\x80\1\0\0\0\1"), 1, "unknown dtype 0x80"},
    {START("\0\0\xff\1\0\0\0\1"), 1, "unknown dtype 0xff"},
    {START("\0\0\x08\0"), 0, "0 dimensions"},
    {START("\0\0\x08\0"), 1, "0 dimensions"},
    {START("\0\0\x08\x09"), 36, "9 dimensions"},
    {START("\0\0\x08\xff"), 1020, "255 dimensions"},

    /* ---- the sizes ---- */
    {START("\0\0\x08\1"), 0, "truncated within the sizes"},
    {START("\0\0\x08\1\0\0\0"), 0, "truncated within the sizes"},
    {START("\0\0\x08\3\0\0\0\1\0\0\0\1"), 0, "truncated within the sizes"},
    {START("\0\0\x08\3\0\0\0\1\0\0\0\1\0\0\0"), 0, "truncated within the sizes"},
    {START("\0\0\x08\x08"), 31, "truncated within the sizes"},
    {START("\0\0\x08\1\0\0\0\1"), 0, "truncated"},
    {START("\0\0\x08\1\0\0\0\2"), 1, "truncated"},
    {START("\0\0\x08\1\0\0\0\2"), 3, "too long"},
    {START("\0\0\x08\1\0\0\0\0"), 1, "too long"},
    {START("\0\0\x08\1\xff\xff\xff\xff"), 100, "4294967295"}, /* sizes are unsigned */
    {START("\0\0\x08\1\x80\0\0\0"), 100, "2147483648"},
    {START("\0\0\x08\1\2\0\0\0"), 2, "truncated"}, /* little-endian */
    {START("\0\0\x08\2\0\0\0\2\0\0\0\3"), 5, "truncated"},
    {START("\0\0\x08\2\0\0\0\2\0\0\0\3"), 7, "too long"},
    {START("\0\0\x08\2\0\0\0\0\0\0\0\3"), 3, "too long"},
    {START("\0\0\x0b\1\0\0\0\2"), 2, "truncated"},
    {START("\0\0\x0b\1\0\0\0\2"), 3, "truncated"},
    {START("\0\0\x0b\1\0\0\0\2"), 5, "too long"},
    {START("\0\0\x0c\1\0\0\0\2"), 7, "truncated"},
    {START("\0\0\x0d\1\0\0\0\2"), 9, "too long"},
    {START("\0\0\x0e\1\0\0\0\2"), 8, "truncated"},
    {START("\0\0\x0e\1\0\0\0\2"), 17, "too long"},

    /* ---- sizes whose product exceeds a file ---- */
    {START("\0\0\x08\2\xff\xff\xff\xff\xff\xff\xff\xff"), 8, "overflows"},
    {START("\0\0\x08\2\x80\0\0\0\xff\xff\xff\xff"), 8, "truncated"}, /* 2^63 - 2^31 */
    {START("\0\0\x08\3\x80\0\0\0\x80\0\0\0\0\0\0\4"), 8, "overflows"},
    {START("\0\0\x0e\2\x80\0\0\0\x20\0\0\0"), 8, "overflows"},
    {START("\0\0\x0e\1\xff\xff\xff\xff"), 8, "34359738360"},
    {START("\0\0\x08\4\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0"), 0, "overflows"}, /* 2^64: wraps to 0 */
    {START("\0\0\x08\4\0\1\0\0\0\1\0\0\0\1\0\0\0\0\x80\0"), 0, "overflows"},
    {START("\0\0\x0b\4\0\1\0\0\0\1\0\0\0\1\0\0\0\0\x80\0"), 0, "overflows"},
    {START("\0\0\x08\5\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), 0, "overflows"},
    {START("\0\0\x08\5\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0"), 0, "overflows"},
    {START("\0\0\x08\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
           "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
     0, "overflows"},

    /* ---- compressed files ---- */
    {START("\x1f\x8b"), 0, "truncated"},
    {START("\x1f\x8b\x08"), 0, "truncated"},
    {START("\x1f\x8b\x08\0\0\0\0\0\0\3"), 0, "truncated"},
    {START("\x1f\x8b\x08\0\0\0\0\0\0\3\3"), 0, "truncated"},
    {START("\x1f\x8b\x08\0\0\0\0\0\0\3\3\0"), 8, "truncated within its first 4"}, /* empty, compressed */
    {START("\x1f\x8b\x08\0\0\0\0\0\0\3\3\0"), 7, "truncated"},
    {START("\x1f\x8b\x08\0\0\0\0\0\0\3\3\0"), 60, "corrupted"},      /* followed by zeros */
    {START("\x1f\x8b\x07\0\0\0\0\0\0\3\3\0"), 8, "corrupted"},       /* not deflate */
    {START("\x1f\x8b\x08\xe0\0\0\0\0\0\3\3\0"), 8, "corrupted"},     /* reserved flags */
    {START("\x1f\x8b\x08\0\0\0\0\0\0\3\7\0"), 8, "corrupted"},       /* an unknown block type */
    {START("\x1f\x8b\x08\0\0\0\0\0\0\3\1\1\0\0\0"), 8, "corrupted"}, /* a stored block with a wrong length */
    {START("\x1f\x8b\x08\x08\0\0\0\0\0\3name"), 20, "corrupted"},
    {START("\x1f\x8b\x08\x08\0\0\0\0\0\3no end of the name"), 0, "truncated"},
    {START("\x1f\x8b\x08\4\0\0\0\0\0\3\xff\xff"), 100, "truncated"}, /* an extra field of 65,535 bytes */
    /* 4 and 8 valid bytes in a stored block, then an unknown block type */
    {START("\x1f\x8b\x08\0\0\0\0\0\0\3\0\4\0\xfb\xff\0\0\x08\1\7"), 20, "corrupted"},
    {START("\x1f\x8b\x08\0\0\0\0\0\0\3\0\x08\0\xf7\xff\0\0\x08\1\0\0\0\4\7"), 20, "corrupted"},
    {START("\x1f\x9d"), 100, "two zero bytes"}, /* format of compress */
    {START("\x1f"), 0, "truncated"},

    /* ---- unusual valid files ---- */
    {START("\0\0\x08\1\0\0\0\0"), 0, NULL},
    {START("\0\0\x08\2\0\0\0\0\xff\xff\xff\xff"), 0, NULL},
    {START("\0\0\x08\x08\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\2"), 2, NULL},
    {START("\0\0\x0e\1\0\0\0\3"), 24, NULL},
};

enum { IDX_CASES = sizeof idx_cases / sizeof *idx_cases };

static inline bytes idx_file(const idx_case *from)
{
    bytes file = bytes_new(from->length + from->data);
    memcpy(file.data, from->start, (size_t)from->length);
    return file;
}

/* Returns the same file compressed with gzip. */
static inline bytes gzip(bytes plain)
{
    z_stream stream = {0};
    bytes packed = bytes_new(plain.count + plain.count / 100 + 100);
    deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
    stream.next_in = plain.data;
    stream.avail_in = (unsigned)plain.count;
    stream.next_out = packed.data;
    stream.avail_out = (unsigned)packed.count;
    deflate(&stream, Z_FINISH);
    bytes exact = bytes_copy(packed.data, (int64_t)stream.total_out);
    deflateEnd(&stream);
    free(packed.data);
    return exact;
}

#endif
