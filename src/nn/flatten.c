/* SPDX-License-Identifier: Apache-2.0 */
/* flatten, a layer without parameters. */
#include "module.h"
#include <stdio.h>
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
