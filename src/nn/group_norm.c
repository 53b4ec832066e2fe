/* SPDX-License-Identifier: Apache-2.0 */
/* group_norm and local_response_norm: layers that normalise the channels of each sample, without running statistics. */
#include "affine.h"
#include "module.h"
#include <wick/reduce.h>

/* ---- group_norm -------------------------------------------------------------------------------------------------- */

/* State of group_norm. */
typedef struct group_norm {
    wk_tensor *weight, *bias; /* (channels); owned by the module; NULL if disabled */
    int64_t groups, channels;
    double eps;
} group_norm;

static wk_tensor *group_norm_forward(wk_module *self, wk_tensor *x)
{
    const group_norm *state = wk__module_of(self)->state;
    return wk_group_norm_at((wk_site){0}, x, state->groups, state->weight, state->bias, state->eps);
}

static int group_norm_describe(wk_module *self, char *out, size_t size)
{
    const group_norm *state = wk__module_of(self)->state;
    wk__text text = {0};
    wk__text_format(&text, "%lld, %lld, eps=", (long long)state->groups, (long long)state->channels);
    wk__text_float(&text, state->eps);
    wk__text_add(&text, ", affine=");
    wk__text_bool(&text, state->weight);
    wk__text_add(&text, ", bias=");
    wk__text_bool(&text, state->bias);
    return wk__describe_end(&text, out, size);
}

wk_module *wk_nn_group_norm_at(wk_site site, int64_t groups, int64_t channels, const wk_nn_group_norm_options *options)
{
    static const wk_module_kind kind = {.size = sizeof kind,
                                        .name = "group_norm",
                                        .state = sizeof(group_norm),
                                        .forward1 = group_norm_forward,
                                        .describe = group_norm_describe};
    wk_nn_group_norm_options o;
    if (!wk__options(site, "nn_group_norm", options, &o)) return NULL;
    if (groups < 1 || channels < 0 || channels % groups) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "nn_group_norm: groups must be positive and divide channels, got %lld and %lld",
                      (long long)groups, (long long)channels);
        return NULL;
    }
    if (!(o.eps >= 0)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "nn_group_norm: .eps must be at least 0, got %g", o.eps);
        return NULL;
    }
    wk_module *m = wk__module_make(site, &kind);
    if (!m) return NULL;
    group_norm *state = wk__module_of(m)->state;
    *state = (group_norm){.groups = groups, .channels = channels, .eps = wk__option_or(o.eps, 1e-5)};
    const wk_tensor_options like = {.size = sizeof like, .dtype = o.dtype, .device = o.device};
    wk_tensor **bias = o.no_bias ? NULL : &state->bias;
    if (o.no_affine || wk__affine_add(site, "nn_group_norm", m, &channels, 1, &like, &state->weight, bias)) return m;
    return wk__module_discard(m);
}

/* ---- local_response_norm ----------------------------------------------------------------------------------------- */

/* State of local_response_norm. */
typedef struct response_norm {
    int64_t size;
    double alpha, beta, k;
} response_norm;

static wk_tensor *response_norm_forward(wk_module *self, wk_tensor *x)
{
    const response_norm *state = wk__module_of(self)->state;
    return wk_local_response_norm_at((wk_site){0}, x, state->size, state->alpha, state->beta, state->k);
}

static int response_norm_describe(wk_module *self, char *out, size_t size)
{
    const response_norm *state = wk__module_of(self)->state;
    wk__text text = {0};
    wk__text_format(&text, "%lld, alpha=", (long long)state->size);
    wk__text_float(&text, state->alpha);
    wk__text_add(&text, ", beta=");
    wk__text_float(&text, state->beta);
    wk__text_add(&text, ", k=");
    wk__text_float(&text, state->k);
    return wk__describe_end(&text, out, size);
}

wk_module *wk_nn_local_response_norm_at(wk_site site, int64_t size, const wk_nn_local_response_norm_options *options)
{
    static const wk_module_kind kind = {.size = sizeof kind,
                                        .name = "local_response_norm",
                                        .state = sizeof(response_norm),
                                        .forward1 = response_norm_forward,
                                        .describe = response_norm_describe};
    wk_nn_local_response_norm_options o;
    if (!wk__options(site, "nn_local_response_norm", options, &o)) return NULL;
    if (size < 1) {
        wk__error_set(site, WK_ERR_ARGUMENT, "nn_local_response_norm: size must be at least 1, got %lld",
                      (long long)size);
        return NULL;
    }
    wk_module *m = wk__module_make(site, &kind);
    if (!m) return NULL;
    *(response_norm *)wk__module_of(m)->state = (response_norm){.size = size,
                                                                .alpha = wk__option_or(o.alpha, 1e-4),
                                                                .beta = wk__option_or(o.beta, 0.75),
                                                                .k = wk__option_or(o.k, 1)};
    return m;
}
