/* SPDX-License-Identifier: Apache-2.0 */
/* wick/io.h: tensors in safetensors files, from and to any device.
 *
 * A file is replaced entirely or not at all: at every moment, also after a kill or with a full disk, it is the old
 * or the new one. Files are validated when read. */
#ifndef WICK_IO_H
#define WICK_IO_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "nn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* wk_save(m, path): Writes all parameters and buffers of m by their paths.
 * Returns:   WK_OK or an error code; the code of a pending error, without writing
 * Errors:    WK_ERR_IO if the system reports an error
 * PyTorch:   torch.save(m.state_dict(), path) */
WK_API wk_code wk_save_at(wk_site site, wk_module *m, const char *path);
/* wk_load(m, path): Reads parameters and buffers into m, on whatever device they are. Handles stay valid. All
 * names, shapes and dtypes of m and the file must match; the message names the first mismatch, and m does not
 * change.
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_IO if the system reports an error; WK_ERR_FORMAT if the file is invalid; WK_ERR_DTYPE if only
 *            the dtype of a tensor differs; WK_ERR_SHAPE for any other mismatch
 * PyTorch:   m.load_state_dict(torch.load(path)) */
WK_API wk_code wk_load_at(wk_site site, wk_module *m, const char *path);

/* wk_save_tensors(list, path): Writes a list of tensors by their names.
 * Returns:   WK_OK or an error code, as wk_save */
WK_API wk_code wk_save_tensors_at(wk_site site, wk_tensors *list, const char *path);
/* wk_load_tensors(path): Reads all tensors of a file onto the default device (WK_DEVICE, else the CPU).
 * Returns:   the list, owned by the innermost scope; NULL on error
 * Errors:    as wk_load */
WK_RESULT_API wk_tensors *wk_load_tensors_at(wk_site site, const char *path);

#define wk_save(m, path)            wk_save_at(WK_HERE, m, path)
#define wk_load(m, path)            wk_load_at(WK_HERE, m, path)
#define wk_save_tensors(list, path) wk_save_tensors_at(WK_HERE, list, path)
#define wk_load_tensors(path)       WK_NEW_TENSORS_(wk_load_tensors_at(WK_HERE, path))

#ifdef __cplusplus
}
#endif
#endif
