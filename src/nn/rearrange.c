/* SPDX-License-Identifier: Apache-2.0 */
/* Layers that rearrange or resample images, without parameters: padding, pixel_shuffle, pixel_unshuffle,
 * channel_shuffle, upsample, unfold, fold. */
#include "base/sizes.h"
#include "module.h"
#include "ops/generated/vision.h"
#include <string.h>
#include <wick/nn_vision.h>
#include <wick/shape.h>
#include <wick/vision.h>

/* ---- padding ----------------------------------------------------------------------------------------------------- */

enum { PAD_DIMS = 3 };

/* State of a padding layer: arguments of wk_pad. */
typedef struct pad {
    int64_t padding[2 * PAD_DIMS];
    int count;
    wk_pad_options options;
} pad;

static wk_tensor *pad_forward(wk_module *self, wk_tensor *x)
{
    const pad *s = wk__module_of(self)->state;
    return wk_pad_at((wk_site){0}, x, s->padding, s->count, &s->options);
}

static int pad_describe(wk_module *self, char *out, size_t size)
{
    const pad *s = wk__module_of(self)->state;
    wk__text text = {0};
    wk__text_tuple(&text, s->padding, s->count);
    return wk__describe_end(&text, out, size);
}

static int constant_pad_describe(wk_module *self, char *out, size_t size)
{
    const pad *s = wk__module_of(self)->state;
    wk__text text = {0};
    wk__text_add(&text, "padding=");
    wk__text_tuple(&text, s->padding, s->count);
    wk__text_add(&text, ", value=");
    wk__text_float(&text, s->options.value);
    return wk__describe_end(&text, out, size);
}

/* name: of the call, "nn_zero_pad1d". One number in `padding` is for all sides. value: that of a constant_pad;
 * NULL for other layers. */
static wk_module *create_pad(wk_site site, const char *name, int dims, const int64_t *padding, int count, int mode,
                             const double *value)
{
    const wk_module_kind kind = {.size = sizeof kind,
                                 .name = name + strlen("nn_"),
                                 .state = sizeof(pad),
                                 .forward1 = pad_forward,
                                 .describe = value ? constant_pad_describe : pad_describe};
    if (!wk__array_check(padding, count, site, name, "the padding")) return NULL;
    if (count != 1 && count != 2 * dims) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: expected 1 or %d numbers of padding, got %d", name, 2 * dims, count);
        return NULL;
    }
    wk_module *m = wk__module_make(site, &kind);
    if (!m) return NULL;
    pad *s = wk__module_of(m)->state;
    s->count = 2 * dims;
    s->options = (wk_pad_options){.size = sizeof s->options, .mode = mode, .value = value ? *value : 0};
    for (int k = 0; k < s->count; k++) s->padding[k] = padding[count == 1 ? 0 : k];
    return m;
}

wk_module *wk_nn_zero_pad1d_at(wk_site site, const int64_t *padding, int count)
{
    return create_pad(site, "nn_zero_pad1d", 1, padding, count, WK_PAD_CONSTANT, NULL);
}
wk_module *wk_nn_reflection_pad1d_at(wk_site site, const int64_t *padding, int count)
{
    return create_pad(site, "nn_reflection_pad1d", 1, padding, count, WK_PAD_REFLECT, NULL);
}
wk_module *wk_nn_replication_pad1d_at(wk_site site, const int64_t *padding, int count)
{
    return create_pad(site, "nn_replication_pad1d", 1, padding, count, WK_PAD_REPLICATE, NULL);
}
wk_module *wk_nn_circular_pad1d_at(wk_site site, const int64_t *padding, int count)
{
    return create_pad(site, "nn_circular_pad1d", 1, padding, count, WK_PAD_CIRCULAR, NULL);
}
wk_module *wk_nn_constant_pad1d_at(wk_site site, const int64_t *padding, int count, double value)
{
    return create_pad(site, "nn_constant_pad1d", 1, padding, count, WK_PAD_CONSTANT, &value);
}

