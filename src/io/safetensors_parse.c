/* The strict reader of safetensors headers; see safetensors.h. Each rule is checked at the place where what it speaks
 * of is read, but for two that need all tensors: no name twice, and data without holes and overlap. */
#include "safetensors.h"
#include "../base/alloc.h"
#include "json.h"
#include "sort.h"
#include <string.h>

static wk_code bad(wk__io_error *error, int64_t position, const char *what)
{
    return wk__io_fail(error, WK_ERR_FORMAT, "%s (byte %lld)", what, (long long)position);
}

/* ---- one tensor -------------------------------------------------------------------------------------------------- */

static wk_code read_dtype(wk__json *json, wk__safetensors_tensor *tensor, int *bits, wk__io_error *error)
{
    const char *name;
    wk_code code = wk__json_string(json, &name, error);
    if (code != WK_OK) return code;
    const wk__safetensors_kind *kind = wk__safetensors_kinds;
    while (kind->name && strcmp(kind->name, name) != 0) kind++;
    if (!kind->name)
        return wk__io_fail(error, WK_ERR_FORMAT, "unknown dtype \"%s\" (byte %lld)", wk__show(name).text,
                           (long long)wk__json_position(json, name));
    tensor->kind = kind->name;
    tensor->dtype = kind->dtype;
    *bits = kind->bits;
    return WK_OK;
}

/* "[1,2,3]", at most `most` numbers. */
static wk_code read_numbers(wk__json *json, const char *what, int64_t *numbers, int most, int *count,
                            wk__io_error *error)
{
    wk_code code = wk__json_expect(json, '[', error);
    if (code != WK_OK) return code;
    *count = 0;
    for (bool first = true, more;; first = false) {
        code = wk__json_item(json, ']', first, &more, error);
        if (code != WK_OK || !more) return code;
        int64_t number;
        if ((code = wk__json_integer(json, &number, error)) != WK_OK) return code;
        if (*count == most)
            return wk__io_fail(error, WK_ERR_FORMAT, "more than %d %s (byte %lld)", most, what,
                               (long long)wk__json_position(json, json->at));
        numbers[(*count)++] = number;
    }
}

static wk_code read_offsets(wk__json *json, wk__safetensors_tensor *tensor, wk__io_error *error)
{
    int64_t offsets[2], position = wk__json_position(json, json->at);
    int count;
    wk_code code = read_numbers(json, "data_offsets", offsets, 2, &count, error);
    if (code != WK_OK) return code;
    if (count != 2) return bad(error, position, "data_offsets are not two numbers");
    if (offsets[0] > offsets[1]) return bad(error, position, "data_offsets end before they begin");
    tensor->begin = offsets[0];
    tensor->end = offsets[1];
    return WK_OK;
}

/* {"dtype":..,"shape":..,"data_offsets":..}: these three, in any order. */
static wk_code read_fields(wk__json *json, wk__safetensors_tensor *tensor, int *bits, wk__io_error *error)
{
    enum { DTYPE = 1, SHAPE = 2, OFFSETS = 4, ALL = 7 };
    int64_t position = wk__json_position(json, json->at);
    unsigned seen = 0;
    wk_code code = wk__json_expect(json, '{', error);
    for (bool first = true, more; code == WK_OK; first = false) {
        const char *key;
        if ((code = wk__json_item(json, '}', first, &more, error)) != WK_OK) return code;
        if (!more) return seen == ALL ? WK_OK : bad(error, position, "dtype, shape or data_offsets are missing");
        if ((code = wk__json_string(json, &key, error)) != WK_OK) return code;
        unsigned field = strcmp(key, "dtype") == 0          ? DTYPE
                         : strcmp(key, "shape") == 0        ? SHAPE
                         : strcmp(key, "data_offsets") == 0 ? OFFSETS
                                                            : 0;
        if (field == 0 || (seen & field))
            return wk__io_fail(error, WK_ERR_FORMAT, "%s key \"%s\" (byte %lld)", field ? "duplicate" : "unknown",
                               wk__show(key).text, (long long)wk__json_position(json, key));
        seen |= field;
        if ((code = wk__json_expect(json, ':', error)) != WK_OK) return code;
        code = field == DTYPE   ? read_dtype(json, tensor, bits, error)
               : field == SHAPE ? read_numbers(json, "dimensions", tensor->shape, WK__MAX_DIMS, &tensor->ndim, error)
                                : read_offsets(json, tensor, error);
    }
    return code;
}

