/* SPDX-License-Identifier: Apache-2.0 */
/* The body behind wk_module, and the tree that modules make.
 *
 *     wk_module (handle) --> body: kind, state, item[0] "weight"  parameter --> wk_tensor
 *                                               item[1] "mean"    buffer    --> wk_tensor
 *                                               item[2] "0"       child     --> wk_module
 */
#ifndef WICK_NN_MODULE_H
#define WICK_NN_MODULE_H

#include "tensor/tensor.h"
#include "tensor_list.h"
#include "ops/core/adopt.h"
#include <wick/nn.h>

typedef enum wk__item_kind { WK__PARAMETER, WK__BUFFER, WK__CHILD } wk__item_kind;

typedef struct wk__item {
    char *name;
    wk__item_kind kind;
    union { /* held */
        wk_tensor *tensor;
        wk_module *module;
        wk__handle *handle;
    };
} wk__item;

typedef struct wk__module wk__module;
struct wk__module {
    wk_module_kind kind; /* its name is a copy */
    void *state;
    wk__item *item; /* in order of registration */
    int64_t items, capacity;
    bool builtin;        /* one of the library's own kinds: its calls are those of whoever called forward */
    bool is_transparent; /* its one child stands in its place: paths go through it without a name */
    bool eval;
    bool uninitialized; /* the first forward will make its parameters */
    bool destroying;    /* its kind's destroy has been called and has not come back */
    wk__module *next;   /* worklist of those to be freed */
};

struct wk_module {
    wk__handle handle;
};

extern const wk__handle_type wk__module_kind;

static inline wk__module *wk__module_of(const wk_module *m)
{
    return m->handle.body;
}
static inline bool wk__module_check(const wk_module *m, wk_site site, const char *op)
{
    return wk__handle_check(m, &wk__module_kind, site, op, "the module");
}

/* A module of one of the library's kinds. */
wk_module *wk__module_make(wk_site site, const wk_module_kind *kind);
/* One whose forward runs that of `child` in some way of its own. What stands below child has the same paths in both, so
 * that a file with the parameters of the one can be loaded into the other. NULL with the error recorded. */
wk_module *wk__module_wrap(wk_site site, const wk_module_kind *kind, wk_module *child);
/* Ends a module whose parameters could not be made. Returns NULL. */
wk_module *wk__module_discard(wk_module *m);
/* The item of that name (the first `length` bytes), or NULL. */
const wk__item *wk__module_item(const wk__module *body, const char *name, size_t length);

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

/* A module, and where it was met: as item `name` of visit number `parent` (-1: the root). */
typedef struct wk__tree_entry {
    wk_module *module;
    int64_t parent;
    const char *name;
} wk__tree_entry;

/* A module and all below it: parents before children, in order of registration, each once. */
typedef struct wk__module_tree {
    wk__tree_entry *entry;
    int64_t count, capacity;
} wk__module_tree;

/* False with the error recorded; then there is nothing to end. */
bool wk__module_tree_build(wk__module_tree *tree, wk_module *root, wk_site site);
void wk__module_tree_free(wk__module_tree *tree);
/* Appends the path of visit k, "encoder.0"; nothing for the root. */
void wk__module_tree_path(const wk__module_tree *tree, int64_t k, wk__text *path);
/* wk__module_frame.describe. */
const char *wk__module_describe_layer(const wk__module_frame *layer, wk__text *out);
/* Appends all parameters and buffers (bits 1 << kind) with their paths. False with the error recorded. */
bool wk__module_collect(wk_site site, const char *op, wk_module *root, unsigned kinds, wk__tensor_list *list);

#endif
