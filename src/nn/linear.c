/* SPDX-License-Identifier: Apache-2.0 */
/* linear and lazy_linear: x W^T + b. */
#include "module.h"
#include "tensor/call_scope.h"
#include <math.h>
#include <wick/matmul.h>

/* State of the module. */
typedef struct linear {
    wk_tensor *weight, *bias;     /* (out, in); (out) or NULL; owned by the module */
    int64_t in, out;              /* in: 0 before the first call of lazy_linear */
    wk_nn_linear_options options; /* of the constructor */
} linear;

static wk_tensor *forward(wk_module *self, wk_tensor *x)
{
    const linear *state = wk__module_of(self)->state;
    return wk_linear_at((wk_site){0}, x, state->weight, state->bias);
}

static int describe(wk_module *self, char *out, size_t size)
{
    const linear *state = wk__module_of(self)->state;
    wk__text text = {0};
    wk__text_format(&text, "in_features=%lld, out_features=%lld, bias=", (long long)state->in, (long long)state->out);
    wk__text_bool(&text, !state->options.no_bias);
    return wk__describe_end(&text, out, size);
}

/* Creates weight and bias, uniform in +-1/sqrt(in); for the weight this is kaiming_uniform_ with a = sqrt(5). A lazy
 * layer whose first call failed in between has one of them already. */
static bool add_parameters(wk_site site, wk_module *m, int64_t in, const wk_nn_linear_options *options)
{
    linear *state = wk__module_of(m)->state;
    wk_tensor_options like = {.size = sizeof like, .dtype = options->dtype, .device = options->device};
    wk_init_options slope = {.size = sizeof slope, .a = sqrt(5)};
    state->in = in;
    state->options = *options;
    double bound = in > 0 ? 1 / sqrt((double)in) : 0;
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALL, "nn_linear", site, WK__GRAD_OFF)) return false;
    if (!state->weight) {
        wk_tensor *weight = wk_empty_at(site, (int64_t[]){state->out, in}, 2, &like);
        state->weight = weight ? wk_module_add_parameter_at(site, m, "weight", weight) : NULL;
    }
    bool fine = state->weight && wk_init_kaiming_uniform__at(site, state->weight, &slope);
    if (fine && !options->no_bias) {
        wk_tensor *bias = state->bias ? NULL : wk_empty_at(site, &state->out, 1, &like);
        if (bias) state->bias = wk_module_add_parameter_at(site, m, "bias", bias);
        fine = state->bias && wk_init_uniform__at(site, state->bias, -bound, bound);
    }
    wk__call_end(&c, NULL, 0);
    return fine;
}

wk_module *wk_nn_linear_at(wk_site site, int64_t in, int64_t out, const wk_nn_linear_options *options)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "linear", .state = sizeof(linear), .forward1 = forward, .describe = describe};
    wk_nn_linear_options o;
    if (!wk__options(site, "nn_linear", options, &o)) return NULL;
    wk_module *m = wk__module_make(site, &kind);
    if (!m) return NULL;
    linear *state = wk__module_of(m)->state;
    state->out = out;
    return add_parameters(site, m, in, &o) ? m : wk__module_discard(m);
}

/* The first input determines the width, device and dtype of the parameters. */
static wk_tensor *lazy_forward(wk_module *self, wk_tensor *x)
{
    linear *state = wk__module_of(self)->state;
    if (wk__module_of(self)->uninitialized) {
        const wk__body *body = wk__body_of(x);
        wk_nn_linear_options options = state->options;
        if (body->ndim == 0) {
            wk__error_set((wk_site){0}, WK_ERR_SHAPE,
                          "lazy_linear: the input has no dimensions, so its width cannot be inferred");
            return NULL;
        }
        if (!options.dtype && wk__is_float(body->dtype)) options.dtype = body->dtype;
        if (!options.device.kind) options.device = body->storage->device->id;
        if (!add_parameters((wk_site){0}, self, body->shape[body->ndim - 1], &options)) return NULL;
        wk__module_of(self)->uninitialized = false;
    }
    return forward(self, x);
}

wk_module *wk_nn_lazy_linear_at(wk_site site, int64_t out, const wk_nn_linear_options *options)
{
    static const wk_module_kind kind = {.size = sizeof kind,
                                        .name = "lazy_linear",
                                        .state = sizeof(linear),
                                        .forward1 = lazy_forward,
                                        .describe = describe};
    wk_nn_linear_options o;
    if (out < 0) {
        wk__error_set(site, WK_ERR_SHAPE, "nn_lazy_linear: out must be at least 0, got %lld", (long long)out);
        return NULL;
    }
    wk_module *m = wk__options(site, "nn_lazy_linear", options, &o) ? wk__module_make(site, &kind) : NULL;
    if (!m) return NULL;
    *(linear *)wk__module_of(m)->state = (linear){.out = out, .options = o};
    wk__module_of(m)->uninitialized = true;
    return m;
}
