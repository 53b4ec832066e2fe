/* SPDX-License-Identifier: Apache-2.0 */
/* conv1d to 3d, conv_transpose1d to 3d and their lazy forms: one layer, whose kind differs in the number of spatial
 * dimensions, the call, and the shape of the weight. */
#include "base/alloc.h"
#include "base/sizes.h"
#include "module.h"
#include "ops/generated/shape.h"
#include "tensor/call_scope.h"
#include <math.h>
#include <string.h>
#include <wick/nn_vision.h>
#include <wick/shape.h>
#include <wick/vision.h>

/* State of a module. */
typedef struct conv {
    const char *name; /* of the constructor, "nn_conv2d"; static */
    int dims;         /* spatial dimensions */
    bool lazy, transposed;
    wk_tensor *weight, *bias; /* owned by the module; bias NULL without one */
    int64_t in, out;          /* in: 0 until a lazy layer has been called */
    int64_t kernel[WK__MAX_SIZES];
    int64_t pad[2 * WK__MAX_SIZES]; /* for wk_pad, if padding_mode is not zeros */
    wk_nn_conv_options options;     /* of both families */
    wk_sizes output_padding;        /* of a transposed convolution */
} conv;

/* ---- forward ----------------------------------------------------------------------------------------------------- */

typedef wk_tensor *convolve_fn(wk_site site, wk_tensor *x, wk_tensor *weight, wk_tensor *bias,
                               const wk_conv_options *options);
typedef wk_tensor *transpose_fn(wk_site site, wk_tensor *x, wk_tensor *weight, wk_tensor *bias,
                                const wk_conv_transpose_options *options);
static convolve_fn *const convolve[WK__MAX_SIZES] = {wk_conv1d_at, wk_conv2d_at, wk_conv3d_at};
static transpose_fn *const transpose[WK__MAX_SIZES] = {wk_conv_transpose1d_at, wk_conv_transpose2d_at,
                                                       wk_conv_transpose3d_at};

static wk_tensor *forward(wk_module *self, wk_tensor *x)
{
    const conv *state = wk__module_of(self)->state;
    const wk_nn_conv_options *o = &state->options;
    if (state->transposed) {
        const wk_conv_transpose_options options = {.size = sizeof options,
                                                   .stride = o->stride,
                                                   .padding = o->padding,
                                                   .output_padding = state->output_padding,
                                                   .groups = o->groups,
                                                   .dilation = o->dilation};
        return transpose[state->dims - 1]((wk_site){0}, x, state->weight, state->bias, &options);
    }
    const bool padded = o->padding_mode != WK_PAD_CONSTANT;
    if (padded) {
        const wk_pad_options mode = {.size = sizeof mode, .mode = o->padding_mode};
        x = wk_pad_at((wk_site){0}, x, state->pad, 2 * state->dims, &mode);
    }
    const wk_conv_options options = {.size = sizeof options,
                                     .stride = o->stride,
                                     .padding = padded ? 0 : o->padding,
                                     .dilation = o->dilation,
                                     .groups = o->groups};
    return convolve[state->dims - 1]((wk_site){0}, x, state->weight, state->bias, &options);
}

/* ---- description ------------------------------------------------------------------------------------------------- */

/* Appends ", name=(1, 2)" unless all sizes are `usual`. */
static void add_sizes(wk__text *text, const char *name, wk_sizes given, int dims, int64_t usual)
{
    const wk__sizes_rule rule = {.name = name, .usual = usual};
    int64_t sizes[WK__MAX_SIZES];
    bool differs = false;
    if (!wk__sizes_read((wk_site){0}, name, &rule, given, dims, sizes)) return; /* checked by the constructor */
    for (int d = 0; d < dims; d++) differs = differs || sizes[d] != usual;
    if (!differs) return;
    wk__text_format(text, ", %s=", name);
    wk__text_tuple(text, sizes, dims);
}

