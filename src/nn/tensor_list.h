/* SPDX-License-Identifier: Apache-2.0 */
/* The list behind wk_tensors. */
#ifndef WICK_NN_LIST_H
#define WICK_NN_LIST_H

#include "tensor/tensor.h"

typedef struct wk__named_tensor {
    char *name;
    wk_tensor *tensor; /* held */
} wk__named_tensor;

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
/* Appends without looking for the same name. False with the error recorded. */
bool wk__tensor_list_append(wk_site site, wk__tensor_list *list, const char *name, wk_tensor *x);
/* The same under a name whose begin stands by itself; NULL, of a call that has recorded its error, is refused. */
bool wk__tensor_list_append_prefixed(wk_site site, wk__tensor_list *list, const char *prefix, const char *name,
                                     wk_tensor *x);

#endif