static wk_code read_tensor(wk__json *json, wk__safetensors_tensor *tensor, wk__io_error *error)
{
    int bits = 0;
    int64_t bytes;
    wk_code code = read_fields(json, tensor, &bits, error);
    if (code == WK_OK && !wk__safetensors_bytes(tensor->shape, tensor->ndim, bits, &bytes))
        code = bad(error, tensor->position, "the shape has no size in bytes: overflow, or a part of a byte");
    else if (code == WK_OK && bytes != tensor->end - tensor->begin)
        code = wk__io_fail(error, WK_ERR_FORMAT, "dtype and shape make %lld bytes, data_offsets %lld (byte %lld)",
                           (long long)bytes, (long long)(tensor->end - tensor->begin), (long long)tensor->position);
    return code == WK_OK ? WK_OK : wk__io_prefix(error, "tensor \"%s\"", wk__show(tensor->name).text);
}

/* ---- metadata ---------------------------------------------------------------------------------------------------- */

static bool key_before(const void *a, const void *b)
{
    return strcmp(((const wk__safetensors_pair *)a)->key, ((const wk__safetensors_pair *)b)->key) < 0;
}

static wk_code read_pair(wk__json *json, wk__safetensors_pair *pair, wk__io_error *error)
{
    wk_code code = wk__json_string(json, &pair->key, error);
    if (code == WK_OK) code = wk__json_expect(json, ':', error);
    return code == WK_OK ? wk__json_string(json, &pair->value, error) : code;
}

static wk_code read_metadata(wk__json *json, wk__safetensors *out, wk__io_error *error)
{
    int64_t capacity = 0, position = wk__json_position(json, json->at);
    wk_code code = wk__json_expect(json, '{', error);
    for (bool first = true, more = true; code == WK_OK && more; first = false) {
        code = wk__json_item(json, '}', first, &more, error);
        if (code != WK_OK || !more) break;
        if (out->pairs == WK__SAFETENSORS_METADATA) {
            code = bad(error, position, "more than 65536 pairs");
        } else if (!wk__grow(&out->metadata, &capacity, out->pairs + 1, sizeof *out->metadata)) {
            code = wk__io_fail(error, WK_ERR_MEMORY, "no memory");
        } else {
            code = read_pair(json, &out->metadata[out->pairs], error);
            out->pairs++;
        }
    }
    if (code == WK_OK) {
        wk__sort(out->metadata, out->pairs, sizeof *out->metadata, key_before);
        for (int64_t k = 1; k < out->pairs && code == WK_OK; k++)
            if (strcmp(out->metadata[k - 1].key, out->metadata[k].key) == 0)
                code = wk__io_fail(error, WK_ERR_FORMAT, "duplicate key \"%s\" (byte %lld)",
                                   wk__show(out->metadata[k].key).text,
                                   (long long)wk__json_position(json, out->metadata[k].key));
    }
    return code == WK_OK ? WK_OK : wk__io_prefix(error, "__metadata__");
}

/* ---- the header -------------------------------------------------------------------------------------------------- */

static wk_code read_member(wk__json *json, wk__safetensors *out, int64_t capacity, bool *had_metadata,
                           wk__io_error *error)
{
    const char *name;
    wk_code code = wk__json_string(json, &name, error);
    if (code != WK_OK) return code;
    int64_t position = wk__json_position(json, name) - 1;
    if (strlen(name) > WK__SAFETENSORS_NAME) return bad(error, position, "a name has more than 4096 bytes");
    if ((code = wk__json_expect(json, ':', error)) != WK_OK) return code;
    if (strcmp(name, "__metadata__") == 0) {
        if (*had_metadata) return bad(error, position, "duplicate key \"__metadata__\"");
        *had_metadata = true;
        return read_metadata(json, out, error);
    }
    if (out->count == capacity) return bad(error, position, "more than 1048576 tensors");
    wk__safetensors_tensor *tensor = &out->tensors[out->count++];
    tensor->name = name;
    tensor->position = position;
    return read_tensor(json, tensor, error);
}

static wk_code read_header(wk__json *json, wk__safetensors *out, int64_t capacity, wk__io_error *error)
{
    bool had_metadata = false;
    if (json->at == json->end || *json->at != '{')
        return bad(error, json->position, "the header does not begin with '{'");
    json->at++;
    for (bool first = true, more;; first = false) {
        wk_code code = wk__json_item(json, '}', first, &more, error);
        if (code == WK_OK && more) code = read_member(json, out, capacity, &had_metadata, error);
        if (code != WK_OK) return code;
        if (!more) break;
    }
    while (json->at < json->end && *json->at == ' ') json->at++;
    return json->at == json->end ? WK_OK
                                 : bad(error, wk__json_position(json, json->at), "bytes after the end of the header");
}

/* Each tensor has a '{' of its own, so there are no more tensors than these. */
static int64_t tensors_at_most(const char *header, int64_t bytes)
{
    int64_t count = 0;
    for (const char *at = header, *end = header + bytes; count < WK__SAFETENSORS_TENSORS; count++, at++)
        if (!(at = memchr(at, '{', (size_t)(end - at)))) break;
    return count;
}

