/* SPDX-License-Identifier: Apache-2.0 */
/* Pixels of image files, and the readers and writers of the formats. They work on memory and know no tensors.
 *
 * Ownership: a reader fills *out; the caller frees out->data. After a failure there is nothing to free. */
#ifndef WICK_REPORT_IMAGE_FILE_H
#define WICK_REPORT_IMAGE_FILE_H

#include "base/platform/file.h"
#include <stdbool.h>
#include <stddef.h>

enum {
    WK__IMAGE_MAX_PIXELS = 1 << 28, /* of an image that is read */
    WK__IMAGE_MAX_CHANNELS = 4
};

/* Samples of 8 bits: rows from top to bottom, the channels of a pixel side by side. */
typedef struct wk__pixels {
    uint8_t *data;
    int64_t width, height; /* at least 1 */
    int channels;          /* 1: grey; 2: grey and alpha; 3: red, green, blue; 4: with alpha */
} wk__pixels;

/* Allocates data for an image of this size, which is that of a file. Fails if the size is 0 or exceeds the limit. */
wk_code wk__pixels_alloc(int64_t width, int64_t height, int channels, wk__pixels *out, wk__io_error *error);
/* Returns the number of pixels. */
static inline int64_t wk__pixels_count(const wk__pixels *pixels)
{
    return pixels->width * pixels->height;
}

/* ---- formats ----------------------------------------------------------------------------------------------------- */

/* Reads an image from the bytes of a file, which begin as a file of the format does. `channels` is 1 or 3 for a
 * conversion that the format's library may do, 0 for none. */
typedef wk_code wk__image_reader(const void *bytes, int64_t count, int channels, wk__pixels *out, wk__io_error *error);
wk__image_reader wk__pnm_read, wk__png_read, wk__jpeg_read;
/* Makes a PNG file in memory, *count bytes at *bytes, which the caller frees. */
wk_code wk__png_write(const wk__pixels *in, void **bytes, int64_t *count, wk__io_error *error);

/* ---- libraries --------------------------------------------------------------------------------------------------- */

/* A library that is loaded at its first use. */
typedef struct wk__image_library {
    const char *name;     /* for messages */
    const char *files[3]; /* names to try, terminated by NULL */
    const char *package;  /* of Debian */
    int setting;          /* wk__optim_option: the variable that names another file */
    const struct wk__symbol *symbols;
    size_t count;
    void *table; /* of functions, filled once */
    bool loaded;
} wk__image_library;
/* Loads the library unless it is loaded. A failed attempt is repeated by the next call. Thread-safe. */
wk_code wk__image_library_load(wk__image_library *library, wk__io_error *error);

#endif
