/* SPDX-License-Identifier: Apache-2.0 */
/* quantized_linear: a linear layer whose weight stays in quantised blocks, a buffer; and linear layers of a module that
 * become such layers. The buffer has the name of its format, so that a file of one format is not read as another. */
#include "quantized_linear.h"
#include "base/alloc.h"
#include "nn/lora/adapter.h"
#include "ops/quantized/quantized.h"
#include "tensor/call_scope.h"
#include <stdio.h>
#include <string.h>
#include <wick/ops.h>

static wk_tensor *forward(wk_module *self, wk_tensor *x)
{
    const wk__quantized_linear *state = wk__module_of(self)->state;
    const wk_block_options options = {.size = sizeof options, .format = state->format};
    return wk_quantized_linear_at((wk_site){0}, x, state->weight, state->bias, &options);
}

static int describe(wk_module *self, char *out, size_t size)
{
    const wk__quantized_linear *state = wk__module_of(self)->state;
    wk__text text = {0};
    wk__text_format(&text, "in_features=%lld, out_features=%lld, bias=", (long long)state->in, (long long)state->out);
    wk__text_bool(&text, state->bias != NULL);
    wk__text_format(&text, ", format='%s'", wk__block_formats[state->format].name);
    return wk__describe_end(&text, out, size);
}

void wk__blocks_name(wk_block_format format, char name[WK__BLOCKS_NAME])
{
    snprintf(name, WK__BLOCKS_NAME, "weight_%s", wk__block_formats[format].name);
}

bool wk__is_blocks_name(const char *name, size_t *length, wk_block_format *format)
{
    const size_t all = strlen(name);
    for (int k = 0; k < WK__BLOCK_OP_FORMATS; k++) {
        char end[WK__BLOCKS_NAME];
        wk__blocks_name((wk_block_format)k, end);
        const size_t path = all > strlen(end) ? all - strlen(end) : 0;
        if (path < 2 || name[path - 1] != '.' || strcmp(name + path, end) != 0) continue;
        *length = path;
        *format = (wk_block_format)k;
        return true;
    }
    return false;
}

/* Adds blocks, and a bias unless it is NULL. Returns m, or NULL on error, which frees it. */
static wk_module *add_tensors(wk_site site, wk_module *m, wk_tensor *blocks, wk_tensor *bias)
{
    wk__quantized_linear *state = wk__module_of(m)->state;
    char name[WK__BLOCKS_NAME];
    wk__blocks_name(state->format, name);
    state->weight = blocks ? wk_module_set_buffer_at(site, m, name, blocks) : NULL;
    if (state->weight && bias) state->bias = wk_module_add_parameter_at(site, m, "bias", bias);
    return state->weight && (state->bias || !bias) ? m : wk__module_discard(m);
}

static const wk_module_kind kind = {.size = sizeof kind,
                                    .name = "quantized_linear",
                                    .state = sizeof(wk__quantized_linear),
                                    .forward1 = forward,
                                    .describe = describe};

const wk__quantized_linear *wk__quantized_linear_state(const wk_module *m)
{
    const wk__module *body = wk__module_of(m);
    return body->builtin && strcmp(body->kind.name, kind.name) == 0 ? body->state : NULL;
}

static wk_module *make(wk_site site, int64_t in, int64_t out, wk_block_format format)
{
    wk_module *m = wk__module_make(site, &kind);
    if (m)
        *(wk__quantized_linear *)wk__module_of(m)->state =
            (wk__quantized_linear){.in = in, .out = out, .format = format};
    return m;
}

/* Returns blocks of zeros, (out, bytes of a row of `in` elements). */
static wk_tensor *zero_blocks(wk_site site, int64_t in, int64_t out, wk_block_format format, wk_device device)
{
    const wk_tensor_options like = {.size = sizeof like, .dtype = WK_U8, .device = device};
    const wk__block_format *f = &wk__block_formats[format];
    return wk_zeros_at(site, (const int64_t[]){out, in / f->elements * f->bytes}, 2, &like);
}

static bool check_sizes(wk_site site, int64_t in, int64_t out, wk_block_format format)
{
    static const char op[] = "nn_quantized_linear";
    const wk__block_format *f = wk__block_format_of(op, site, format);
    if (!f) return false;
    if (in >= 0 && out >= 0 && in % f->elements == 0) return true;
    wk__error_set(site, WK_ERR_SHAPE,
                  "%s: in must be a multiple of %d, the elements of a block of %s, and out at least 0, got %lld and "
                  "%lld",
                  op, f->elements, f->name, (long long)in, (long long)out);
    return false;
}

