/* SPDX-License-Identifier: Apache-2.0 */
/* A safetensors file with a checksum over the entire file. Its contents are in host memory, so that a background thread
 * can write it while training continues. The checksum is in the metadata,
 *
 *     {"__metadata__":{"wick.checkpoint":"1","wick.crc32":"89abcdef",...},...}
 *
 * computed with eight '0' in its place. Readers that do not know it can read the file. */
#ifndef WICK_DIST_CHECKPOINT_FILE_H
#define WICK_DIST_CHECKPOINT_FILE_H

#include "io/tensor_file.h"
#include "io/save_load.h"

#define WK__CHECKSUM_KEY "wick.crc32"

typedef struct wk__checkpoint_file_piece {
    wk__host_mapping rows;
    int64_t bytes;
} wk__checkpoint_file_piece;

typedef struct wk__checkpoint_file {
    wk__safetensors_layout layout;
    wk_tensors *list;                 /* reference held; its tensors are not modified any more */
    wk__checkpoint_file_piece *piece; /* data of the tensors, in file order */
    int64_t pieces;
} wk__checkpoint_file;

/* Builds a file from the tensors of the list, which must not be modified any more, and the metadata pairs, to which it
 * adds the checksum. Downloads data from devices. Returns false after recording an error; there is nothing to free
 * then. */
bool wk__checkpoint_file_make(wk_site site, const char *op, wk_tensors *list, wk__metadata *pairs,
                              wk__checkpoint_file *out);
/* Begin and end change reference counts, so both run on the user's thread. */
void wk__checkpoint_file_end(wk__checkpoint_file *content);
/* Replaces an older file atomically and durably (wk__atomic_file). *place, if not NULL: the path with symbolic links
 * resolved, freed by the caller; NULL on error. Runs on any thread. */
wk_code wk__checkpoint_file_write(wk__checkpoint_file *content, const char *path, char **place, wk__io_error *error);

/* Verifies the checksum of an open file. *sum: the checksum. */
wk_code wk__checkpoint_file_verify(const wk__tensor_file *from, uint32_t *sum, wk__io_error *error);

#endif
