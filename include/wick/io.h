/* SPDX-License-Identifier: Apache-2.0 */
/* wick/io.h: tensors in files, in the safetensors format, to and from any device.
 *
 * A file is replaced as a whole or not at all: at every moment, through a kill or a full disk, it is the old one or
 * the new one. Readers trust nothing that a file says. */
#ifndef WICK_IO_H
#define WICK_IO_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "nn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters and buffers by their paths. Refuses while an error is pending, whose code it gives, and leaves an older
 * file as it is. WK_OK or a code: WK_ERR_IO when the system refuses. */
WK_API wk_code wk_save_at(wk_site site, wk_module *m, const char *path);
/* The same back into a network of the same shape, on whatever device it is. Strict: every name, shape and dtype of
 * network and file must match, else the message names the first that does not, and nothing is changed. Handles stay.
 * WK_OK or a code: WK_ERR_IO when the system refuses, WK_ERR_FORMAT for a file that is no such file, WK_ERR_DTYPE where
 * only the dtype does not match, WK_ERR_SHAPE for all else that does not. */
WK_API wk_code wk_load_at(wk_site site, wk_module *m, const char *path);

/* A list with its names; the same back, on the default device (WK_DEVICE). */
WK_API wk_code wk_save_tensors_at(wk_site site, wk_tensors *list, const char *path);
WK_RESULT_API wk_tensors *wk_load_tensors_at(wk_site site, const char *path);

#define wk_save(m, path)            wk_save_at(WK_HERE, m, path)
#define wk_load(m, path)            wk_load_at(WK_HERE, m, path)
#define wk_save_tensors(list, path) wk_save_tensors_at(WK_HERE, list, path)
#define wk_load_tensors(path)       WK_NEW_TENSORS_(wk_load_tensors_at(WK_HERE, path))

#ifdef __cplusplus
}
#endif
#endif