static int describe(wk_module *self, char *out, size_t size)
{
    static const char *const modes[] = {"reflect", "replicate", "circular"};
    const conv *state = wk__module_of(self)->state;
    const wk_nn_conv_options *o = &state->options;
    const int dims = state->dims;
    wk__text text = {0};
    wk__text_format(&text, "%lld, %lld, kernel_size=", (long long)state->in, (long long)state->out);
    wk__text_tuple(&text, state->kernel, dims);
    add_sizes(&text, "stride", o->stride ? o->stride : 1, dims, 0);
    if (o->padding == WK_SAME || o->padding == WK_VALID)
        wk__text_format(&text, ", padding=%s", o->padding == WK_SAME ? "same" : "valid");
    else
        add_sizes(&text, "padding", o->padding, dims, 0);
    add_sizes(&text, "dilation", o->dilation, dims, 1);
    add_sizes(&text, "output_padding", state->output_padding, dims, 0);
    if (o->groups > 1) wk__text_format(&text, ", groups=%lld", (long long)o->groups);
    if (o->no_bias) wk__text_add(&text, ", bias=False");
    if (!state->transposed && o->padding_mode != WK_PAD_CONSTANT)
        wk__text_format(&text, ", padding_mode=%s", modes[o->padding_mode - WK_PAD_REFLECT]);
    return wk__describe_end(&text, out, size);
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

static wk_tensor *add_parameter(wk_site site, wk_module *m, const char *name, const int64_t *shape, int ndim)
{
    const wk_nn_conv_options *o = &((const conv *)wk__module_of(m)->state)->options;
    const wk_tensor_options like = {.size = sizeof like, .dtype = o->dtype, .device = o->device};
    wk_tensor *x = wk_empty_at(site, shape, ndim, &like);
    return x ? wk_module_add_parameter_at(site, m, name, x) : NULL;
}

/* Creates weight and bias, uniform in +-1 / sqrt(fan_in); for the weight this is kaiming_uniform_ with a = sqrt(5). A
 * lazy layer whose first call failed in between has one of them already. */
static bool add_parameters(wk_site site, wk_module *m)
{
    conv *state = wk__module_of(m)->state;
    const int64_t groups = state->options.groups ? state->options.groups : 1;
    const bool transposed = state->transposed;
    int64_t shape[2 + WK__MAX_SIZES] = {transposed ? state->in : state->out,
                                        (transposed ? state->out : state->in) / groups};
    double fan_in = (double)shape[1];
    for (int d = 0; d < state->dims; d++) {
        shape[2 + d] = state->kernel[d];
        fan_in *= (double)state->kernel[d];
    }
    const wk_init_options slope = {.size = sizeof slope, .a = sqrt(5)};
    const double bound = fan_in > 0 ? 1 / sqrt(fan_in) : 0;
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALL, state->name, site, WK__GRAD_OFF)) return false;
    if (!state->weight) state->weight = add_parameter(site, m, "weight", shape, 2 + state->dims);
    bool fine = state->weight && wk_init_kaiming_uniform__at(site, state->weight, &slope);
    if (fine && !state->options.no_bias) {
        if (!state->bias) state->bias = add_parameter(site, m, "bias", &state->out, 1);
        fine = state->bias && wk_init_uniform__at(site, state->bias, -bound, bound);
    }
    wk__call_end(&c, NULL, 0);
    return fine;
}

static bool check_channels(wk_site site, const conv *state)
{
    const int64_t in = state->in, out = state->out, groups = state->options.groups;
    if (in < 0 || out < 1) {
        wk__error_set(site, WK_ERR_SHAPE, "%s: expected in >= 0 and out >= 1, got %lld and %lld", state->name,
                      (long long)in, (long long)out);
        return false;
    }
    if (groups < 0 || (groups && (in % groups != 0 || out % groups != 0))) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: groups must be at least 1 and divide the channels: in %lld, out %lld, groups %lld",
                      state->name, (long long)in, (long long)out, (long long)groups);
        return false;
    }
    return true;
}

