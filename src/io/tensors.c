/* SPDX-License-Identifier: Apache-2.0 */
/* Networks and lists in safetensors files, to and from any device. */
#include "../base/alloc.h"
#include "../engine/host.h"
#include "../nn/module.h"
#include "safetensors.h"
#include <string.h>
#include <wick/io.h>

static wk_code tell(wk_site site, const char *op, wk_code code, const wk__io_error *error)
{
    wk__error_set(site, code, "%s: %s", op, error->text);
    return code;
}

static bool path_fits(wk_site site, const char *op, const char *path)
{
    if (path && *path) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: the path is %s", op, path ? "empty" : "NULL");
    return false;
}

/* All parameters and buffers of a module by their paths, as a list of the current scope. */
static wk_tensors *state_of(wk_site site, const char *op, wk_module *m)
{
    if (!wk__module_check(m, site, op)) return NULL;
    wk_tensors *list = wk_tensors_new_at(site);
    return list && wk__module_collect(site, op, m, 1u << WK__PARAMETER | 1u << WK__BUFFER, wk__list_of(list)) ? list
                                                                                                              : NULL;
}

/* ---- saving ------------------------------------------------------------------------------------------------------ */

/* The elements of a tensor, row by row. */
static bool add_tensor(wk_site site, wk__save *save, wk_tensor *x, wk_code *code, wk__io_error *error)
{
    const wk__body *body = wk__body_of(x);
    int64_t bytes = wk__body_numel(body) * (int64_t)wk_dtype_size(body->dtype);
    if (bytes == 0) return true;
    wk__host_data view = {0};
    void *rows = NULL;
    if (wk__body_contiguous(body)) {
        if (!wk__host_view(x, &view, site)) return false;
    } else {
        if (!(rows = wk__alloc((size_t)bytes))) {
            *code = wk__io_fail(error, WK_ERR_MEMORY, "no memory for %lld bytes of a tensor", (long long)bytes);
            return false;
        }
        if (!wk__host_read(x, rows, NULL, site)) {
            wk__free(rows);
            return false;
        }
    }
    *code = wk__save_add(save, rows ? rows : view.first, bytes, error);
    wk__host_view_end(&view);
    wk__free(rows);
    return *code == WK_OK;
}

static bool write_file(wk_site site, const wk__list *list, const char *path, const wk__safetensors_layout *layout,
                       wk_code *code, wk__io_error *error)
{
    wk__save save;
    *code = wk__safetensors_begin(&save, path, layout, error);
    bool fine = *code == WK_OK;
    for (int64_t k = 0; k < list->count && fine; k++)
        fine = add_tensor(site, &save, list->item[layout->order[k]].tensor, code, error);
    if (fine) {
        *code = wk__safetensors_commit(&save, layout, error);
        return *code == WK_OK;
    }
    wk__save_cancel(&save);
    return false;
}

static bool all_there(wk_site site, const wk__list *list)
{
    for (int64_t k = 0; k < list->count; k++)
        if (!wk__materialize(list->item[k].tensor, site)) return false;
    return true;
}

/* Everything is computed before the file is touched; work that fails then leaves no trace of the save. */
static wk_code save_list(wk_site site, const char *op, const wk__list *list, const char *path)
{
    wk__io_error error;
    wk__safetensors_layout layout;
    wk_code code = WK_OK;
    if (!path_fits(site, op, path) || !all_there(site, list)) return wk_error_code();
    wk__safetensors_tensor *described = wk__alloc_zero((size_t)list->count + 1, sizeof *described);
    if (!described) {
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
        return WK_ERR_MEMORY;
    }
    for (int64_t k = 0; k < list->count; k++) {
        const wk__body *body = wk__body_of(list->item[k].tensor);
        described[k] =
            (wk__safetensors_tensor){.name = list->item[k].name, .dtype = (wk_dtype)body->dtype, .ndim = body->ndim};
        memcpy(described[k].shape, body->shape, sizeof body->shape);
    }
    code = wk__safetensors_plan(described, list->count, NULL, 0, &layout, &error);
    bool fine = code == WK_OK;
    if (fine) {
        fine = write_file(site, list, path, &layout, &code, &error);
        wk__safetensors_layout_end(&layout);
    }
    wk__free(described);
    if (fine) return WK_OK;
    return code != WK_OK ? tell(site, op, code, &error) : wk_error_code();
}

wk_code wk_save_tensors_at(wk_site site, wk_tensors *list, const char *path)
{
    if (wk__error_pending() || !wk__list_check(list, site, "save_tensors")) return wk_error_code();
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__CALL, "save_tensors", site);
    const wk_code code = save_list(site, "save_tensors", wk__list_of(list), path);
    wk__frame_end(context, before);
    return code;
}

wk_code wk_save_at(wk_site site, wk_module *m, const char *path)
{
    wk__inside c;
    if (wk__error_pending() || !wk__inside_begin(&c, "save", site, true)) return wk_error_code();
    wk_tensors *list = state_of(site, "save", m);
    wk_code code = list ? save_list(site, "save", wk__list_of(list), path) : wk_error_code();
    wk__inside_end(&c, NULL, 0);
    return code;
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

typedef struct source {
    wk__file file;
    wk__safetensors content;
} source;

static wk_code open_source(source *from, const char *path, wk__io_error *error)
{
    wk_code code = wk__file_open(&from->file, path, error);
    if (code != WK_OK) return code;
    code = wk__safetensors_read(&from->file, &from->content, error);
    if (code != WK_OK) wk__file_close(&from->file);
    return code;
}

static void close_source(source *from)
{
    wk__safetensors_end(&from->content);
    wk__file_close(&from->file);
}

/* A byte of a bool that is neither 0 nor 1 would be a third truth value to every kernel. */
static void make_bools(uint8_t *byte, int64_t count)
{
    for (int64_t k = 0; k < count; k++) byte[k] = byte[k] != 0;
}

/* One tensor of the file on a device, in the current scope; NULL with the error recorded. */
static wk_tensor *read_tensor(wk_site site, const char *op, const source *from, const wk__safetensors_tensor *t,
                              wk_device device)
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
        out = wk_from_on_at(site, t->dtype, data, (size_t)bytes, t->shape, t->ndim, &options);
    } else {
        tell(site, op, code, &error);
    }
    wk__free(data);
    return out;
}

