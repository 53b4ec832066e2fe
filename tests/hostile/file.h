/* SPDX-License-Identifier: Apache-2.0 */
/* Notation and generation of malformed files: lists of contents with the expected error. The tests of a parser iterate
 * over its list, and the fuzzers start with the same files. */
#ifndef WICK_TESTS_HOSTILE_FILE_H
#define WICK_TESTS_HOSTILE_FILE_H

#include "base/alloc.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Bytes in a heap block of exactly their size, so that sanitizers detect reads beyond the end. The caller frees
 * them. */
typedef struct bytes {
    unsigned char *data;
    int64_t count;
} bytes;

static inline bytes bytes_new(int64_t count)
{
    return (bytes){calloc(1, count > 0 ? (size_t)count : 1), count};
}

static inline bytes bytes_copy(const void *data, int64_t count)
{
    bytes copy = bytes_new(count);
    memcpy(copy.data, data, (size_t)count);
    return copy;
}

/* Writes eight bytes, little-endian: the N of a safetensors file. */
static inline void put_u64(void *to, uint64_t value)
{
    for (int k = 0; k < 8; k++) ((unsigned char *)to)[k] = (unsigned char)(value >> 8 * k);
}

/* A small generator (xorshift64*), for mutations that are the same in every run. */
static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12, *state ^= *state << 25, *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

/* Changes 1 to 4 bytes, some of them to characters in alphabet, which are significant to the parser; or truncates, or
 * duplicates a piece. */
static inline bytes mutate(bytes good, const char *alphabet, uint64_t *state)
{
    bytes bad = bytes_new(good.count + 64);
    memcpy(bad.data, good.data, (size_t)good.count);
    bad.count = good.count;
    uint64_t kind = next_random(state) % 8;
    if (kind == 0) {
        bad.count = (int64_t)(next_random(state) % (uint64_t)good.count);
    } else if (kind == 1) {
        uint64_t from = next_random(state) % (uint64_t)good.count, to = next_random(state) % (uint64_t)good.count;
        uint64_t length = next_random(state) % 64;
        while (length > (uint64_t)good.count - from || length > (uint64_t)good.count - to) length /= 2;
        memmove(bad.data + to, good.data + from, length);
    } else {
        for (uint64_t changes = 1 + next_random(state) % 4; changes > 0; changes--) {
            uint64_t value = next_random(state);
            unsigned char byte = value & 256 ? (unsigned char)value : (unsigned char)alphabet[value % strlen(alphabet)];
            bad.data[next_random(state) % (uint64_t)good.count] = byte;
        }
    }
    bytes exact = bytes_copy(bad.data, bad.count);
    free(bad.data);
    return exact;
}

#endif
