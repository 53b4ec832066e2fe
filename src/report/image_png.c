/* SPDX-License-Identifier: Apache-2.0 */
/* PNG files, through the functions of libpng 1.6 for images in memory, which report errors as values. Declared here so
 * that building needs no headers of libpng, and loaded with dlopen so that running needs it for PNG files only. */
#include "base/alloc.h"
#include "base/environment.h"
#include "base/platform/dynlib.h"
#include "image_file.h"
#include <string.h>

/* Layout and values of png.h, of all versions 1.6. */
typedef struct png_image {
    void *opaque;
    uint32_t version, width, height, format, flags, colormap_entries, warning_or_error;
    char message[64];
} png_image;
enum {
    PNG_IMAGE_VERSION = 1,
    PNG_FORMAT_FLAG_ALPHA = 1,
    PNG_FORMAT_FLAG_COLOR = 2,
    PNG_IMAGE_FLAG_16BIT_sRGB = 4 /* samples of 16 bits are those of 8 bits, times 257 */
};

typedef struct functions {
    int (*begin_read)(png_image *image, const void *memory, size_t size);
    int (*finish_read)(png_image *image, const void *background, void *buffer, int32_t row_stride, void *colormap);
    int (*write)(png_image *image, void *memory, size_t *bytes, int to_8_bit, const void *buffer, int32_t row_stride,
                 const void *colormap);
    void (*free)(png_image *image);
} functions;
static functions png;

static wk_code load(wk__io_error *error)
{
    static const wk__symbol symbols[] = {{"png_image_begin_read_from_memory", offsetof(functions, begin_read)},
                                         {"png_image_finish_read", offsetof(functions, finish_read)},
                                         {"png_image_write_to_memory", offsetof(functions, write)},
                                         {"png_image_free", offsetof(functions, free)}};
    static wk__image_library library = {.name = "libpng",
                                        .files = {"libpng16.so.16"},
                                        .package = "libpng16-16",
                                        .setting = WK__SETTING_LIBPNG,
                                        .symbols = symbols,
                                        .count = sizeof symbols / sizeof *symbols,
                                        .table = &png};
    return wk__image_library_load(&library, error);
}

static wk_code failed(png_image *image, wk_code code, wk__io_error *error)
{
    if (strstr(image->message, "memory")) code = WK_ERR_MEMORY;
    wk__io_fail(error, code, "libpng: %.63s", image->message);
    png.free(image);
    return code;
}

/* Deflate packs at most 1,032 bytes into one, and a byte has at most 8 pixels. */
static bool can_hold(int64_t bytes, const png_image *image)
{
    enum { PIXELS_PER_BYTE = 1032 * 8 };
    return (int64_t)image->width * image->height / PIXELS_PER_BYTE <= bytes;
}

wk_code wk__png_read(const void *bytes, int64_t count, int channels, wk__pixels *out, wk__io_error *error)
{
    (void)channels;
    png_image image = {.version = PNG_IMAGE_VERSION};
    wk_code code = load(error);
    if (code != WK_OK) return code;
    if (!png.begin_read(&image, bytes, (size_t)count)) return failed(&image, WK_ERR_FORMAT, error);
    image.format &= PNG_FORMAT_FLAG_ALPHA | PNG_FORMAT_FLAG_COLOR;
    image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    const int channels_of_file =
        1 + (image.format & PNG_FORMAT_FLAG_COLOR ? 2 : 0) + (image.format & PNG_FORMAT_FLAG_ALPHA ? 1 : 0);
    code = can_hold(count, &image)
               ? wk__pixels_alloc(image.width, image.height, channels_of_file, out, error)
               : wk__io_fail(error, WK_ERR_FORMAT, "truncated: %lld bytes cannot hold %u x %u pixels", (long long)count,
                             image.width, image.height);
    if (code != WK_OK) {
        png.free(&image);
        return code;
    }
    if (png.finish_read(&image, NULL, out->data, 0, NULL)) return WK_OK;
    wk__free(out->data);
    return failed(&image, WK_ERR_FORMAT, error);
}

/* Returns a bound of the size of a file: each row has a byte more, compression adds less than 1/8 + 1/64, and each
 * chunk of 8,192 bytes has 12 more. */
static bool largest_file(const wk__pixels *in, int64_t *bytes)
{
    enum { HEADERS = 4096 };
    int64_t row;
    if (in->width > INT32_MAX || in->height > INT32_MAX || !wk__mul_size(in->width, in->channels, &row) ||
        row > INT32_MAX || !wk__mul_size(row + 1, in->height, bytes))
        return false;
    return wk__add_size(*bytes, *bytes / 8 + *bytes / 64 + *bytes / 512 + HEADERS, bytes);
}

wk_code wk__png_write(const wk__pixels *in, void **bytes, int64_t *count, wk__io_error *error)
{
    static const uint32_t formats[WK__IMAGE_MAX_CHANNELS + 1] = {
        [2] = PNG_FORMAT_FLAG_ALPHA, [3] = PNG_FORMAT_FLAG_COLOR, [4] = PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA};
    int64_t room;
    const wk_code code = load(error);
    if (code != WK_OK) return code;
    if (!largest_file(in, &room))
        return wk__io_fail(error, WK_ERR_UNSUPPORTED, "an image of %lld x %lld pixels is too large for a PNG file",
                           (long long)in->width, (long long)in->height);
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (uint32_t)in->width,
                       .height = (uint32_t)in->height,
                       .format = formats[in->channels]};
    size_t size = (size_t)room;
    void *file = wk__alloc(size);
    if (!file) return wk__io_fail(error, WK_ERR_MEMORY, "out of host memory");
    if (!png.write(&image, file, &size, 0, in->data, 0, NULL)) {
        wk__free(file);
        return failed(&image, WK_ERR_UNSUPPORTED, error);
    }
    *bytes = file;
    *count = (int64_t)size;
    return WK_OK;
}
