/* SPDX-License-Identifier: Apache-2.0 */
/* The strict reader of safetensors files: N, the rules that speak of all tensors together (no name twice, data without
 * holes and overlap), and what is asked of a header afterwards; see safetensors.h. */
#include "safetensors.h"
#include "base/alloc.h"
#include "json.h"
#include "heap_sort.h"
#include <string.h>

_Static_assert(sizeof(wk__safetensors_tensor) <= WK__HEAP_SORT_MAX_ITEM, "they are sorted");

/* Each tensor has a '{' of its own, so there are no more tensors than these. */
static int64_t count_braces(const char *header, int64_t bytes)
{
    int64_t count = 0;
    for (const char *at = header, *end = header + bytes; count < WK__SAFETENSORS_MAX_TENSORS; count++, at++)
        if (!(at = memchr(at, '{', (size_t)(end - at)))) break;
    return count;
}

static bool name_before(const void *a, const void *b)
{
    const wk__safetensors_tensor *const *left = a, *const *right = b;
    return strcmp((*left)->name, (*right)->name) < 0;
}

/* Empty tensors may share the place of others: names settle their order. */
static bool data_before(const void *a, const void *b)
{
    const wk__safetensors_tensor *left = a, *right = b;
    if (left->begin != right->begin) return left->begin < right->begin;
    if (left->end != right->end) return left->end < right->end;
    return strcmp(left->name, right->name) < 0;
}

static wk_code check_names(wk__safetensors *out, wk__io_error *error)
{
    for (int64_t k = 0; k < out->count; k++) out->by_name[k] = &out->tensors[k];
    wk__heap_sort(out->by_name, out->count, sizeof *out->by_name, name_before);
    for (int64_t k = 1; k < out->count; k++) {
        const wk__safetensors_tensor *one = out->by_name[k - 1], *other = out->by_name[k];
        if (strcmp(one->name, other->name) == 0)
            return wk__io_fail(error, WK_ERR_FORMAT, "duplicate tensor \"%s\" (bytes %lld and %lld)",
                               wk__printable_name(one->name).text, (long long)one->position,
                               (long long)other->position);
    }
    return WK_OK;
}

/* The data of each tensor begin at a multiple of the alignment. */
static wk_code check_no_gaps(const wk__safetensors *out, int64_t alignment, int64_t data_bytes, wk__io_error *error)
{
    int64_t covered = 0;
    for (int64_t k = 0; k < out->count; k++) {
        const wk__safetensors_tensor *tensor = &out->tensors[k];
        if (tensor->begin < covered || tensor->begin - covered >= alignment)
            return wk__io_fail(
                error, WK_ERR_FORMAT,
                "tensor \"%s\": its data starts at %lld, but the preceding data ends at %lld: %s (byte %lld)",
                wk__printable_name(tensor->name).text, (long long)tensor->begin, (long long)covered,
                tensor->begin < covered ? "an overlap" : "a hole", (long long)tensor->position);
        covered = tensor->end;
    }
    if (covered > data_bytes)
        return wk__io_fail(
            error, WK_ERR_FORMAT,
            "tensor \"%s\": its data ends at %lld, but the file has only %lld bytes of data: truncated (byte %lld)",
            wk__printable_name(out->tensors[out->count - 1].name).text, (long long)covered, (long long)data_bytes,
            (long long)out->tensors[out->count - 1].position);
    const int64_t padding = (alignment - covered % alignment) % alignment;
    if (data_bytes - covered <= padding) return WK_OK;
    return wk__io_fail(error, WK_ERR_FORMAT, "the data of the tensors ends at byte %lld, but %lld bytes follow it",
                       (long long)out->data_start + covered, (long long)(data_bytes - covered));
}

wk_code wk__safetensors_index(wk__safetensors *out, int64_t alignment, int64_t data_bytes, wk__io_error *error)
{
    wk__heap_sort(out->tensors, out->count, sizeof *out->tensors, data_before);
    out->by_name = wk__alloc_zero((size_t)out->count, sizeof *out->by_name);
    if (!out->by_name) return wk__io_fail(error, WK_ERR_MEMORY, "out of host memory for the list of tensors");
    const wk_code code = check_names(out, error);
    return code == WK_OK ? check_no_gaps(out, alignment, data_bytes, error) : code;
}

