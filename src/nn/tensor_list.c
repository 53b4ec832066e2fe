/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of named tensors. */
#include "tensor_list.h"
#include "base/alloc.h"
#include <string.h>
#include <wick/nn.h>

static void destroy(void *body)
{
    wk__tensor_list *list = body;
    for (int64_t k = 0; k < list->count; k++) {
        wk__handle_drop(&list->item[k].tensor->handle);
        wk__free(list->item[k].name);
    }
    wk__free(list->item);
    wk__free(list);
}

const wk__handle_type wk__list_kind = {.name = "list of tensors", .destroy = destroy, .owns_children = true};

wk_tensors *wk_tensors_new_at(wk_site site)
{
    wk__tensor_list *list = wk__alloc_zero(1, sizeof *list);
    return wk__handle_wrap(site, &wk__list_kind, list, true, "tensors_new");
}

bool wk__tensor_list_append(wk_site site, wk__tensor_list *list, const char *name, wk_tensor *x)
{
    char *copy = wk__strdup(name);
    if (!copy || list->count == INT32_MAX ||
        !wk__grow(&list->item, &list->capacity, list->count + 1, sizeof *list->item)) {
        wk__free(copy);
        wk__error_set(site, WK_ERR_MEMORY, "out of host memory for a list of tensors");
        return false;
    }
    wk__handle_hold(&x->handle);
    list->item[list->count++] = (wk__named_tensor){copy, x};
    return true;
}

bool wk__tensor_list_append_prefixed(wk_site site, wk__tensor_list *list, const char *prefix, const char *name,
                                     wk_tensor *x)
{
    wk__text whole = {0};
    wk__text_format(&whole, "%s%s", prefix, name);
    if (whole.failed) wk__error_set(site, WK_ERR_MEMORY, "out of host memory for a list of tensors");
    const bool fine = x && !whole.failed && wk__tensor_list_append(site, list, whole.data, x);
    wk__text_free(&whole);
    return fine;
}

static wk_tensor *find(const wk__tensor_list *of, const char *name)
{
    for (int64_t k = 0; k < of->count; k++)
        if (strcmp(of->item[k].name, name) == 0) return of->item[k].tensor;
    return NULL;
}

wk_tensors *wk_tensors_add_at(wk_site site, wk_tensors *list, const char *name, wk_tensor *x)
{
    if (!wk__tensor_list_check(list, site, "tensors_add") || !wk__check_tensor(x, site, "tensors_add", "the tensor"))
        return NULL;
    if (!name || find(wk__tensor_list_of(list), name)) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      name ? "tensors_add: duplicate name \"%.100s\"" : "tensors_add: the name is NULL", name);
        return NULL;
    }
    return wk__tensor_list_append(site, wk__tensor_list_of(list), name, x) ? list : NULL;
}

wk_tensors *wk_list_at(wk_site site, wk_tensor *const *tensors, int count)
{
    if (!wk__array_check(tensors, count, site, "list", "the array of tensors")) return NULL;
    for (int k = 0; k < count; k++)
        if (!wk__check_tensor(tensors[k], site, "list", "a tensor")) return NULL;
    wk_tensors *list = wk_tensors_new_at(site);
    for (int k = 0; k < count && list; k++) {
        char name[16];
        snprintf(name, sizeof name, "%d", k);
        if (wk__tensor_list_append(site, wk__tensor_list_of(list), name, tensors[k])) continue;
        wk__handle_release(&list->handle, site);
        list = NULL;
    }
    return list;
}

int wk_tensors_count_at(wk_site site, const wk_tensors *list)
{
    return list && wk__tensor_list_check(list, site, "tensors_count") ? (int)wk__tensor_list_of(list)->count : 0;
}

static const wk__named_tensor *item(wk_site site, const wk_tensors *list, int k, const char *op)
{
    if (!wk__tensor_list_check(list, site, op)) return NULL;
    const wk__tensor_list *of = wk__tensor_list_of(list);
    if (k >= 0 && k < of->count) return &of->item[k];
    wk__error_set(site, WK_ERR_INDEX, "%s: index %d is out of range for a list of %lld tensors", op, k,
                  (long long)of->count);
    return NULL;
}

const char *wk_tensors_name_at(wk_site site, const wk_tensors *list, int k)
{
    const wk__named_tensor *found = item(site, list, k, "tensors_name");
    return found ? found->name : NULL;
}

wk_tensor *wk_tensors_get_at(wk_site site, const wk_tensors *list, int k)
{
    const wk__named_tensor *found = item(site, list, k, "tensors_get");
    return found ? found->tensor : NULL;
}

wk_tensor *wk_tensors_find_at(wk_site site, const wk_tensors *list, const char *name)
{
    if (!wk__tensor_list_check(list, site, "tensors_find") || !name) return NULL;
    wk_tensor *found = find(wk__tensor_list_of(list), name);
    if (!found) wk__note_null_result(site, &wk__tensor_kind, "tensors_find", "no tensor in the list has that name");
    return found;
}
