/* SPDX-License-Identifier: Apache-2.0 */
/* The GGUF format, versions 2 and 3: reading only. The result is the same structures as of a safetensors file.
 *
 *     "GGUF", version, number of tensors, number of pairs     u32 u32 u64 u64
 *     pairs of metadata                                       each: key, type, value
 *     tensors                                                 each: name, dimensions, sizes, type, offset of its data
 *     padding to a multiple of general.alignment (32), data   each at a multiple of the alignment
 *
 * Numbers are little-endian; a string is its length, u64, and as many bytes. Sizes begin with that of the last
 * dimension, whose elements are contiguous. Pairs become texts: numbers in decimal, arrays as JSON. Lengths, counts
 * and offsets are checked against the size of the file before use, and memory is in proportion to the bytes read. */
#ifndef WICK_IO_GGUF_H
#define WICK_IO_GGUF_H

#include "ir/blocks.h"
#include "safetensors.h"

enum {
    WK__GGUF_MAX_DIMS = 4,
    WK__GGUF_MAX_KEY = 65535, /* longest key, bytes */
    WK__GGUF_MAGIC_BYTES = 4
};

/* ---- types of tensors -------------------------------------------------------------------------------------------- */

/* A type of elements. Quantised ones are blocks of elements that share scales. */
typedef struct wk__gguf_type {
    const char *name;               /* NULL: the format has no type of this number */
    int block, bytes;               /* elements of a block, and its bytes in the file */
    wk_dtype dtype;                 /* of a tensor with these elements; 0: none, it cannot be read */
    const wk__block_format *blocks; /* NULL: elements are not quantised, or unsupported */
} wk__gguf_type;

/* Returns a type by its number in the file; NULL if the format has no such type. */
const wk__gguf_type *wk__gguf_type_of(uint64_t number);
/* Computes the elements of `blocks` blocks of a quantised type, with all threads. */
void wk__gguf_decode(const wk__gguf_type *type, const uint8_t *blocks, int64_t count, float *elements);
/* Returns WK_OK, or WK_ERR_UNSUPPORTED if tensors of this type cannot be read. */
wk_code wk__gguf_check_type(const wk__safetensors_tensor *tensor, wk__io_error *error);

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Reads the header of an open file if it is one of this format, and stores whether it is in *is_gguf. A failed call
 * leaves nothing to end; wk__safetensors_end ends the result. */
wk_code wk__gguf_read(const wk__file *file, wk__safetensors *out, bool *is_gguf, wk__io_error *error);
/* The same for a path. */
wk_code wk__gguf_read_path(const char *path, wk__safetensors *out, bool *is_gguf, wk__io_error *error);
/* The same for a file in memory, which must be one. */
wk_code wk__gguf_parse(const void *content, int64_t bytes, wk__safetensors *out, wk__io_error *error);

/* ---- shared by the readers of the parts -------------------------------------------------------------------------- */

/* The header while it is read, and the strings read so far. */
typedef struct wk__gguf_reader {
    const wk__file *file;  /* NULL: the window is the file */
    const uint8_t *window; /* the bytes `start` to `end` of the file */
    uint8_t *buffer;       /* memory of the window; owned */
    int64_t capacity, start, end;
    int64_t at, bytes; /* the next byte, and bytes of the file */
    wk__text strings;  /* keys and values of the pairs, names of the tensors: in this order, each terminated */
    wk__text item;     /* a string of an array */
} wk__gguf_reader;

/* Returns a number of at most 8 bytes. */
static inline uint64_t wk__gguf_bits(const uint8_t *at, int bytes)
{
    uint64_t bits = 0;
    for (int k = bytes; k-- > 0;) bits = bits << 8 | at[k];
    return bits;
}
/* Fails for lack of memory. */
wk_code wk__gguf_no_memory(wk__io_error *error);
/* Takes the next bytes, which stay until the next call. */
wk_code wk__gguf_take(wk__gguf_reader *r, int64_t count, const uint8_t **taken, wk__io_error *error);
/* Takes an unsigned number of 4 or 8 bytes. */
wk_code wk__gguf_number(wk__gguf_reader *r, int bytes, uint64_t *number, wk__io_error *error);
/* Takes a string of at most `most` bytes. */
wk_code wk__gguf_string(wk__gguf_reader *r, int64_t most, const char *what, const char **string, int64_t *length,
                        wk__io_error *error);
/* Takes a key or name, and appends it to the strings. It must be UTF-8 without the character zero. */
wk_code wk__gguf_name(wk__gguf_reader *r, int64_t most, const char *what, wk__io_error *error);
/* Takes a pair, and appends its key and value to the strings. Sets *alignment if it is general.alignment. */
wk_code wk__gguf_pair(wk__gguf_reader *r, uint64_t *alignment, wk__io_error *error);

#endif
