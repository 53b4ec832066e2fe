/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes, numbers and strings of a GGUF header, through a window of the file; see gguf.h. */
#include "base/alloc.h"
#include "base/integers.h"
#include "base/utf8.h"
#include "gguf.h"

wk_code wk__gguf_no_memory(wk__io_error *error)
{
    return wk__io_fail(error, WK_ERR_MEMORY, "out of host memory for the header");
}

/* Moves the window to the next bytes, at least `count`, which the file has. */
static wk_code move_window(wk__gguf_reader *r, int64_t count, wk__io_error *error)
{
    enum { LEAST = 1 << 16 };
    const int64_t wanted = wk__min_i64(wk__max_i64(count, LEAST), r->bytes - r->at);
    if (!wk__grow(&r->buffer, &r->capacity, wanted, 1)) return wk__gguf_no_memory(error);
    r->window = r->buffer;
    r->start = r->end = r->at;
    const wk_code code = wk__file_read_at(r->file, r->at, r->buffer, wanted, error);
    if (code == WK_OK) r->end += wanted;
    return code;
}

wk_code wk__gguf_take(wk__gguf_reader *r, int64_t count, const uint8_t **taken, wk__io_error *error)
{
    if (count > r->bytes - r->at)
        return wk__io_fail(error, WK_ERR_FORMAT, "truncated: %lld bytes are needed and %lld are left (byte %lld)",
                           (long long)count, (long long)(r->bytes - r->at), (long long)r->at);
    if (count > WK__SAFETENSORS_MAX_HEADER - r->at)
        return wk__io_fail(error, WK_ERR_FORMAT, "the header exceeds %d bytes (byte %lld)", WK__SAFETENSORS_MAX_HEADER,
                           (long long)r->at);
    const wk_code code = count > r->end - r->at ? move_window(r, count, error) : WK_OK;
    if (code != WK_OK) return code;
    *taken = r->window + (r->at - r->start);
    r->at += count;
    return WK_OK;
}

wk_code wk__gguf_number(wk__gguf_reader *r, int bytes, uint64_t *number, wk__io_error *error)
{
    const uint8_t *at;
    const wk_code code = wk__gguf_take(r, bytes, &at, error);
    if (code == WK_OK) *number = wk__gguf_bits(at, bytes);
    return code;
}

wk_code wk__gguf_string(wk__gguf_reader *r, int64_t most, const char *what, const char **string, int64_t *length,
                        wk__io_error *error)
{
    uint64_t bytes;
    const uint8_t *at;
    wk_code code = wk__gguf_number(r, 8, &bytes, error);
    if (code != WK_OK) return code;
    if (bytes > (uint64_t)most)
        return wk__io_fail(error, WK_ERR_FORMAT, "%s of %llu bytes is longer than %lld bytes (byte %lld)", what,
                           (unsigned long long)bytes, (long long)most, (long long)r->at - 8);
    if ((code = wk__gguf_take(r, (int64_t)bytes, &at, error)) != WK_OK) return code;
    *string = (const char *)at;
    *length = (int64_t)bytes;
    return WK_OK;
}

wk_code wk__gguf_name(wk__gguf_reader *r, int64_t most, const char *what, wk__io_error *error)
{
    const char *name;
    int64_t length;
    const wk_code code = wk__gguf_string(r, most, what, &name, &length, error);
    if (code != WK_OK) return code;
    const char *const end = name + length, *const at = wk__utf8_invalid(name, end);
    if (at < end)
        return wk__io_fail(error, WK_ERR_FORMAT, "%s \"%s\" has a zero character or is not UTF-8 (byte %lld)", what,
                           wk__printable_bytes(name, length).text, (long long)(r->at - (end - at)));
    wk__text_add_n(&r->strings, name, length);
    wk__text_repeat(&r->strings, '\0', 1);
    return r->strings.failed ? wk__gguf_no_memory(error) : WK_OK;
}
