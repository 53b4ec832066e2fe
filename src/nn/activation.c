/* SPDX-License-Identifier: Apache-2.0 */
/* Layers without parameters: flatten, relu, sigmoid, tanh, gelu, dropout. */
#include "module.h"
#include <stdio.h>
#include <wick/activation.h>
#include <wick/pointwise.h>
#include <wick/random.h>
#include <wick/shape.h>

/* ---- one function of one tensor ---------------------------------------------------------------------------------- */

/* State of the module. */
typedef struct function {
    wk_tensor *(*of)(wk_site site, wk_tensor *x);
    const char *options; /* as wk_module_print writes them; static */
} function;

static wk_tensor *apply(wk_module *self, wk_tensor *x)
{
    const function *state = wk__module_of(self)->state;
    return state->of((wk_site){0}, x);
}

static int describe(wk_module *self, char *out, size_t size)
{
    const function *state = wk__module_of(self)->state;
    return snprintf(out, size, "%s", state->options);
}

static wk_module *layer(wk_site site, const char *name, function of)
{
    const wk_module_kind kind = {
        .size = sizeof kind, .name = name, .state = sizeof of, .forward1 = apply, .describe = describe};
    wk_module *m = wk__module_make(site, &kind);
    if (m) *(function *)wk__module_of(m)->state = of;
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
    return layer(site, "flatten", (function){flatten, "start_dim=1, end_dim=-1"});
}

wk_module *wk_nn_relu_at(wk_site site)
{
    return layer(site, "relu", (function){wk_relu_at, ""});
}

wk_module *wk_nn_sigmoid_at(wk_site site)
{
    return layer(site, "sigmoid", (function){wk_sigmoid_at, ""});
}

wk_module *wk_nn_tanh_at(wk_site site)
{
    return layer(site, "tanh", (function){wk_tanh_at, ""});
}

wk_module *wk_nn_gelu_at(wk_site site)
{
    return layer(site, "gelu", (function){gelu, "approximate='none'"});
}

/* ---- dropout ----------------------------------------------------------------------------------------------------- */

static wk_tensor *dropout_forward(wk_module *self, wk_tensor *x)
{
    const double *p = wk__module_of(self)->state;
    return wk_dropout_at((wk_site){0}, x, *p, !wk__module_of(self)->eval);
}

static int dropout_describe(wk_module *self, char *out, size_t size)
{
    const double *p = wk__module_of(self)->state;
    wk__text text = {0};
    wk__text_add(&text, "p=");
    wk__text_float(&text, *p);
    wk__text_add(&text, ", inplace=False");
    return wk__describe_end(&text, out, size);
}

wk_module *wk_nn_dropout_at(wk_site site, double p)
{
    static const wk_module_kind kind = {.size = sizeof kind,
                                        .name = "dropout",
                                        .state = sizeof p,
                                        .forward1 = dropout_forward,
                                        .describe = dropout_describe};
    if (!(p >= 0 && p <= 1)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "nn_dropout: p must be in [0, 1], got %g", p);
        return NULL;
    }
    wk_module *m = wk__module_make(site, &kind);
    if (m) *(double *)wk__module_of(m)->state = p;
    return m;
}
