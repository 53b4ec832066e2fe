/* SPDX-License-Identifier: Apache-2.0 */
/* wk_image_grid: images beside each other. All cells of the grid are made at once, by padding and transposing. */
#include "base/options.h"
#include "tensor/call_scope.h"
#include <math.h>
#include <wick/image.h>
#include <wick/ops.h>
#include <wick/autograd.h>

static const char op[] = "image_grid";

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static bool check_images(wk_site site, wk_tensor *x, bool normalise)
{
    if (!wk__check_tensor(x, site, op, "the images")) return false;
    const wk__body *body = wk__body_of(x);
    const bool shaped = (body->ndim == 3 || body->ndim == 4) && wk__body_numel(body) > 0;
    if (shaped && (!normalise || wk__is_float(body->dtype))) return true;
    return wk__tensor_refuse(site, shaped ? WK_ERR_DTYPE : WK_ERR_SHAPE, x,
                             shaped ? "; convert them with wk_to_dtype" : "", "%s: expected %s", op,
                             shaped ? "floats for .normalise" : "images (N, C, H, W) or (N, H, W)");
}

static bool check_options(wk_site site, const wk_image_grid_options *o, double padding)
{
    enum { WIDEST = 1 << 20 };
    if (o->columns < 0)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .columns must be at least 1, got %lld", op, (long long)o->columns);
    else if (!(padding >= 0 && padding <= WIDEST && padding == floor(padding)))
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .padding must be an integer in [0, %d], got %g", op, WIDEST, padding);
    else if (o->low != 0 && o->high != 0 && !(wk__option_or(o->low, 0) < wk__option_or(o->high, 0)))
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .low must be less than .high, got %g and %g", op,
                      wk__option_or(o->low, 0), wk__option_or(o->high, 0));
    else if (!o->normalise && (o->low != 0 || o->high != 0 || o->scale_each))
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .low, .high and .scale_each need .normalise = true", op);
    else
        return true;
    return false;
}

/* ---- the grid ---------------------------------------------------------------------------------------------------- */

/* Scales (N, C, H, W) to [0, 1]. NULL on error. */
static wk_tensor *normalised(wk_tensor *x, const wk_image_grid_options *o)
{
    const double least_range = 1e-5; /* of a constant image, as in PyTorch */
    wk_tensor *all = o->scale_each ? wk_flatten(x, 1) : wk_reshape(x, (1, -1));
    wk_tensor *low = o->low != 0 ? wk_full_like(wk_narrow(all, 1, 0, 1), wk__option_or(o->low, 0))
                                 : wk_amin(all, (1), .keepdim = true);
    wk_tensor *high = o->high != 0 ? wk_full_like(wk_narrow(all, 1, 0, 1), wk__option_or(o->high, 0))
                                   : wk_amax(all, (1), .keepdim = true);
    low = wk_reshape(low, (-1, 1, 1, 1));
    high = wk_reshape(high, (-1, 1, 1, 1));
    x = wk_minimum(wk_maximum(x, low), high);
    return wk_clamp(wk_div(wk_sub(x, low), wk_maximum(wk_sub(high, low), least_range)), 0, 1);
}

/* Arranges (N, C, H, W), with N of at least 2, in a grid (C, H', W'). NULL on error. */
static wk_tensor *arranged(wk_tensor *x, int64_t columns, int64_t padding, double value)
{
    const int64_t count = wk_size(x, 0), rows = (count + columns - 1) / columns, cells = rows * columns;
    x = wk_pad(x, (padding, 0, padding, 0), .value = value);
    const int64_t channels = wk_size(x, 1), height = wk_size(x, 2), width = wk_size(x, 3);
    if (cells > count) x = wk_pad(x, (0, 0, 0, 0, 0, 0, 0, cells - count), .value = value);
    x = wk_permute(wk_reshape(x, (rows, columns, channels, height, width)), (2, 0, 3, 1, 4));
    x = wk_reshape(x, (channels, rows * height, columns * width));
    return wk_pad(x, (0, padding, 0, padding), .value = value);
}

static wk_tensor *grid(wk_tensor *x, const wk_image_grid_options *o, double padding)
{
    x = wk_detach(x);
    if (wk_ndim(x) == 3) x = wk_unsqueeze(x, 1);
    if (wk_size(x, 1) == 1) x = wk_expand(x, (-1, 3, -1, -1));
    if (o->normalise) x = normalised(x, o);
    const int64_t count = wk_size(x, 0), columns = o->columns ? o->columns : 8;
    if (!x || count == 1) return x ? wk_clone(wk_select(x, 0, 0)) : NULL;
    return arranged(x, columns < count ? columns : count, (int64_t)padding, wk__option_or(o->pad_value, 0));
}

wk_tensor *wk_image_grid_at(wk_site site, wk_tensor *x, const wk_image_grid_options *options)
{
    wk__call_scope c;
    wk_image_grid_options o;
    if (!wk__options(site, op, options, &o)) return NULL;
    const double padding = wk__option_or(o.padding, 2);
    if (!check_images(site, x, o.normalise) || !check_options(site, &o, padding) ||
        !wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF))
        return NULL;
    wk_tensor *out = grid(x, &o, padding);
    wk__call_end(&c, &out, out != NULL);
    return out;
}
