/* SPDX-License-Identifier: Apache-2.0 */
/* The IDX format of the MNIST files, plain or compressed with gzip: an array with a dtype and a shape.
 *
 *     byte 0  1  2      3     4                        4 + 4 ndim
 *          0  0  dtype  ndim  ndim sizes, 32 bits each  elements, row-major
 *
 * All numbers are big-endian. The dtypes are 08 u8, 09 i8, 0b i16, 0c i32, 0d f32, 0e f64. */
#ifndef WICK_DATA_IDX_H
#define WICK_DATA_IDX_H

#include "base/platform/file.h"
#include "ir/ir.h"

typedef struct wk__idx {
    wk_dtype dtype;
    int ndim; /* at least 1 */
    int64_t shape[WK__MAX_DIMS];
    int64_t bytes; /* of the data */
    void *data;    /* in the byte order of the host, for wk__free */
} wk__idx;

/* Reads a file, plain or gzip by its first bytes, not by its name. A file with too little or too much data is refused,
 * and memory is taken only for what a file of its size can hold. A failed call leaves nothing to free. */
wk_code wk__idx_read(const char *path, wk__idx *out, wk__io_error *error);
/* The same from the bytes of a file. */
wk_code wk__idx_parse(const void *bytes, int64_t count, wk__idx *out, wk__io_error *error);

#endif
