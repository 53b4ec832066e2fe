/* SPDX-License-Identifier: Apache-2.0 */
/* layer_norm: mean 0 and variance 1 over the last dimensions, then an elementwise scale and shift. */
#include "affine.h"
#include "module.h"
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

wk_module *wk_nn_layer_norm_at(wk_site site, const int64_t *shape, int ndim, const wk_nn_layer_norm_options *options)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "layer_norm", .state = sizeof(norm), .forward1 = forward, .describe = describe};
    wk_nn_layer_norm_options o;
    if (!wk__options(site, "nn_layer_norm", options, &o)) return NULL;
    if (!wk__norm_check(site, "nn_layer_norm", shape, ndim, o.eps)) return NULL;
    wk_module *m = wk__module_make(site, &kind);
    if (!m) return NULL;
    norm *state = wk__module_of(m)->state;
    memcpy(state->shape, shape, sizeof *shape * (size_t)ndim);
    state->ndim = ndim;
    state->eps = wk__option_or(o.eps, 1e-5);
    const wk_tensor_options like = {.size = sizeof like, .dtype = o.dtype, .device = o.device};
    wk_tensor **bias = o.no_bias ? NULL : &state->bias;
    if (o.no_affine || wk__affine_add(site, "nn_layer_norm", m, shape, ndim, &like, &state->weight, bias)) return m;
    return wk__module_discard(m);
}
