/* SPDX-License-Identifier: Apache-2.0 */
/* conv1d to 3d, conv_transpose1d to 3d and their lazy forms: one layer, whose kind differs in the number of spatial
 * dimensions, the call, and the shape of the weight. */
#include "base/alloc.h"
#include "base/sizes.h"
#include "module.h"
#include "tensor/call_scope.h"
#include <math.h>
#include <string.h>
#include <wick/nn_vision.h>
#include <wick/shape.h>
#include <wick/vision.h>

/* The options of both families. */
typedef struct conv_options {
    wk_sizes stride, padding, output_padding, dilation;
    int64_t groups;
    int padding_mode; /* WK_PAD_CONSTANT: zeros, which the convolution itself adds */
    bool no_bias;
    wk_dtype dtype;
    wk_device device;
} conv_options;

/* A kind of layer. */
typedef struct conv_kind {
    wk_module_kind eager, lazy;
    int dims;
    bool transposed;
} conv_kind;

/* State of a module. */
typedef struct conv {
    const conv_kind *kind;
    wk_tensor *weight, *bias; /* owned by the module; bias NULL without one */
    int64_t in, out;          /* in: 0 until a lazy layer has been called */
    int64_t kernel[WK__MAX_SIZES];
    int64_t pad[2 * WK__MAX_SIZES]; /* for wk_pad, if padding_mode is not zeros */
    conv_options options;
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
    const conv_options *o = &state->options;
    if (state->kind->transposed) {
        const wk_conv_transpose_options options = {.size = sizeof options,
                                                   .stride = o->stride,
                                                   .padding = o->padding,
                                                   .output_padding = o->output_padding,
                                                   .groups = o->groups,
                                                   .dilation = o->dilation};
        return transpose[state->kind->dims - 1]((wk_site){0}, x, state->weight, state->bias, &options);
    }
    const bool padded = o->padding_mode != WK_PAD_CONSTANT;
    if (padded) {
        const wk_pad_options mode = {.size = sizeof mode, .mode = o->padding_mode};
        x = wk_pad_at((wk_site){0}, x, state->pad, 2 * state->kind->dims, &mode);
    }
    const wk_conv_options options = {.size = sizeof options,
                                     .stride = o->stride,
                                     .padding = padded ? 0 : o->padding,
                                     .dilation = o->dilation,
                                     .groups = o->groups};
    return convolve[state->kind->dims - 1]((wk_site){0}, x, state->weight, state->bias, &options);
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
    static const char *const modes[] = {"zeros", "reflect", "replicate", "circular"};
    const conv *state = wk__module_of(self)->state;
    const conv_options *o = &state->options;
    const int dims = state->kind->dims;
    wk__text text = {0};
    wk__text_format(&text, "%lld, %lld, kernel_size=", (long long)state->in, (long long)state->out);
    wk__text_tuple(&text, state->kernel, dims);
    add_sizes(&text, "stride", o->stride ? o->stride : 1, dims, 0);
    if (o->padding == WK_SAME || o->padding == WK_VALID)
        wk__text_format(&text, ", padding=%s", o->padding == WK_SAME ? "same" : "valid");
    else
        add_sizes(&text, "padding", o->padding, dims, 0);
    add_sizes(&text, "dilation", o->dilation, dims, 1);
    add_sizes(&text, "output_padding", o->output_padding, dims, 0);
    if (o->groups > 1) wk__text_format(&text, ", groups=%lld", (long long)o->groups);
    if (o->no_bias) wk__text_add(&text, ", bias=False");
    if (o->padding_mode) wk__text_format(&text, ", padding_mode=%s", modes[o->padding_mode]);
    return wk__describe_end(&text, out, size);
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

static wk_tensor *add_parameter(wk_site site, wk_module *m, const char *name, const int64_t *shape, int ndim)
{
    const conv_options *o = &((const conv *)wk__module_of(m)->state)->options;
    const wk_tensor_options like = {.size = sizeof like, .dtype = o->dtype, .device = o->device};
    wk_tensor *x = wk_empty_at(site, shape, ndim, &like);
    return x ? wk_module_add_parameter_at(site, m, name, x) : NULL;
}

/* Creates weight and bias, uniform in +-1 / sqrt(fan_in); for the weight this is kaiming_uniform_ with a = sqrt(5). */
static bool add_parameters(wk_site site, wk_module *m, int64_t in)
{
    conv *state = wk__module_of(m)->state;
    state->in = in;
    const int64_t groups = state->options.groups ? state->options.groups : 1;
    const bool transposed = state->kind->transposed;
    int64_t shape[2 + WK__MAX_SIZES] = {transposed ? in : state->out, (transposed ? state->out : in) / groups};
    double fan_in = (double)shape[1];
    for (int d = 0; d < state->kind->dims; d++) {
        shape[2 + d] = state->kernel[d];
        fan_in *= (double)state->kernel[d];
    }
    const wk_init_options slope = {.size = sizeof slope, .a = sqrt(5)};
    const double bound = fan_in > 0 ? 1 / sqrt(fan_in) : 0;
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALL, state->kind->eager.name, site, WK__GRAD_OFF)) return false;
    state->weight = add_parameter(site, m, "weight", shape, 2 + state->kind->dims);
    bool fine = state->weight && wk_init_kaiming_uniform__at(site, state->weight, &slope);
    if (fine && !state->options.no_bias) {
        state->bias = add_parameter(site, m, "bias", &state->out, 1);
        fine = state->bias && wk_init_uniform__at(site, state->bias, -bound, bound);
    }
    wk__call_end(&c, NULL, 0);
    return fine;
}

