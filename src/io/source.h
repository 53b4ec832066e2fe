/* SPDX-License-Identifier: Apache-2.0 */
/* A safetensors file that is open, and tensors of the library's made of what it holds. Parts of a file have names with
 * a prefix of their own ("optim."): calls leave it out of the names that they give, messages do not. */
#ifndef WICK_IO_SOURCE_H
#define WICK_IO_SOURCE_H

#include "../nn/list.h"
#include "../nn/own.h"
#include "safetensors.h"

typedef struct wk__source {
    wk_site site;   /* of the program's call, */
    const char *op; /* and its name: what errors are recorded with */
    wk__file file;
    wk__safetensors content;
} wk__source;

/* `from` has site and op. When it fails there is nothing to close. */
wk_code wk__source_open(wk__source *from, const char *path, wk__io_error *error);
void wk__source_close(wk__source *from);
/* Records an error of this file's. Returns false. */
bool wk__source_tell(const wk__source *from, wk_code code, const wk__io_error *error);

/* Does the name begin so? Then *rest is what follows. */
bool wk__source_below(const char *prefix, const char *name, const char **rest);
/* One tensor on a device, in the current scope; NULL with the error recorded. */
wk_tensor *wk__source_tensor(const wk__source *from, const wk__safetensors_tensor *t, wk_device device);
/* All tensors below a prefix, on a device, as a list of the current scope; NULL with the error recorded. */
wk_tensors *wk__source_list(const wk__source *from, const char *prefix, wk_device device);

/* Has the file tensors below the prefix of just these names, shapes and dtypes? The first difference is recorded, in
 * which the list is said to be that of the `owner`, "network". */
bool wk__source_fits(const wk__source *from, const char *prefix, const wk__list *list, const char *owner);
/* Makes what the tensors of a list that fits are to hold, each on its device, in the current scope: made[k]. False with
 * the error recorded. */
bool wk__source_read(const wk__source *from, const char *prefix, const wk__list *list, wk_tensor **made);

#endif
