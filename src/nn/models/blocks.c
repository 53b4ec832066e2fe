/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that several networks have. Their children run in the order in which they were added, so that parameters are
 * listed as in torchvision. */
#include "build.h"
#include <wick/nn_vision.h>
#include <wick/pointwise.h>
#include <wick/shape.h>

/* Returns child number k of a module, in which other items may stand before it; NULL after the last. */
static wk_module *next_child(const wk__module *body, int64_t *k)
{
    while (*k < body->items && body->item[*k].kind != WK__CHILD) ++*k;
    return *k < body->items ? body->item[(*k)++].module : NULL;
}

static wk_module *stateless(const char *name, wk_tensor *(*forward)(wk_module *, wk_tensor *))
{
    const wk_module_kind kind = {.size = sizeof kind, .name = name, .forward1 = forward};
    return wk__module_make((wk_site){0}, &kind);
}

/* ---- containers -------------------------------------------------------------------------------------------------- */

static wk_tensor *classify(wk_module *self, wk_tensor *x)
{
    const wk__module *body = wk__module_of(self);
    int64_t k = 0;
    wk_module *child = next_child(body, &k), *next;
    for (; child && x; child = next) {
        next = next_child(body, &k);
        if (!next) x = wk_flatten(x, 1, -1);
        x = wk_forward(child, x);
    }
    return x;
}

wk_module *wk__classifier(const char *kind_name)
{
    return stateless(kind_name, classify);
}

enum { MAX_BRANCHES = 8 };

static wk_tensor *concatenate(wk_module *self, wk_tensor *x)
{
    const wk__module *body = wk__module_of(self);
    wk_tensor *out[MAX_BRANCHES];
    int64_t k = 0;
    int count = 0;
    for (wk_module *child; count < MAX_BRANCHES && (child = next_child(body, &k));) {
        out[count] = wk_forward(child, x);
        if (!out[count++]) return NULL;
    }
    return wk_cat(WK_ARRAY(out, count), 1);
}

wk_module *wk__branches(const char *kind_name)
{
    return stateless(kind_name, concatenate);
}

static wk_tensor *densely(wk_module *self, wk_tensor *x)
{
    const wk__module *body = wk__module_of(self);
    int64_t k = 0;
    for (wk_module *child; x && (child = next_child(body, &k));) {
        wk_tensor *more = wk_forward(child, x);
        x = more ? wk_cat((x, more), 1) : NULL;
    }
    return x;
}

wk_module *wk__dense_block(void)
{
    return stateless("dense_block", densely);
}

static wk_tensor *scale(wk_module *self, wk_tensor *x)
{
    const wk__module *body = wk__module_of(self);
    wk_tensor *factor = x;
    int64_t k = 0;
    for (wk_module *child; factor && (child = next_child(body, &k));) factor = wk_forward(child, factor);
    return factor ? wk_mul(factor, x) : NULL;
}

wk_module *wk__scaled_by_children(const char *kind_name)
{
    return stateless(kind_name, scale);
}

static wk_tensor *add_residual(wk_module *self, wk_tensor *x)
{
    const wk__residual *state = wk__module_of(self)->state;
    wk_tensor *out = wk_forward(state->branch, x);
    if (out && !state->branch_only) out = wk_add(state->shortcut ? wk_forward(state->shortcut, x) : x, out);
    return out && state->activation ? wk_forward(state->activation, out) : out;
}

wk_module *wk__residual_block(const char *kind_name)
{
    const wk_module_kind kind = {
        .size = sizeof kind, .name = kind_name, .state = sizeof(wk__residual), .forward1 = add_residual};
    return wk__module_make((wk_site){0}, &kind);
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

wk_module *wk__conv(wk__conv_sizes sizes)
{
    return wk_nn_conv2d(sizes.in, sizes.out, sizes.kernel, .stride = sizes.stride, .padding = sizes.kernel / 2,
                        .groups = sizes.groups, .no_bias = true);
}

wk_module *wk__conv_norm(wk__conv_sizes sizes)
{
    wk_module *m = wk__append(wk_nn_sequential(), wk__conv(sizes));
    return wk__append(m, wk_nn_batch_norm2d(sizes.out));
}

wk_module *wk__stem_pool(void)
{
    return wk_nn_max_pool2d(3, .stride = 2, .padding = 1);
}

wk_module *wk__global_pool(void)
{
    return wk_nn_adaptive_avg_pool2d((1, 1));
}
