/* SPDX-License-Identifier: Apache-2.0 */
/* The writer of safetensors files; see safetensors.h. */
#include "safetensors.h"
#include "base/alloc.h"
#include "json.h"
#include "heap_sort.h"
#include <string.h>

/* A tensor on its way to its place in the file. */
typedef struct placed {
    wk__safetensors_tensor *tensor;
    int64_t index;                     /* in the caller's array */
    const wk__safetensors_dtype *kind; /* those that stand first in the list of kinds go first */
} placed;

static bool placed_before(const void *a, const void *b)
{
    const placed *left = a, *right = b;
    if (left->kind != right->kind) return left->kind < right->kind;
    return strcmp(left->tensor->name, right->tensor->name) < 0;
}

static bool placed_name_before(const void *a, const void *b)
{
    const placed *left = a, *right = b;
    return strcmp(left->tensor->name, right->tensor->name) < 0;
}

static bool key_before(const void *a, const void *b)
{
    return strcmp(((const wk__metadata_entry *)a)->key, ((const wk__metadata_entry *)b)->key) < 0;
}

static const wk__safetensors_dtype *kind_of(wk_dtype dtype)
{
    const wk__safetensors_dtype *kind = wk__safetensors_dtypes;
    while (kind->name && (kind->dtype == 0 || kind->dtype != dtype)) kind++;
    return kind->name ? kind : NULL;
}

static wk_code no_memory(wk__io_error *error)
{
    return wk__io_fail(error, WK_ERR_MEMORY, "out of host memory for the header of a safetensors file");
}

/* Refuses a tensor that the reader would refuse. */
static wk_code check_tensor(placed *place, int64_t *bytes, wk__io_error *error)
{
    const wk__safetensors_tensor *tensor = place->tensor;
    const char *problem = NULL;
    place->kind = kind_of(tensor->dtype);
    if (!place->kind)
        problem = "has a dtype that safetensors does not support";
    else if (strcmp(tensor->name, "__metadata__") == 0)
        problem = "has a name that the format reserves for metadata";
    else if (strlen(tensor->name) > WK__SAFETENSORS_MAX_NAME)
        problem = "has a name longer than 4096 bytes";
    else if (tensor->ndim < 0 || tensor->ndim > WK__MAX_DIMS)
        problem = "has more than 8 dimensions";
    for (int k = 0; !problem && k < tensor->ndim; k++)
        if (tensor->shape[k] < 0) problem = "has a negative size";
    if (!problem && !wk__safetensors_bytes(tensor->shape, tensor->ndim, place->kind->bits, bytes))
        problem = "is too large";
    if (!problem) return WK_OK;
    return wk__io_fail(error, WK_ERR_ARGUMENT, "tensor \"%s\" %s", wk__printable_name(tensor->name).text, problem);
}

static wk_code check_names(placed *places, int64_t count, wk__io_error *error)
{
    wk__heap_sort(places, count, sizeof *places, placed_name_before);
    for (int64_t k = 1; k < count; k++)
        if (strcmp(places[k - 1].tensor->name, places[k].tensor->name) == 0)
            return wk__io_fail(error, WK_ERR_ARGUMENT, "two tensors have the name \"%s\"",
                               wk__printable_name(places[k].tensor->name).text);
    return WK_OK;
}

/* Gives every tensor its place in the data; fills begin, end and kind. */
static wk_code assign_offsets(placed *places, int64_t count, wk__safetensors_layout *layout, wk__io_error *error)
{
    wk_code code = WK_OK;
    int64_t bytes;
    for (int64_t k = 0; k < count && code == WK_OK; k++) code = check_tensor(&places[k], &bytes, error);
    if (code == WK_OK) code = check_names(places, count, error);
    if (code != WK_OK) return code;
    wk__heap_sort(places, count, sizeof *places, placed_before);
    for (int64_t k = 0; k < count; k++) {
        wk__safetensors_tensor *tensor = places[k].tensor;
        wk__safetensors_bytes(tensor->shape, tensor->ndim, places[k].kind->bits, &bytes);
        tensor->dtype_name = places[k].kind->name;
        tensor->begin = layout->data_bytes;
        if (!wk__add_size(tensor->begin, bytes, &tensor->end))
            return wk__io_fail(error, WK_ERR_ARGUMENT, "the total size of the tensors overflows");
        layout->data_bytes = tensor->end;
        layout->order[k] = places[k].index;
    }
    return WK_OK;
}

/* ---- the header -------------------------------------------------------------------------------------------------- */

