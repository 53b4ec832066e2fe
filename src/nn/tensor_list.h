/* SPDX-License-Identifier: Apache-2.0 */
/* Implementation type of wk_tensors: a list of named tensors, which owns references to them. */
#ifndef WICK_NN_TENSOR_LIST_H
#define WICK_NN_TENSOR_LIST_H

#include "tensor/tensor.h"

/* A tensor and its name, which the list owns. */
typedef struct wk__named_tensor {
    char *name;
    wk_tensor *tensor; /* reference */
} wk__named_tensor;

/* Body of a wk_tensors. Order is that of insertion. */
typedef struct wk__tensor_list {
    wk__named_tensor *item;
    int64_t count, capacity;
} wk__tensor_list;

struct wk_tensors {
    wk__handle handle;
};

extern const wk__handle_type wk__list_kind;

static inline wk__tensor_list *wk__tensor_list_of(const wk_tensors *list)
{
    return list->handle.body;
}
static inline bool wk__tensor_list_check(const wk_tensors *list, wk_site site, const char *op)
{
    return wk__handle_check(list, &wk__list_kind, site, op, "the list");
}
/* Appends without a check for duplicate names. False on error. */
bool wk__tensor_list_append(wk_site site, wk__tensor_list *list, const char *name, wk_tensor *x);
/* Like wk__tensor_list_append(), but with the name prefix + name. x NULL, from a failed call, returns false. */
bool wk__tensor_list_append_prefixed(wk_site site, wk__tensor_list *list, const char *prefix, const char *name,
                                     wk_tensor *x);

#endif
