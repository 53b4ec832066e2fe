/* SPDX-License-Identifier: Apache-2.0 */
/* A safetensors file that is open, and tensors of the library's made of what it holds. Parts of a file have names with
 * a prefix of their own ("optim."): calls leave it out of the names that they give, messages do not. */
#ifndef WICK_IO_SOURCE_H
#define WICK_IO_SOURCE_H

#include "nn/tensor_list.h"
#include "ops/core/adopt.h"
#include "safetensors.h"

typedef struct wk__tensor_file {
    wk_site site;   /* of the program's call, */
    const char *op; /* and its name: what errors are recorded with */
    wk__file file;
    wk__safetensors header;
} wk__tensor_file;

/* `from` has site and op. When it fails there is nothing to close. */
wk_code wk__tensor_file_open(wk__tensor_file *from, const char *path, wk__io_error *error);
void wk__tensor_file_close(wk__tensor_file *from);
/* Records an error of this file's. Returns false. */
bool wk__tensor_file_error(const wk__tensor_file *from, wk_code code, const wk__io_error *error);

/* Does the name begin so? Then *rest is what follows. */
bool wk__strip_prefix(const char *prefix, const char *name, const char **rest);
/* One tensor on a device, in the current scope; NULL with the error recorded. */
wk_tensor *wk__tensor_file_read_one(const wk__tensor_file *from, const wk__safetensors_tensor *t, wk_device device);
/* All tensors below a prefix, on a device, as a list of the current scope; NULL with the error recorded. */
wk_tensors *wk__tensor_file_read_all(const wk__tensor_file *from, const char *prefix, wk_device device);

/* Has the file tensors below the prefix of just these names, shapes and dtypes? The first difference is recorded, in
 * which the list is said to be that of the `owner`, "network". */
bool wk__tensor_file_check(const wk__tensor_file *from, const char *prefix, const wk__tensor_list *list,
                           const char *owner);
/* Makes what the tensors of a list that fits are to hold, each on its device, in the current scope: made[k]. False with
 * the error recorded. */
bool wk__tensor_file_read_list(const wk__tensor_file *from, const char *prefix, const wk__tensor_list *list,
                               wk_tensor **made);

#endif
