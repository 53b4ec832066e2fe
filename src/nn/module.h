/* SPDX-License-Identifier: Apache-2.0 */
/* Implementation type of wk_module, and the tree of modules. A module owns references to its parameters, buffers and
 * children.
 *
 *     wk_module (handle) --> body: kind, state, item[0] "weight"  parameter --> wk_tensor
 *                                               item[1] "mean"    buffer    --> wk_tensor
 *                                               item[2] "0"       child     --> wk_module */
#ifndef WICK_NN_MODULE_H
#define WICK_NN_MODULE_H

#include "base/attached.h"
#include "tensor/tensor.h"
#include "tensor_list.h"
#include "ops/core/tensor_swap.h"
#include <wick/nn.h>

typedef enum wk__item_kind { WK__PARAMETER, WK__BUFFER, WK__CHILD } wk__item_kind;

/* One registered item of a module. */
typedef struct wk__item {
    char *name;
    wk__item_kind kind;
    union { /* reference */
        wk_tensor *tensor;
        wk_module *module;
        wk__handle *handle;
    };
} wk__item;

typedef struct wk__module wk__module;
/* Body of a module; freed when the last reference to its handle is dropped. */
struct wk__module {
    wk_module_kind kind; /* kind.name is a copy */
    void *state;         /* [kind.state] bytes, owned */
    wk__item *item;      /* [items], in order of registration */
    int64_t items, capacity;
    bool builtin;        /* one of the library's kinds: its calls report the call site of wk_forward */
    bool is_transparent; /* its only child replaces it in paths, which have no name for that step */
    bool eval;
    bool uninitialized;            /* lazy: the first forward creates its parameters */
    bool destroying;               /* the kind's destroy is running, or was left by longjmp */
    _Atomic(wk__attached *) texts; /* texts and tables returned outside any scope */
    wk__module *next;              /* next in the list of modules to be freed */
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

/* Creates a module of one of the library's kinds. NULL on error. */
wk_module *wk__module_make(wk_site site, const wk_module_kind *kind);
/* Creates a module whose forward runs `child` in its own way. Everything in child has the same path in both modules, so
 * that parameters saved from one can be loaded into the other. NULL on error. */
wk_module *wk__module_wrap(wk_site site, const wk_module_kind *kind, wk_module *child);
/* Frees a module whose parameters could not be created. Returns NULL. */
wk_module *wk__module_discard(wk_module *m);
/* Returns the item whose name is the first `length` bytes of name, or NULL. */
const wk__item *wk__module_item(const wk__module *body, const char *name, size_t length);

/* Calls the kind's on_train, if any, with the module's present mode. */
void wk__module_notify_training(wk_module *m);

/* ---- modules as text --------------------------------------------------------------------------------------------- */

/* Appends the name of the module's kind as PyTorch writes it, "LayerNorm"; a custom kind's name as it is. */
void wk__module_add_kind(wk__text *text, const wk__module *body);
/* For kinds' describe: append sizes as in Python, "(3, 5)", "(3,)", a float, "0.5", "1.0", "1e-05", and a bool, "True".
 * wk__text_sizes appends valid sizes in the given form, a number or a tuple, and `otherwise` for omitted ones (0). The
 * size -1 is "None". */
void wk__text_tuple(wk__text *text, const int64_t *sizes, int count);
void wk__text_sizes(wk__text *text, wk_sizes given, wk_sizes otherwise);
void wk__text_float(wk__text *text, double value);
void wk__text_bool(wk__text *text, bool value);
/* Ends a describe with this text, which it frees. */
int wk__describe_end(wk__text *text, char *out, size_t size);

/* Implements wk_summary_rows for the call `op`. */
const wk_summary_row *const *wk__summary_rows(wk_site site, const char *op, wk_module *m, const int64_t *shape,
                                              int ndim, const wk_summary_options *options);

/* Sets *below to true if `wanted` is root or a module below it. Returns false on error. */
bool wk__module_contains(wk_site site, wk_module *root, const wk_module *wanted, bool *below);
/* Returns the item of the child at a path, and the module that has it. NULL on error. */
wk__item *wk__module_find_child(wk_site site, const char *op, wk_module *m, const char *path, wk_module **parent);

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

/* A module in the tree: item `name` of entry number `parent`; -1: the root. */
typedef struct wk__tree_entry {
    wk_module *module;
    int64_t parent;
    const char *name;
} wk__tree_entry;

/* A module and all modules below it, each once: parents before children, in order of registration. */
typedef struct wk__module_tree {
    wk__tree_entry *entry;
    int64_t count, capacity;
} wk__module_tree;

/* Builds the tree. Returns false on error; then nothing needs to be freed. */
bool wk__module_tree_build(wk__module_tree *tree, wk_module *root, wk_site site);
void wk__module_tree_free(wk__module_tree *tree);
/* Replaces the module of each entry k that has now[k] wherever it is a child in the tree. Its children are not visited.
 * Entries of the tree do not change, so those of replaced modules may be freed modules. */
void wk__module_replace_all(wk_site site, const char *op, const wk__module_tree *tree, wk_module *const now[]);
/* Appends the path of entry k, "encoder.0"; nothing for the root. */
void wk__module_tree_path(const wk__module_tree *tree, int64_t k, wk__text *path);
/* Implements wk__module_frame.describe. */
const char *wk__module_describe_layer(const wk__module_frame *layer, wk__text *out);
/* Appends all parameters and buffers (kinds: bits 1 << kind) with their paths. False on error. */
bool wk__module_collect(wk_site site, const char *op, wk_module *root, unsigned kinds, wk__tensor_list *list);

#endif
