/* SPDX-License-Identifier: Apache-2.0 */
/* Layers without parameters: flatten, relu, sigmoid, tanh, gelu. */
#include "module.h"
#include <wick/pointwise.h>
#include <wick/shape.h>

typedef wk_tensor *function(wk_site site, wk_tensor *x);

static wk_tensor *apply(wk_module *self, wk_tensor *x)
{
    function *const *of = wk__module_of(self)->state;
    return (*of)((wk_site){0}, x);
}

static wk_module *layer(wk_site site, const char *name, function *of)
{
    wk_module_kind kind = {.size = sizeof kind, .name = name, .state = sizeof of, .forward1 = apply};
    wk_module *m = wk__module_make(site, &kind);
    if (m) *(function **)wk__module_of(m)->state = of;
    return m;
}

/* (B, ...) -> (B, product of the rest) */
static wk_tensor *flatten(wk_site site, wk_tensor *x)
{
    return wk__body_of(x)->ndim > 1 ? wk_flatten_at(site, x, 1, -1) : x;
}

static wk_tensor *gelu(wk_site site, wk_tensor *x)
{
    return wk_gelu_at(site, x, NULL);
}

wk_module *wk_nn_flatten_at(wk_site site)
{
    return layer(site, "flatten", flatten);
}

wk_module *wk_nn_relu_at(wk_site site)
{
    return layer(site, "relu", wk_relu_at);
}

wk_module *wk_nn_sigmoid_at(wk_site site)
{
    return layer(site, "sigmoid", wk_sigmoid_at);
}

wk_module *wk_nn_tanh_at(wk_site site)
{
    return layer(site, "tanh", wk_tanh_at);
}

wk_module *wk_nn_gelu_at(wk_site site)
{
    return layer(site, "gelu", gelu);
}
