/* SPDX-License-Identifier: Apache-2.0 */
/* The pairs of metadata of GGUF files as texts; see gguf.h. */
#include "base/utf8.h"
#include "gguf.h"
#include "json.h"
#include <math.h>
#include <string.h>

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* Appends an integer; vocabularies have arrays of hundreds of thousands. */
static void add_integer(bool negative, uint64_t magnitude, wk__text *out)
{
    char digits[24];
    int at = sizeof digits;
    do digits[--at] = (char)('0' + magnitude % 10);
    while ((magnitude /= 10) > 0);
    if (negative) digits[--at] = '-';
    wk__text_add_n(out, digits + at, (int64_t)sizeof digits - at);
}

static bool add_unsigned(const uint8_t *at, int bytes, wk__text *out)
{
    add_integer(false, wk__gguf_bits(at, bytes), out);
    return true;
}

static bool add_signed(const uint8_t *at, int bytes, wk__text *out)
{
    const uint64_t bits = wk__gguf_bits(at, bytes), sign = (uint64_t)1 << (8 * bytes - 1);
    add_integer(bits & sign, bits & sign ? 2 * sign - bits : bits, out);
    return true;
}

/* Appends the fewest digits that identify the value among all of type f32. */
static bool add_f32(const uint8_t *at, int bytes, wk__text *out)
{
    const uint32_t bits = (uint32_t)wk__gguf_bits(at, bytes);
    float value;
    char digits[400];
    double again;
    memcpy(&value, &bits, sizeof value);
    if (value != 0 && fabsf(value) < 1e6f && truncf(value) == value) {
        add_integer(value < 0, (uint64_t)fabsf(value), out);
        return true;
    }
    for (int precision = 6; precision <= 9; precision++) {
        wk__format_double(digits, sizeof digits, (double)value, 'g', precision);
        if (!wk__parse_double(digits, &again) || (float)again == value) break;
    }
    wk__text_add(out, digits);
    return true;
}

static bool add_f64(const uint8_t *at, int bytes, wk__text *out)
{
    const uint64_t bits = wk__gguf_bits(at, bytes);
    double value;
    memcpy(&value, &bits, sizeof value);
    wk__text_double_shortest(out, value);
    return true;
}

static bool add_bool(const uint8_t *at, int bytes, wk__text *out)
{
    (void)bytes;
    wk__text_add(out, *at ? "true" : "false");
    return *at <= 1;
}

/* ---- strings ----------------------------------------------------------------------------------------------------- */

/* Appends a string; bytes that are no characters of a C string in UTF-8 become U+FFFD. */
static void add_utf8(const char *string, int64_t length, wk__text *out)
{
    const char *at = string, *const end = string + length;
    while (at < end) {
        const char *from = at;
        at = wk__utf8_invalid(at, end);
        wk__text_add_n(out, from, at - from);
        if (at == end) break;
        wk__text_add(out, "\xef\xbf\xbd");
        at++;
    }
}

