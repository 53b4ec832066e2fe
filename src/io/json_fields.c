/* SPDX-License-Identifier: Apache-2.0 */
/* JSON objects by tables of their fields; see json_fields.h. */
#include "json_fields.h"
#include <string.h>

static wk_code read_value(wk__json *json, const wk__field *field, char *into, wk__io_error *error)
{
    bool is_null;
    wk_code code = wk__json_null(json, &is_null, error);
    if (code != WK_OK || is_null) return code;
    if (field->kind == WK__FIELD_STRING)
        return wk__json_string(json, (const char **)(void *)(into + field->offset), error);
    if (field->kind == WK__FIELD_BOOL) return wk__json_bool(json, (bool *)(into + field->offset), error);
    if (field->kind == WK__FIELD_INTEGER)
        return wk__json_integer(json, (int64_t *)(void *)(into + field->offset), error);
    if (field->kind == WK__FIELD_NUMBER) return wk__json_number(json, (double *)(void *)(into + field->offset), error);
    return field->kind == WK__FIELD_READ ? field->read(json, into, error) : wk__json_skip(json, error);
}

/* Takes the value of a field that the table lacks. */
static wk_code read_other(wk__json *json, const char *name, wk__io_error *error)
{
    bool is_null, value;
    const char next = wk__json_peek(json);
    if (next == 'n') return wk__json_null(json, &is_null, error);
    const wk_code code = next == 'f' ? wk__json_bool(json, &value, error) : WK_OK;
    if (next == 'f') return code;
    return wk__io_fail(error, WK_ERR_UNSUPPORTED, "unknown field \"%s\" (byte %lld)", wk__printable_name(name).text,
                       (long long)wk__json_position(json, name));
}

/* Reads an object; calls `other` for the value of a field that the table lacks. */
static wk_code read_object(wk__json *json, const wk__field *fields, int count, void *into,
                           wk_code (*other)(wk__json *, const char *, wk__io_error *), wk__io_error *error)
{
    uint64_t seen = 0;
    wk_code code = wk__json_expect(json, '{', error);
    for (bool first = true, more; code == WK_OK; first = false) {
        const char *name = NULL;
        if ((code = wk__json_item(json, '}', first, &more, error)) != WK_OK || !more) return code;
        code = wk__json_string(json, &name, error);
        if (code == WK_OK) code = wk__json_expect(json, ':', error);
        if (code != WK_OK) return code;
        int k = 0;
        while (k < count && strcmp(fields[k].name, name) != 0) k++;
        if (k < count && seen >> k & 1)
            return wk__io_fail(error, WK_ERR_FORMAT, "the field \"%s\" occurs twice (byte %lld)", fields[k].name,
                               (long long)wk__json_position(json, name));
        if (k < count) seen |= (uint64_t)1 << k;
        code = k < count ? read_value(json, &fields[k], into, error) : other(json, name, error);
    }
    return code;
}

wk_code wk__json_object(wk__json *json, const wk__field *fields, int count, void *into, wk__io_error *error)
{
    return read_object(json, fields, count, into, read_other, error);
}

static wk_code skip_other(wk__json *json, const char *name, wk__io_error *error)
{
    (void)name;
    return wk__json_skip(json, error);
}

wk_code wk__json_part_of_object(wk__json *json, const wk__field *fields, int count, void *into, wk__io_error *error)
{
    return read_object(json, fields, count, into, skip_other, error);
}

wk_code wk__json_array(wk__json *json, wk_code (*read)(wk__json *, void *, wk__io_error *), void *into,
                       wk__io_error *error)
{
    wk_code code = wk__json_expect(json, '[', error);
    for (bool first = true, more; code == WK_OK; first = false) {
        if ((code = wk__json_item(json, ']', first, &more, error)) != WK_OK || !more) return code;
        code = read(json, into, error);
    }
    return code;
}
