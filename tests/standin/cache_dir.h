/* SPDX-License-Identifier: Apache-2.0 */
/* The folder in which the stand-in for NVRTC leaves sources for the stand-in for the driver, and its file names. */
#ifndef STANDIN_CACHE_DIR_H
#define STANDIN_CACHE_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the folder, creating it if necessary: the variable STANDIN, else cache/standin beside this library's
 * folder. */
const char *standin_folder(void);
/* Returns the length of a cubin, which callers do not pass to the driver: the end of its last section or header. 0 if
 * it is not a cubin. */
size_t standin_length(const void *image);
enum { STANDIN_PATH = 1024 };
uint64_t standin_hash(uint64_t start, const void *bytes, size_t count);
extern const uint64_t standin_hash_start;

/* Returns the contents of a file, followed by a 0 byte; NULL if it does not exist. The caller frees it. */
char *standin_read(const char *path);
/* Writes a temporary file and renames it, so that readers see only complete files. */
bool standin_write(const char *path, const char *const part[], int parts);
bool standin_write_bytes(const char *path, const void *bytes, size_t count);
/* Returns a name for a temporary file beside path, unique to the process and the call. */
void standin_other_name(char name[STANDIN_PATH], const char *path);

/* Suffix of the file written instead of a cubin if the compiler reports warnings: the warnings and the source. */
#define STANDIN_WARNED ".warned"

#endif
