/* SPDX-License-Identifier: Apache-2.0 */
/* GGUF files that must be rejected, and unusual ones that must be accepted, in a notation of words:
 *     4:7      7 in 4 bytes; also 1, 2 and 8 bytes     s:text   a string with its length     r:text   bytes
 *     p:32     zero bytes up to a multiple of 32       z:5      5 zero bytes */
#ifndef WICK_TESTS_HOSTILE_GGUF_H
#define WICK_TESTS_HOSTILE_GGUF_H

#include "file.h"
#include "io/gguf.h"

typedef struct gguf_case {
    const char *file;
    const char *word; /* in the error; NULL: must be accepted */
} gguf_case;

#define COUNTS(tensors, pairs) "r:GGUF 4:3 8:" #tensors " 8:" #pairs " "
#define KEY                    COUNTS(0, 1) "s:key "
/* one tensor of the type F32 with 2 elements */
#define TENSOR                 "s:w 4:1 8:2 4:0 8:0 "

static const gguf_case gguf_cases[] = {
    /* ---- the first numbers ---- */
    {"r:GGUF", "truncated: 4 bytes are needed and 0 are left (byte 4)"},
    {"r:GGUF 4:1 8:0 8:0", "version 1 of GGUF is not supported; expected 2 or 3 (byte 4)"},
    {"r:GGUF 4:4 8:0 8:0", "version 4 of GGUF"},
    {"r:GGUF 4:0 8:0 8:0", "version 0 of GGUF"},
    {"r:GGUF 4:50331648 8:0 8:0", "a big-endian GGUF file is not supported"},
    {"r:GGUX 4:3 8:0 8:0", "not a GGUF file"},
    {"r:GGUF 4:3 8:18446744073709551615 8:0", "more than 1048576 tensors: 18446744073709551615 (byte 8)"},
    {"r:GGUF 4:3 8:1048577 8:0", "more than 1048576 tensors"},
    {"r:GGUF 4:3 8:0 8:9223372036854775808", "more than 65536 pairs: 9223372036854775808 (byte 16)"},
    {"r:GGUF 4:3 8:1048576 8:0", "truncated"},
    {"r:GGUF 4:3 8:0 8:65536", "truncated"},

    /* ---- pairs ---- */
    {COUNTS(0, 1) "8:65536 z:65536", "the key of 65536 bytes is longer than 65535 bytes (byte 24)"},
    {COUNTS(0, 1) "8:18446744073709551615 r:k", "the key of 18446744073709551615 bytes is longer"},
    {COUNTS(0, 1) "8:9 r:k", "truncated: 9 bytes are needed and 1 are left"},
    {COUNTS(0, 1) "8:2 r:k z:1 4:0 1:7", "the key \"k?\" has a zero character or is not UTF-8 (byte 33)"},
    {COUNTS(0, 1) "8:2 r:k 1:255 4:0 1:7", "has a zero character or is not UTF-8"},
    {COUNTS(0, 2) "s:a 4:0 1:7 s:a 4:0 1:7", "duplicate key \"a\" (before byte"},
    {KEY "4:13 1:0", "unknown type 13 of a value (byte 35)"},
    {KEY "4:4294967295 1:0", "unknown type 4294967295 of a value"},
    {KEY "4:4 2:0", "key: truncated: 4 bytes are needed and 2 are left"},
    {KEY "4:7 1:2", "key: a bool is neither 0 nor 1 (byte 39)"},
    {KEY "4:8 8:5 r:abc", "key: truncated"},
    {KEY "4:8 8:9223372036854775807 r:abc", "a string of 9223372036854775807 bytes is longer than 100000000"},
    {KEY "4:9 4:0 8:9223372036854775807 1:0", "key: truncated: an array of 9223372036854775807 items"},
    {KEY "4:9 4:12 8:2 8:0", "key: truncated: 8 bytes"},
    {KEY "4:9 4:8 8:1 8:1", "key: truncated"},
    {KEY "4:9 4:13 8:0", "unknown type 13"},
    {KEY "4:9 4:7 8:2 1:1 1:9", "a bool is neither"},
    {KEY "4:9 4:9 8:1 4:9 8:1 4:9 8:1 4:9 8:1 4:0 8:0", "key: arrays nest too deeply"},
    {COUNTS(0, 1) "s:general.alignment 4:4 4:0", "general.alignment must be a power of two of type u32 (byte"},
    {COUNTS(0, 1) "s:general.alignment 4:4 4:24", "must be a power of two"},
    {COUNTS(0, 1) "s:general.alignment 4:10 8:32", "must be a power of two of type u32"},
    {COUNTS(0, 1) "s:general.alignment 4:8 s:32", "must be a power of two of type u32"},

    /* ---- tensors ---- */
    {COUNTS(1, 0) "8:4097 z:4097", "the name of 4097 bytes is longer than 4096 bytes"},
    {COUNTS(1, 0) "8:1 1:192 4:1 8:2 4:0 8:0 p:32 z:8", "is not UTF-8"},
    {COUNTS(1, 0) "s:w 4:5 8:1 8:1 8:1 8:1 8:1 4:0 8:0", "tensor \"w\": 5 dimensions are more than 4"},
    {COUNTS(1, 0) "s:w 4:4294967295 8:1", "4294967295 dimensions are more than 4"},
    {COUNTS(1, 0) "s:w 4:1 8:9223372036854775808 4:0 8:0", "tensor \"w\": a size exceeds"},
    {COUNTS(1, 0) "s:w 4:2 8:4294967296 8:4294967296 4:0 8:0", "tensor \"w\": its sizes are too large"},
    {COUNTS(1, 0) "s:w 4:3 8:4294967296 8:4294967296 8:0 4:0 8:0", "its sizes are too large"},
    {COUNTS(1, 0) "s:w 4:1 8:2305843009213693952 4:0 8:0", "its sizes are too large"},
    {COUNTS(1, 0) "s:w 4:1 8:2305843009213693952 4:10 8:0", "its sizes are too large"},
    {COUNTS(1, 0) "s:w 4:1 8:1152921504606846944 4:8 8:9223372036854775776", "its sizes are too large"},
    {COUNTS(1, 0) "s:w 4:1 8:2 4:4 8:0 p:32 z:8", "tensor \"w\": unknown type 4"},
    {COUNTS(1, 0) "s:w 4:1 8:2 4:42 8:0 p:32 z:8", "tensor \"w\": unknown type 42"},
    {COUNTS(1, 0) "s:w 4:1 8:2 4:4294967295 8:0 p:32 z:8", "unknown type 4294967295"},
    {COUNTS(1, 0) "s:w 4:1 8:33 4:8 8:0 p:32 z:68", "the last size 33 is not a multiple of the block of Q8_0, 32"},
    {COUNTS(1, 0) "s:w 4:2 8:128 8:2 4:12 8:0 p:32 z:144", "the last size 128 is not a multiple of the block of Q4_K"},
    {COUNTS(1, 0) "s:w 4:0 4:2 8:0 p:32 z:18", "the last size 1 is not a multiple"},
    {COUNTS(1, 0) "s:w 4:1 8:2 4:0 8:4 p:32 z:12", "the offset 4 is not a multiple of 32"},
    {COUNTS(1, 0) "s:w 4:1 8:2 4:0 8:9223372036854775808 p:32 z:8", "the offset 9223372036854775808 is not a mult"},
    {COUNTS(1, 0) "s:w 4:1 8:2 4:0 8:32 p:32 z:40", "tensor \"w\": its data starts at 32, but the preceding data ends"},
    {COUNTS(2, 0) TENSOR "s:v 4:1 8:2 4:0 8:0 p:32 z:40", "an overlap"},
    {COUNTS(2, 0) TENSOR "s:v 4:1 8:2 4:0 8:64 p:32 z:72", "a hole"},
    {COUNTS(2, 0) TENSOR TENSOR "p:32 z:40", "duplicate tensor \"w\""},
    {COUNTS(1, 0) TENSOR, "its data ends at 8, but the file has only 0 bytes of data: truncated"},
    {COUNTS(1, 0) TENSOR "p:32 z:7", "its data ends at 8, but the file has only 7 bytes of data: truncated"},
    {COUNTS(1, 0) TENSOR "p:32 z:33", "the data of the tensors ends at byte 72, but 25 bytes follow it"},
    {COUNTS(1, 0) "s:w 4:1 8:2305843009213693 4:0 8:0 p:32 z:8", "truncated"},
    {COUNTS(1, 1) "s:general.alignment 4:4 4:2147483648 " TENSOR "p:32 z:8", "truncated"},
    {COUNTS(0, 0) "p:32 z:1", "but 1 bytes follow it"},

    /* ---- unusual valid files ---- */
    {COUNTS(0, 0), NULL},
    {"r:GGUF 4:2 8:0 8:0", NULL},
    {COUNTS(0, 0) "p:32", NULL},
    {COUNTS(1, 0) TENSOR "p:32 z:8", NULL},
    {COUNTS(1, 0) TENSOR "p:32 z:8 p:32", NULL},
    {COUNTS(2, 1) "s:general.alignment 4:4 4:1 s:b 4:4 8:1 8:1 8:2 8:1 4:30 8:8 " TENSOR "z:12", NULL},
    {COUNTS(3, 0) TENSOR "s:none 4:2 8:0 8:3 4:14 8:32 s:scalar 4:0 4:24 8:32 p:32 z:33", NULL},
    {COUNTS(0,
            13) "s:a 4:0 1:255 s:b 4:1 1:255 s:c 4:2 2:9 s:d 4:3 2:65535 s:e 4:4 4:1 s:f 4:5 4:4294967295 s:g 4:6 "
                "4:2143289344 s:h 4:7 1:1 s:i 4:8 8:3 r:a 1:0 1:255 s:j 4:9 4:9 8:2 4:8 8:2 s:x 8:2 1:34 1:255 4:6 8:1 "
                "4:8388608 s:k 4:10 8:18446744073709551615 s:l 4:11 8:9223372036854775808 s: 4:12 8:1",
     NULL},
    {COUNTS(3, 0) "s:q4 4:1 8:64 4:2 8:0 s:q6 4:2 8:256 8:1 4:14 8:64 s:iq 4:1 8:256 4:17 8:288 p:32 z:362", NULL},
    {COUNTS(11,
            0) "s:a 4:1 8:32 4:3 8:0 s:b 4:1 8:32 4:6 8:32 s:c 4:1 8:32 4:7 8:64 s:d 4:1 8:32 4:8 8:96 s:e 4:1 8:256 "
               "4:10 8:160 s:f 4:1 8:256 4:11 8:256 s:g 4:1 8:256 4:12 8:384 s:h 4:1 8:256 4:13 8:544 s:i 4:1 8:256 "
               "4:20 8:736 s:j 4:1 8:1 4:28 8:896 s:k 4:3 8:1 8:1 8:1 4:1 8:928 p:32 z:930",
     NULL},
};

