/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of safetensors files: a file is rejected, or its contents are consistent and can be written
 * again. */
#include "hostile/check_safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wk__io_error error;
    wk__safetensors out;
    wk_code code = wk__safetensors_parse(data, (int64_t)size, (int64_t)size, &out, &error);
    if (code != WK_OK) {
        if (code != WK_ERR_FORMAT || !strstr(error.text, "byte")) abort();
        return 0;
    }
    if (check_parsed(&out, (int64_t)size) || check_written(&out)) abort();
    wk__safetensors_end(&out);
    return 0;
}