static bool check_channels(wk_site site, const char *name, int64_t in, int64_t out, int64_t groups)
{
    if (in < 0 || out < 1) {
        wk__error_set(site, WK_ERR_SHAPE, "nn_%s: expected in >= 0 and out >= 1, got %lld and %lld", name,
                      (long long)in, (long long)out);
        return false;
    }
    if (groups < 0 || (groups && (in % groups != 0 || out % groups != 0))) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "nn_%s: groups must be at least 1 and divide the channels: in %lld, out %lld, groups %lld", name,
                      (long long)in, (long long)out, (long long)groups);
        return false;
    }
    return true;
}

/* Computes the list of wk_pad, which begins with the last dimension. */
static bool read_pad(wk_site site, const char *name, conv *state)
{
    const int dims = state->kind->dims;
    const conv_options *o = &state->options;
    const wk__sizes_rule of_padding = {.name = "padding"}, of_dilation = {.name = "dilation", .usual = 1};
    int64_t padding[WK__MAX_SIZES] = {0}, dilation[WK__MAX_SIZES];
    if (o->padding_mode < WK_PAD_CONSTANT || o->padding_mode > WK_PAD_CIRCULAR) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: unknown padding_mode %d; expected WK_PAD_REFLECT, WK_PAD_REPLICATE or WK_PAD_CIRCULAR", name,
                      o->padding_mode);
        return false;
    }
    if (!wk__sizes_read(site, name, &of_dilation, o->dilation, dims, dilation)) return false;
    if (o->padding != WK_SAME && o->padding != WK_VALID &&
        !wk__sizes_read(site, name, &of_padding, o->padding, dims, padding))
        return false;
    for (int d = 0; d < dims; d++) {
        int64_t both = 2 * padding[d];
        if (o->padding == WK_SAME && !wk__mul_size(dilation[d], state->kernel[d] - 1, &both)) both = INT64_MAX;
        state->pad[2 * (dims - 1 - d)] = both / 2;
        state->pad[2 * (dims - 1 - d) + 1] = both - both / 2;
    }
    return true;
}

/* Checks the sizes, so that a mistake is reported where the layer is created. */
static bool check_sizes(wk_site site, const conv_kind *kind, const char *name, wk_sizes kernel, conv *state)
{
    static const wk__sizes_rule of_kernel = {.name = "kernel", .usual = 0, .least = 1, .is_kernel = true};
    static const wk__sizes_rule rules[] = {{.name = "stride", .usual = 1, .least = 1},
                                           {.name = "dilation", .usual = 1, .least = 1},
                                           {.name = "output_padding"}};
    const wk__sizes_rule of_padding = {.name = "padding", .pads = !kind->transposed};
    const conv_options *o = &state->options;
    const wk_sizes given[] = {o->stride, o->dilation, o->output_padding};
    const bool named = !kind->transposed && (o->padding == WK_SAME || o->padding == WK_VALID);
    int64_t sizes[WK__MAX_SIZES];
    bool fine = wk__sizes_read(site, name, &of_kernel, kernel, kind->dims, state->kernel) &&
                wk__sizes_read(site, name, &of_padding, named ? 0 : o->padding, kind->dims, sizes);
    for (int k = 0; k < 3 && fine; k++) fine = wk__sizes_read(site, name, &rules[k], given[k], kind->dims, sizes);
    return fine && (kind->transposed || read_pad(site, name, state));
}

