/* SPDX-License-Identifier: Apache-2.0 */
/* resnet and resnext50: residual networks of basic blocks (18 and 34 layers) or bottlenecks. */
#include "base/options.h"
#include "build.h"
#include <wick/nn_vision.h>
#include <wick/pointwise.h>

enum { STAGES = 4, MAX_CONVOLUTIONS = 3 };

/* Sizes of a network. */
typedef struct architecture {
    int depth, blocks[STAGES];
    bool bottleneck;
} architecture;

/* State of a block: its children. */
typedef struct block {
    wk_module *conv[MAX_CONVOLUTIONS], *norm[MAX_CONVOLUTIONS], *relu;
    wk_module *downsample; /* NULL: the shortcut is the input itself */
    int convolutions;
} block;

/* Widths of a block. */
typedef struct block_sizes {
    int64_t in, width, out; /* channels: of the input, between, of the output */
    int64_t stride, groups;
    bool zero; /* the last batch norm begins at 0 */
} block_sizes;

static wk_tensor *block_forward(wk_module *self, wk_tensor *x)
{
    const block *state = wk__module_of(self)->state;
    wk_tensor *y = x;
    for (int k = 0; k < state->convolutions && y; k++) {
        y = wk_forward(state->norm[k], wk_forward(state->conv[k], y));
        if (y && k + 1 < state->convolutions) y = wk_forward(state->relu, y);
    }
    if (y) y = wk_add(y, state->downsample ? wk_forward(state->downsample, x) : x);
    return y ? wk_forward(state->relu, y) : NULL;
}

static wk_module *add_convolution(wk_module *m, int k, wk__conv_sizes sizes)
{
    static const char *const convs[MAX_CONVOLUTIONS] = {"conv1", "conv2", "conv3"};
    static const char *const norms[MAX_CONVOLUTIONS] = {"bn1", "bn2", "bn3"};
    if (!m) return NULL;
    block *state = wk__module_of(m)->state;
    state->conv[k] = wk__conv(sizes);
    m = wk__with(m, convs[k], state->conv[k]);
    state->norm[k] = wk_nn_batch_norm2d(sizes.out);
    return wk__with(m, norms[k], state->norm[k]);
}

static bool zero_last_norm(const block *state)
{
    wk_tensor *weight = wk_module_parameter(state->norm[state->convolutions - 1], "weight");
    return weight && wk_init_zeros_(weight);
}

static wk_module *create_block(const architecture *of, block_sizes sizes)
{
    const wk_module_kind kind = {.size = sizeof kind,
                                 .name = of->bottleneck ? "bottleneck" : "basic_block",
                                 .state = sizeof(block),
                                 .forward1 = block_forward};
    wk_module *m = wk__module_make((wk_site){0}, &kind);
    if (!m) return NULL;
    block *state = wk__module_of(m)->state;
    state->convolutions = of->bottleneck ? 3 : 2;
    if (of->bottleneck) {
        m = add_convolution(m, 0, (wk__conv_sizes){sizes.in, sizes.width, 1, 1, 1});
        m = add_convolution(m, 1, (wk__conv_sizes){sizes.width, sizes.width, 3, sizes.stride, sizes.groups});
        m = add_convolution(m, 2, (wk__conv_sizes){sizes.width, sizes.out, 1, 1, 1});
        m = wk__with(m, "relu", state->relu = wk_nn_relu());
    } else {
        m = add_convolution(m, 0, (wk__conv_sizes){sizes.in, sizes.out, 3, sizes.stride, 1});
        m = wk__with(m, "relu", state->relu = wk_nn_relu());
        m = add_convolution(m, 1, (wk__conv_sizes){sizes.out, sizes.out, 3, 1, 1});
    }
    if (m && (sizes.stride != 1 || sizes.in != sizes.out)) {
        state->downsample = wk__conv_norm((wk__conv_sizes){sizes.in, sizes.out, 1, sizes.stride, 1});
        m = wk__with(m, "downsample", state->downsample);
    }
    return m && (!sizes.zero || zero_last_norm(state)) ? m : NULL;
}

/* ---- networks ---------------------------------------------------------------------------------------------------- */