/* out->header holds out->data_start - 8 bytes. */
static wk_code parse_header(wk__safetensors *out, int64_t file_bytes, wk__io_error *error)
{
    int64_t header_bytes = out->data_start - WK__SAFETENSORS_PREFIX;
    int64_t capacity = count_braces(out->header, header_bytes);
    wk__json json = {out->header, out->header, out->header + header_bytes, WK__SAFETENSORS_PREFIX, "header"};
    out->tensors = wk__alloc_zero((size_t)capacity, sizeof *out->tensors);
    if (!out->tensors) return wk__io_fail(error, WK_ERR_MEMORY, "out of host memory for the list of tensors");
    wk_code code = wk__safetensors_header(&json, out, capacity, error);
    return code == WK_OK ? wk__safetensors_index(out, 1, file_bytes - out->data_start, error) : code;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* N, checked before any memory is taken for it, and memory for as many bytes. */
static wk_code begin(wk__safetensors *out, const unsigned char *prefix, int64_t file_bytes, wk__io_error *error)
{
    if (file_bytes < WK__SAFETENSORS_PREFIX)
        return wk__io_fail(error, WK_ERR_FORMAT,
                           "not a safetensors file: truncated within its first 8 bytes (byte %lld)",
                           (long long)file_bytes);
    uint64_t header_bytes = 0;
    for (int k = WK__SAFETENSORS_PREFIX; k-- > 0;) header_bytes = header_bytes << 8 | prefix[k];
    if (header_bytes > WK__SAFETENSORS_MAX_HEADER && memcmp(prefix, "PK\3\4", 4) == 0)
        return wk__io_fail(error, WK_ERR_FORMAT,
                           "not a safetensors file but a zip archive, as torch.save writes (byte 0); use "
                           "safetensors.torch.save_file(model.state_dict(), FILE)");
    if (header_bytes > WK__SAFETENSORS_MAX_HEADER)
        return wk__io_fail(error, WK_ERR_FORMAT,
                           "not a safetensors file: header of %llu bytes exceeds 100000000 (byte 0)",
                           (unsigned long long)header_bytes);
    if ((int64_t)header_bytes > file_bytes - WK__SAFETENSORS_PREFIX)
        return wk__io_fail(error, WK_ERR_FORMAT, "the header has %lld bytes, but only %lld follow: truncated (byte 0)",
                           (long long)header_bytes, (long long)(file_bytes - WK__SAFETENSORS_PREFIX));
    *out = (wk__safetensors){.data_start = WK__SAFETENSORS_PREFIX + (int64_t)header_bytes};
    out->header = wk__alloc(header_bytes);
    return out->header ? WK_OK : wk__io_fail(error, WK_ERR_MEMORY, "out of host memory for the header");
}

static wk_code finish(wk__safetensors *out, wk_code code)
{
    if (code != WK_OK) wk__safetensors_end(out);
    return code;
}

wk_code wk__safetensors_parse(const void *block, int64_t block_bytes, int64_t file_bytes, wk__safetensors *out,
                              wk__io_error *error)
{
    *out = (wk__safetensors){0};
    int64_t known = block_bytes < file_bytes ? block_bytes : file_bytes;
    wk_code code = begin(out, block, known < WK__SAFETENSORS_PREFIX ? known : file_bytes, error);
    if (code != WK_OK) return code;
    if (known < out->data_start)
        return finish(out, wk__io_fail(error, WK_ERR_INTERNAL, "internal error: the header is incomplete"));
    memcpy(out->header, (const char *)block + WK__SAFETENSORS_PREFIX,
           (size_t)(out->data_start - WK__SAFETENSORS_PREFIX));
    return finish(out, parse_header(out, file_bytes, error));
}

/* Errors of wk__file_read_at name the file themselves. */
static wk_code read_file(const wk__file *file, wk__safetensors *out, wk__io_error *error)
{
    unsigned char prefix[WK__SAFETENSORS_PREFIX];
    int64_t there = file->bytes < WK__SAFETENSORS_PREFIX ? file->bytes : WK__SAFETENSORS_PREFIX;
    wk_code code = wk__file_read_at(file, 0, prefix, there, error);
    if (code != WK_OK) return code;
    code = begin(out, prefix, file->bytes, error);
    if (code == WK_OK) {
        code = wk__file_read_at(file, there, out->header, out->data_start - there, error);
        if (code != WK_OK) return code;
        code = parse_header(out, file->bytes, error);
    }
    return code == WK_OK ? WK_OK : wk__io_prefix(error, "%s", wk__printable_name(file->path).text);
}

wk_code wk__safetensors_read(const wk__file *file, wk__safetensors *out, wk__io_error *error)
{
    *out = (wk__safetensors){0};
    return finish(out, read_file(file, out, error));
}

void wk__safetensors_end(wk__safetensors *out)
{
    wk__free(out->tensors);
    wk__free(out->by_name);
    wk__free(out->metadata);
    wk__free(out->header);
    *out = (wk__safetensors){0};
}

const wk__safetensors_tensor *wk__safetensors_find_prefixed(const wk__safetensors *in, const char *prefix,
                                                            const char *name)
{
    const size_t length = strlen(prefix);
    for (int64_t low = 0, high = in->count; low < high;) {
        int64_t middle = low + (high - low) / 2;
        const char *there = in->by_name[middle]->name;
        int order = strncmp(prefix, there, length);
        if (order == 0) order = strcmp(name, there + length);
        if (order == 0) return in->by_name[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const wk__safetensors_tensor *wk__safetensors_find(const wk__safetensors *in, const char *name)
{
    return wk__safetensors_find_prefixed(in, "", name);
}
