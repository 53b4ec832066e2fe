/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of tensors on their way into files. */
#ifndef WICK_IO_TENSORS_H
#define WICK_IO_TENSORS_H

#include "engine/host_transfer.h"
#include "nn/module.h"
#include "safetensors.h"

/* False with the error recorded. */
bool wk__check_path(wk_site site, const char *op, const char *path);
/* All parameters and buffers of a module by their paths, as a list of the current scope. NULL with the error
 * recorded. */
wk_tensors *wk__module_state_dict(wk_site site, const char *op, wk_module *m);

/* The elements of a tensor row by row, in host memory: its own or a copy, which wk__host_unmap gives back. False
 * with the error recorded. */
bool wk__contiguous_host_view(wk_site site, const char *op, wk_tensor *x, wk__host_mapping *out);
/* What stands in a file of these tensors and pairs; see wk__safetensors_layout_build. */
wk_code wk__safetensors_layout_list(const wk__tensor_list *list, const wk__metadata *metadata,
                                    wk__safetensors_layout *layout, wk__io_error *error);
/* Writes that file. Everything is computed before it is touched: work that fails then leaves no trace of the save.
 * WK_OK, or a code that is recorded. */
wk_code wk__save_list(wk_site site, const char *op, const wk__tensor_list *list, const wk__metadata *metadata,
                      const char *path);

#endif
