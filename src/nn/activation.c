/* SPDX-License-Identifier: Apache-2.0 */
/* Layers without parameters: flatten and dropout. */
#include "module.h"
#include <stdio.h>
#include <wick/random.h>
#include <wick/shape.h>

/* ---- flatten: (B, ...) -> (B, product of the rest) --------------------------------------------------------------- */

static int flatten_describe(wk_module *self, char *out, size_t size)
{
    (void)self;
    return snprintf(out, size, "start_dim=1, end_dim=-1");
}

static wk_tensor *flatten_forward(wk_module *self, wk_tensor *x)
{
    (void)self;
    return wk__body_of(x)->ndim > 1 ? wk_flatten_at((wk_site){0}, x, 1, -1) : x;
}

wk_module *wk_nn_flatten_at(wk_site site)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "flatten", .forward1 = flatten_forward, .describe = flatten_describe};
    return wk__module_make(site, &kind);
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
