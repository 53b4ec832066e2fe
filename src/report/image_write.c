/* SPDX-License-Identifier: Apache-2.0 */
/* wk_image_write: a tensor as a PNG file. */
#include "base/alloc.h"
#include "image_file.h"
#include "io/save_load.h"
#include "tensor/call_scope.h"
#include <string.h>
#include <strings.h>
#include <wick/image.h>
#include <wick/ops.h>
#include <wick/autograd.h>

static const char op[] = "image_write";

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static bool check_path(wk_site site, const char *path)
{
    if (!wk__check_path(site, op, path)) return false;
    const size_t length = strlen(path);
    if (length > 4 && strcasecmp(path + length - 4, ".png") == 0) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s: the file is written as PNG; choose a name that ends in .png", op,
                  wk__printable_name(path).text);
    return false;
}

static bool refuse(wk_site site, wk_code code, const char *expected, wk_tensor *x)
{
    return wk__tensor_refuse(site, code, x, code == WK_ERR_SHAPE ? "; wk_image_grid arranges several images" : "",
                             "%s: expected %s", op, expected);
}

static bool check_image(wk_site site, wk_tensor *x)
{
    if (!wk__check_tensor(x, site, op, "the image")) return false;
    const wk__body *body = wk__body_of(x);
    const int64_t channels = body->ndim == 3 ? body->shape[0] : 1;
    if ((body->ndim != 2 && body->ndim != 3) || channels < 1 || channels > WK__IMAGE_MAX_CHANNELS ||
        wk__body_numel(body) == 0)
        return refuse(site, WK_ERR_SHAPE, "an image (H, W) or (C, H, W) of 1 to 4 channels", x);
    if (body->dtype == WK_U8 || wk__is_float(body->dtype)) return true;
    return refuse(site, WK_ERR_DTYPE, "u8 or floats from 0 to 1", x);
}

/* ---- pixels ------------------------------------------------------------------------------------------------------ */

/* Returns floats as u8; u8 as it is. NULL on error. */
static wk_tensor *to_bytes(wk_tensor *x)
{
    const wk_dtype dtype = wk_dtype_of(x);
    if (dtype == WK_U8) return x;
    if (dtype != WK_F64) x = wk_to_dtype(x, WK_F32);
    return wk_to_dtype(wk_clamp(wk_add(wk_mul(x, 255), 0.5), 0, 255), WK_U8);
}

/* Reads the pixels to memory that the caller frees. Returns false after recording an error. */
static bool read_pixels(wk_site site, wk_tensor *x, wk__pixels *out)
{
    x = wk_detach(x);
    if (x && wk_ndim(x) == 2) x = wk_unsqueeze(x, 0);
    if (x) x = to_bytes(x);
    if (!x) return false;
    const wk__body *body = wk__body_of(x);
    *out = (wk__pixels){.channels = (int)body->shape[0], .height = body->shape[1], .width = body->shape[2]};
    const size_t bytes = (size_t)wk__body_numel(body);
    out->data = wk__alloc(bytes);
    if (!out->data)
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    else if (wk_read_at(site, wk_permute(x, (1, 2, 0)), out->data, bytes) == WK_OK)
        return true;
    wk__free(out->data);
    return false;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static wk_code write_file(const char *path, const wk__pixels *pixels, wk__io_error *error)
{
    void *bytes;
    int64_t count;
    wk_code code = wk__png_write(pixels, &bytes, &count, error);
    if (code != WK_OK) return wk__io_prefix(error, "%s", wk__printable_name(path).text);
    code = wk__atomic_file_save(path, bytes, count, error);
    wk__free(bytes);
    return code;
}

wk_code wk_image_write_at(wk_site site, const char *path, wk_tensor *x)
{
    wk__call_scope c;
    wk__io_error error;
    wk__pixels pixels;
    if (wk__error_pending() || !check_path(site, path) || !check_image(site, x) ||
        !wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF))
        return wk_error_code();
    wk_code code = read_pixels(site, x, &pixels) ? WK_OK : wk_error_code();
    if (code == WK_OK) {
        code = write_file(path, &pixels, &error);
        wk__free(pixels.data);
        if (code != WK_OK) wk__error_set(site, code, "%s: %s", op, error.text);
    }
    wk__call_end(&c, NULL, 0);
    return code;
}
