/* SPDX-License-Identifier: Apache-2.0 */
/* pixel_shuffle, pixel_unshuffle, channel_shuffle: one copy each, as a permutation of x seen in more dimensions. The
 * gradient is the inverse permutation. */
#include "ops/core/compose.h"
#include "ops/core/entries.h"
#include <string.h>

/* ---- pixel_shuffle, pixel_unshuffle ------------------------------------------------------------------------------ */

static bool check_image(const wk__op *op, wk_site site, wk_tensor *x, const char *name, int64_t number)
{
    if (number < 1) {
        wk__op_error(op, site, WK_ERR_ARGUMENT, &x, "%s must be at least 1, got %lld", name, (long long)number);
        return false;
    }
    if (wk__body_of(x)->ndim >= 3) return true;
    wk__op_error(op, site, WK_ERR_SHAPE, &x, "expected at least three dimensions, got $a");
    return false;
}

/* Returns false if size is not a multiple of f * times; times is 1 or f. */
static bool divides(int64_t size, int64_t f, int64_t times)
{
    return size % f == 0 && size / f % times == 0;
}

/* Reshapes x to `wide`, permutes it by `order` and reshapes the result to `shape`. */
static wk_tensor *rearrange(wk_site site, wk_tensor *x, const int64_t wide[], const int64_t order[], int ndim,
                            const int64_t shape[])
{
    const int dims = wk__body_of(x)->ndim;
    wk_tensor *view = wk_reshape_at(site, x, wide, ndim);
    return wk_reshape_at(site, wk_permute_at(site, view, order, ndim), shape, dims);
}

/* Returns the product of the sizes before the last three. */
static int64_t images(const wk__body *body)
{
    return wk__numel(body->ndim - 3, body->shape);
}

static wk_tensor *shuffle(wk_site site, wk_tensor *x, int64_t f)
{
    const wk__body *body = wk__body_of(x);
    const int64_t *size = body->shape + body->ndim - 3;
    if (!divides(size[0], f, f)) {
        wk__op_error(&wk__op_pixel_shuffle, site, WK_ERR_SHAPE, &x,
                     "the number of channels of $a (%lld) is not a multiple of factor * factor for factor %lld",
                     (long long)size[0], (long long)f);
        return NULL;
    }
    const int64_t channels = size[0] / f / f;
    int64_t shape[WK__MAX_DIMS];
    memcpy(shape, body->shape, sizeof shape);
    shape[body->ndim - 3] = channels;
    if (__builtin_mul_overflow(size[1], f, &shape[body->ndim - 2]) ||
        __builtin_mul_overflow(size[2], f, &shape[body->ndim - 1])) {
        wk__op_error(&wk__op_pixel_shuffle, site, WK_ERR_SHAPE, &x, "the result exceeds 2^63 elements");
        return NULL;
    }
    return rearrange(site, x, (const int64_t[]){images(body), channels, f, f, size[1], size[2]},
                     (const int64_t[]){0, 1, 4, 2, 5, 3}, 6, shape);
}

static wk_tensor *unshuffle(wk_site site, wk_tensor *x, int64_t f)
{
    const wk__body *body = wk__body_of(x);
    const int64_t *size = body->shape + body->ndim - 3;
    if (!divides(size[1], f, 1) || !divides(size[2], f, 1)) {
        wk__op_error(&wk__op_pixel_unshuffle, site, WK_ERR_SHAPE, &x,
                     "height and width of $a (%lld and %lld) must be multiples of factor %lld", (long long)size[1],
                     (long long)size[2], (long long)f);
        return NULL;
    }
    const int64_t height = size[1] / f, width = size[2] / f;
    int64_t shape[WK__MAX_DIMS], channels;
    memcpy(shape, body->shape, sizeof shape);
    if (__builtin_mul_overflow(size[0], f, &channels) || __builtin_mul_overflow(channels, f, &channels)) {
        wk__op_error(&wk__op_pixel_unshuffle, site, WK_ERR_SHAPE, &x, "the result exceeds 2^63 elements");
        return NULL;
    }
    shape[body->ndim - 3] = channels;
    shape[body->ndim - 2] = height;
    shape[body->ndim - 1] = width;
    return rearrange(site, x, (const int64_t[]){images(body), size[0], height, f, width, f},
                     (const int64_t[]){0, 1, 3, 5, 2, 4}, 6, shape);
}

