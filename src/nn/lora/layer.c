/* SPDX-License-Identifier: Apache-2.0 */
/* A linear layer with an adapter: W x + b + s B A dropout(x). */
#include "adapter.h"
#include "nn/models/build.h"
#include "nn/quantized_linear.h"
#include <math.h>
#include <string.h>
#include <wick/matmul.h>
#include <wick/ops.h>

static const char kind_name[] = "lora_linear", merge_op[] = "nn_lora_merge";

const wk__lora *wk__lora_of(const wk_module *m)
{
    const wk__module *body = wk__module_of(m);
    return body->builtin && strcmp(body->kind.name, kind_name) == 0 ? body->state : NULL;
}

bool wk__lora_is_linear(const wk_module *m, bool *transposed)
{
    static const char *const kinds[] = {"linear", "lazy_linear", "quantized_linear", "conv1D"};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    const wk__module *body = wk__module_of(m);
    int k = 0;
    while (k < KINDS && !(body->builtin && strcmp(body->kind.name, kinds[k]) == 0)) k++;
    *transposed = k == KINDS - 1;
    return k < KINDS;
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

static double scaling(const wk__lora_config *config)
{
    const double r = (double)config->r;
    return config->alpha / (config->rslora ? sqrt(r) : r);
}

static wk_tensor *forward(wk_module *self, wk_tensor *x)
{
    const wk__lora *l = wk__module_of(self)->state;
    wk_tensor *out = wk_forward(l->base, x), *a = wk_module_parameter(l->a, "weight");
    if (!out || !a) return NULL;
    wk_tensor *low = wk_to_dtype(x, wk_dtype_of(a));
    if (l->dropout) low = wk_forward(l->dropout, low);
    low = wk_forward(l->b, wk_forward(l->a, low));
    return low ? wk_to_dtype(wk_add(out, wk_mul(low, scaling(&l->config))), wk_dtype_of(out)) : NULL;
}

static int describe(wk_module *self, char *out, size_t size)
{
    const wk__lora *l = wk__module_of(self)->state;
    wk__text text = {0};
    wk__text_format(&text, "r=%lld, lora_alpha=", (long long)l->config.r);
    wk__text_float(&text, l->config.alpha);
    if (l->config.rslora) wk__text_add(&text, ", use_rslora=True");
    return wk__describe_end(&text, out, size);
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

bool wk__lora_config_check(wk_site site, const char *op, const wk__lora_config *config)
{
    if (config->r < 1)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .r must be at least 1, got %lld", op, (long long)config->r);
    else if (!isfinite(config->alpha))
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .lora_alpha must be finite, got %g", op, config->alpha);
    else if (!(config->dropout >= 0 && config->dropout < 1))
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .lora_dropout must be in [0, 1), got %g", op, config->dropout);
    else
        return true;
    return false;
}

wk_module *wk__lora_create(wk_module *base, const wk__lora_config *config)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = kind_name, .state = sizeof(wk__lora), .forward1 = forward, .describe = describe};
    bool transposed;
    const wk__quantized_linear *quantized = wk__quantized_linear_state(base);
    wk_tensor *weight = !wk__lora_is_linear(base, &transposed) ? NULL
                        : quantized                            ? quantized->weight
                                                               : wk_module_parameter(base, "weight");
    wk_module *m = weight ? wk__module_make((wk_site){0}, &kind) : NULL;
    if (!m) return NULL;
    const wk_dtype dtype = wk_dtype_of(weight) == WK_F64 ? WK_F64 : WK_F32;
    const wk_device device = wk_device_of(weight);
    const int64_t in = quantized ? quantized->in : wk_size(weight, transposed ? 0 : 1);
    const int64_t out = quantized ? quantized->out : wk_size(weight, transposed ? 1 : 0);
    wk__lora *l = wk__module_of(m)->state;
    *l = (wk__lora){.base = base, .config = *config};
    m = wk__with(m, "base_layer", base);
    if (config->dropout > 0) m = wk__with(m, "lora_dropout", l->dropout = wk_nn_dropout(config->dropout));
    m = wk__with(m, "lora_A", l->a = wk_nn_linear(in, config->r, .no_bias = true, .dtype = dtype, .device = device));
    m = wk__with(m, "lora_B", l->b = wk_nn_linear(config->r, out, .no_bias = true, .dtype = dtype, .device = device));
    if (!m || !wk_init_zeros_(wk_module_parameter(l->b, "weight"))) return NULL;
    return wk_module_train(m, wk_module_training(base));
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

/* Adds the adapter to the weight of the linear layer. Returns false on error, and changes nothing. */
static bool merge(const wk__lora *l)
{
    bool transposed;
    if (!wk__lora_is_linear(l->base, &transposed)) {
        wk__error_set((wk_site){0}, WK_ERR_STATE, "%s: a base_layer has been replaced by a %s", merge_op,
                      wk__module_of(l->base)->kind.name);
        return false;
    }
    wk_tensor *weight = wk_module_parameter(l->base, "weight"), *a = wk_module_parameter(l->a, "weight"),
              *b = wk_module_parameter(l->b, "weight");
    wk_tensor *product = weight && a && b ? wk_mul(wk_matmul(b, a), scaling(&l->config)) : NULL;
    if (product && transposed) product = wk_transpose(product, 0, 1);
    wk_tensor *sum = product ? wk_to_dtype(wk_add(weight, product), wk_dtype_of(weight)) : NULL;
    return sum && wk__assign_one(weight, sum);
}

/* Merges one layer in a new scope and restores the linear layer. Returns false on error. */
static bool merge_layer(wk_site site, const wk__module_tree *tree, const wk_module *layer)
{
    const wk__lora *l = wk__lora_of(layer);
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALL, merge_op, site, WK__GRAD_OFF)) return false;
    const bool fine = merge(l);
    if (fine) wk__module_tree_replace(tree, site, merge_op, layer, l->base);
    wk__call_end(&c, NULL, 0);
    return fine;
}

