/* SPDX-License-Identifier: Apache-2.0 */
/* The cache of compiled programs on disk: a folder of this user alone, files that appear whole or not at all. */
#ifndef WICK_BACKEND_GPU_CACHE_H
#define WICK_BACKEND_GPU_CACHE_H

#include "base/text.h"

/* 128 bits over everything that the compiler was given: two different texts never meet in practice. */
typedef struct wk__gpu_digest {
    uint64_t word[2];
} wk__gpu_digest;

wk__gpu_digest wk__gpu_digest_start(void);
void wk__gpu_digest_add(wk__gpu_digest *digest, const void *bytes, size_t count);
void wk__gpu_digest_add_text(wk__gpu_digest *digest, const char *text);

/* The folder ($WICK_CACHE_DIR, else $XDG_CACHE_HOME/wick, else ~/.cache/wick; made if need be), as a descriptor. -1 for
 * no cache: WICK_CACHE_DIR is "" or "off"; or the folder is not this user's alone to write; or the driver keeps a cache
 * of its own and WICK_CACHE_DIR does not ask for one more. */
int wk__gpu_cache_open(bool driver_has_one);

/* Reads the file of that digest up to `limit` bytes into an empty text; false when it is not there, not this user's, or
 * cannot be read. */
bool wk__gpu_cache_read(int folder, wk__gpu_digest name, int64_t limit, wk__text *content);
/* Writes one content under several names. Failure is no matter: the next process compiles again. A process's first
 * write, and then every 64th, trims the folder. */
void wk__gpu_cache_write(int folder, const wk__gpu_digest names[], int count, const char *content, int64_t bytes);
/* disk_cache_trim.c: files that have not been used for longest go while there are more than WICK_CACHE_MB (256 unless
 * it is set, 0: no bound), and so does what a killed process left half-written a day ago or earlier. */
void wk__gpu_cache_trim(int folder);

#endif