wk_module *wk_nn_zero_pad2d_at(wk_site site, const int64_t *padding, int count)
{
    return create_pad(site, "nn_zero_pad2d", 2, padding, count, WK_PAD_CONSTANT, NULL);
}
wk_module *wk_nn_reflection_pad2d_at(wk_site site, const int64_t *padding, int count)
{
    return create_pad(site, "nn_reflection_pad2d", 2, padding, count, WK_PAD_REFLECT, NULL);
}
wk_module *wk_nn_replication_pad2d_at(wk_site site, const int64_t *padding, int count)
{
    return create_pad(site, "nn_replication_pad2d", 2, padding, count, WK_PAD_REPLICATE, NULL);
}
wk_module *wk_nn_circular_pad2d_at(wk_site site, const int64_t *padding, int count)
{
    return create_pad(site, "nn_circular_pad2d", 2, padding, count, WK_PAD_CIRCULAR, NULL);
}
wk_module *wk_nn_constant_pad2d_at(wk_site site, const int64_t *padding, int count, double value)
{
    return create_pad(site, "nn_constant_pad2d", 2, padding, count, WK_PAD_CONSTANT, &value);
}

wk_module *wk_nn_zero_pad3d_at(wk_site site, const int64_t *padding, int count)
{
    return create_pad(site, "nn_zero_pad3d", 3, padding, count, WK_PAD_CONSTANT, NULL);
}
wk_module *wk_nn_reflection_pad3d_at(wk_site site, const int64_t *padding, int count)
{
    return create_pad(site, "nn_reflection_pad3d", 3, padding, count, WK_PAD_REFLECT, NULL);
}
wk_module *wk_nn_replication_pad3d_at(wk_site site, const int64_t *padding, int count)
{
    return create_pad(site, "nn_replication_pad3d", 3, padding, count, WK_PAD_REPLICATE, NULL);
}
wk_module *wk_nn_circular_pad3d_at(wk_site site, const int64_t *padding, int count)
{
    return create_pad(site, "nn_circular_pad3d", 3, padding, count, WK_PAD_CIRCULAR, NULL);
}
wk_module *wk_nn_constant_pad3d_at(wk_site site, const int64_t *padding, int count, double value)
{
    return create_pad(site, "nn_constant_pad3d", 3, padding, count, WK_PAD_CONSTANT, &value);
}

/* ---- shuffling --------------------------------------------------------------------------------------------------- */

typedef wk_tensor *shuffle_fn(wk_site site, wk_tensor *x, int64_t number);

/* State of a shuffling layer. */
typedef struct shuffle {
    shuffle_fn *call;
    const char *written; /* the number's name in PyTorch */
    int64_t number;      /* factor or groups */
} shuffle;

static wk_tensor *shuffle_forward(wk_module *self, wk_tensor *x)
{
    const shuffle *s = wk__module_of(self)->state;
    return s->call((wk_site){0}, x, s->number);
}

static int shuffle_describe(wk_module *self, char *out, size_t size)
{
    const shuffle *s = wk__module_of(self)->state;
    return snprintf(out, size, "%s=%lld", s->written, (long long)s->number);
}

static wk_module *create_shuffle(wk_site site, const char *name, const char *argument, shuffle state)
{
    const wk_module_kind kind = {.size = sizeof kind,
                                 .name = name + strlen("nn_"),
                                 .state = sizeof(shuffle),
                                 .forward1 = shuffle_forward,
                                 .describe = shuffle_describe};
    if (state.number < 1) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s must be at least 1, got %lld", name, argument,
                      (long long)state.number);
        return NULL;
    }
    wk_module *m = wk__module_make(site, &kind);
    if (m) *(shuffle *)wk__module_of(m)->state = state;
    return m;
}

wk_module *wk_nn_pixel_shuffle_at(wk_site site, int64_t factor)
{
    return create_shuffle(site, "nn_pixel_shuffle", "factor", (shuffle){wk_pixel_shuffle_at, "upscale_factor", factor});
}
wk_module *wk_nn_pixel_unshuffle_at(wk_site site, int64_t factor)
{
    return create_shuffle(site, "nn_pixel_unshuffle", "factor",
                          (shuffle){wk_pixel_unshuffle_at, "downscale_factor", factor});
}
wk_module *wk_nn_channel_shuffle_at(wk_site site, int64_t groups)
{
    return create_shuffle(site, "nn_channel_shuffle", "groups", (shuffle){wk_channel_shuffle_at, "groups", groups});
}

