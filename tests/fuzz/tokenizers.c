/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the readers of tokenizer files: a file is rejected, or read as a tokenizer that encodes, also after a round
 * trip through a file. */
#include "hostile/tokenizers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wk__tokenizer *t;
    wk__io_error error;
    bytes file = bytes_copy(data, (int64_t)size);
    const wk_code code = tokenizer_read(file, &t, &error);
    free(file.data);
    if (code != WK_OK && code != WK_ERR_FORMAT && code != WK_ERR_UNSUPPORTED) abort();
    if (code == WK_OK) tokenizer_use(t);
    wk__tokenizer_free(t);
    return 0;
}
