/* SPDX-License-Identifier: Apache-2.0 */
/* wk_load_info and wk_load_tensor: the contents of a safetensors file without the data, and one of its tensors. */
#include "base/alloc.h"
#include "save_load.h"
#include "tensor/call_scope.h"
#include "tensor_file.h"
#include <wick/io.h>

/* ---- contents ---------------------------------------------------------------------------------------------------- */

/* A result of wk_load_info, owned by a scope. Its strings and shapes point into the header. */
typedef struct contents {
    wk_file_info info;
    wk__safetensors header;
    wk_file_tensor *tensor;
    wk_file_pair *pair;
    const wk_file_tensor **tensors; /* pointers to them, ended by NULL */
    const wk_file_pair **pairs;
} contents;

static void destroy(void *address)
{
    contents *c = address;
    wk__safetensors_end(&c->header);
    wk__free(c->tensor);
    wk__free(c->pair);
    wk__free(c->tensors);
    wk__free(c->pairs);
    wk__free(c);
}
static const wk__handle_type contents_kind = {.name = "contents of a file", .destroy = destroy};

/* Fills in everything but the header. Returns false on allocation failure. */
static bool fill(contents *c)
{
    const size_t count = (size_t)c->header.count, pairs = (size_t)c->header.metadata_count;
    c->tensor = wk__alloc_zero(count + 1, sizeof *c->tensor);
    c->pair = wk__alloc_zero(pairs + 1, sizeof *c->pair);
    c->tensors = wk__alloc_zero(count + 1, sizeof *c->tensors);
    c->pairs = wk__alloc_zero(pairs + 1, sizeof *c->pairs);
    if (!c->tensor || !c->pair || !c->tensors || !c->pairs) return false;
    for (size_t k = 0; k < count; k++) {
        const wk__safetensors_tensor *t = c->header.by_name[k];
        c->tensor[k] = (wk_file_tensor){.name = t->name,
                                        .dtype = t->dtype,
                                        .dtype_name = t->dtype_name,
                                        .ndim = t->ndim,
                                        .shape = t->shape,
                                        .bytes = t->end - t->begin};
        c->tensors[k] = &c->tensor[k];
    }
    for (size_t k = 0; k < pairs; k++) {
        c->pair[k] = (wk_file_pair){c->header.metadata[k].key, c->header.metadata[k].value};
        c->pairs[k] = &c->pair[k];
    }
    c->info = (wk_file_info){(int64_t)count, (int64_t)pairs, c->tensors, c->pairs};
    return true;
}

const wk_file_info *wk_load_info_at(wk_site site, const char *path)
{
    wk__io_error error;
    wk__tensor_file from = {.site = site, .op = "load_info"};
    if (!wk__check_path(site, from.op, path)) return NULL;
    wk_context *context = wk__context();
    if (context->scope < 0) {
        wk__error_set(site, WK_ERR_STATE, "%s: no scope is open, and a scope owns the result; open one with WK_SCOPE",
                      from.op);
        return NULL;
    }
    const wk_code code = wk__tensor_file_open(&from, path, &error);
    if (code != WK_OK) {
        wk__tensor_file_error(&from, code, &error);
        return NULL;
    }
    wk__file_close(&from.file);
    contents *c = wk__alloc_zero(1, sizeof *c);
    if (c)
        c->header = from.header;
    else
        wk__safetensors_end(&from.header);
    const bool fine = c && fill(c);
    return wk__handle_wrap(site, &contents_kind, c, fine, from.op) ? &c->info : NULL;
}

/* ---- one tensor -------------------------------------------------------------------------------------------------- */

/* Records that the file has no tensor of this name. */
static void report_unknown(const wk__tensor_file *from, const char *name)
{
    enum { SHOWN = 8 };
    wk__text text = {0};
    wk__text_format(&text, "%s: %s: unknown tensor \"%s\"; the file has ", from->op,
                    wk__printable_name(from->file.path).text, wk__printable_name(name).text);
    if (from->header.count == 0) wk__text_add(&text, "none");
    for (int64_t k = 0; k < from->header.count && k < SHOWN; k++)
        wk__text_format(&text, k ? ", \"%s\"" : "\"%s\"", wk__printable_name(from->header.by_name[k]->name).text);
    if (from->header.count > SHOWN) wk__text_add(&text, ", ...");
    wk__error_set_text(from->site, WK_ERR_ARGUMENT, &text);
}

wk_tensor *wk_load_tensor_at(wk_site site, const char *path, const char *name)
{
    wk__io_error error;
    wk__call_scope c;
    wk__tensor_file from = {.site = site, .op = "load_tensor"};
    if (!wk__check_path(site, from.op, path) || !wk__array_check(name, 1, site, from.op, "the name") ||
        !wk__call_begin(&c, WK__FRAME_CALL, from.op, site, WK__GRAD_OFF))
        return NULL;
    wk_tensor *out = NULL;
    const wk_code code = wk__tensor_file_open(&from, path, &error);
    if (code == WK_OK) {
        const wk__safetensors_tensor *t = wk__safetensors_find(&from.header, name);
        if (t)
            out = wk__tensor_file_read_one(&from, t, (wk_device){0});
        else
            report_unknown(&from, name);
        wk__tensor_file_close(&from);
    } else {
        wk__tensor_file_error(&from, code, &error);
    }
    wk__call_end(&c, &out, out != NULL);
    return out;
}
