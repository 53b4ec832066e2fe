/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of GGUF files: the first numbers, the tensors, and what must hold for all of them; see gguf.h. */
#include "gguf.h"
#include "base/alloc.h"
#include "base/integers.h"
#include "heap_sort.h"
#include <string.h>

static const char magic[WK__GGUF_MAGIC_BYTES] = {'G', 'G', 'U', 'F'};

static bool begins(const void *start, int64_t bytes)
{
    return bytes >= WK__GGUF_MAGIC_BYTES && memcmp(start, magic, WK__GGUF_MAGIC_BYTES) == 0;
}

/* ---- the first numbers ------------------------------------------------------------------------------------------- */

static wk_code read_version(wk__gguf_reader *r, wk__io_error *error)
{
    const uint8_t *start;
    uint64_t version;
    wk_code code = wk__gguf_take(r, WK__GGUF_MAGIC_BYTES, &start, error);
    if (code == WK_OK && !begins(start, WK__GGUF_MAGIC_BYTES))
        code = wk__io_fail(error, WK_ERR_FORMAT, "not a GGUF file: it does not begin with \"GGUF\" (byte 0)");
    if (code == WK_OK) code = wk__gguf_number(r, 4, &version, error);
    if (code != WK_OK || version == 2 || version == 3) return code;
    if (version > 0 && (version & 0xffff) == 0)
        return wk__io_fail(error, WK_ERR_UNSUPPORTED, "a big-endian GGUF file is not supported (byte 4)");
    return wk__io_fail(error, WK_ERR_UNSUPPORTED, "version %llu of GGUF is not supported; expected 2 or 3 (byte 4)",
                       (unsigned long long)version);
}

static wk_code read_count(wk__gguf_reader *r, uint64_t most, const char *what, uint64_t *count, wk__io_error *error)
{
    const wk_code code = wk__gguf_number(r, 8, count, error);
    if (code != WK_OK || *count <= most) return code;
    return wk__io_fail(error, WK_ERR_FORMAT, "more than %llu %s: %llu (byte %lld)", (unsigned long long)most, what,
                       (unsigned long long)*count, (long long)r->at - 8);
}

/* ---- one tensor -------------------------------------------------------------------------------------------------- */

/* Reads the sizes, the last dimension first. */
static wk_code read_shape(wk__gguf_reader *r, wk__safetensors_tensor *tensor, wk__io_error *error)
{
    uint64_t ndim;
    wk_code code = wk__gguf_number(r, 4, &ndim, error);
    if (code == WK_OK && ndim > WK__GGUF_MAX_DIMS)
        code = wk__io_fail(error, WK_ERR_FORMAT, "%llu dimensions are more than %d (byte %lld)",
                           (unsigned long long)ndim, WK__GGUF_MAX_DIMS, (long long)r->at - 4);
    if (code != WK_OK) return code;
    tensor->ndim = (int)ndim;
    for (int k = tensor->ndim; k-- > 0 && code == WK_OK;) {
        uint64_t size;
        code = wk__gguf_number(r, 8, &size, error);
        if (code == WK_OK && size > INT64_MAX)
            code = wk__io_fail(error, WK_ERR_FORMAT, "a size exceeds %lld (byte %lld)", (long long)INT64_MAX,
                               (long long)r->at - 8);
        if (code == WK_OK) tensor->shape[k] = (int64_t)size;
    }
    return code;
}

static wk_code read_type(wk__gguf_reader *r, wk__safetensors_tensor *tensor, wk__io_error *error)
{
    uint64_t type;
    const wk_code code = wk__gguf_number(r, 4, &type, error);
    if (code != WK_OK) return code;
    tensor->gguf = wk__gguf_type_of(type);
    if (!tensor->gguf)
        return wk__io_fail(error, WK_ERR_UNSUPPORTED, "unknown type %llu (byte %lld)", (unsigned long long)type,
                           (long long)r->at - 4);
    tensor->dtype = tensor->gguf->dtype;
    tensor->dtype_name = tensor->gguf->name;
    return WK_OK;
}