static wk_code add_metadata(wk__text *text, const wk__metadata_entry *metadata, int64_t pairs, wk__io_error *error)
{
    wk__metadata_entry *sorted = wk__alloc_zero((size_t)pairs, sizeof *sorted);
    if (!sorted) return no_memory(error);
    memcpy(sorted, metadata, (size_t)pairs * sizeof *sorted);
    wk__heap_sort(sorted, pairs, sizeof *sorted, key_before);
    const char *problem = pairs > WK__SAFETENSORS_MAX_METADATA ? "too many metadata entries" : NULL;
    wk__text_add(text, "\"__metadata__\":{");
    for (int64_t k = 0; k < pairs && !problem; k++) {
        if (k > 0) wk__text_repeat(text, ',', 1);
        bool good = wk__json_add_string(text, sorted[k].key);
        wk__text_repeat(text, ':', 1);
        if (!good || !wk__json_add_string(text, sorted[k].value)) problem = "a string is not UTF-8";
        if (k > 0 && strcmp(sorted[k - 1].key, sorted[k].key) == 0) problem = "duplicate key";
    }
    wk__text_repeat(text, '}', 1);
    wk__free(sorted);
    return problem ? wk__io_fail(error, WK_ERR_ARGUMENT, "metadata: %s", problem) : WK_OK;
}

static wk_code add_tensor(wk__text *text, const wk__safetensors_tensor *tensor, wk__io_error *error)
{
    if (!wk__json_add_string(text, tensor->name))
        return wk__io_fail(error, WK_ERR_ARGUMENT, "tensor \"%s\": its name is not UTF-8",
                           wk__printable_name(tensor->name).text);
    wk__text_format(text, ":{\"dtype\":\"%s\",\"shape\":[", tensor->dtype_name);
    for (int k = 0; k < tensor->ndim; k++) wk__text_format(text, k ? ",%lld" : "%lld", (long long)tensor->shape[k]);
    wk__text_format(text, "],\"data_offsets\":[%lld,%lld]}", (long long)tensor->begin, (long long)tensor->end);
    return WK_OK;
}

static wk_code write_header(const wk__safetensors_tensor *tensors, int64_t count, const wk__metadata_entry *metadata,
                            int64_t pairs, wk__safetensors_layout *layout, wk__io_error *error)
{
    wk__text *text = &layout->header_text;
    wk_code code = WK_OK;
    wk__text_repeat(text, ' ', WK__SAFETENSORS_PREFIX); /* becomes N */
    wk__text_repeat(text, '{', 1);
    if (pairs > 0) code = add_metadata(text, metadata, pairs, error);
    for (int64_t k = 0; k < count && code == WK_OK; k++) {
        if (k > 0 || pairs > 0) wk__text_repeat(text, ',', 1);
        code = add_tensor(text, &tensors[layout->order[k]], error);
    }
    if (code != WK_OK) return code;
    wk__text_repeat(text, '}', 1);
    wk__text_repeat(text, ' ', -text->length & 7);
    if (text->failed) return no_memory(error);
    int64_t header_bytes = text->length - WK__SAFETENSORS_PREFIX;
    if (header_bytes > WK__SAFETENSORS_MAX_HEADER)
        return wk__io_fail(error, WK_ERR_ARGUMENT, "the header exceeds 100000000 bytes: shorten names or metadata");
    for (int k = 0; k < WK__SAFETENSORS_PREFIX; k++) text->data[k] = (char)(header_bytes >> 8 * k & 0xff);
    return WK_OK;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

wk_code wk__safetensors_layout_build(wk__safetensors_tensor *tensors, int64_t count, const wk__metadata_entry *metadata,
                                     int64_t pairs, wk__safetensors_layout *layout, wk__io_error *error)
{
    *layout = (wk__safetensors_layout){0};
    if (count > WK__SAFETENSORS_MAX_TENSORS) return wk__io_fail(error, WK_ERR_ARGUMENT, "more than 1048576 tensors");
    placed *places = wk__alloc_zero((size_t)count, sizeof *places);
    layout->order = wk__alloc_zero((size_t)count, sizeof *layout->order);
    wk_code code;
    if (places && layout->order) {
        for (int64_t k = 0; k < count; k++) places[k] = (placed){.tensor = &tensors[k], .index = k};
        code = assign_offsets(places, count, layout, error);
        if (code == WK_OK) code = write_header(tensors, count, metadata, pairs, layout, error);
    } else {
        code = no_memory(error);
    }
    wk__free(places);
    if (code != WK_OK) wk__safetensors_layout_end(layout);
    return code;
}

void wk__safetensors_layout_end(wk__safetensors_layout *layout)
{
    wk__text_free(&layout->header_text);
    wk__free(layout->order);
    *layout = (wk__safetensors_layout){0};
}

wk_code wk__safetensors_begin(wk__atomic_file *save, const char *path, const wk__safetensors_layout *layout,
                              wk__io_error *error)
{
    wk_code code = wk__atomic_file_begin(save, path, error);
    if (code != WK_OK) return code;
    code = wk__atomic_file_write(save, layout->header_text.data, layout->header_text.length, error);
    if (code != WK_OK) wk__atomic_file_abort(save);
    return code;
}

wk_code wk__safetensors_commit(wk__atomic_file *save, const wk__safetensors_layout *layout, wk__io_error *error)
{
    int64_t expected;
    if (!wk__add_size(layout->header_text.length, layout->data_bytes, &expected))
        expected = -1; /* no file is that
                                                                                                    long */
    return wk__atomic_file_commit(save, expected, error);
}
