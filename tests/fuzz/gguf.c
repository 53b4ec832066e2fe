/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of GGUF files: a file is rejected, or its contents are consistent and its quantised tensors can be
 * computed. */
#include "hostile/gguf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wk__io_error error;
    wk__safetensors out;
    bytes file = bytes_copy(data, (int64_t)size);
    const wk_code code = wk__gguf_parse(file.data, file.count, &out, &error);
    if (code == WK_OK) {
        if (gguf_check(&out, file)) abort();
        wk__safetensors_end(&out);
    } else if ((code != WK_ERR_FORMAT && code != WK_ERR_UNSUPPORTED) || !strstr(error.text, "byte")) {
        abort();
    }
    free(file.data);
    return 0;
}