/* Computes the bytes of the data; begin is set. */
static wk_code set_end(wk__safetensors_tensor *tensor, wk__io_error *error)
{
    const wk__gguf_type *type = tensor->gguf;
    const int64_t last = tensor->ndim > 0 ? tensor->shape[tensor->ndim - 1] : 1;
    int64_t elements, bytes, unpacked;
    if (last % type->block != 0)
        return wk__io_fail(error, WK_ERR_FORMAT,
                           "the last size %lld is not a multiple of the block of %s, %d (byte %lld)", (long long)last,
                           type->name, type->block, (long long)tensor->position);
    if (!wk__safetensors_bytes(tensor->shape, tensor->ndim, 8, &elements) ||
        !wk__mul_size(elements, (int64_t)sizeof(double), &unpacked) ||
        !wk__mul_size(elements / type->block, type->bytes, &bytes) || !wk__add_size(tensor->begin, bytes, &tensor->end))
        return wk__io_fail(error, WK_ERR_FORMAT, "its sizes are too large (byte %lld)", (long long)tensor->position);
    return WK_OK;
}

static wk_code read_tensor(wk__gguf_reader *r, wk__safetensors_tensor *tensor, uint64_t alignment, wk__io_error *error)
{
    const int64_t name_at = r->strings.length;
    uint64_t offset = 0;
    tensor->position = r->at;
    wk_code code = wk__gguf_name(r, WK__SAFETENSORS_MAX_NAME, "the name", error);
    if (code != WK_OK) return code;
    code = read_shape(r, tensor, error);
    if (code == WK_OK) code = read_type(r, tensor, error);
    if (code == WK_OK) code = wk__gguf_number(r, 8, &offset, error);
    if (code == WK_OK && (offset > INT64_MAX || offset % alignment != 0))
        code = wk__io_fail(error, WK_ERR_FORMAT, "the offset %llu is not a multiple of %llu below 2^63 (byte %lld)",
                           (unsigned long long)offset, (unsigned long long)alignment, (long long)r->at - 8);
    tensor->begin = (int64_t)offset;
    if (code == WK_OK) code = set_end(tensor, error);
    if (code == WK_OK) return WK_OK;
    return wk__io_prefix(error, "tensor \"%s\"", wk__printable_name(r->strings.data + name_at).text);
}

/* ---- the header -------------------------------------------------------------------------------------------------- */

/* Reads pairs and tensors, whose strings are not known yet. */
static wk_code read_parts(wk__gguf_reader *r, wk__safetensors *out, uint64_t *alignment, wk__io_error *error)
{
    uint64_t tensors = 0, pairs = 0;
    int64_t tensor_capacity = 0, pair_capacity = 0;
    wk_code code = read_version(r, error);
    if (code == WK_OK) code = read_count(r, WK__SAFETENSORS_MAX_TENSORS, "tensors", &tensors, error);
    if (code == WK_OK) code = read_count(r, WK__SAFETENSORS_MAX_METADATA, "pairs", &pairs, error);
    while (code == WK_OK && out->metadata_count < (int64_t)pairs) {
        if (!wk__grow(&out->metadata, &pair_capacity, out->metadata_count + 1, sizeof *out->metadata))
            return wk__gguf_no_memory(error);
        out->metadata_count++;
        code = wk__gguf_pair(r, alignment, error);
    }
    while (code == WK_OK && out->count < (int64_t)tensors) {
        if (!wk__grow(&out->tensors, &tensor_capacity, out->count + 1, sizeof *out->tensors))
            return wk__gguf_no_memory(error);
        wk__safetensors_tensor *tensor = &out->tensors[out->count++];
        *tensor = (wk__safetensors_tensor){.ndim = 0};
        code = read_tensor(r, tensor, *alignment, error);
    }
    return code;
}

