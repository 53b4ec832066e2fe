/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of PGM and PPM files: a file is rejected, or read as pixels that fill its size. */
#include "base/alloc.h"
#include "report/image_file.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wk__io_error error;
    wk__pixels out;
    if (size < 2 || data[0] != 'P' || (data[1] != '5' && data[1] != '6')) return 0;
    const wk_code code = wk__pnm_read(data, (int64_t)size, 0, &out, &error);
    if (code != WK_OK) {
        if (code != WK_ERR_FORMAT) abort();
        return 0;
    }
    if (out.channels != (data[1] == '6' ? 3 : 1) || out.width < 1 || out.height < 1) abort();
    volatile unsigned char sum = 0; /* reads every sample, so that sanitizers detect unset ones */
    for (int64_t k = 0; k < wk__pixels_count(&out) * out.channels; k++) sum = (unsigned char)(sum + out.data[k]);
    wk__free(out.data);
    return 0;
}
