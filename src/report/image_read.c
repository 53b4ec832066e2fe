/* SPDX-License-Identifier: Apache-2.0 */
/* wk_image_read: an image file as a tensor. */
#include "base/alloc.h"
#include "base/options.h"
#include "image_file.h"
#include "io/save_load.h"
#include "tensor/call_scope.h"
#include <string.h>
#include <wick/image.h>

enum { LONGEST_START = 8 }; /* bytes that tell the formats apart */

/* Returns the reader of the format whose files begin like this one; NULL if its format is unknown. */
static wk__image_reader *find_reader(const char *bytes, int64_t count)
{
    static const struct {
        const char *start;
        wk__image_reader *read;
    } formats[] = {{"\x89PNG\r\n\x1a\n", wk__png_read},
                   {"\xff\xd8\xff", wk__jpeg_read},
                   {"P5", wk__pnm_read},
                   {"P6", wk__pnm_read}};
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        const size_t length = strlen(formats[k].start);
        if (count >= (int64_t)length && memcmp(bytes, formats[k].start, length) == 0) return formats[k].read;
    }
    return NULL;
}

/* Reads an open file, if it begins like an image, and decodes it; errors name the file. */
static wk_code decode(const wk__file *file, int channels, wk__pixels *out, wk__io_error *error)
{
    char start[LONGEST_START];
    const int64_t length = file->bytes < LONGEST_START ? file->bytes : LONGEST_START;
    wk_code code = wk__file_read_at(file, 0, start, length, error);
    if (code != WK_OK) return code;
    wk__image_reader *read = find_reader(start, length);
    if (!read)
        return wk__io_fail(error, WK_ERR_FORMAT, "%s: %s; expected a PNG, JPEG, PGM (P5) or PPM (P6) file",
                           wk__printable_name(file->path).text,
                           length == 0 ? "the file is empty" : "unknown image format");
    char *bytes = wk__alloc((size_t)file->bytes);
    if (!bytes) return wk__io_fail(error, WK_ERR_MEMORY, "%s: out of host memory", wk__printable_name(file->path).text);
    code = wk__file_read_at(file, 0, bytes, file->bytes, error);
    if (code == WK_OK) {
        code = read(bytes, file->bytes, channels, out, error);
        if (code != WK_OK) wk__io_prefix(error, "%s", wk__printable_name(file->path).text);
    }
    wk__free(bytes);
    return code;
}

static wk_code read_file(const char *path, int channels, wk__pixels *out, wk__io_error *error)
{
    wk__file file;
    wk_code code = wk__file_open(&file, path, error);
    if (code != WK_OK) return code;
    code = decode(&file, channels, out, error);
    wk__file_close(&file);
    return code;
}

/* ---- channels ---------------------------------------------------------------------------------------------------- */

/* Returns the grey value of a colour: the weights 0.2989 and 0.587 in units of 1/32768, truncated as in libpng. */
static uint8_t grey_of(const uint8_t *rgb)
{
    enum { RED = 9794, GREEN = 19235, BLUE = 32768 - RED - GREEN };
    return (uint8_t)((rgb[0] * RED + rgb[1] * GREEN + rgb[2] * BLUE) >> 15);
}

/* Writes the planes of an image, as many as channels. */
static void write_planes(const wk__pixels *in, int channels, uint8_t *out)
{
    const int64_t count = wk__pixels_count(in);
    const bool to_grey = channels == 1 && in->channels > 2, from_grey = channels == 3 && in->channels < 3;
    for (int c = 0; c < channels; c++) {
        const uint8_t *pixel = in->data;
        for (int64_t k = 0; k < count; k++, pixel += in->channels)
            out[c * count + k] = to_grey ? grey_of(pixel) : pixel[from_grey ? 0 : c];
    }
}

/* Returns the planes as a tensor, and frees the pixels. NULL on error. */
static wk_tensor *tensor_of(wk_site site, wk__pixels *in, int channels)
{
    const int planes = channels ? channels : in->channels;
    const int64_t shape[] = {planes, in->height, in->width}, bytes = wk__pixels_count(in) * planes;
    uint8_t *data = wk__alloc((size_t)bytes);
    if (data) write_planes(in, planes, data);
    wk__free(in->data);
    if (!data) {
        wk__error_set(site, WK_ERR_MEMORY, "image_read: out of host memory");
        return NULL;
    }
    wk_tensor *x = wk_from_at(site, WK_U8, data, (size_t)bytes, shape, 3);
    wk__free(data);
    return x;
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static bool check(wk_site site, const char *op, const char *path, const wk_image_read_options *o)
{
    if (!wk__check_path(site, op, path)) return false;
    if (o->channels == 0 || o->channels == 1 || o->channels == 3) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: .channels must be 0, 1 or 3, got %d", op, o->channels);
    return false;
}

wk_tensor *wk_image_read_at(wk_site site, const char *path, const wk_image_read_options *options)
{
    static const char op[] = "image_read";
    wk__call_scope c;
    wk__io_error error;
    wk__pixels pixels;
    wk_image_read_options o;
    if (!wk__options(site, op, options, &o) || !check(site, op, path, &o) ||
        !wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF))
        return NULL;
    wk_tensor *out = NULL;
    const wk_code code = read_file(path, o.channels, &pixels, &error);
    if (code == WK_OK)
        out = tensor_of(site, &pixels, o.channels);
    else
        wk__error_set(site, code, "%s: %s", op, error.text);
    wk__call_end(&c, &out, out != NULL);
    return out;
}
