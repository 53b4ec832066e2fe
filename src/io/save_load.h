/* SPDX-License-Identifier: Apache-2.0 */
/* Saving lists of tensors. */
#ifndef WICK_IO_SAVE_LOAD_H
#define WICK_IO_SAVE_LOAD_H

#include "engine/host_transfer.h"
#include "nn/module.h"
#include "safetensors.h"
#include "tensor_file.h"

/* False with the error recorded. */
bool wk__check_path(wk_site site, const char *op, const char *path);
/* All parameters and buffers of a module by their paths, as a list of the current scope. NULL with the error
 * recorded. */
wk_tensors *wk__module_state_dict(wk_site site, const char *op, wk_module *m);

/* The elements of a tensor row by row, in host memory: its own or a copy, which wk__host_unmap gives back. False
 * with the error recorded. */
bool wk__contiguous_host_view(wk_site site, const char *op, wk_tensor *x, wk__host_mapping *out);
/* Computes the layout of a file of these tensors and metadata pairs; see wk__safetensors_layout_build. */
wk_code wk__safetensors_layout_list(const wk__tensor_list *list, const wk__metadata *metadata,
                                    wk__safetensors_layout *layout, wk__io_error *error);
/* Writes the file. All tensors are computed before the file is touched, so that a failure leaves it unchanged. Returns
 * WK_OK, or a code after recording the error. */
wk_code wk__save_list(wk_site site, const char *op, const wk__tensor_list *list, const wk__metadata *metadata,
                      const char *path);
/* Reads the tensors of a list, which fit the file, and then assigns them, or changes none. Returns false on error. */
bool wk__load_list(const wk__tensor_file *from, const wk__tensor_list *list);

#endif
