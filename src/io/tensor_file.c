/* SPDX-License-Identifier: Apache-2.0 */
/* Reading tensors from an open safetensors or GGUF file; see tensor_file.h. */
#include "tensor_file.h"
#include "base/alloc.h"
#include "gguf.h"
#include "nn/quantized_linear.h"
#include "tensor/call_scope.h"
#include <ctype.h>
#include <string.h>
#include <wick/io.h>

wk_code wk__tensor_file_open(wk__tensor_file *from, const char *path, wk__io_error *error)
{
    wk_code code = wk__file_open(&from->file, path, error);
    if (code != WK_OK) return code;
    code = wk__gguf_read(&from->file, &from->header, &from->is_gguf, error);
    if (code == WK_OK && !from->is_gguf) code = wk__safetensors_read(&from->file, &from->header, error);
    if (code != WK_OK) wk__file_close(&from->file);
    return code;
}

bool wk__tensor_file_map(wk__tensor_file *from)
{
    wk__io_error error;
    from->mapping = wk__file_map(&from->file, &error);
    return from->mapping || wk__tensor_file_error(from, error.code, &error);
}

void wk__tensor_file_close(wk__tensor_file *from)
{
    if (from->mapping) wk__counted_drop(from->mapping);
    wk__safetensors_end(&from->header);
    wk__file_close(&from->file);
}

bool wk__tensor_file_error(const wk__tensor_file *from, wk_code code, const wk__io_error *error)
{
    wk__error_set(from->site, code, "%s: %s", from->op, error->text);
    return false;
}