/* ---- upsample ---------------------------------------------------------------------------------------------------- */

static wk_tensor *upsample_forward(wk_module *self, wk_tensor *x)
{
    return wk_interpolate_at((wk_site){0}, x, wk__module_of(self)->state);
}

/* Appends one scale, or those of the dimensions from the first that has its own to the width. */
static void add_scales(wk__text *text, const wk_interpolate_options *o)
{
    const double own[] = {o->scales_d, o->scales_h, o->scales_w}, usual = o->scale_factor != 0 ? o->scale_factor : 1;
    int first = 0;
    while (first < 3 && own[first] == 0) first++;
    if (first == 3) {
        wk__text_float(text, usual);
        return;
    }
    for (int k = first; k < 3; k++) {
        wk__text_add(text, k == first ? "(" : ", ");
        wk__text_float(text, own[k] != 0 ? own[k] : usual);
    }
    wk__text_add(text, first == 2 ? ",)" : ")");
}

static int upsample_describe(wk_module *self, char *out, size_t size)
{
    static const char *const modes[] = {"nearest",   "linear", "bilinear",     "bicubic",
                                        "trilinear", "area",   "nearest-exact"};
    const wk_interpolate_options *o = wk__module_of(self)->state;
    wk__text text = {0};
    wk__text_add(&text, o->output_size ? "size=" : "scale_factor=");
    if (o->output_size)
        wk__text_sizes(&text, o->output_size, 0);
    else
        add_scales(&text, o);
    wk__text_format(&text, ", mode='%s'", modes[o->mode - WK_INTERPOLATE_NEAREST]);
    return wk__describe_end(&text, out, size);
}

/* name: of the call, "nn_upsample". */
static wk_module *create_upsample(wk_site site, const char *name, wk_sizes size, wk_nn_upsample_options o)
{
    const wk_module_kind kind = {.size = sizeof kind,
                                 .name = name + strlen("nn_"),
                                 .state = sizeof(wk_interpolate_options),
                                 .forward1 = upsample_forward,
                                 .describe = upsample_describe};
    const bool scaled = o.scale_factor != 0 || o.scales_d != 0 || o.scales_h != 0 || o.scales_w != 0;
    if ((size != 0) == scaled) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: expected either a size or .scale_factor; write 0 for the size to give the latter", name);
        return NULL;
    }
    if (!wk__check_interpolate_mode(site, name, ".mode", &o.mode)) return NULL;
    wk_module *m = wk__module_make(site, &kind);
    if (!m) return NULL;
    wk_interpolate_options *state = wk__module_of(m)->state;
    *state = (wk_interpolate_options){.size = sizeof *state,
                                      .output_size = size,
                                      .scale_factor = o.scale_factor,
                                      .mode = o.mode,
                                      .align_corners = o.align_corners,
                                      .recompute_scale_factor = o.recompute_scale_factor,
                                      .scales_d = o.scales_d,
                                      .scales_h = o.scales_h,
                                      .scales_w = o.scales_w};
    return m;
}

wk_module *wk_nn_upsample_at(wk_site site, wk_sizes size, const wk_nn_upsample_options *options)
{
    wk_nn_upsample_options o;
    return wk__options(site, "nn_upsample", options, &o) ? create_upsample(site, "nn_upsample", size, o) : NULL;
}

/* Creates an upsample layer for images of a fixed mode. */
static wk_module *create_upsampling(wk_site site, const char *name, wk_sizes size,
                                    const wk_nn_upsample_options *options, int mode)
{
    wk_nn_upsample_options o;
    if (!wk__options(site, name, options, &o)) return NULL;
    if (o.mode || o.align_corners || o.scales_d != 0) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: expected only .scale_factor, .scales_h, .scales_w and .recompute_scale_factor", name);
        return NULL;
    }
    o.mode = mode;
    o.align_corners = mode == WK_INTERPOLATE_BILINEAR;
    return create_upsample(site, name, size, o);
}