static wk_tensor *pixel_call(const wk__op *op, wk_site site, wk_tensor *x, int64_t factor,
                             wk_tensor *(*values)(wk_site, wk_tensor *, int64_t))
{
    wk__compose c;
    if (!wk__compose_begin(&c, op, site, &x, 1)) return NULL;
    const wk__attr attr = wk__pixel_shuffle_attr((wk__pixel_shuffle_attributes){.factor = factor});
    return wk__compose_end(&c, check_image(op, site, x, "factor", factor) ? values(site, x, factor) : NULL, &attr);
}

wk_tensor *wk_pixel_shuffle_at(wk_site site, wk_tensor *x, int64_t factor)
{
    return pixel_call(&wk__op_pixel_shuffle, site, x, factor, shuffle);
}
wk_tensor *wk_pixel_unshuffle_at(wk_site site, wk_tensor *x, int64_t factor)
{
    return pixel_call(&wk__op_pixel_unshuffle, site, x, factor, unshuffle);
}

static void shuffle_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_pixel_unshuffle_at((wk_site){0}, g->out[0], wk__pixel_shuffle_attributes_of(g->attr).factor);
}
static void unshuffle_gradient(wk__grad_ctx *g)
{
    g->in[0] = wk_pixel_shuffle_at((wk_site){0}, g->out[0], wk__pixel_shuffle_attributes_of(g->attr).factor);
}

const wk__op wk__op_pixel_shuffle = {
    .gradient = shuffle_gradient,
    WK__SIGNATURE_pixel_shuffle,
};
const wk__op wk__op_pixel_unshuffle = {
    .gradient = unshuffle_gradient,
    WK__SIGNATURE_pixel_unshuffle,
};

/* ---- channel_shuffle --------------------------------------------------------------------------------------------- */

static wk_tensor *shuffle_channels(wk_site site, wk_tensor *x, int64_t groups)
{
    const wk__body *body = wk__body_of(x);
    const int64_t channels = body->shape[1];
    if (channels % groups) {
        wk__op_error(&wk__op_channel_shuffle, site, WK_ERR_SHAPE, &x,
                     "the number of channels of $a (%lld) is not a multiple of %lld groups", (long long)channels,
                     (long long)groups);
        return NULL;
    }
    return rearrange(
        site, x,
        (const int64_t[]){body->shape[0], groups, channels / groups, wk__numel(body->ndim - 2, body->shape + 2)},
        (const int64_t[]){0, 2, 1, 3}, 4, body->shape);
}

wk_tensor *wk_channel_shuffle_at(wk_site site, wk_tensor *x, int64_t groups)
{
    const wk__op *op = &wk__op_channel_shuffle;
    wk__compose c;
    if (!wk__compose_begin(&c, op, site, &x, 1)) return NULL;
    const wk__attr attr = wk__channel_shuffle_attr((wk__channel_shuffle_attributes){.groups = groups});
    return wk__compose_end(&c, check_image(op, site, x, "groups", groups) ? shuffle_channels(site, x, groups) : NULL,
                           &attr);
}

static void channel_shuffle_gradient(wk__grad_ctx *g)
{
    const int64_t channels = g->node->shape[0].size[1], groups = wk__channel_shuffle_attributes_of(g->attr).groups;
    g->in[0] = channels ? wk_channel_shuffle_at((wk_site){0}, g->out[0], channels / groups) : g->out[0];
}

const wk__op wk__op_channel_shuffle = {
    .gradient = channel_shuffle_gradient,
    WK__SIGNATURE_channel_shuffle,
};
