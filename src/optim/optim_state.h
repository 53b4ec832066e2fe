/* SPDX-License-Identifier: Apache-2.0 */
/* Serialised form of an optimiser: named tensors (state) and key-value pairs (options), as files contain them.
 * docs/reference/file-formats.md lists the names. */
#ifndef WICK_OPTIM_STATE_H
#define WICK_OPTIM_STATE_H

#include "base/metadata.h"
#include "optim.h"

/* Appends the present state to both lists: tensor names begin with `prefix`, keys with "optim". Runs recorded work
 * first, because only then is it known which steps completed. False on error. Allocation failure for a pair sets
 * pairs->failed. */
bool wk__optim_save_state(wk_site site, const char *op, const wk__optim *optim, const char *prefix,
                          wk__tensor_list *list, wk__metadata *pairs);
/* Append a number as a 0-d tensor, i64 or f64. */
bool wk__optim_append_int(wk_site site, wk__tensor_list *list, const char *prefix, const char *name, int64_t number);
bool wk__optim_append_float(wk_site site, wk__tensor_list *list, const char *prefix, const char *name, double number);

/* Contents of a file. */
typedef struct wk__optim_checkpoint {
    wk_site site;
    const char *op, *path;          /* for messages */
    const wk__tensor_list *list;    /* sorted by name, on any device */
    const wk__metadata_entry *pair; /* [pairs], sorted by key */
    int64_t pairs;
    bool *used; /* [list->count]: the tensor was requested; false at first */
} wk__optim_checkpoint;

/* Return the tensor of that name, which must have this shape and dtype, on the device; the list owns it. NULL on error.
 * wk__optim_has_tensor returns true if it exists. */
wk_tensor *wk__optim_load_tensor(const wk__optim_checkpoint *from, const char *name, wk_dtype dtype, int ndim,
                                 const int64_t *shape, wk_device device);
bool wk__optim_has_tensor(const wk__optim_checkpoint *from, const char *name);
/* Read the number in the 0-d tensor of that name, i64 or f64. */
bool wk__optim_load_int(const wk__optim_checkpoint *from, const char *name, int64_t *number);
bool wk__optim_load_float(const wk__optim_checkpoint *from, const char *name, double *number);
/* Records the error "op: path: ...". Returns false. */
__attribute__((format(printf, 3, 4))) bool wk__optim_load_error(const wk__optim_checkpoint *from, wk_code code,
                                                                const char *format, ...);

/* A complete loaded state, built before the optimiser changes. */
typedef struct wk__optim_loaded {
    wk__param_group *group; /* [groups], as many as the optimiser has */
    int64_t groups;
    void *memory;
    struct wk__schedule_position *position; /* of each schedule of the optimiser; NULL if there are none */
} wk__optim_loaded;
/* Returns false on error; then nothing needs to be freed. */
bool wk__optim_load_state(const wk__optim_checkpoint *from, const wk__optim *optim, wk__optim_loaded *out);
/* Move the loaded state into the optimiser, which cannot fail; or free it. */
void wk__optim_commit_state(wk__optim *optim, wk__optim_loaded *from);
void wk__optim_loaded_free(const wk__optim *optim, wk__optim_loaded *from);

#endif