/* Reads the sizes, so that a mistake is reported where the layer is created. padding[] is 0 for WK_SAME. */
static bool read_sizes(wk_site site, wk_sizes kernel, conv *state, int64_t padding[], int64_t dilation[])
{
    static const wk__sizes_rule of_more = {.name = "output_padding"};
    const wk_nn_conv_options *o = &state->options;
    const wk__sizes_rule of_padding = {.name = "padding", .pads = !state->transposed};
    const bool same = o->padding == WK_SAME && !state->transposed;
    const wk_sizes numbers = same || (o->padding == WK_VALID && !state->transposed) ? 0 : o->padding;
    int64_t stride[WK__MAX_SIZES], more[WK__MAX_SIZES];
    if (!wk__sizes_read(site, state->name, &wk__kernel_rule, kernel, state->dims, state->kernel) ||
        !wk__sizes_read(site, state->name, &wk__stride_rule, o->stride, state->dims, stride) ||
        !wk__sizes_read(site, state->name, &of_padding, numbers, state->dims, padding) ||
        !wk__sizes_read(site, state->name, &wk__dilation_rule, o->dilation, state->dims, dilation) ||
        !wk__sizes_read(site, state->name, &of_more, state->output_padding, state->dims, more))
        return false;
    for (int d = 0; d < state->dims && same; d++) {
        if (stride[d] == 1) continue;
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: padding WK_SAME needs stride 1, got %lld; write the padding",
                      state->name, (long long)stride[d]);
        return false;
    }
    return true;
}

/* Computes the list of wk_pad, which begins with the last dimension. */
static bool read_pad(wk_site site, conv *state, const int64_t padding[], const int64_t dilation[])
{
    wk_nn_conv_options *o = &state->options;
    if (!wk__check_pad_mode(site, state->name, ".padding_mode", &o->padding_mode)) return false;
    for (int d = 0; d < state->dims; d++) {
        int64_t both = 2 * padding[d], *pad = &state->pad[2 * (state->dims - 1 - d)];
        if (o->padding == WK_SAME && !wk__mul_size(dilation[d], state->kernel[d] - 1, &both)) both = INT64_MAX;
        pad[0] = both / 2;
        pad[1] = both - both / 2;
    }
    return true;
}

/* The first input of a lazy layer determines its channels, and the device and dtype of the parameters. */
static bool initialize(wk_module *self, wk_tensor *x)
{
    conv *state = wk__module_of(self)->state;
    const wk__body *body = wk__body_of(x);
    const int batched = body->ndim == state->dims + 2;
    if (!batched && body->ndim != state->dims + 1) {
        wk__error_set((wk_site){0}, WK_ERR_SHAPE, "%s: expected an input of %d or %d dimensions, got %d%s", state->name,
                      state->dims + 1, state->dims + 2, body->ndim, wk__unsqueeze_hint(body->ndim, state->dims + 1));
        return false;
    }
    conv with = *state;
    with.in = body->shape[batched];
    if (!with.options.dtype && wk__is_float(body->dtype)) with.options.dtype = body->dtype;
    if (!with.options.device.kind) with.options.device = body->storage->device->id;
    if (!check_channels((wk_site){0}, &with)) return false;
    *state = with;
    return add_parameters((wk_site){0}, self);
}

static wk_tensor *lazy_forward(wk_module *self, wk_tensor *x)
{
    if (wk__module_of(self)->uninitialized && !initialize(self, x)) return NULL;
    wk__module_of(self)->uninitialized = false;
    return forward(self, x);
}

/* Creates a layer from its name, dimensions, channels and options. */
static wk_module *create(wk_site site, conv state, wk_sizes kernel)
{
    int64_t padding[WK__MAX_SIZES], dilation[WK__MAX_SIZES];
    if (!check_channels(site, &state) || !read_sizes(site, kernel, &state, padding, dilation) ||
        !read_pad(site, &state, padding, dilation))
        return NULL;
    const wk_module_kind kind = {.size = sizeof kind,
                                 .name = state.name + strlen("nn_"),
                                 .state = sizeof state,
                                 .forward1 = state.lazy ? lazy_forward : forward,
                                 .describe = describe};
    wk_module *m = wk__module_make(site, &kind);
    if (!m) return NULL;
    *(conv *)wk__module_of(m)->state = state;
    wk__module_of(m)->uninitialized = state.lazy;
    return state.lazy || add_parameters(site, m) ? m : wk__module_discard(m);
}

static wk_module *create_convolution(wk_site site, conv state, wk_sizes kernel, const wk_nn_conv_options *options)
{
    return wk__options(site, state.name, options, &state.options) ? create(site, state, kernel) : NULL;
}

