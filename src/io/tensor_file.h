/* SPDX-License-Identifier: Apache-2.0 */
/* An open safetensors or GGUF file, and tensors made from its contents. Parts of a file have names with a prefix
 * ("optim."), which is omitted from names in results but not in messages. */
#ifndef WICK_IO_TENSOR_FILE_H
#define WICK_IO_TENSOR_FILE_H

#include "nn/tensor_list.h"
#include "ops/core/tensor_swap.h"
#include "safetensors.h"

typedef struct wk__tensor_file {
    wk_site site;   /* call site, for errors */
    const char *op; /* name of the public call, for errors */
    wk__file file;
    wk__safetensors header;
    bool is_gguf;         /* its format */
    wk__mapping *mapping; /* its bytes, which tensors on the CPU use if they need no conversion; NULL: they are read */
} wk__tensor_file;

/* Opens a file of either format, which its first bytes decide; from->site and from->op are set. On failure there is
 * nothing to close. */
wk_code wk__tensor_file_open(wk__tensor_file *from, const char *path, wk__io_error *error);
void wk__tensor_file_close(wk__tensor_file *from);
/* Maps the open file. Returns false after recording an error; the file stays open. */
bool wk__tensor_file_map(wk__tensor_file *from);
/* Records an error of this file. Returns false. */
bool wk__tensor_file_error(const wk__tensor_file *from, wk_code code, const wk__io_error *error);

/* Returns true if the name begins with the prefix; *rest is the remainder. */
bool wk__strip_prefix(const char *prefix, const char *name, const char **rest);
/* Reads one tensor to a device. Owned by the current scope; NULL after recording an error. */
wk_tensor *wk__tensor_file_read_one(const wk__tensor_file *from, const wk__safetensors_tensor *t, wk_device device);
/* Reads a quantised tensor of a GGUF file as rows of blocks: u8 (rows, bytes of a row). */
wk_tensor *wk__tensor_file_read_blocks(const wk__tensor_file *from, const wk__safetensors_tensor *t, wk_device device);
/* Reads all tensors under a prefix to a device, as a list owned by the current scope; NULL after recording an error. */
wk_tensors *wk__tensor_file_read_all(const wk__tensor_file *from, const char *prefix, wk_device device);

/* Checks that the tensors under the prefix have exactly the names, shapes and dtypes of the list. Records the first
 * difference otherwise; messages name the list by its owner, "network". */
bool wk__tensor_file_check(const wk__tensor_file *from, const char *prefix, const wk__tensor_list *list,
                           const char *owner);
/* Treatment of tensors whose dtype differs. */
typedef struct wk__match_rules {
    bool convert;     /* they are converted */
    bool may_convert; /* the call has an option .convert, which messages suggest */
} wk__match_rules;
/* The two parts of that check: all tensors of the list are in the file and agree; the file has no others. */
bool wk__tensor_file_check_tensors(const wk__tensor_file *from, const char *prefix, const wk__tensor_list *list,
                                   const char *owner, wk__match_rules rules);
bool wk__tensor_file_check_names(const wk__tensor_file *from, const char *prefix, const wk__tensor_list *list,
                                 const char *owner);
/* Reads new contents made[k] for the tensors of a list that fits, each on its device and in its dtype, owned by the
 * current scope.
 * Returns false after recording an error. */
bool wk__tensor_file_read_list(const wk__tensor_file *from, const char *prefix, const wk__tensor_list *list,
                               wk_tensor **made);

#endif