wk_module *wk_nn_upsampling_nearest2d_at(wk_site site, wk_sizes size, const wk_nn_upsample_options *options)
{
    return create_upsampling(site, "nn_upsampling_nearest2d", size, options, WK_INTERPOLATE_NEAREST);
}
wk_module *wk_nn_upsampling_bilinear2d_at(wk_site site, wk_sizes size, const wk_nn_upsample_options *options)
{
    return create_upsampling(site, "nn_upsampling_bilinear2d", size, options, WK_INTERPOLATE_BILINEAR);
}

/* ---- unfold, fold ------------------------------------------------------------------------------------------------ */

/* State of an unfold or fold layer: arguments of wk_im2col or wk_col2im. */
typedef struct fold {
    wk_sizes size, kernel; /* size: of the image, for fold */
    wk_im2col_options options;
} fold;

static wk_tensor *unfold_forward(wk_module *self, wk_tensor *x)
{
    const fold *s = wk__module_of(self)->state;
    return wk_im2col_at((wk_site){0}, x, s->kernel, &s->options);
}

static wk_tensor *fold_forward(wk_module *self, wk_tensor *x)
{
    const fold *s = wk__module_of(self)->state;
    return wk_col2im_at((wk_site){0}, x, s->size, s->kernel, &s->options);
}

static void add_windows(wk__text *text, const fold *s)
{
    wk__text_add(text, "kernel_size=");
    wk__text_sizes(text, s->kernel, 0);
    wk__text_add(text, ", dilation=");
    wk__text_sizes(text, s->options.dilation, 1);
    wk__text_add(text, ", padding=");
    wk__text_sizes(text, s->options.padding, 0);
    wk__text_add(text, ", stride=");
    wk__text_sizes(text, s->options.stride, 1);
}

static int unfold_describe(wk_module *self, char *out, size_t size)
{
    wk__text text = {0};
    add_windows(&text, wk__module_of(self)->state);
    return wk__describe_end(&text, out, size);
}

static int fold_describe(wk_module *self, char *out, size_t size)
{
    const fold *s = wk__module_of(self)->state;
    wk__text text = {0};
    wk__text_add(&text, "output_size=");
    wk__text_sizes(&text, s->size, 0);
    wk__text_add(&text, ", ");
    add_windows(&text, s);
    return wk__describe_end(&text, out, size);
}

/* kind: without its name. */
static wk_module *create_fold(wk_site site, const char *name, fold state, const wk_im2col_options *options,
                              wk_module_kind kind)
{
    static const wk__sizes_rule of_size = {.name = "output size", .least = 1, .is_kernel = true};
    int64_t sizes[WK__MAX_SIZES];
    if (!wk__options(site, name, options, &state.options) ||
        !wk__sizes_read(site, name, &of_size, state.size, 2, sizes) ||
        !wk__sizes_read(site, name, &wk__kernel_rule, state.kernel, 2, sizes) ||
        !wk__sizes_read(site, name, &wk__dilation_rule, state.options.dilation, 2, sizes) ||
        !wk__sizes_read(site, name, &wk__padding_rule, state.options.padding, 2, sizes) ||
        !wk__sizes_read(site, name, &wk__stride_rule, state.options.stride, 2, sizes))
        return NULL;
    kind.name = name + strlen("nn_");
    wk_module *m = wk__module_make(site, &kind);
    if (m) *(fold *)wk__module_of(m)->state = state;
    return m;
}

wk_module *wk_nn_unfold_at(wk_site site, wk_sizes kernel, const wk_im2col_options *options)
{
    const wk_module_kind kind = {
        .size = sizeof kind, .state = sizeof(fold), .forward1 = unfold_forward, .describe = unfold_describe};
    return create_fold(site, "nn_unfold", (fold){.size = 1, .kernel = kernel}, options, kind);
}
wk_module *wk_nn_fold_at(wk_site site, wk_sizes size, wk_sizes kernel, const wk_im2col_options *options)
{
    const wk_module_kind kind = {
        .size = sizeof kind, .state = sizeof(fold), .forward1 = fold_forward, .describe = fold_describe};
    return create_fold(site, "nn_fold", (fold){.size = size, .kernel = kernel}, options, kind);
}
