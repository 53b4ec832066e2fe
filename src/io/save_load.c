/* SPDX-License-Identifier: Apache-2.0 */
/* wk_save, wk_save_tensors and wk_load_tensors: networks and lists of tensors in safetensors files, to and from any
 * device. */
#include "base/alloc.h"
#include "base/options.h"
#include "tensor/call_scope.h"
#include "tensor_file.h"
#include "save_load.h"
#include <string.h>
#include <wick/io.h>

bool wk__check_path(wk_site site, const char *op, const char *path)
{
    if (path && *path) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: the path is %s", op, path ? "empty" : "NULL");
    return false;
}

wk_tensors *wk__module_state_dict(wk_site site, const char *op, wk_module *m)
{
    if (!wk__module_check(m, site, op)) return NULL;
    wk_tensors *list = wk_tensors_new_at(site);
    return list && wk__module_collect(site, op, m, 1u << WK__PARAMETER | 1u << WK__BUFFER, wk__tensor_list_of(list))
               ? list
               : NULL;
}

/* ---- saving ------------------------------------------------------------------------------------------------------ */

bool wk__contiguous_host_view(wk_site site, const char *op, wk_tensor *x, wk__host_mapping *out)
{
    const wk__body *body = wk__body_of(x);
    if (wk__body_contiguous(body)) return wk__host_map(x, out, site);
    const int64_t bytes = wk__body_numel(body) * (int64_t)wk_dtype_size(body->dtype);
    void *rows = wk__alloc((size_t)bytes + 1);
    if (!rows)
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory for %lld bytes of a tensor", op, (long long)bytes);
    *out = (wk__host_mapping){rows, rows};
    if (rows && wk__host_download(x, rows, NULL, site)) return true;
    wk__host_unmap(out);
    return false;
}

static bool write_file(wk_site site, const char *op, const wk__tensor_list *list, const char *path,
                       const wk__safetensors_layout *layout, wk_code *code, wk__io_error *error)
{
    wk__atomic_file save;
    *code = wk__safetensors_begin(&save, path, layout, error);
    for (int64_t k = 0; k < list->count && *code == WK_OK; k++) {
        wk_tensor *x = list->item[layout->order[k]].tensor;
        wk__host_mapping rows;
        if (!wk__contiguous_host_view(site, op, x, &rows)) {
            wk__atomic_file_abort(&save);
            return false;
        }
        const wk__body *body = wk__body_of(x);
        *code =
            wk__atomic_file_write(&save, rows.first, wk__body_numel(body) * (int64_t)wk_dtype_size(body->dtype), error);
        wk__host_unmap(&rows);
    }
    if (*code == WK_OK) *code = wk__safetensors_commit(&save, layout, error);
    wk__atomic_file_abort(&save);
    return *code == WK_OK;
}

wk_code wk__safetensors_layout_list(const wk__tensor_list *list, const wk__metadata *metadata,
                                    wk__safetensors_layout *layout, wk__io_error *error)
{
    wk__safetensors_tensor *described = wk__alloc_zero((size_t)list->count + 1, sizeof *described);
    if (!described || metadata->failed) {
        wk__free(described);
        return wk__io_fail(error, WK_ERR_MEMORY, "out of host memory");
    }
    for (int64_t k = 0; k < list->count; k++) {
        const wk__body *body = wk__body_of(list->item[k].tensor);
        described[k] =
            (wk__safetensors_tensor){.name = list->item[k].name, .dtype = (wk_dtype)body->dtype, .ndim = body->ndim};
        memcpy(described[k].shape, body->shape, sizeof body->shape);
    }
    const wk_code code =
        wk__safetensors_layout_build(described, list->count, metadata->item, metadata->count, layout, error);
    wk__free(described);
    return code;
}

static bool materialize_all(wk_site site, const wk__tensor_list *list)
{
    for (int64_t k = 0; k < list->count; k++)
        if (!wk__materialize(list->item[k].tensor, site)) return false;
    return true;
}

wk_code wk__save_list(wk_site site, const char *op, const wk__tensor_list *list, const wk__metadata *metadata,
                      const char *path)
{
    wk__io_error error;
    wk__safetensors_layout layout;
    if (!wk__check_path(site, op, path) || !materialize_all(site, list)) return wk_error_code();
    wk_code code = wk__safetensors_layout_list(list, metadata, &layout, &error);
    bool fine = code == WK_OK;
    if (fine) {
        fine = write_file(site, op, list, path, &layout, &code, &error);
        wk__safetensors_layout_end(&layout);
    }
    if (fine) return WK_OK;
    if (code != WK_OK) wk__error_set(site, code, "%s: %s", op, error.text);
    return wk_error_code();
}

wk_code wk_save_tensors_at(wk_site site, wk_tensors *list, const char *path)
{
    if (wk__error_pending() || !wk__tensor_list_check(list, site, "save_tensors")) return wk_error_code();
    wk_context *context = wk__context();
    const wk__metadata none = {0};
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, "save_tensors", site);
    const wk_code code = wk__save_list(site, "save_tensors", wk__tensor_list_of(list), &none, path);
    wk__frame_end(context, before);
    return code;
}

static bool check_metadata(wk_site site, const wk_save_options *o)
{
    if (o->pairs < 0 || (o->pairs > 0 && !o->metadata)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "save: .pairs is %lld, but .metadata %s", (long long)o->pairs,
                      o->metadata ? "cannot have a negative number of pairs" : "is NULL");
        return false;
    }
    for (int64_t k = 0; k < o->pairs; k++) {
        if (o->metadata[k].key && o->metadata[k].value) continue;
        wk__error_set(site, WK_ERR_ARGUMENT, "save: a key or value of .metadata is NULL");
        return false;
    }
    return true;
}

wk_code wk_save_at(wk_site site, wk_module *m, const char *path, const wk_save_options *options)
{
    wk__call_scope c;
    wk_save_options o;
    if (wk__error_pending() || !wk__options(site, "save", options, &o) || !check_metadata(site, &o) ||
        !wk__call_begin(&c, WK__FRAME_CALL, "save", site, WK__GRAD_OFF))
        return wk_error_code();
    wk__metadata metadata = {0};
    for (int64_t k = 0; k < o.pairs; k++) wk__metadata_add(&metadata, o.metadata[k].value, "%s", o.metadata[k].key);
    wk_tensors *list = wk__module_state_dict(site, "save", m);
    const wk_code code =
        list ? wk__save_list(site, "save", wk__tensor_list_of(list), &metadata, path) : wk_error_code();
    wk__metadata_free(&metadata);
    wk__call_end(&c, NULL, 0);
    return code;
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

wk_tensors *wk_load_tensors_at(wk_site site, const char *path)
{
    wk__io_error error;
    wk__tensor_file from = {.site = site, .op = "load_tensors"};
    if (!wk__check_path(site, from.op, path)) return NULL;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    const wk_code code = wk__tensor_file_open(&from, path, &error);
    wk_tensors *list = NULL;
    if (code == WK_OK) {
        list = wk__tensor_file_read_all(&from, "", (wk_device){0});
        wk__tensor_file_close(&from);
    } else {
        wk__tensor_file_error(&from, code, &error);
    }
    wk__frame_end(context, before);
    return list;
}