wk_tensors *wk_load_tensors_at(wk_site site, const char *path)
{
    static const char op[] = "load_tensors";
    wk__io_error error;
    source from;
    if (!path_fits(site, op, path)) return NULL;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__BUSY, NULL, (wk_site){0});
    wk_code code = open_source(&from, path, &error);
    if (code != WK_OK) tell(site, op, code, &error);
    wk_tensors *list = code == WK_OK ? wk_tensors_new_at(site) : NULL;
    for (int64_t k = 0; code == WK_OK && list && k < from.content.count; k++) {
        const wk__safetensors_tensor *t = from.content.by_name[k];
        wk__inside c;
        bool fine = wk__inside_begin(&c, op, site, true);
        if (fine) {
            wk_tensor *x = read_tensor(site, op, &from, t, (wk_device){0});
            fine = x && wk__list_append(site, wk__list_of(list), t->name, x);
            wk__inside_end(&c, NULL, 0);
        }
        if (fine) continue;
        wk__handle_release(&list->handle, site);
        list = NULL;
    }
    if (code == WK_OK) close_source(&from);
    wk__frame_end(context, before);
    return list;
}

/* ---- into a network ---------------------------------------------------------------------------------------------- */

static void add_described(wk__text *text, wk_dtype dtype, const char *kind, int ndim, const int64_t *shape)
{
    wk__text_add(text, dtype ? wk_dtype_str(dtype) : kind);
    wk__text_shape(text, ndim, shape);
}

static bool matches(const wk__safetensors_tensor *t, const wk__body *body)
{
    return t->dtype == body->dtype && wk__same_shape(t->ndim, t->shape, body->ndim, body->shape);
}

/* The first thing in which network and file differ, as the error; true when there is none. */
static bool all_match(wk_site site, const wk__list *list, const source *from)
{
    wk__text text = {0};
    wk__text_format(&text, "load: %s: ", wk__show(from->file.path).text);
    for (int64_t k = 0; k < list->count; k++) {
        const wk__body *body = wk__body_of(list->item[k].tensor);
        const wk__safetensors_tensor *t = wk__safetensors_find(&from->content, list->item[k].name);
        if (t && matches(t, body)) continue;
        wk__text_format(&text, t ? "\"%s\" is " : "there is no \"%s\", which is ", wk__show(list->item[k].name).text);
        add_described(&text, body->dtype, "", body->ndim, body->shape);
        wk__text_add(&text, " in the network");
        if (t) wk__text_add(&text, " and ");
        if (t) add_described(&text, t->dtype, t->kind, t->ndim, t->shape);
        if (t) wk__text_add(&text, " in the file");
        const bool shapes_match = t && wk__same_shape(t->ndim, t->shape, body->ndim, body->shape);
        wk__error_take(site, shapes_match ? WK_ERR_DTYPE : WK_ERR_SHAPE, &text);
        return false;
    }
    for (int64_t k = 0; k < from->content.count && from->content.count > list->count; k++) {
        const char *name = from->content.by_name[k]->name;
        bool known = false;
        for (int64_t i = 0; i < list->count && !known; i++) known = strcmp(list->item[i].name, name) == 0;
        if (known) continue;
        wk__text_format(&text, "it has a tensor \"%s\", the network has none of that name", wk__show(name).text);
        wk__error_take(site, WK_ERR_SHAPE, &text);
        return false;
    }
    wk__text_end(&text);
    return true;
}

/* Reads everything, then exchanges everything, which can't fail but for memory whose address was given out. */
static bool load_all(wk_site site, const wk__list *list, const source *from)
{
    wk_tensor **made = wk__alloc_zero((size_t)list->count + 1, sizeof *made);
    bool fine = made != NULL;
    if (!fine) wk__error_set(site, WK_ERR_MEMORY, "load: out of host memory");
    for (int64_t k = 0; k < list->count && fine; k++) {
        const wk__safetensors_tensor *t = wk__safetensors_find(&from->content, list->item[k].name);
        made[k] = read_tensor(site, "load", from, t, wk_device_of(list->item[k].tensor));
        fine = made[k] != NULL;
    }
    for (int64_t k = 0; k < list->count && fine; k++) fine = wk__replace(list->item[k].tensor, made[k]);
    wk__free(made);
    return fine;
}

wk_code wk_load_at(wk_site site, wk_module *m, const char *path)
{
    wk__io_error error;
    wk__inside c;
    source from;
    if (!path_fits(site, "load", path) || !wk__inside_begin(&c, "load", site, true)) return wk_error_code();
    wk_tensors *list = state_of(site, "load", m);
    bool fine = list != NULL;
    if (fine) {
        wk_code code = open_source(&from, path, &error);
        if (code == WK_OK) {
            fine = all_match(site, wk__list_of(list), &from) && load_all(site, wk__list_of(list), &from);
            close_source(&from);
        } else {
            fine = false;
            tell(site, "load", code, &error);
        }
    }
    wk__inside_end(&c, NULL, 0);
    return fine ? WK_OK : wk_error_code();
}