static wk_tensor *lazy_forward(wk_module *self, wk_tensor *x)
{
    conv *state = wk__module_of(self)->state;
    if (wk__module_of(self)->uninitialized) {
        const wk__body *body = wk__body_of(x);
        const int batched = body->ndim == state->kind->dims + 2;
        if (!batched && body->ndim != state->kind->dims + 1) {
            wk__error_set((wk_site){0}, WK_ERR_SHAPE, "%s: expected an input of %d or %d dimensions, got %d",
                          wk__module_of(self)->kind.name, state->kind->dims + 1, state->kind->dims + 2, body->ndim);
            return NULL;
        }
        const int64_t in = body->shape[batched];
        if (!check_channels((wk_site){0}, wk__module_of(self)->kind.name, in, state->out, state->options.groups))
            return NULL;
        if (!state->options.dtype && wk__is_float(body->dtype)) state->options.dtype = body->dtype;
        if (!state->options.device.kind) state->options.device = body->storage->device->id;
        if (!add_parameters((wk_site){0}, self, in)) return NULL;
        wk__module_of(self)->uninitialized = false;
    }
    return forward(self, x);
}

/* A lazy layer is created without the number of input channels. */
static wk_module *create(wk_site site, const conv_kind *kind, bool lazy, int64_t in, int64_t out, wk_sizes kernel,
                         const conv_options *options)
{
    const wk_module_kind *of = lazy ? &kind->lazy : &kind->eager;
    conv state = {.kind = kind, .out = out, .options = *options};
    char name[40];
    snprintf(name, sizeof name, "nn_%s", of->name);
    if (!check_channels(site, of->name, in, out, options->groups) || !check_sizes(site, kind, name, kernel, &state))
        return NULL;
    wk_module *m = wk__module_make(site, of);
    if (!m) return NULL;
    *(conv *)wk__module_of(m)->state = state;
    wk__module_of(m)->uninitialized = lazy;
    return lazy || add_parameters(site, m, in) ? m : wk__module_discard(m);
}

static wk_module *create_convolution(wk_site site, const conv_kind *kind, bool lazy, int64_t in, int64_t out,
                                     wk_sizes kernel, const wk_nn_conv_options *options)
{
    wk_nn_conv_options o;
    if (!wk__options(site, kind->eager.name, options, &o)) return NULL;
    const conv_options given = {.stride = o.stride,
                                .padding = o.padding,
                                .dilation = o.dilation,
                                .groups = o.groups,
                                .padding_mode = o.padding_mode,
                                .no_bias = o.no_bias,
                                .dtype = o.dtype,
                                .device = o.device};
    return create(site, kind, lazy, in, out, kernel, &given);
}

static wk_module *create_transposed(wk_site site, const conv_kind *kind, bool lazy, int64_t in, int64_t out,
                                    wk_sizes kernel, const wk_nn_conv_transpose_options *options)
{
    wk_nn_conv_transpose_options o;
    if (!wk__options(site, kind->eager.name, options, &o)) return NULL;
    const conv_options given = {.stride = o.stride,
                                .padding = o.padding,
                                .output_padding = o.output_padding,
                                .dilation = o.dilation,
                                .groups = o.groups,
                                .no_bias = o.no_bias,
                                .dtype = o.dtype,
                                .device = o.device};
    return create(site, kind, lazy, in, out, kernel, &given);
}

/* ---- the kinds --------------------------------------------------------------------------------------------------- */

static const conv_kind convolutions[WK__MAX_SIZES] = {
    {.eager = {.size = sizeof(wk_module_kind),
               .name = "conv1d",
               .state = sizeof(conv),
               .forward1 = forward,
               .describe = describe},
     .lazy = {.size = sizeof(wk_module_kind),
              .name = "lazy_conv1d",
              .state = sizeof(conv),
              .forward1 = lazy_forward,
              .describe = describe},
     .dims = 1,
     .transposed = false},
    {.eager = {.size = sizeof(wk_module_kind),
               .name = "conv2d",
               .state = sizeof(conv),
               .forward1 = forward,
               .describe = describe},
     .lazy = {.size = sizeof(wk_module_kind),
              .name = "lazy_conv2d",
              .state = sizeof(conv),
              .forward1 = lazy_forward,
              .describe = describe},
     .dims = 2,
     .transposed = false},
    {.eager = {.size = sizeof(wk_module_kind),
               .name = "conv3d",
               .state = sizeof(conv),
               .forward1 = forward,
               .describe = describe},
     .lazy = {.size = sizeof(wk_module_kind),
              .name = "lazy_conv3d",
              .state = sizeof(conv),
              .forward1 = lazy_forward,
              .describe = describe},
     .dims = 3,
     .transposed = false},
};