static wk_module *create_transposed(wk_site site, conv state, wk_sizes kernel,
                                    const wk_nn_conv_transpose_options *options)
{
    wk_nn_conv_transpose_options o;
    if (!wk__options(site, state.name, options, &o)) return NULL;
    state.transposed = true;
    state.output_padding = o.output_padding;
    state.options = (wk_nn_conv_options){.size = sizeof state.options,
                                         .stride = o.stride,
                                         .padding = o.padding,
                                         .dilation = o.dilation,
                                         .groups = o.groups,
                                         .no_bias = o.no_bias,
                                         .dtype = o.dtype,
                                         .device = o.device};
    return create(site, state, kernel);
}

/* ---- the layers -------------------------------------------------------------------------------------------------- */

wk_module *wk_nn_conv1d_at(wk_site site, int64_t in, int64_t out, wk_sizes kernel, const wk_nn_conv_options *options)
{
    return create_convolution(site, (conv){.name = "nn_conv1d", .dims = 1, .in = in, .out = out}, kernel, options);
}
wk_module *wk_nn_lazy_conv1d_at(wk_site site, int64_t out, wk_sizes kernel, const wk_nn_conv_options *options)
{
    return create_convolution(site, (conv){.name = "nn_lazy_conv1d", .dims = 1, .lazy = true, .out = out}, kernel,
                              options);
}
wk_module *wk_nn_conv2d_at(wk_site site, int64_t in, int64_t out, wk_sizes kernel, const wk_nn_conv_options *options)
{
    return create_convolution(site, (conv){.name = "nn_conv2d", .dims = 2, .in = in, .out = out}, kernel, options);
}
wk_module *wk_nn_lazy_conv2d_at(wk_site site, int64_t out, wk_sizes kernel, const wk_nn_conv_options *options)
{
    return create_convolution(site, (conv){.name = "nn_lazy_conv2d", .dims = 2, .lazy = true, .out = out}, kernel,
                              options);
}
wk_module *wk_nn_conv3d_at(wk_site site, int64_t in, int64_t out, wk_sizes kernel, const wk_nn_conv_options *options)
{
    return create_convolution(site, (conv){.name = "nn_conv3d", .dims = 3, .in = in, .out = out}, kernel, options);
}
wk_module *wk_nn_lazy_conv3d_at(wk_site site, int64_t out, wk_sizes kernel, const wk_nn_conv_options *options)
{
    return create_convolution(site, (conv){.name = "nn_lazy_conv3d", .dims = 3, .lazy = true, .out = out}, kernel,
                              options);
}
wk_module *wk_nn_conv_transpose1d_at(wk_site site, int64_t in, int64_t out, wk_sizes kernel,
                                     const wk_nn_conv_transpose_options *options)
{
    return create_transposed(site, (conv){.name = "nn_conv_transpose1d", .dims = 1, .in = in, .out = out}, kernel,
                             options);
}
wk_module *wk_nn_lazy_conv_transpose1d_at(wk_site site, int64_t out, wk_sizes kernel,
                                          const wk_nn_conv_transpose_options *options)
{
    return create_transposed(site, (conv){.name = "nn_lazy_conv_transpose1d", .dims = 1, .lazy = true, .out = out},
                             kernel, options);
}
wk_module *wk_nn_conv_transpose2d_at(wk_site site, int64_t in, int64_t out, wk_sizes kernel,
                                     const wk_nn_conv_transpose_options *options)
{
    return create_transposed(site, (conv){.name = "nn_conv_transpose2d", .dims = 2, .in = in, .out = out}, kernel,
                             options);
}
wk_module *wk_nn_lazy_conv_transpose2d_at(wk_site site, int64_t out, wk_sizes kernel,
                                          const wk_nn_conv_transpose_options *options)
{
    return create_transposed(site, (conv){.name = "nn_lazy_conv_transpose2d", .dims = 2, .lazy = true, .out = out},
                             kernel, options);
}
wk_module *wk_nn_conv_transpose3d_at(wk_site site, int64_t in, int64_t out, wk_sizes kernel,
                                     const wk_nn_conv_transpose_options *options)
{
    return create_transposed(site, (conv){.name = "nn_conv_transpose3d", .dims = 3, .in = in, .out = out}, kernel,
                             options);
}
wk_module *wk_nn_lazy_conv_transpose3d_at(wk_site site, int64_t out, wk_sizes kernel,
                                          const wk_nn_conv_transpose_options *options)
{
    return create_transposed(site, (conv){.name = "nn_lazy_conv_transpose3d", .dims = 3, .lazy = true, .out = out},
                             kernel, options);
}
