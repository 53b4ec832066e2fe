/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of tens of bytes, faster than a call of memcpy. */
#ifndef WICK_BACKEND_CPU_COPY_CHUNKS_H
#define WICK_BACKEND_CPU_COPY_CHUNKS_H

#include <stdint.h>
#include <string.h>

/* Copies at least one chunk; the last one overlaps so that it ends at the end. chunk is a constant at every call. */
static inline __attribute__((always_inline)) void wk__copy_chunks(char *to, const char *from, int64_t bytes,
                                                                  size_t chunk)
{
    const int64_t last = bytes - (int64_t)chunk;
    for (int64_t k = 0; k < last; k += (int64_t)chunk) memcpy(to + k, from + k, chunk);
    memcpy(to + last, from + last, chunk);
}

#endif
