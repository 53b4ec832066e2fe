/* SPDX-License-Identifier: Apache-2.0 */
/* wick/image.h: image files, and grids of images.
 *
 *     wk_tensor *cat = wk_image_read("cat.jpg", .channels = 3);                  // u8 (3, H, W)
 *     wk_image_write("digits.png", wk_image_grid(batch->x, .padding = 1));
 *
 * An image is a tensor (C, H, W) of 1 channel (grey), 2 (grey, alpha), 3 (red, green, blue) or 4 (with alpha): u8, or
 * floating with values from 0 to 1. To resize one, and to make it an input of a network:
 *
 *     wk_tensor *x = wk_unsqueeze(wk_div(cat, 255), 0);                          // f32 (1, 3, H, W)
 *     x = wk_interpolate(x, .output_size = WK_PAIR(224, 224), .mode = WK_INTERPOLATE_BILINEAR, .antialias = true);
 *
 * PNG and JPEG files need libpng (libpng16.so.16) and libjpeg (libjpeg.so.62 or libjpeg.so.8), which are loaded at the
 * first use. WICK_LIBPNG and WICK_LIBJPEG name other files of these libraries. */
#ifndef WICK_IMAGE_H
#define WICK_IMAGE_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wk_image_read_options {
    size_t size;
    wk_by_name by_name;
    int channels; /* 1: convert to grey; 3: convert to red, green and blue; default 0, the channels of the file */
    char reserved[4];
} wk_image_read_options;
/* wk_image_read(path): Reads a PNG, JPEG, PGM (P5) or PPM (P6) file. The content of the file determines its format.
 * Colours of a palette become red, green and blue; transparency of any kind becomes alpha. Samples of 16 bits are
 * rounded to 8, and the values of a PNG file with another gamma converted to sRGB. Conversion to grey is 0.2989 red +
 * 0.587 green + 0.114 blue; alpha is dropped by .channels. Rotation flags of cameras (EXIF) are ignored.
 *     wk_tensor *x = wk_image_read("digit.png", .channels = 1);
 * Shapes:    (C, H, W), u8, on the default device (WK_DEVICE, else the CPU)
 * Limits:    at most 2^28 pixels; of a PNG file, at most 1,000,000 in each direction
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_IO if the file cannot be read; WK_ERR_FORMAT if it is not an image of these formats, or is damaged
 *            or truncated; WK_ERR_UNSUPPORTED if the library for its format cannot be loaded, or the image has more
 *            pixels than the limit or CMYK colours; WK_ERR_ARGUMENT if .channels is not 0, 1 or 3
 * PyTorch:   torchvision.io.read_image, which keeps the indices of a palette and samples of 16 bits; its mode is
 *            .channels */
WK_RESULT_API wk_tensor *wk_image_read_at(wk_site site, const char *path, const wk_image_read_options *options);

/* wk_image_write(path, x): Writes an image as a PNG file, which replaces the old file entirely or not at all. Floats
 * are multiplied by 255, rounded and clamped to 0 and 255.
 *     wk_image_write("weights.png", wk_image_grid(weight, .normalise = true));
 * Shapes:    x (H, W) or (C, H, W), with C from 1 to 4
 * Dtypes:    u8 or floating
 * Returns:   WK_OK or an error code; the code of a pending error, without writing
 * Errors:    WK_ERR_SHAPE, WK_ERR_DTYPE for other tensors; WK_ERR_ARGUMENT if path does not end in .png;
 *            WK_ERR_UNSUPPORTED if libpng cannot be loaded; WK_ERR_IO if the system reports an error
 * PyTorch:   torchvision.utils.save_image of one image */
WK_API wk_code wk_image_write_at(wk_site site, const char *path, wk_tensor *x);

typedef struct wk_image_grid_options {
    size_t size;
    wk_by_name by_name;
    int64_t columns;  /* images in a row; default 8 */
    double padding;   /* pixels between images and at the borders; default 2 */
    double pad_value; /* of these pixels; default 0 */
    double low, high; /* with .normalise: the values that become 0 and 1; default the least and the greatest of x */
    bool normalise;   /* scale values to [0, 1]; values outside [.low, .high] are clamped; default false */
    bool scale_each;  /* with .normalise: use the least and the greatest of each image; default false */
    char reserved[6];
} wk_image_grid_options;
/* wk_image_grid(x): Arranges images in rows, from left to right. Grey images get three equal channels. A single image
 * gets no padding.
 *
 * Feature maps (C, H, W) of a sample are C grey images, one for each channel:
 *     wk_tensor *maps = wk_select(wk_forward(layer, batch->x), 0, 0);
 *     wk_image_write("maps.png", wk_image_grid(maps, .normalise = true));
 * Shapes:    x (N, C, H, W), or (N, H, W) for N grey images; the result is (C, H', W'), with 3 channels for grey
 *            images, where H' = rows (H + padding) + padding and W' = min(columns, N) (W + padding) + padding
 * Dtypes:    any, with .normalise floating; out as x
 * Gradient:  none; the result is detached
 * Returns:   a new tensor on the device of x, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has another number of dimensions or no elements; WK_ERR_DTYPE for .normalise of
 *            integers; WK_ERR_ARGUMENT if an option is out of range
 * PyTorch:   torchvision.utils.make_grid, whose nrow is .columns and whose value_range is .low and .high; three
 *            dimensions are one image (C, H, W) there */
WK_RESULT_API wk_tensor *wk_image_grid_at(wk_site site, wk_tensor *x, const wk_image_grid_options *options);

#define wk_image_write(path, x) wk_image_write_at(WK_HERE, path, x)

#ifndef __cplusplus
#define wk_image_read(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_image_read, wk_image_read_options, __VA_ARGS__))
#define wk_image_grid(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_image_grid, wk_image_grid_options, __VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
