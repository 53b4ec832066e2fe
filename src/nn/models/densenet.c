/* SPDX-License-Identifier: Apache-2.0 */
/* densenet: blocks in which the input of each layer is the concatenated outputs of all layers before it. */
#include "base/options.h"
#include "build.h"
#include <stdio.h>
#include <wick/nn_vision.h>

enum { BLOCKS = 4, BOTTLENECK = 4 /* times growth: width inside a layer */ };

/* Sizes of a network. */
typedef struct architecture {
    int depth, layers[BLOCKS];
    int64_t growth, stem; /* channels that a layer adds; channels after the first convolution */
} architecture;

static const architecture *find_architecture(int depth)
{
    static const architecture all[] = {{121, {6, 12, 24, 16}, 32, 64},
                                       {161, {6, 12, 36, 24}, 48, 96},
                                       {169, {6, 12, 32, 32}, 32, 64},
                                       {201, {6, 12, 48, 32}, 32, 64}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k].depth == depth) return &all[k];
    return NULL;
}

static wk_module *create_layer(int64_t in, int64_t growth, double dropout)
{
    wk_module *m = wk__with(wk_nn_sequential(), "norm1", wk_nn_batch_norm2d(in));
    m = wk__with(m, "relu1", wk_nn_relu());
    m = wk__with(m, "conv1", wk__conv((wk__conv_sizes){in, BOTTLENECK * growth, 1, 1, 1}));
    m = wk__with(m, "norm2", wk_nn_batch_norm2d(BOTTLENECK * growth));
    m = wk__with(m, "relu2", wk_nn_relu());
    m = wk__with(m, "conv2", wk__conv((wk__conv_sizes){BOTTLENECK * growth, growth, 3, 1, 1}));
    return dropout > 0 ? wk__with(m, "dropout", wk_nn_dropout(dropout)) : m;
}

static wk_module *create_transition(int64_t in, int64_t out)
{
    wk_module *m = wk__with(wk_nn_sequential(), "norm", wk_nn_batch_norm2d(in));
    m = wk__with(m, "relu", wk_nn_relu());
    m = wk__with(m, "conv", wk__conv((wk__conv_sizes){in, out, 1, 1, 1}));
    return wk__with(m, "pool", wk_nn_avg_pool2d(2));
}

/* Adds a child whose name ends in a number. */
static wk_module *with_numbered(wk_module *m, const char *name, int number, wk_module *child)
{
    char text[32];
    snprintf(text, sizeof text, "%s%d", name, number);
    return wk__with(m, text, child);
}

/* Sets *width to the number of channels of the result. */
static wk_module *create_features(const architecture *of, int64_t in, double dropout, int64_t *width)
{
    *width = of->stem;
    wk_module *m = wk__with(wk_nn_sequential(), "conv0", wk__conv((wk__conv_sizes){in, of->stem, 7, 2, 1}));
    m = wk__with(m, "norm0", wk_nn_batch_norm2d(of->stem));
    m = wk__with(m, "relu0", wk_nn_relu());
    m = wk__with(m, "pool0", wk__stem_pool());
    for (int b = 0; b < BLOCKS && m; b++) {
        wk_module *block = wk__dense_block();
        for (int k = 0; k < of->layers[b]; k++) {
            block = with_numbered(block, "denselayer", k + 1, create_layer(*width, of->growth, dropout));
            *width += of->growth;
        }
        m = with_numbered(m, "denseblock", b + 1, block);
        if (b + 1 == BLOCKS) continue;
        m = with_numbered(m, "transition", b + 1, create_transition(*width, *width / 2));
        *width /= 2;
    }
    return wk__with(m, "norm5", wk_nn_batch_norm2d(*width));
}

wk_module *wk_nn_densenet_at(wk_site site, int depth, const wk_nn_dropout_model_options *options)
{
    static const wk__initial_values values = {.convolution = wk__kaiming_fan_in, .linear_bias_zero = true};
    const architecture *of = find_architecture(depth);
    wk_nn_dropout_model_options o;
    if (!wk__options(site, "nn_densenet", options, &o)) return NULL;
    if (!of) return wk__network_unknown_depth(site, "nn_densenet", depth, "121, 161, 169 or 201");
    wk__network network = {.name = "nn_densenet",
                           .site = site,
                           .classes = o.classes ? o.classes : 1000,
                           .in_channels = o.in_channels ? o.in_channels : 3};
    if (!wk__network_begin(&network, o.device)) return NULL;
    int64_t width;
    wk_module *m = wk__classifier("dense_net");
    m = wk__with(m, "features", create_features(of, network.in_channels, wk__option_or(o.dropout, 0), &width));
    m = wk__with(m, "relu", wk_nn_relu());
    m = wk__with(m, "avgpool", wk__global_pool());
    m = wk__with(m, "classifier", wk_nn_linear(width, network.classes));
    return wk__network_end(&network, wk__initialize_network(m, &values));
}
