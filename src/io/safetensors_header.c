/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a safetensors header token by token; see safetensors.h. Each rule is checked as its subject is parsed; rules
 * about all tensors together are in safetensors_parse.c. */
#include "safetensors.h"
#include "base/alloc.h"
#include "json.h"
#include "heap_sort.h"
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
    const wk__safetensors_dtype *kind = wk__safetensors_dtypes;
    while (kind->name && strcmp(kind->name, name) != 0) kind++;
    if (!kind->name)
        return wk__io_fail(error, WK_ERR_FORMAT, "unknown dtype \"%s\" (byte %lld)", wk__printable_name(name).text,
                           (long long)wk__json_position(json, name));
    tensor->dtype_name = kind->name;
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
    if (count != 2) return bad(error, position, "data_offsets must be two integers");
    if (offsets[0] > offsets[1]) return bad(error, position, "data_offsets must not decrease");
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
        if (!more) return seen == ALL ? WK_OK : bad(error, position, "dtype, shape or data_offsets is missing");
        if ((code = wk__json_string(json, &key, error)) != WK_OK) return code;
        unsigned field = strcmp(key, "dtype") == 0          ? DTYPE
                         : strcmp(key, "shape") == 0        ? SHAPE
                         : strcmp(key, "data_offsets") == 0 ? OFFSETS
                                                            : 0;
        if (field == 0 || (seen & field))
            return wk__io_fail(error, WK_ERR_FORMAT, "%s key \"%s\" (byte %lld)", field ? "duplicate" : "unknown",
                               wk__printable_name(key).text, (long long)wk__json_position(json, key));
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
        code = bad(error, tensor->position, "the size in bytes overflows or is not an integer");
    else if (code == WK_OK && bytes != tensor->end - tensor->begin)
        code =
            wk__io_fail(error, WK_ERR_FORMAT, "dtype and shape need %lld bytes, but data_offsets span %lld (byte %lld)",
                        (long long)bytes, (long long)(tensor->end - tensor->begin), (long long)tensor->position);
    return code == WK_OK ? WK_OK : wk__io_prefix(error, "tensor \"%s\"", wk__printable_name(tensor->name).text);
}

/* ---- metadata ---------------------------------------------------------------------------------------------------- */

static bool key_before(const void *a, const void *b)
{
    return strcmp(((const wk__metadata_entry *)a)->key, ((const wk__metadata_entry *)b)->key) < 0;
}

static wk_code read_pair(wk__json *json, wk__metadata_entry *pair, wk__io_error *error)
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
        if (out->metadata_count == WK__SAFETENSORS_MAX_METADATA) {
            code = bad(error, position, "more than 65536 pairs");
        } else if (!wk__grow(&out->metadata, &capacity, out->metadata_count + 1, sizeof *out->metadata)) {
            code = wk__io_fail(error, WK_ERR_MEMORY, "out of host memory");
        } else {
            code = read_pair(json, &out->metadata[out->metadata_count], error);
            out->metadata_count++;
        }
    }
    if (code == WK_OK) {
        wk__heap_sort(out->metadata, out->metadata_count, sizeof *out->metadata, key_before);
        for (int64_t k = 1; k < out->metadata_count && code == WK_OK; k++)
            if (strcmp(out->metadata[k - 1].key, out->metadata[k].key) == 0)
                code = wk__io_fail(error, WK_ERR_FORMAT, "duplicate key \"%s\" (byte %lld)",
                                   wk__printable_name(out->metadata[k].key).text,
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
    if (strlen(name) > WK__SAFETENSORS_MAX_NAME) return bad(error, position, "a name is longer than 4096 bytes");
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

wk_code wk__safetensors_header(wk__json *json, wk__safetensors *out, int64_t capacity, wk__io_error *error)
{
    bool had_metadata = false;
    if (json->at == json->end || *json->at != '{')
        return bad(error, json->position, "expected '{' at the start of the header");
    json->at++;
    for (bool first = true, more;; first = false) {
        wk_code code = wk__json_item(json, '}', first, &more, error);
        if (code == WK_OK && more) code = read_member(json, out, capacity, &had_metadata, error);
        if (code != WK_OK) return code;
        if (!more) break;
    }
    while (json->at < json->end && *json->at == ' ') json->at++;
    return json->at == json->end
               ? WK_OK
               : bad(error, wk__json_position(json, json->at), "unexpected data after the end of the header");
}