bool wk__strip_prefix(const char *prefix, const char *name, const char **rest)
{
    const size_t length = strlen(prefix);
    *rest = name + length;
    return strncmp(prefix, name, length) == 0;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Refuses bool bytes other than 0 and 1, which kernels do not handle. */
static void normalize_bools(uint8_t *byte, int64_t count)
{
    for (int64_t k = 0; k < count; k++) byte[k] = byte[k] != 0;
}

/* Allocates memory for the bytes of a tensor. NULL on failure. */
static void *allocate(const wk__safetensors_tensor *t, int64_t bytes, wk_code *code, wk__io_error *error)
{
    void *data = wk__alloc((size_t)bytes + 1);
    if (!data)
        *code = wk__io_fail(error, WK_ERR_MEMORY, "out of host memory for %lld bytes of \"%s\"", (long long)bytes,
                            wk__printable_name(t->name).text);
    return data;
}

/* Replaces the blocks of a quantised tensor by its elements. Returns their bytes. */
static int64_t unpack(const wk__safetensors_tensor *t, void **data, wk_code *code, wk__io_error *error)
{
    const int64_t blocks = (t->end - t->begin) / t->gguf->bytes;
    const int64_t bytes = blocks * t->gguf->block * (int64_t)sizeof(float);
    float *elements = allocate(t, bytes, code, error);
    if (elements) wk__gguf_decode(t->gguf, *data, blocks, elements);
    wk__free(*data);
    *data = elements;
    return bytes;
}

/* Reads the bytes of a tensor, which the caller frees. NULL on failure. */
static void *read_bytes(const wk__tensor_file *from, const wk__safetensors_tensor *t, int64_t *bytes, wk_code *code,
                        wk__io_error *error)
{
    *bytes = t->end - t->begin;
    *code = t->gguf ? wk__gguf_check_type(t, error) : wk__safetensors_check_dtype(t, error);
    void *data = *code == WK_OK ? allocate(t, *bytes, code, error) : NULL;
    if (data) *code = wk__file_read_at(&from->file, from->header.data_start + t->begin, data, *bytes, error);
    return data;
}

/* Returns true if a tensor of this dtype can use the mapped bytes. */
static bool is_mapped(const wk__tensor_file *from, const wk__safetensors_tensor *t, wk_dtype dtype, wk_device device)
{
    if (!from->mapping || device.kind != WK_CPU || dtype == WK_BOOL) return false;
    return (uintptr_t)(from->mapping->data + from->header.data_start + t->begin) % wk_dtype_size(dtype) == 0;
}

/* Returns a tensor of the mapped bytes; reports the error of a failure. */
static wk_tensor *map_one(const wk__tensor_file *from, const wk__safetensors_tensor *t, wk_dtype dtype, int ndim,
                          const int64_t *shape)
{
    wk__fail fail;
    wk__device *cpu = wk__device_get(wk_cpu(), &fail);
    const wk__foreign memory = {from->mapping->data + from->header.data_start + t->begin, wk__counted_drop,
                                from->mapping};
    wk_tensor *out = wk__tensor_borrowing(wk__context(), cpu, dtype, ndim, shape, from->site, memory);
    if (!out) return NULL;
    wk__body_of(out)->storage->value->mapped = true;
    wk__counted_hold(from->mapping);
    return out;
}

/* Returns a tensor of this data, which it frees; reports the error of a failure. */
static wk_tensor *tensor_of(const wk__tensor_file *from, void *data, int64_t bytes, wk_code code,
                            const wk__io_error *error, wk_dtype dtype, int ndim, const int64_t *shape, wk_device device)
{
    wk_tensor *out = NULL;
    if (code == WK_OK) {
        const wk_tensor_options options = {.size = sizeof options, .device = device};
        out = wk_from_on_at(from->site, dtype, data, (size_t)bytes, shape, ndim, &options);
    } else {
        wk__tensor_file_error(from, code, error);
    }
    wk__free(data);
    return out;
}

wk_tensor *wk__tensor_file_read_one(const wk__tensor_file *from, const wk__safetensors_tensor *t, wk_device device)
{
    wk__io_error error;
    wk_code code;
    int64_t bytes;
    const bool has_blocks = t->gguf && t->gguf->blocks;
    if (t->dtype && !has_blocks && is_mapped(from, t, t->dtype, device))
        return map_one(from, t, t->dtype, t->ndim, t->shape);
    void *data = read_bytes(from, t, &bytes, &code, &error);
    if (code == WK_OK && has_blocks) bytes = unpack(t, &data, &code, &error);
    if (code == WK_OK && t->dtype == WK_BOOL) normalize_bools(data, bytes);
    return tensor_of(from, data, bytes, code, &error, t->dtype, t->ndim, t->shape, device);
}

wk_tensor *wk__tensor_file_read_blocks(const wk__tensor_file *from, const wk__safetensors_tensor *t, wk_device device)
{
    wk__io_error error;
    wk_code code;
    int64_t bytes;
    const int64_t shape[2] = {t->shape[0], t->shape[1] / t->gguf->block * t->gguf->bytes};
    if (is_mapped(from, t, WK_U8, device)) return map_one(from, t, WK_U8, 2, shape);
    void *data = read_bytes(from, t, &bytes, &code, &error);
    return tensor_of(from, data, bytes, code, &error, WK_U8, 2, shape, device);
}

wk_tensors *wk__tensor_file_read_all(const wk__tensor_file *from, const char *prefix, wk_device device)
{
    wk_tensors *list = wk_tensors_new_at(from->site);
    for (int64_t k = 0; list && k < from->header.count; k++) {
        const wk__safetensors_tensor *t = from->header.by_name[k];
        const char *name;
        wk__call_scope c;
        if (!wk__strip_prefix(prefix, t->name, &name)) continue;
        bool fine = wk__call_begin(&c, WK__FRAME_CALL, from->op, from->site, WK__GRAD_OFF);
        if (fine) {
            wk_tensor *x = wk__tensor_file_read_one(from, t, device);
            fine = x && wk__tensor_list_append(from->site, wk__tensor_list_of(list), name, x);
            wk__call_end(&c, NULL, 0);
        }
        if (fine) continue;
        wk__handle_release(&list->handle, from->site);
        list = NULL;
    }
    return list;
}

/* ---- matching of tensors ----------------------------------------------------------------------------------------- */

static void add_described(wk__text *text, wk_dtype dtype, const char *kind, int ndim, const int64_t *shape)
{
    wk__text_add(text, dtype ? wk_dtype_str(dtype) : kind);
    wk__text_shape(text, ndim, shape);
}

static bool matches(const wk__safetensors_tensor *t, const wk__body *body, wk__match_rules rules)
{
    return (t->dtype == body->dtype || rules.convert) && wk__same_shape(t->ndim, t->shape, body->ndim, body->shape);
}

/* Returns the length of the path of a layer, with its dot, in the name of its weight of floats or blocks; 0: none. */
static size_t path_of_weight(const char *name)
{
    static const char end[] = ".weight";
    const size_t all = strlen(name);
    wk_block_format format;
    size_t length;
    if (wk__is_blocks_name(name, &length, &format)) return length;
    return all > strlen(end) && strcmp(name + all - strlen(end), end) == 0 ? all - strlen(end) + 1 : 0;
}

/* Adds how to load a missing weight that the file has in another format. */
static void add_format_hint(wk__text *text, const wk__tensor_file *from, const char *prefix, const char *missing)
{
    const size_t path = path_of_weight(missing);
    for (int64_t k = 0; k < from->header.count && path > 0; k++) {
        const char *name;
        char upper[WK__BLOCKS_NAME] = "";
        wk_block_format format;
        size_t length;
        if (!wk__strip_prefix(prefix, from->header.by_name[k]->name, &name) || path_of_weight(name) != path ||
            strncmp(name, missing, path) != 0)
            continue;
        if (!wk__is_blocks_name(name, &length, &format)) {
            wk__text_add(text, "; the file has floating numbers: load it before wk_module_quantize");
            return;
        }
        for (size_t c = 0; wk__block_formats[format].name[c]; c++)
            upper[c] = (char)toupper((unsigned char)wk__block_formats[format].name[c]);
        wk__text_format(text,
                        "; the file has blocks: load it into a network of floats after wk_module_quantize(net, "
                        ".format = WK_BLOCKS_%s)",
                        upper);
        return;
    }
}

/* Records the error of a tensor that is missing in the file or differs; consumes the text. */
static void report_difference(const wk__tensor_file *from, const wk__safetensors_tensor *t, const char *prefix,
                              const wk__named_tensor *wanted, const char *owner, wk__match_rules rules, wk__text *text)
{
    const wk__body *body = wk__body_of(wanted->tensor);
    wk__text_format(text, t ? "\"%s%s\" is " : "missing tensor \"%s%s\", which is ", prefix,
                    wk__printable_name(wanted->name).text);
    add_described(text, body->dtype, "", body->ndim, body->shape);
    wk__text_format(text, " in the %s", owner);
    if (t) wk__text_add(text, " and ");
    if (t) add_described(text, t->dtype, t->dtype_name, t->ndim, t->shape);
    if (t) wk__text_add(text, " in the file");
    if (!t && !*prefix && wk__metadata_find(from->header.metadata, from->header.metadata_count, "wick.checkpoint"))
        wk__text_add(text, "; the file is a checkpoint: load it with wk_checkpoint_load");
    if (!t) add_format_hint(text, from, prefix, wanted->name);
    if (!t && from->is_gguf)
        wk__text_add(text, "; GGUF files name tensors differently; wk_nn_pretrained creates their models");
    const bool shapes_match = t && wk__same_shape(t->ndim, t->shape, body->ndim, body->shape);
    if (shapes_match)
        wk__text_add(text, rules.may_convert ? "; add .convert = true to convert dtypes"
                                             : "; loading does not convert dtypes: read the file with wk_load_tensors "
                                               "and convert with wk_copy_(target, x)");
    wk__error_set_text(from->site, shapes_match ? WK_ERR_DTYPE : WK_ERR_SHAPE, text);
}

/* Returns the first tensor under the prefix whose name is not in the list; NULL: none. */
static const char *find_unknown(const wk__tensor_file *from, const char *prefix, const wk__tensor_list *list)
{
    const char *name;
    int64_t count = 0;
    for (int64_t k = 0; k < from->header.count; k++)
        count += wk__strip_prefix(prefix, from->header.by_name[k]->name, &name);
    for (int64_t k = 0; k < from->header.count && count > list->count; k++) {
        if (!wk__strip_prefix(prefix, from->header.by_name[k]->name, &name)) continue;
        bool known = false;
        for (int64_t i = 0; i < list->count && !known; i++) known = strcmp(list->item[i].name, name) == 0;
        if (!known) return name;
    }
    return NULL;
}

/* Begins the message of a difference. */
static wk__text begin_message(const wk__tensor_file *from)
{
    wk__text text = {0};
    wk__text_format(&text, "%s: %s: ", from->op, wk__printable_name(from->file.path).text);
    return text;
}

bool wk__tensor_file_check_tensors(const wk__tensor_file *from, const char *prefix, const wk__tensor_list *list,
                                   const char *owner, wk__match_rules rules)
{
    for (int64_t k = 0; k < list->count; k++) {
        const wk__safetensors_tensor *t = wk__safetensors_find_prefixed(&from->header, prefix, list->item[k].name);
        if (t && matches(t, wk__body_of(list->item[k].tensor), rules)) continue;
        wk__text text = begin_message(from);
        report_difference(from, t, prefix, &list->item[k], owner, rules, &text);
        return false;
    }
    return true;
}

bool wk__tensor_file_check_names(const wk__tensor_file *from, const char *prefix, const wk__tensor_list *list,
                                 const char *owner)
{
    const char *more = find_unknown(from, prefix, list);
    if (!more) return true;
    wk__text text = begin_message(from);
    wk__text_format(&text, "unexpected tensor \"%s%s\": the %s has none of that name", prefix,
                    wk__printable_name(more).text, owner);
    wk__error_set_text(from->site, WK_ERR_SHAPE, &text);
    return false;
}

bool wk__tensor_file_check(const wk__tensor_file *from, const char *prefix, const wk__tensor_list *list,
                           const char *owner)
{
    return wk__tensor_file_check_tensors(from, prefix, list, owner, (wk__match_rules){0}) &&
           wk__tensor_file_check_names(from, prefix, list, owner);
}

bool wk__tensor_file_read_list(const wk__tensor_file *from, const char *prefix, const wk__tensor_list *list,
                               wk_tensor **made)
{
    for (int64_t k = 0; k < list->count; k++) {
        const wk__safetensors_tensor *t = wk__safetensors_find_prefixed(&from->header, prefix, list->item[k].name);
        wk_tensor *read = wk__tensor_file_read_one(from, t, wk_device_of(list->item[k].tensor));
        made[k] = read ? wk_to_dtype_at(from->site, read, wk_dtype_of(list->item[k].tensor)) : NULL;
        if (!made[k]) return false;
    }
    return true;
}