enum { GGUF_CASES = sizeof gguf_cases / sizeof *gguf_cases };

static inline void gguf_put(bytes *file, uint64_t value, int64_t count)
{
    for (int64_t k = 0; k < count; k++) file->data[file->count++] = (unsigned char)(k < 8 ? value >> 8 * k : 0);
}

/* Translates the notation. */
static inline bytes gguf_file(const gguf_case *from)
{
    enum { MOST = 1 << 18 };
    bytes file = bytes_new(MOST);
    file.count = 0;
    for (const char *at = from->file; *at;) {
        const int64_t length = (int64_t)strcspn(at + 2, " ");
        if (*at == 'r' || *at == 's') {
            if (*at == 's') gguf_put(&file, (uint64_t)length, 8);
            memcpy(file.data + file.count, at + 2, (size_t)length);
            file.count += length;
        } else {
            const uint64_t number = strtoull(at + 2, NULL, 10);
            if (*at == 'z') gguf_put(&file, 0, (int64_t)number);
            if (*at == 'p') gguf_put(&file, 0, (int64_t)(number - (uint64_t)file.count % number) % (int64_t)number);
            if (*at >= '0' && *at <= '9') gguf_put(&file, number, *at - '0');
        }
        at += 2 + length;
        at += strspn(at, " ");
    }
    bytes exact = bytes_copy(file.data, file.count);
    free(file.data);
    return exact;
}

