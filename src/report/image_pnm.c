/* SPDX-License-Identifier: Apache-2.0 */
/* Reads PGM (P5) and PPM (P6) files: the first image of a file.
 *
 *     P5 WIDTH HEIGHT MAXVAL, then a single white space and the samples, of two bytes each if MAXVAL exceeds 255
 *
 * A comment is the rest of a line after #. Samples are scaled from MAXVAL to 255 and rounded. */
#include "base/alloc.h"
#include "image_file.h"
#include <string.h>

/* The part of the file that has not been read. */
typedef struct source {
    const unsigned char *start, *at, *end;
} source;

static bool is_space(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_spaces(source *from)
{
    while (from->at < from->end && (is_space(*from->at) || *from->at == '#')) {
        const unsigned char *line =
            *from->at == '#' ? memchr(from->at, '\n', (size_t)(from->end - from->at)) : from->at;
        from->at = line ? line + 1 : from->end;
    }
}

/* Reads a decimal number in [1, most]. */
static wk_code read_number(source *from, const char *what, int64_t most, int64_t *out, wk__io_error *error)
{
    skip_spaces(from);
    const long long byte = (long long)(from->at - from->start);
    if (from->at == from->end)
        return wk__io_fail(error, WK_ERR_FORMAT, "truncated: the %s is missing (byte %lld)", what, byte);
    int64_t value = 0;
    const unsigned char *first = from->at;
    for (; from->at < from->end && *from->at >= '0' && *from->at <= '9' && value <= most; from->at++)
        value = 10 * value + (*from->at - '0');
    if (from->at == first) return wk__io_fail(error, WK_ERR_FORMAT, "the %s is not a number (byte %lld)", what, byte);
    if (value < 1 || value > most)
        return wk__io_fail(error, WK_ERR_FORMAT, "the %s is out of range; expected 1 to %lld (byte %lld)", what,
                           (long long)most, byte);
    *out = value;
    return WK_OK;
}

static void scale(const unsigned char *from, int64_t count, int64_t most, uint8_t *to)
{
    const int64_t bytes = most > 255 ? 2 : 1;
    for (int64_t k = 0; k < count; k++) {
        const int64_t sample = bytes == 2 ? from[2 * k] << 8 | from[2 * k + 1] : from[k];
        to[k] = (uint8_t)(((sample < most ? sample : most) * 255 + most / 2) / most);
    }
}

static wk_code read_samples(source *from, int64_t width, int64_t height, int64_t most, wk__pixels *out,
                            wk__io_error *error)
{
    const int channels = from->start[1] == '6' ? 3 : 1;
    const int64_t left = from->end - from->at;
    int64_t pixels, bytes;
    if (!wk__mul_size(width, height, &pixels) || !wk__mul_size(pixels, (most > 255 ? 2 : 1) * channels, &bytes))
        bytes = INT64_MAX;
    if (bytes > left)
        return wk__io_fail(error, WK_ERR_FORMAT,
                           "truncated: an image of %lld x %lld pixels has more than the %lld bytes that follow (byte "
                           "%lld)",
                           (long long)width, (long long)height, (long long)left, (long long)(from->at - from->start));
    const wk_code code = wk__pixels_alloc(width, height, channels, out, error);
    if (code == WK_OK) scale(from->at, wk__pixels_count(out) * channels, most, out->data);
    return code;
}

wk_code wk__pnm_read(const void *bytes, int64_t count, int channels, wk__pixels *out, wk__io_error *error)
{
    (void)channels;
    source from = {.start = bytes, .at = bytes, .end = (const unsigned char *)bytes + count};
    int64_t width, height, most;
    from.at += 2;
    if (from.at < from.end && !is_space(*from.at) && *from.at != '#')
        return wk__io_fail(error, WK_ERR_FORMAT, "a white space is missing (byte 2)");
    wk_code code = read_number(&from, "width", INT32_MAX, &width, error);
    if (code == WK_OK) code = read_number(&from, "height", INT32_MAX, &height, error);
    if (code == WK_OK) code = read_number(&from, "largest sample", 65535, &most, error);
    if (code != WK_OK) return code;
    if (from.at == from.end || !is_space(*from.at))
        return wk__io_fail(error, WK_ERR_FORMAT, "%s (byte %lld)",
                           from.at == from.end ? "truncated: the samples are missing" : "a white space is missing",
                           (long long)(from.at - from.start));
    from.at++;
    return read_samples(&from, width, height, most, out, error);
}
