/* SPDX-License-Identifier: Apache-2.0 */
/* Disk cache of compiled modules: a directory that only this user can write; files are created atomically. */
#ifndef WICK_BACKEND_GPU_DISK_CACHE_H
#define WICK_BACKEND_GPU_DISK_CACHE_H

#include "base/text.h"

/* 128-bit hash of everything that the compiler gets. Collisions are not expected in practice. */
typedef struct wk__gpu_digest {
    uint64_t word[2];
} wk__gpu_digest;

wk__gpu_digest wk__gpu_digest_start(void);
void wk__gpu_digest_add(wk__gpu_digest *digest, const void *bytes, size_t count);
void wk__gpu_digest_add_text(wk__gpu_digest *digest, const char *text);

/* Opens the directory: $WICK_CACHE_DIR, else $XDG_CACHE_HOME/wick, else ~/.cache/wick; creates it if necessary. Returns
 * -1 if there is no cache: WICK_CACHE_DIR is "" or "off"; others may write to the directory; or the driver has a cache
 * and WICK_CACHE_DIR is not set. */
int wk__gpu_cache_open(bool driver_has_one);

/* Reads up to `limit` bytes of the file of that digest into an empty text. Returns false if it doesn't exist, belongs
 * to another user or cannot be read. */
bool wk__gpu_cache_read(int folder, wk__gpu_digest name, int64_t limit, wk__text *content);
/* Writes a file under several names. Failures are ignored: the next process compiles again. The first write of a
 * process and every 64th after it trim the directory. */
void wk__gpu_cache_write(int folder, const wk__gpu_digest names[], int count, const char *content, int64_t bytes);
/* disk_cache_trim.c: removes the least recently used files while there are more than WICK_CACHE_MB (default 256; 0:
 * unlimited), and incomplete files of killed processes that are older than a day. */
void wk__gpu_cache_trim(int folder);

#endif