/* Checks order and bounds of a parsed file, and computes the elements of quantised tensors. Returns NULL or the
 * problem. */
static inline const char *gguf_check(const wk__safetensors *in, bytes file)
{
    int64_t covered = 0;
    for (int64_t k = 0; k < in->count; k++) {
        const wk__safetensors_tensor *t = &in->tensors[k];
        if (t->begin < covered || t->end < t->begin) return "the data are not covered in order";
        if (t->end > t->begin && t->end > file.count - in->data_start) return "data are outside the file";
        covered = t->end;
        for (int d = 0; d < t->ndim; d++)
            if (t->shape[d] < 0) return "a size is negative";
        if (t->position < 24 || t->position >= file.count) return "a position is outside the header";
        if (k > 0 && strcmp(in->by_name[k - 1]->name, in->by_name[k]->name) >= 0) return "the names are not in order";
        if (wk__safetensors_find(in, t->name) != t) return "a tensor is not found by its name";
        const int64_t blocks = (t->end - t->begin) / t->gguf->bytes;
        if (!t->gguf->blocks || blocks == 0) continue;
        float *elements = malloc((size_t)(blocks * t->gguf->block) * sizeof *elements);
        wk__gguf_decode(t->gguf, file.data + in->data_start + t->begin, blocks, elements);
        free(elements);
    }
    for (int64_t k = 1; k < in->metadata_count; k++)
        if (strcmp(in->metadata[k - 1].key, in->metadata[k].key) >= 0) return "the keys are not in order";
    return NULL;
}

#endif