static wk_code add_string(wk__gguf_reader *r, bool in_array, wk__io_error *error)
{
    const char *string;
    int64_t length;
    const wk_code code = wk__gguf_string(r, WK__SAFETENSORS_MAX_HEADER, "a string", &string, &length, error);
    if (code != WK_OK) return code;
    if (!in_array) {
        add_utf8(string, length, &r->strings);
        return WK_OK;
    }
    r->item.length = 0;
    wk__text_add_n(&r->item, "", 0);
    add_utf8(string, length, &r->item);
    if (r->item.failed) return wk__gguf_no_memory(error);
    wk__json_add_string(&r->strings, r->item.data);
    return WK_OK;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Types of values, by their numbers. */
typedef struct value_type {
    int bytes;                                                /* 0: a string or an array */
    bool (*add)(const uint8_t *at, int bytes, wk__text *out); /* false: the bytes are no such value */
} value_type;

enum { U32 = 4, STRING = 8, ARRAY = 9 };
static const value_type types[] = {{1, add_unsigned}, {1, add_signed}, {2, add_unsigned}, {2, add_signed},
                                   {4, add_unsigned}, {4, add_signed}, {4, add_f32},      {1, add_bool},
                                   {0, NULL},         {0, NULL},       {8, add_unsigned}, {8, add_signed},
                                   {8, add_f64}};

static wk_code read_type(wk__gguf_reader *r, uint64_t *type, wk__io_error *error)
{
    const wk_code code = wk__gguf_number(r, 4, type, error);
    if (code != WK_OK || *type < sizeof types / sizeof *types) return code;
    return wk__io_fail(error, WK_ERR_FORMAT, "unknown type %llu of a value (byte %lld)", (unsigned long long)*type,
                       (long long)r->at - 4);
}

static wk_code add_number(wk__gguf_reader *r, const value_type *type, wk__io_error *error)
{
    const uint8_t *at;
    const wk_code code = wk__gguf_take(r, type->bytes, &at, error);
    if (code != WK_OK || type->add(at, type->bytes, &r->strings)) return code;
    return wk__io_fail(error, WK_ERR_FORMAT, "a bool is neither 0 nor 1 (byte %lld)", (long long)r->at - type->bytes);
}

/* Takes a value within `depth` arrays, and appends it to the strings. */
static wk_code add_value(wk__gguf_reader *r, uint64_t type, int depth, wk__io_error *error);

static wk_code add_array(wk__gguf_reader *r, int depth, wk__io_error *error)
{
    enum { DEEPEST = 4 };
    uint64_t type, count;
    if (depth == DEEPEST)
        return wk__io_fail(error, WK_ERR_FORMAT, "arrays nest too deeply (byte %lld)", (long long)r->at);
    wk_code code = read_type(r, &type, error);
    if (code == WK_OK) code = wk__gguf_number(r, 8, &count, error);
    if (code != WK_OK) return code;
    if (count > (uint64_t)(r->bytes - r->at)) /* an item has one byte or more */
        return wk__io_fail(error, WK_ERR_FORMAT, "truncated: an array of %llu items (byte %lld)",
                           (unsigned long long)count, (long long)r->at - 8);
    wk__text_repeat(&r->strings, '[', 1);
    for (uint64_t k = 0; k < count && code == WK_OK; k++) {
        if (k > 0) wk__text_repeat(&r->strings, ',', 1);
        code = add_value(r, type, depth + 1, error);
    }
    wk__text_repeat(&r->strings, ']', 1);
    return code;
}

static wk_code add_value(wk__gguf_reader *r, uint64_t type, int depth, wk__io_error *error)
{
    if (r->strings.failed) return wk__gguf_no_memory(error);
    if (type == STRING) return add_string(r, depth > 0, error);
    if (type == ARRAY) return add_array(r, depth, error);
    return add_number(r, &types[type], error);
}

wk_code wk__gguf_pair(wk__gguf_reader *r, uint64_t *alignment, wk__io_error *error)
{
    static const char key[] = "general.alignment";
    const int64_t key_at = r->strings.length;
    uint64_t type;
    wk_code code = wk__gguf_name(r, WK__GGUF_MAX_KEY, "the key", error);
    if (code == WK_OK) code = read_type(r, &type, error);
    if (code != WK_OK) return code;
    const int64_t value_at = r->at;
    if ((code = add_value(r, type, 0, error)) != WK_OK)
        return r->strings.failed ? code : wk__io_prefix(error, "%s", wk__printable_name(r->strings.data + key_at).text);
    wk__text_repeat(&r->strings, '\0', 1);
    if (r->strings.failed) return wk__gguf_no_memory(error);
    if (strcmp(r->strings.data + key_at, key) != 0) return WK_OK;
    double value = 0;
    const bool known = type == U32 && wk__parse_double(r->strings.data + key_at + sizeof key, &value);
    *alignment = (uint64_t)value;
    if (known && *alignment > 0 && (*alignment & (*alignment - 1)) == 0) return WK_OK;
    return wk__io_fail(error, WK_ERR_FORMAT, "%s must be a power of two of type u32 (byte %lld)", key,
                       (long long)value_at);
}
