/* SPDX-License-Identifier: Apache-2.0 */
/* layer_norm: mean 0 and variance 1 over the last dimensions, then an elementwise scale and shift. */
#include "module.h"
#include "tensor/call_scope.h"
#include <string.h>
#include <wick/reduce.h>

/* State of the module. */
typedef struct norm {
    wk_tensor *weight, *bias; /* of `shape`; owned by the module; NULL if disabled */
    int64_t shape[WK__MAX_DIMS];
    int ndim;
    double eps;
} norm;

static wk_tensor *forward(wk_module *self, wk_tensor *x)
{
    const norm *state = wk__module_of(self)->state;
    return wk_layer_norm_at((wk_site){0}, x, state->shape, state->ndim, state->weight, state->bias, state->eps);
}

static int describe(wk_module *self, char *out, size_t size)
{
    const norm *state = wk__module_of(self)->state;
    wk__text text = {0};
    wk__text_tuple(&text, state->shape, state->ndim);
    wk__text_add(&text, ", eps=");
    wk__text_float(&text, state->eps);
    wk__text_add(&text, ", elementwise_affine=");
    wk__text_bool(&text, state->weight != NULL);
    wk__text_add(&text, ", bias=");
    wk__text_bool(&text, state->bias != NULL);
    return wk__describe_end(&text, out, size);
}

static bool add_parameters(wk_site site, wk_module *m, const wk_nn_layer_norm_options *options)
{
    norm *state = wk__module_of(m)->state;
    wk_tensor_options like = {.size = sizeof like, .dtype = options->dtype, .device = options->device};
    wk__call_scope c;
    if (options->no_affine) return true;
    if (!wk__call_begin(&c, WK__FRAME_CALL, "nn_layer_norm", site, WK__GRAD_OFF)) return false;
    wk_tensor *one = wk_ones_at(site, state->shape, state->ndim, &like);
    state->weight = one ? wk_module_add_parameter_at(site, m, "weight", one) : NULL;
    bool fine = state->weight;
    if (fine && !options->no_bias) {
        wk_tensor *zero = wk_zeros_at(site, state->shape, state->ndim, &like);
        state->bias = zero ? wk_module_add_parameter_at(site, m, "bias", zero) : NULL;
        fine = state->bias;
    }
    wk__call_end(&c, NULL, 0);
    return fine;
}

wk_module *wk_nn_layer_norm_at(wk_site site, const int64_t *shape, int ndim, const wk_nn_layer_norm_options *options)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "layer_norm", .state = sizeof(norm), .forward1 = forward, .describe = describe};
    wk_nn_layer_norm_options o;
    if (!wk__options(site, "nn_layer_norm", options, &o)) return NULL;
    if (ndim < 1 || ndim > WK__MAX_DIMS) {
        wk__error_set(site, WK_ERR_SHAPE, "nn_layer_norm: the shape must have 1 to %d dimensions, got %d", WK__MAX_DIMS,
                      ndim);
        return NULL;
    }
    if (!wk__array_check(shape, ndim, site, "nn_layer_norm", "the shape")) return NULL;
    if (!(o.eps >= 0)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "nn_layer_norm: .eps must be at least 0, got %g", o.eps);
        return NULL;
    }
    wk_module *m = wk__module_make(site, &kind);
    if (!m) return NULL;
    norm *state = wk__module_of(m)->state;
    memcpy(state->shape, shape, sizeof *shape * (size_t)ndim);
    state->ndim = ndim;
    state->eps = wk__option_or(o.eps, 1e-5);
    return add_parameters(site, m, &o) ? m : wk__module_discard(m);
}