/* Reports a layer with an adapter whose weight cannot become the sum. Returns false if there is one. */
static bool check_weights(wk_site site, const wk__module_tree *tree)
{
    for (int64_t k = 1; k < tree->count; k++) {
        const wk__lora *l = wk__lora_of(tree->entry[k].module);
        if (!l || !wk__quantized_linear_state(l->base)) continue;
        wk__error_set(site, WK_ERR_UNSUPPORTED,
                      "%s: the weight of \"%.60s\" is quantised, and blocks cannot represent the sum; keep the "
                      "adapters and save them with wk_nn_lora_save",
                      merge_op, tree->entry[k].name);
        return false;
    }
    return true;
}

/* Merges all layers of a tree. Returns false on error. */
static bool merge_tree(wk_site site, const wk__module_tree *tree)
{
    int64_t merged = 0;
    bool fine = true;
    for (int64_t k = 0; k < tree->count; k++) wk__handle_hold(&tree->entry[k].module->handle);
    for (int64_t k = 1; k < tree->count && fine; k++) {
        if (!wk__lora_of(tree->entry[k].module)) continue;
        fine = merge_layer(site, tree, tree->entry[k].module);
        merged++;
    }
    if (fine && merged == 0) wk__lora_report_none(site, merge_op, tree->entry[0].module);
    for (int64_t k = 0; k < tree->count; k++) wk__handle_drop(&tree->entry[k].module->handle);
    return fine && merged > 0;
}

void wk__lora_report_none(wk_site site, const char *op, const wk_module *net)
{
    wk__error_set(site, WK_ERR_STATE, "%s: the %s has no adapters; call wk_nn_lora or wk_nn_lora_load first", op,
                  wk__module_of(net)->kind.name);
}

wk_module *wk_nn_lora_merge_at(wk_site site, wk_module *net)
{
    wk__call_scope c;
    wk__module_tree tree;
    if (!wk__module_check(net, site, merge_op) || !wk__call_begin(&c, WK__FRAME_CALL, merge_op, site, WK__GRAD_OFF))
        return NULL;
    bool fine = wk__module_tree_build(&tree, net, site);
    if (fine) {
        fine = check_weights(site, &tree) && merge_tree(site, &tree);
        wk__module_tree_free(&tree);
    }
    wk__call_end(&c, NULL, 0);
    return fine ? net : NULL;
}