wk_module *wk_nn_quantized_linear_at(wk_site site, int64_t in, int64_t out,
                                     const wk_nn_quantized_linear_options *options)
{
    wk_nn_quantized_linear_options o;
    wk__call_scope c;
    if (!wk__options(site, "nn_quantized_linear", options, &o) || !check_sizes(site, in, out, o.format)) return NULL;
    wk_module *m = make(site, in, out, o.format);
    if (!m || !wk__call_begin(&c, WK__FRAME_CALL, "nn_quantized_linear", site, WK__GRAD_OFF))
        return m ? wk__module_discard(m) : NULL;
    const wk_tensor_options like = {.size = sizeof like, .dtype = o.dtype, .device = o.device};
    wk_tensor *bias = o.no_bias ? NULL : wk_zeros_at(site, &out, 1, &like);
    m = bias || o.no_bias ? add_tensors(site, m, zero_blocks(site, in, out, o.format, o.device), bias)
                          : wk__module_discard(m);
    wk__call_end(&c, NULL, 0);
    return m;
}

/* ---- linear layers ----------------------------------------------------------------------------------------------- */

static wk_tensor *item_of(const wk_module *m, const char *name)
{
    const wk__item *item = wk__module_item(wk__module_of(m), name, strlen(name));
    return item ? item->tensor : NULL;
}

bool wk__linear_fits_blocks(const wk_module *m, wk_block_format format)
{
    const wk__module *body = wk__module_of(m);
    const wk_tensor *weight = body->builtin && strcmp(body->kind.name, "linear") == 0 ? item_of(m, "weight") : NULL;
    return weight && wk__body_of(weight)->shape[1] % wk__block_formats[format].elements == 0;
}

wk_module *wk__quantized_linear_of(wk_site site, const wk_module *linear, wk_block_format format, bool empty)
{
    wk_tensor *weight = item_of(linear, "weight");
    const wk__body *body = wk__body_of(weight);
    const wk_block_options options = {.size = sizeof options, .format = format};
    const int64_t out = body->shape[0], in = body->shape[1];
    wk_module *m = make(site, in, out, format);
    if (!m) return NULL;
    wk_tensor *blocks =
        empty ? zero_blocks(site, in, out, format, wk_device_of(weight)) : wk_quantize_at(site, weight, &options);
    m = add_tensors(site, m, blocks, item_of(linear, "bias"));
    if (m) wk__module_of(m)->eval = wk__module_of(linear)->eval;
    return m;
}

/* Returns true if entry k is a matrix of an adapter (wick/nn_lora.h), which stays a parameter. */
static bool is_of_adapter(const wk__module_tree *tree, int64_t k)
{
    const wk__lora *l = wk__lora_of(tree->entry[tree->entry[k].parent].module);
    return l && tree->entry[k].module != l->base;
}

/* Creates the layers that replace those of the tree, now[k] for entry k. Returns false on error. */
static bool make_layers(wk_site site, const wk__module_tree *tree, wk_block_format format, wk_module **now)
{
    for (int64_t k = 1; k < tree->count; k++) {
        if (!wk__linear_fits_blocks(tree->entry[k].module, format) || is_of_adapter(tree, k)) continue;
        now[k] = wk__quantized_linear_of(site, tree->entry[k].module, format, false);
        if (!now[k]) return false;
    }
    return true;
}

/* Replaces each layer k of the tree that has now[k]. */
static void replace_layers(wk_site site, const char *op, const wk__module_tree *tree, wk_module *const now[])
{
    for (int64_t k = 0; k < tree->count; k++) {
        wk_module *old = tree->entry[k].module;
        if (now[k]) wk__handle_hold(&old->handle);
    }
    for (int64_t k = 0; k < tree->count; k++)
        if (now[k]) wk__module_tree_replace(tree, site, op, tree->entry[k].module, now[k]);
    for (int64_t k = 0; k < tree->count; k++) {
        wk_module *old = tree->entry[k].module;
        if (now[k]) wk__handle_drop_by(&old->handle, op, site);
    }
}

/* Replaces the layers in a call scope. Returns false on error, which leaves all as they are. */
static bool quantize_tree(wk_site site, const char *op, const wk__module_tree *tree, wk_block_format format)
{
    wk__call_scope c;
    wk_module **now = wk__alloc_zero((size_t)tree->count, sizeof(wk_module *));
    bool fine = now && wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF);
    if (!now) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    if (fine) {
        fine = make_layers(site, tree, format, now);
        if (fine) replace_layers(site, op, tree, now);
        wk__call_end(&c, NULL, 0);
    }
    wk__free(now);
    return fine;
}

wk_module *wk_module_quantize_at(wk_site site, wk_module *m, const wk_block_options *options)
{
    static const char op[] = "module_quantize";
    wk_block_options o;
    wk__module_tree tree;
    if (!wk__options(site, op, options, &o) || !wk__module_check(m, site, op)) return NULL;
    if (!wk__block_format_of(op, site, o.format)) return NULL;
    if (wk__module_of(m)->builtin && strcmp(wk__module_of(m)->kind.name, "linear") == 0) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: a linear layer cannot replace itself; pass a module that contains it, such as "
                      "wk_nn_sequential(layer)",
                      op);
        return NULL;
    }
    if (!wk__module_tree_build(&tree, m, site)) return NULL;
    const bool fine = quantize_tree(site, op, &tree, o.format);
    wk__module_tree_free(&tree);
    return fine ? m : NULL;
}
