/* SPDX-License-Identifier: Apache-2.0 */
/* Construction of ready networks: call scopes, options, initial values. */
#include "build.h"
#include <string.h>
#include <wick/tensor.h>

bool wk__model_sizes(wk_site site, const char *name, const wk__model_size *sizes, int count)
{
    for (int k = 0; k < count; k++) {
        if (*sizes[k].value == 0) *sizes[k].value = sizes[k].usual;
        if (*sizes[k].value > 0) continue;
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .%s must be at least 1, got %lld", name, sizes[k].option,
                      (long long)*sizes[k].value);
        return false;
    }
    return true;
}

bool wk__model_heads_check(wk_site site, const char *name, int64_t hidden_size, int64_t num_attention_heads)
{
    if (hidden_size % num_attention_heads == 0) return true;
    wk__error_set(site, WK_ERR_ARGUMENT,
                  "%s: .hidden_size must be a multiple of .num_attention_heads, got %lld and %lld", name,
                  (long long)hidden_size, (long long)num_attention_heads);
    return false;
}

bool wk__network_open(wk__network *network, wk_device device)
{
    if (!wk__call_begin(&network->call, WK__FRAME_CALL, network->name, network->site, WK__GRAD_KEPT)) return false;
    if (device.kind) (void)wk_device_guard_open(network->site, device); /* the end of the call closes it */
    return true;
}

bool wk__network_begin(wk__network *network, wk_device device)
{
    const wk__model_size sizes[] = {{"classes", &network->classes, 0}, {"in_channels", &network->in_channels, 0}};
    return wk__model_sizes(network->site, network->name, sizes, 2) && wk__network_open(network, device);
}

wk_module *wk__network_end(wk__network *network, wk_module *m)
{
    if (m) wk__handle_keep(&m->handle, network->call.site);
    wk__call_end(&network->call, NULL, 0);
    return m;
}

wk_module *wk__network_unknown_depth(wk_site site, const char *name, int depth, const char *expected)
{
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: unknown depth %d; expected %s", name, depth, expected);
    return NULL;
}

wk_module *wk__with(wk_module *m, const char *name, wk_module *child)
{
    return m && child && wk_module_add(m, name, child) ? m : NULL;
}

wk_module *wk__append(wk_module *m, wk_module *child)
{
    return m && child && wk_module_append(m, child) ? m : NULL;
}

/* ---- initial values ---------------------------------------------------------------------------------------------- */

wk_tensor *wk__kaiming_fan_in(wk_tensor *weight)
{
    return wk_init_kaiming_normal_(weight);
}

wk_tensor *wk__kaiming_fan_out(wk_tensor *weight)
{
    return wk_init_kaiming_normal_(weight, .fan_out = true);
}

wk_tensor *wk__normal_001(wk_tensor *weight)
{
    return wk_init_normal_(weight, 0, 0.01);
}

wk_tensor *wk__xavier(wk_tensor *weight)
{
    return wk_init_xavier_uniform_(weight);
}

/* Layers without a weight of two or more dimensions, as batch norm, keep their values. */
static bool initialize_layer(const wk__module *layer, const wk__initial_values *values)
{
    const wk__item *weight = wk__module_item(layer, "weight", 6), *bias = wk__module_item(layer, "bias", 4);
    const int ndim = weight && weight->kind == WK__PARAMETER ? wk__body_of(weight->tensor)->ndim : 0;
    if (ndim < 2) return true;
    wk__initialize *const initialize = ndim == 2 ? values->linear : values->convolution;
    const bool bias_zero = ndim == 2 ? values->linear_bias_zero : values->convolution_bias_zero;
    return (!initialize || initialize(weight->tensor)) && (!bias || !bias_zero || wk_init_zeros_(bias->tensor));
}

wk_module *wk__initialize_network(wk_module *m, const wk__initial_values *values)
{
    wk__module_tree tree;
    if (!m || !wk__module_tree_build(&tree, m, (wk_site){0})) return NULL;
    bool fine = true;
    for (int64_t k = 0; k < tree.count && fine; k++)
        fine = initialize_layer(wk__module_of(tree.entry[k].module), values);
    wk__module_tree_free(&tree);
    return fine ? m : NULL;
}