/* ---- all tensors together ---------------------------------------------------------------------------------------- */

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
    wk__sort(out->by_name, out->count, sizeof *out->by_name, name_before);
    for (int64_t k = 1; k < out->count; k++) {
        const wk__safetensors_tensor *one = out->by_name[k - 1], *other = out->by_name[k];
        if (strcmp(one->name, other->name) == 0)
            return wk__io_fail(error, WK_ERR_FORMAT, "duplicate tensor \"%s\" (bytes %lld and %lld)",
                               wk__show(one->name).text, (long long)one->position, (long long)other->position);
    }
    return WK_OK;
}

static wk_code check_cover(const wk__safetensors *out, int64_t data_bytes, wk__io_error *error)
{
    int64_t covered = 0;
    for (int64_t k = 0; k < out->count; k++) {
        const wk__safetensors_tensor *tensor = &out->tensors[k];
        if (tensor->begin != covered)
            return wk__io_fail(
                error, WK_ERR_FORMAT,
                "tensor \"%s\": its data begins at %lld, where the data before it ends at %lld: %s (byte %lld)",
                wk__show(tensor->name).text, (long long)tensor->begin, (long long)covered,
                tensor->begin < covered ? "an overlap" : "a hole", (long long)tensor->position);
        covered = tensor->end;
    }
    if (covered == data_bytes) return WK_OK;
    if (covered > data_bytes)
        return wk__io_fail(
            error, WK_ERR_FORMAT,
            "tensor \"%s\": its data ends at %lld, but the file has only %lld bytes of data: it is truncated "
            "(byte %lld)",
            wk__show(out->tensors[out->count - 1].name).text, (long long)covered, (long long)data_bytes,
            (long long)out->tensors[out->count - 1].position);
    return wk__io_fail(error, WK_ERR_FORMAT, "the data of the tensors ends at byte %lld, but %lld bytes follow it",
                       (long long)(out->data_start + covered), (long long)(data_bytes - covered));
}

/* out->header holds out->data_start - 8 bytes. */
static wk_code parse_header(wk__safetensors *out, int64_t file_bytes, wk__io_error *error)
{
    int64_t header_bytes = out->data_start - WK__SAFETENSORS_PREFIX;
    int64_t capacity = tensors_at_most(out->header, header_bytes);
    wk__json json = {out->header, out->header, out->header + header_bytes, WK__SAFETENSORS_PREFIX};
    out->tensors = wk__alloc_zero((size_t)capacity, sizeof *out->tensors);
    if (!out->tensors) return wk__io_fail(error, WK_ERR_MEMORY, "no memory for the list of tensors");
    wk_code code = read_header(&json, out, capacity, error);
    if (code != WK_OK) return code;
    wk__sort(out->tensors, out->count, sizeof *out->tensors, data_before);
    out->by_name = wk__alloc_zero((size_t)out->count, sizeof *out->by_name);
    if (!out->by_name) return wk__io_fail(error, WK_ERR_MEMORY, "no memory for the list of tensors");
    code = check_names(out, error);
    return code == WK_OK ? check_cover(out, file_bytes - out->data_start, error) : code;
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
    if (header_bytes > WK__SAFETENSORS_HEADER)
        return wk__io_fail(error, WK_ERR_FORMAT,
                           "not a safetensors file: a header of %llu bytes, of at most 100000000 (byte 0)",
                           (unsigned long long)header_bytes);
    if ((int64_t)header_bytes > file_bytes - WK__SAFETENSORS_PREFIX)
        return wk__io_fail(error, WK_ERR_FORMAT,
                           "the header has %lld bytes, but only %lld follow: the file is truncated (byte 0)",
                           (long long)header_bytes, (long long)(file_bytes - WK__SAFETENSORS_PREFIX));
    *out = (wk__safetensors){.data_start = WK__SAFETENSORS_PREFIX + (int64_t)header_bytes};
    out->header = wk__alloc(header_bytes);
    return out->header ? WK_OK : wk__io_fail(error, WK_ERR_MEMORY, "no memory for the header");
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
        return finish(out, wk__io_fail(error, WK_ERR_INTERNAL, "the header was handed over in part only"));
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
    return code == WK_OK ? WK_OK : wk__io_prefix(error, "%s", wk__show(file->path).text);
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

const wk__safetensors_tensor *wk__safetensors_find(const wk__safetensors *in, const char *name)
{
    for (int64_t low = 0, high = in->count; low < high;) {
        int64_t middle = low + (high - low) / 2;
        int order = strcmp(name, in->by_name[middle]->name);
        if (order == 0) return in->by_name[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const char *wk__safetensors_metadata(const wk__safetensors *in, const char *key)
{
    for (int64_t k = 0; k < in->pairs; k++)
        if (strcmp(in->metadata[k].key, key) == 0) return in->metadata[k].value;
    return NULL;
}
