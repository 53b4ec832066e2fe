/* SPDX-License-Identifier: Apache-2.0 */
/* What an optimiser has learned and how it is set, as tensors with names and pairs of texts, which files hold; and
 * back. docs/reference/file-formats.md has the names. */
#ifndef WICK_OPTIM_STATE_H
#define WICK_OPTIM_STATE_H

#include "base/metadata.h"
#include "optim.h"

/* Appends to both what there is now: names begin with `prefix`, keys with "optim". The work that was recorded is run
 * first, as only then it is known which steps count. False with the error recorded. Where memory was short for a pair,
 * pairs->failed. */
bool wk__optim_save_state(wk_site site, const char *op, const wk__optim *optim, const char *prefix,
                          wk__tensor_list *list, wk__metadata *pairs);
/* Appends a number. */
bool wk__optim_append_int(wk_site site, wk__tensor_list *list, const char *prefix, const char *name, int64_t number);

/* What a file has. */
typedef struct wk__optim_checkpoint {
    wk_site site;
    const char *op, *path;          /* for messages */
    const wk__tensor_list *list;    /* in the order of the names, on any device */
    const wk__metadata_entry *pair; /* in the order of the keys */
    int64_t pairs;
    bool *used; /* of the list: somebody has asked for it; room for all, false at first */
} wk__optim_checkpoint;

/* The tensor of that name, which has to be of this shape and dtype, computed on a device; it stays the list's. NULL
 * with the error recorded. wk__optim_has_tensor: is there one? */
wk_tensor *wk__optim_load_tensor(const wk__optim_checkpoint *from, const char *name, wk_dtype dtype, int ndim,
                                 const int64_t *shape, wk_device device);
bool wk__optim_has_tensor(const wk__optim_checkpoint *from, const char *name);
/* The number in a tensor of that name, i64 or f64, without dimensions. */
bool wk__optim_load_int(const wk__optim_checkpoint *from, const char *name, int64_t *number);
bool wk__optim_load_float(const wk__optim_checkpoint *from, const char *name, double *number);
/* Records "op: path: ..." as the error. Returns false. */
__attribute__((format(printf, 3, 4))) bool wk__optim_load_error(const wk__optim_checkpoint *from, wk_code code,
                                                                const char *format, ...);

/* What an optimiser will hold, made whole before it takes anything over. */
typedef struct wk__optim_loaded {
    wk__param_group *group; /* as many as the optimiser has */
    int64_t groups;
    void *memory;
} wk__optim_loaded;
/* False with the error recorded; then there is nothing to end. */
bool wk__optim_load_state(const wk__optim_checkpoint *from, const wk__optim *optim, wk__optim_loaded *out);
/* The optimiser takes it over; cannot fail. Or it goes. */
void wk__optim_commit_state(wk__optim *optim, wk__optim_loaded *from);
void wk__optim_loaded_free(const wk__optim *optim, wk__optim_loaded *from);

#endif