static const char *next_string(const char **at)
{
    const char *string = *at;
    *at += strlen(string) + 1;
    return string;
}

static bool key_before(const void *a, const void *b)
{
    return strcmp(((const wk__metadata_entry *)a)->key, ((const wk__metadata_entry *)b)->key) < 0;
}

/* Takes the strings, and sorts the pairs. */
static wk_code set_strings(wk__gguf_reader *r, wk__safetensors *out, wk__io_error *error)
{
    const char *at = out->header = r->strings.data;
    r->strings = (wk__text){0};
    for (int64_t k = 0; k < out->metadata_count; k++) {
        out->metadata[k].key = next_string(&at);
        out->metadata[k].value = next_string(&at);
    }
    for (int64_t k = 0; k < out->count; k++) out->tensors[k].name = next_string(&at);
    wk__heap_sort(out->metadata, out->metadata_count, sizeof *out->metadata, key_before);
    for (int64_t k = 1; k < out->metadata_count; k++)
        if (strcmp(out->metadata[k - 1].key, out->metadata[k].key) == 0)
            return wk__io_fail(error, WK_ERR_FORMAT, "duplicate key \"%s\" (before byte %lld)",
                               wk__printable_name(out->metadata[k].key).text, (long long)r->at);
    return WK_OK;
}

static wk_code read_header(wk__gguf_reader *r, wk__safetensors *out, wk__io_error *error)
{
    uint64_t alignment = 32;
    wk_code code = read_parts(r, out, &alignment, error);
    if (code == WK_OK) code = set_strings(r, out, error);
    if (code != WK_OK) return code;
    const int64_t unaligned = r->at % (int64_t)alignment;
    out->data_start = r->at + (unaligned ? (int64_t)alignment - unaligned : 0);
    const int64_t data_bytes = r->bytes > out->data_start ? r->bytes - out->data_start : 0;
    return wk__safetensors_index(out, (int64_t)alignment, data_bytes, error);
}

static wk_code read_all(wk__gguf_reader *r, wk__safetensors *out, wk__io_error *error)
{
    *out = (wk__safetensors){0};
    const wk_code code = read_header(r, out, error);
    wk__free(r->buffer);
    wk__text_free(&r->strings);
    wk__text_free(&r->item);
    if (code != WK_OK) wk__safetensors_end(out);
    return code;
}

wk_code wk__gguf_parse(const void *content, int64_t bytes, wk__safetensors *out, wk__io_error *error)
{
    wk__gguf_reader r = {.window = content, .end = bytes, .bytes = bytes};
    return read_all(&r, out, error);
}

/* Errors of wk__file_read_at name the file themselves. */
static wk_code read_file(const wk__file *file, wk__safetensors *out, wk__io_error *error)
{
    wk__gguf_reader r = {.file = file, .bytes = file->bytes};
    const wk_code code = read_all(&r, out, error);
    if (code == WK_OK || code == WK_ERR_IO) return code;
    return wk__io_prefix(error, "%s", wk__printable_name(file->path).text);
}

wk_code wk__gguf_read(const wk__file *file, wk__safetensors *out, bool *is_gguf, wk__io_error *error)
{
    char start[WK__GGUF_MAGIC_BYTES];
    const int64_t there = wk__min_i64(file->bytes, WK__GGUF_MAGIC_BYTES);
    const wk_code code = wk__file_read_at(file, 0, start, there, error);
    *is_gguf = code == WK_OK && begins(start, there);
    return *is_gguf ? read_file(file, out, error) : code;
}

wk_code wk__gguf_read_path(const char *path, wk__safetensors *out, bool *is_gguf, wk__io_error *error)
{
    wk__file file;
    wk_code code = wk__file_open(&file, path, error);
    if (code != WK_OK) return code;
    code = wk__gguf_read(&file, out, is_gguf, error);
    wk__file_close(&file);
    return code;
}
