/* SPDX-License-Identifier: Apache-2.0 */
/* A safetensors file with a checksum over all of it, whole in host memory, so that a thread of its own writes it while
 * the program goes on. The checksum stands in the metadata,
 *
 *     {"__metadata__":{"wick.checkpoint":"1","wick.crc32":"89abcdef",...},...}
 *
 * and is that of the file's bytes with eight times '0' in its place: readers that know nothing of it read the file. */
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
    wk_tensors *list;                 /* held: nobody writes the numbers of its tensors, */
    wk__checkpoint_file_piece *piece; /* which are these, in the order of the file */
    int64_t pieces;
} wk__checkpoint_file;

/* Takes all tensors of the list, which nobody may change any more, and the pairs, to which it adds the checksum's. What
 * is on devices is fetched. False with the error recorded; then there is nothing to end. */
bool wk__checkpoint_file_make(wk_site site, const char *op, wk_tensors *list, wk__metadata *pairs,
                              wk__checkpoint_file *out);
/* Both touch counts of the library's, and so are for the program's thread. */
void wk__checkpoint_file_end(wk__checkpoint_file *content);
/* Puts it in the place of an older file, durably, as wk__atomic_file does. *place, if asked for: the name of that file
 * with symbolic links followed, which the caller frees; NULL when it fails. For any thread. */
wk_code wk__checkpoint_file_write(wk__checkpoint_file *content, const char *path, char **place, wk__io_error *error);

/* Are the bytes of the file those that its checksum was made of? *sum: the checksum. */
wk_code wk__checkpoint_file_verify(const wk__tensor_file *from, uint32_t *sum, wk__io_error *error);

#endif
