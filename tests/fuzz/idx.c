/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of IDX files, plain and compressed: a file is rejected, or read as elements that fill its shape. */
#include "base/alloc.h"
#include "data/idx.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wk__io_error error;
    wk__idx out;
    wk_code code = wk__idx_parse(data, (int64_t)size, &out, &error);
    if (code != WK_OK) {
        if (code != WK_ERR_FORMAT) abort();
        return 0;
    }
    int64_t bytes = (int64_t)wk_dtype_size(out.dtype);
    for (int k = 0; k < out.ndim; k++) bytes *= out.shape[k];
    if (bytes != out.bytes) abort();
    volatile unsigned char sum = 0; /* reads every byte, so that sanitizers detect unset ones */
    for (int64_t k = 0; k < bytes; k++) sum = (unsigned char)(sum + ((const unsigned char *)out.data)[k]);
    wk__free(out.data);
    return 0;
}
