/* SPDX-License-Identifier: Apache-2.0 */
/* The folder in which the stand-in for NVRTC leaves texts for that of the driver, and how they are named. */
#ifndef STANDIN_FOLDER_H
#define STANDIN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The variable STANDIN; else cache/standin beside the folder of this library. It is made if need be. */
const char *standin_folder(void);
/* A cubin's length, which nobody tells the driver: where the last of its sections or headers ends. 0: it is none. */
size_t standin_length(const void *image);
enum { STANDIN_PATH = 1024 };
uint64_t standin_hash(uint64_t start, const void *bytes, size_t count);
extern const uint64_t standin_hash_start;

/* A whole file, with a byte of 0 behind it; NULL: there is none. The caller frees it. */
char *standin_read(const char *path);
/* Written under another name and renamed, so that whoever finds it finds all of it. */
bool standin_write(const char *path, const char *const part[], int parts);
bool standin_write_bytes(const char *path, const void *bytes, size_t count);
/* A name that no other process and no other call uses. */
void standin_other_name(char name[STANDIN_PATH], const char *path);

/* What the name of a cubin that was to be kept has behind it where the compiler warned of something: a file of the
 * warning and the text. */
#define STANDIN_WARNED ".warned"

#endif
