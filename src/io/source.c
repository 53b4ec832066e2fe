/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of a safetensors file; see source.h. */
#include "source.h"
#include "../base/alloc.h"
#include <string.h>
#include <wick/io.h>

wk_code wk__source_open(wk__source *from, const char *path, wk__io_error *error)
{
    wk_code code = wk__file_open(&from->file, path, error);
    if (code != WK_OK) return code;
    code = wk__safetensors_read(&from->file, &from->content, error);
    if (code != WK_OK) wk__file_close(&from->file);
    return code;
}

void wk__source_close(wk__source *from)
{
    wk__safetensors_end(&from->content);
    wk__file_close(&from->file);
}

bool wk__source_tell(const wk__source *from, wk_code code, const wk__io_error *error)
{
    wk__error_set(from->site, code, "%s: %s", from->op, error->text);
    return false;
}

bool wk__source_below(const char *prefix, const char *name, const char **rest)
{
    const size_t length = strlen(prefix);
    *rest = name + length;
    return strncmp(prefix, name, length) == 0;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* A byte of a bool that is neither 0 nor 1 would be a third truth value to every kernel. */
static void make_bools(uint8_t *byte, int64_t count)
{
    for (int64_t k = 0; k < count; k++) byte[k] = byte[k] != 0;
}

wk_tensor *wk__source_tensor(const wk__source *from, const wk__safetensors_tensor *t, wk_device device)
{
    wk__io_error error;
    int64_t bytes = t->end - t->begin;
    wk_code code = wk__safetensors_usable(t, &error);
    void *data = code == WK_OK ? wk__alloc((size_t)bytes + 1) : NULL;
    if (code == WK_OK && !data)
        code = wk__io_fail(&error, WK_ERR_MEMORY, "no memory for %lld bytes of \"%s\"", (long long)bytes,
                           wk__show(t->name).text);
    if (data) code = wk__file_read_at(&from->file, from->content.data_start + t->begin, data, bytes, &error);
    wk_tensor *out = NULL;
    if (data && code == WK_OK) {
        wk_options options = {.size = sizeof options, .device = device};
        if (t->dtype == WK_BOOL) make_bools(data, bytes);
        out = wk_from_on_at(from->site, t->dtype, data, (size_t)bytes, t->shape, t->ndim, &options);
    } else {
        wk__source_tell(from, code, &error);
    }
    wk__free(data);
    return out;
}

wk_tensors *wk__source_list(const wk__source *from, const char *prefix, wk_device device)
{
    wk_tensors *list = wk_tensors_new_at(from->site);
    for (int64_t k = 0; list && k < from->content.count; k++) {
        const wk__safetensors_tensor *t = from->content.by_name[k];
        const char *name;
        wk__inside c;
        if (!wk__source_below(prefix, t->name, &name)) continue;
        bool fine = wk__inside_begin(&c, from->op, from->site, true);
        if (fine) {
            wk_tensor *x = wk__source_tensor(from, t, device);
            fine = x && wk__list_append(from->site, wk__list_of(list), name, x);
            wk__inside_end(&c, NULL, 0);
        }
        if (fine) continue;
        wk__handle_release(&list->handle, from->site);
        list = NULL;
    }
    return list;
}

/* ---- what fits --------------------------------------------------------------------------------------------------- */

static void add_described(wk__text *text, wk_dtype dtype, const char *kind, int ndim, const int64_t *shape)
{
    wk__text_add(text, dtype ? wk_dtype_str(dtype) : kind);
    wk__text_shape(text, ndim, shape);
}

static bool matches(const wk__safetensors_tensor *t, const wk__body *body)
{
    return t->dtype == body->dtype && wk__same_shape(t->ndim, t->shape, body->ndim, body->shape);
}

/* The sentence about a tensor of the list that the file has not, or has another one of; takes the text. */
static void differs(const wk__source *from, const wk__safetensors_tensor *t, const char *prefix,
                    const wk__named *wanted, const char *owner, wk__text *text)
{
    const wk__body *body = wk__body_of(wanted->tensor);
    wk__text_format(text, t ? "\"%s%s\" is " : "there is no \"%s%s\", which is ", prefix, wk__show(wanted->name).text);
    add_described(text, body->dtype, "", body->ndim, body->shape);
    wk__text_format(text, " in the %s", owner);
    if (t) wk__text_add(text, " and ");
    if (t) add_described(text, t->dtype, t->kind, t->ndim, t->shape);
    if (t) wk__text_add(text, " in the file");
    if (!t && !*prefix && wk__pairs_find(from->content.metadata, from->content.pairs, "wick.checkpoint"))
        wk__text_add(text, ". The file is a checkpoint, which wk_checkpoint_load reads");
    const bool shapes_match = t && wk__same_shape(t->ndim, t->shape, body->ndim, body->shape);
    wk__error_take(from->site, shapes_match ? WK_ERR_DTYPE : WK_ERR_SHAPE, text);
}

/* The first tensor below the prefix whose name the list has not; NULL: there are no more than the list has. */
static const char *unknown(const wk__source *from, const char *prefix, const wk__list *list)
{
    const char *name;
    int64_t count = 0;
    for (int64_t k = 0; k < from->content.count; k++)
        count += wk__source_below(prefix, from->content.by_name[k]->name, &name);
    for (int64_t k = 0; k < from->content.count && count > list->count; k++) {
        if (!wk__source_below(prefix, from->content.by_name[k]->name, &name)) continue;
        bool known = false;
        for (int64_t i = 0; i < list->count && !known; i++) known = strcmp(list->item[i].name, name) == 0;
        if (!known) return name;
    }
    return NULL;
}

bool wk__source_fits(const wk__source *from, const char *prefix, const wk__list *list, const char *owner)
{
    wk__text text = {0};
    wk__text_format(&text, "%s: %s: ", from->op, wk__show(from->file.path).text);
    for (int64_t k = 0; k < list->count; k++) {
        const wk__safetensors_tensor *t = wk__safetensors_find_below(&from->content, prefix, list->item[k].name);
        if (t && matches(t, wk__body_of(list->item[k].tensor))) continue;
        differs(from, t, prefix, &list->item[k], owner, &text);
        return false;
    }
    const char *more = unknown(from, prefix, list);
    if (more) {
        wk__text_format(&text, "it has a tensor \"%s%s\", the %s has none of that name", prefix, wk__show(more).text,
                        owner);
        wk__error_take(from->site, WK_ERR_SHAPE, &text);
        return false;
    }
    wk__text_end(&text);
    return true;
}

bool wk__source_read(const wk__source *from, const char *prefix, const wk__list *list, wk_tensor **made)
{
    for (int64_t k = 0; k < list->count; k++) {
        const wk__safetensors_tensor *t = wk__safetensors_find_below(&from->content, prefix, list->item[k].name);
        made[k] = wk__source_tensor(from, t, wk_device_of(list->item[k].tensor));
        if (!made[k]) return false;
    }
    return true;
}
