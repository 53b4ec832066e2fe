/* SPDX-License-Identifier: Apache-2.0 */
/* vgg: stages of 3 x 3 convolutions, each followed by pooling, and three linear layers. */
#include "base/options.h"
#include "build.h"
#include <wick/nn_vision.h>

enum { STAGES = 5 };

/* Sizes of a network: the number of convolutions of each stage. */
typedef struct architecture {
    int depth, convolutions[STAGES];
} architecture;

static const architecture *find_architecture(int depth)
{
    static const architecture all[] = {
        {11, {1, 1, 2, 2, 2}}, {13, {2, 2, 2, 2, 2}}, {16, {2, 2, 3, 3, 3}}, {19, {2, 2, 4, 4, 4}}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k].depth == depth) return &all[k];
    return NULL;
}

static wk_module *create_features(const architecture *of, int64_t in, bool batch_norm)
{
    static const int64_t widths[STAGES] = {64, 128, 256, 512, 512};
    wk_module *m = wk_nn_sequential();
    for (int stage = 0; stage < STAGES && m; stage++) {
        for (int k = 0; k < of->convolutions[stage] && m; k++) {
            m = wk__append(m, wk_nn_conv2d(in, widths[stage], 3, .padding = 1));
            in = widths[stage];
            if (batch_norm) m = wk__append(m, wk_nn_batch_norm2d(in));
            m = wk__append(m, wk_nn_relu());
        }
        m = wk__append(m, wk_nn_max_pool2d(2));
    }
    return m;
}

static wk_module *create_classifier(int64_t classes, double dropout)
{
    wk_module *m = wk__append(wk_nn_sequential(), wk_nn_linear(512 * 7 * 7, 4096));
    m = wk__append(m, wk_nn_relu());
    m = wk__append(m, wk_nn_dropout(dropout));
    m = wk__append(m, wk_nn_linear(4096, 4096));
    m = wk__append(m, wk_nn_relu());
    m = wk__append(m, wk_nn_dropout(dropout));
    return wk__append(m, wk_nn_linear(4096, classes));
}

wk_module *wk_nn_vgg_at(wk_site site, int depth, const wk_nn_vgg_options *options)
{
    static const wk__initial_values values = {.convolution = wk__kaiming_fan_out,
                                              .linear = wk__normal_001,
                                              .convolution_bias_zero = true,
                                              .linear_bias_zero = true};
    const architecture *of = find_architecture(depth);
    wk_nn_vgg_options o;
    if (!wk__options(site, "nn_vgg", options, &o)) return NULL;
    if (!of) return wk__network_unknown_depth(site, "nn_vgg", depth, "11, 13, 16 or 19");
    wk__network network = {.name = "nn_vgg",
                           .site = site,
                           .classes = o.classes ? o.classes : 1000,
                           .in_channels = o.in_channels ? o.in_channels : 3};
    if (!wk__network_begin(&network, o.device)) return NULL;
    wk_module *m = wk__with(wk__classifier("vgg"), "features", create_features(of, network.in_channels, o.batch_norm));
    m = wk__with(m, "avgpool", wk_nn_adaptive_avg_pool2d((7, 7)));
    m = wk__with(m, "classifier", create_classifier(network.classes, wk__option_or(o.dropout, 0.5)));
    return wk__network_end(&network, wk__initialize_network(m, &values));
}