static const conv_kind transposed[WK__MAX_SIZES] = {
    {.eager = {.size = sizeof(wk_module_kind),
               .name = "conv_transpose1d",
               .state = sizeof(conv),
               .forward1 = forward,
               .describe = describe},
     .lazy = {.size = sizeof(wk_module_kind),
              .name = "lazy_conv_transpose1d",
              .state = sizeof(conv),
              .forward1 = lazy_forward,
              .describe = describe},
     .dims = 1,
     .transposed = true},
    {.eager = {.size = sizeof(wk_module_kind),
               .name = "conv_transpose2d",
               .state = sizeof(conv),
               .forward1 = forward,
               .describe = describe},
     .lazy = {.size = sizeof(wk_module_kind),
              .name = "lazy_conv_transpose2d",
              .state = sizeof(conv),
              .forward1 = lazy_forward,
              .describe = describe},
     .dims = 2,
     .transposed = true},
    {.eager = {.size = sizeof(wk_module_kind),
               .name = "conv_transpose3d",
               .state = sizeof(conv),
               .forward1 = forward,
               .describe = describe},
     .lazy = {.size = sizeof(wk_module_kind),
              .name = "lazy_conv_transpose3d",
              .state = sizeof(conv),
              .forward1 = lazy_forward,
              .describe = describe},
     .dims = 3,
     .transposed = true},
};

wk_module *wk_nn_conv1d_at(wk_site site, int64_t in, int64_t out, wk_sizes kernel, const wk_nn_conv_options *options)
{
    return create_convolution(site, &convolutions[0], false, in, out, kernel, options);
}
wk_module *wk_nn_lazy_conv1d_at(wk_site site, int64_t out, wk_sizes kernel, const wk_nn_conv_options *options)
{
    return create_convolution(site, &convolutions[0], true, 0, out, kernel, options);
}
wk_module *wk_nn_conv2d_at(wk_site site, int64_t in, int64_t out, wk_sizes kernel, const wk_nn_conv_options *options)
{
    return create_convolution(site, &convolutions[1], false, in, out, kernel, options);
}
wk_module *wk_nn_lazy_conv2d_at(wk_site site, int64_t out, wk_sizes kernel, const wk_nn_conv_options *options)
{
    return create_convolution(site, &convolutions[1], true, 0, out, kernel, options);
}
wk_module *wk_nn_conv3d_at(wk_site site, int64_t in, int64_t out, wk_sizes kernel, const wk_nn_conv_options *options)
{
    return create_convolution(site, &convolutions[2], false, in, out, kernel, options);
}
wk_module *wk_nn_lazy_conv3d_at(wk_site site, int64_t out, wk_sizes kernel, const wk_nn_conv_options *options)
{
    return create_convolution(site, &convolutions[2], true, 0, out, kernel, options);
}
wk_module *wk_nn_conv_transpose1d_at(wk_site site, int64_t in, int64_t out, wk_sizes kernel,
                                     const wk_nn_conv_transpose_options *options)
{
    return create_transposed(site, &transposed[0], false, in, out, kernel, options);
}
wk_module *wk_nn_lazy_conv_transpose1d_at(wk_site site, int64_t out, wk_sizes kernel,
                                          const wk_nn_conv_transpose_options *options)
{
    return create_transposed(site, &transposed[0], true, 0, out, kernel, options);
}
wk_module *wk_nn_conv_transpose2d_at(wk_site site, int64_t in, int64_t out, wk_sizes kernel,
                                     const wk_nn_conv_transpose_options *options)
{
    return create_transposed(site, &transposed[1], false, in, out, kernel, options);
}
wk_module *wk_nn_lazy_conv_transpose2d_at(wk_site site, int64_t out, wk_sizes kernel,
                                          const wk_nn_conv_transpose_options *options)
{
    return create_transposed(site, &transposed[1], true, 0, out, kernel, options);
}
wk_module *wk_nn_conv_transpose3d_at(wk_site site, int64_t in, int64_t out, wk_sizes kernel,
                                     const wk_nn_conv_transpose_options *options)
{
    return create_transposed(site, &transposed[2], false, in, out, kernel, options);
}
wk_module *wk_nn_lazy_conv_transpose3d_at(wk_site site, int64_t out, wk_sizes kernel,
                                          const wk_nn_conv_transpose_options *options)
{
    return create_transposed(site, &transposed[2], true, 0, out, kernel, options);
}