static const architecture *find_architecture(int depth)
{
    static const architecture all[] = {{18, {2, 2, 2, 2}, false},
                                       {34, {3, 4, 6, 3}, false},
                                       {50, {3, 4, 6, 3}, true},
                                       {101, {3, 4, 23, 3}, true},
                                       {152, {3, 8, 36, 3}, true}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k].depth == depth) return &all[k];
    return NULL;
}

static wk_module *create_stages(wk_module *m, const architecture *of, const wk_nn_resnet_options *o)
{
    static const char *const names[STAGES] = {"layer1", "layer2", "layer3", "layer4"};
    const int64_t width = o->width_per_group ? o->width_per_group : 64, groups = o->groups ? o->groups : 1;
    int64_t in = 64;
    for (int stage = 0; stage < STAGES && m; stage++) {
        const int64_t planes = 64ll << stage;
        block_sizes sizes = {.in = in,
                             .width = planes * width / 64 * groups,
                             .out = of->bottleneck ? 4 * planes : planes,
                             .stride = stage ? 2 : 1,
                             .groups = groups,
                             .zero = o->zero_init_residual};
        wk_module *layer = wk_nn_sequential();
        for (int k = 0; k < of->blocks[stage] && layer; k++) {
            layer = wk__append(layer, create_block(of, sizes));
            sizes.in = in = sizes.out;
            sizes.stride = 1;
        }
        m = wk__with(m, names[stage], layer);
    }
    return m;
}

static bool check_groups(wk_site site, const char *name, const architecture *of, const wk_nn_resnet_options *o)
{
    if (o->groups < 0 || o->width_per_group < 0)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .groups and .width_per_group must be at least 1, got %lld and %lld",
                      name, (long long)o->groups, (long long)o->width_per_group);
    else if (!of->bottleneck && (o->groups > 1 || (o->width_per_group && o->width_per_group != 64)))
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: .groups (%lld) and .width_per_group (%lld) need at least 50 layers, got %d", name,
                      (long long)o->groups, (long long)o->width_per_group, of->depth);
    else
        return true;
    return false;
}

static wk_module *create(wk_site site, const char *name, const architecture *of, const wk_nn_resnet_options *o)
{
    static const wk__initial_values values = {.convolution = wk__kaiming_fan_out};
    wk__network network = {.name = name,
                           .site = site,
                           .classes = o->classes ? o->classes : 1000,
                           .in_channels = o->in_channels ? o->in_channels : 3};
    if (!check_groups(site, name, of, o) || !wk__network_begin(&network, o->device)) return NULL;
    wk_module *m = wk__classifier("res_net");
    m = wk__with(m, "conv1", wk__conv((wk__conv_sizes){network.in_channels, 64, 7, 2, 1}));
    m = wk__with(m, "bn1", wk_nn_batch_norm2d(64));
    m = wk__with(m, "relu", wk_nn_relu());
    m = wk__with(m, "maxpool", wk__stem_pool());
    m = create_stages(m, of, o);
    m = wk__with(m, "avgpool", wk__global_pool());
    m = wk__with(m, "fc", wk_nn_linear(of->bottleneck ? 2048 : 512, network.classes));
    return wk__network_end(&network, wk__initialize_network(m, &values));
}

wk_module *wk_nn_resnet_at(wk_site site, int depth, const wk_nn_resnet_options *options)
{
    static const char name[] = "nn_resnet";
    const architecture *of = find_architecture(depth);
    wk_nn_resnet_options o;
    if (!wk__options(site, name, options, &o)) return NULL;
    return of ? create(site, name, of, &o) : wk__network_unknown_depth(site, name, depth, "18, 34, 50, 101 or 152");
}

wk_module *wk_nn_resnext50_at(wk_site site, const wk_nn_resnet_options *options)
{
    static const char name[] = "nn_resnext50";
    wk_nn_resnet_options o;
    if (!wk__options(site, name, options, &o)) return NULL;
    if (!o.groups) o.groups = 32;
    if (!o.width_per_group) o.width_per_group = 4;
    return create(site, name, find_architecture(50), &o);
}
