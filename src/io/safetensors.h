/* SPDX-License-Identifier: Apache-2.0 */
/* The safetensors format on bytes: no tensor type here, the tensor layer calls this. The reader of GGUF files (gguf.h)
 * describes them by the same structures.
 *
 *     byte 0        8            8 + N                                          end of the file
 *          | N      | header     | data                                         |
 *          | u64 LE | N bytes of | begin of the first    ...     end of the last|
 *          |        | JSON       | tensor                                 tensor|
 *
 *     {"__metadata__":{"key":"value"},"weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}
 *
 * The reader is strict: a file that it accepts has the same meaning in every library. See
 * docs/reference/file-formats.md for the rules. All numbers of the file, and the data, are little-endian. */
#ifndef WICK_IO_SAFETENSORS_H
#define WICK_IO_SAFETENSORS_H

#include "base/platform/file.h"
#include "base/metadata.h"
#include "ir/ir.h"

enum {
    WK__SAFETENSORS_PREFIX = 8,             /* bytes of N */
    WK__SAFETENSORS_MAX_HEADER = 100000000, /* largest N, as in the reference */
    WK__SAFETENSORS_MAX_TENSORS = 1 << 20,  /* most tensors in a file */
    WK__SAFETENSORS_MAX_METADATA = 1 << 16, /* most pairs of metadata */
    WK__SAFETENSORS_MAX_NAME = 4096         /* longest name of a tensor, bytes */
};

typedef struct wk__safetensors_tensor {
    const char *name;
    wk_dtype dtype;         /* 0: one that the format has and Wick has not; wk__safetensors_check_dtype says so */
    const char *dtype_name; /* the dtype as the format calls it, "F32"; lives for ever */
    int ndim;
    int64_t shape[WK__MAX_DIMS];
    int64_t begin, end;               /* bytes of its data, counted from where the data begins */
    int64_t position;                 /* byte of the file where its name begins, for messages */
    const struct wk__gguf_type *gguf; /* its type in a GGUF file, which may be quantised; NULL in a safetensors file */
} wk__safetensors_tensor;

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct wk__safetensors {
    wk__safetensors_tensor *tensors; /* in the order of their data, which they cover without holes and overlap */
    int64_t count;
    const wk__safetensors_tensor **by_name; /* the same in the order of their names (bytes) */
    wk__metadata_entry *metadata;           /* in the order of the keys */
    int64_t metadata_count;
    int64_t data_start; /* byte of the file where the data begins */
    char *header;       /* all names, keys and values point into it */
} wk__safetensors;

/* Reads the header from the first bytes of a file of file_bytes bytes; `block_bytes` of them are at `block`. A failed
 * call leaves nothing to end. */
wk_code wk__safetensors_parse(const void *block, int64_t block_bytes, int64_t file_bytes, wk__safetensors *out,
                              wk__io_error *error);
/* The same from an open file, whose data stays where it is: read tensor t with
 * wk__file_read_at(file, out->data_start + t->begin, to, t->end - t->begin, error). */
wk_code wk__safetensors_read(const wk__file *file, wk__safetensors *out, wk__io_error *error);
void wk__safetensors_end(wk__safetensors *out);

/* The tensor of that name, or NULL. */
const wk__safetensors_tensor *wk__safetensors_find(const wk__safetensors *in, const char *name);
/* The same for a name whose begin stands by itself. */
const wk__safetensors_tensor *wk__safetensors_find_prefixed(const wk__safetensors *in, const char *prefix,
                                                            const char *name);
/* WK_OK, or WK_ERR_UNSUPPORTED when Wick has no dtype for this tensor. */
wk_code wk__safetensors_check_dtype(const wk__safetensors_tensor *tensor, wk__io_error *error);

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* Layout of a file to be written: `first` are its first bytes (N, header, blanks up to a multiple of 8), followed by
 * the data of tensors[order[0]], tensors[order[1]], ..., data_bytes in all. Larger dtypes come first, so
 * that every tensor lies at a multiple of its element's size. */
typedef struct wk__safetensors_layout {
    wk__text header_text;
    int64_t *order;
    int64_t data_bytes;
} wk__safetensors_layout;

/* Lays out tensors of which name, dtype, ndim and shape are given; fills in kind, begin and end. The bytes are those
 * that the reference writes for the same tensors; pairs of metadata are sorted by key. A failed call leaves nothing to
 * end. */
wk_code wk__safetensors_layout_build(wk__safetensors_tensor *tensors, int64_t count, const wk__metadata_entry *metadata,
                                     int64_t pairs, wk__safetensors_layout *layout, wk__io_error *error);
void wk__safetensors_layout_end(wk__safetensors_layout *layout);
/* Begins the file: its first bytes are written. Add the data with wk__atomic_file_write, in order and in pieces of any
 * size, and end with wk__safetensors_commit, or with wk__atomic_file_abort at any time. When it fails there is nothing
 * to clean up. */
wk_code wk__safetensors_begin(wk__atomic_file *save, const char *path, const wk__safetensors_layout *layout,
                              wk__io_error *error);
wk_code wk__safetensors_commit(wk__atomic_file *save, const wk__safetensors_layout *layout, wk__io_error *error);

/* ---- shared ------------------------------------------------------------------------------------------------------ */

/* A dtype of the format. The list is in the order in which the reference writes tensors. */
typedef struct wk__safetensors_dtype {
    const char *name;
    wk_dtype dtype; /* 0: Wick has none */
    int bits;
} wk__safetensors_dtype;

extern const wk__safetensors_dtype wk__safetensors_dtypes[]; /* a NULL name at the end */

/* Reads the header from '{' to its end into out->tensors, which have room for `capacity`, and out->metadata. */
struct wk__json;
wk_code wk__safetensors_header(struct wk__json *json, wk__safetensors *out, int64_t capacity, wk__io_error *error);

/* Sorts the tensors, and checks that no name occurs twice and that their data, which begin at multiples of the
 * alignment, cover `data_bytes` bytes without overlap and without holes but for padding to the next multiple. */
wk_code wk__safetensors_index(wk__safetensors *out, int64_t alignment, int64_t data_bytes, wk__io_error *error);

/* Bytes of the data of a shape; false when they are too many for int64 or no whole number. */
bool wk__safetensors_bytes(const int64_t *shape, int ndim, int bits, int64_t *bytes);

#endif
