/* SPDX-License-Identifier: Apache-2.0 */
/* mobilenet_v2: inverted residual blocks, which widen, convolve each channel separately, and narrow again. */
#include "base/options.h"
#include "build.h"
#include <math.h>
#include <wick/nn_vision.h>

/* A stage: blocks of the same width. The first one has the stride. */
typedef struct stage {
    int64_t expansion, out;
    int blocks;
    int64_t stride;
} stage;

/* Returns the multiple of 8 nearest to channels times factor, at least 8 and 0.9 of the product. */
static int64_t scaled_width(int64_t channels, double factor)
{
    const double exact = (double)channels * factor;
    const int64_t near = (int64_t)(exact + 4) / 8 * 8, width = near < 8 ? 8 : near;
    return (double)width < 0.9 * exact ? width + 8 : width;
}

static wk_module *conv_norm_relu6(wk__conv_sizes sizes)
{
    return wk__append(wk__conv_norm(sizes), wk_nn_relu6());
}

static wk_module *create_branch(int64_t in, int64_t out, int64_t stride, int64_t expansion)
{
    const int64_t hidden = in * expansion;
    wk_module *m = wk_nn_sequential();
    if (expansion != 1) m = wk__append(m, conv_norm_relu6((wk__conv_sizes){in, hidden, 1, 1, 1}));
    m = wk__append(m, conv_norm_relu6((wk__conv_sizes){hidden, hidden, 3, stride, hidden}));
    m = wk__append(m, wk__conv((wk__conv_sizes){hidden, out, 1, 1, 1}));
    return wk__append(m, wk_nn_batch_norm2d(out));
}

static wk_module *create_block(int64_t in, int64_t out, int64_t stride, int64_t expansion)
{
    wk_module *m = wk__residual_block("inverted_residual"), *branch = create_branch(in, out, stride, expansion);
    if (m) *wk__residual_of(m) = (wk__residual){.branch = branch, .branch_only = stride != 1 || in != out};
    return wk__with(m, "conv", branch);
}

static wk_module *create_features(int64_t in, double factor, int64_t last)
{
    static const stage stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                   {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    int64_t width = scaled_width(32, factor);
    wk_module *m = wk__append(wk_nn_sequential(), conv_norm_relu6((wk__conv_sizes){in, width, 3, 2, 1}));
    for (size_t s = 0; s < sizeof stages / sizeof *stages; s++) {
        const int64_t out = scaled_width(stages[s].out, factor);
        for (int k = 0; k < stages[s].blocks && m; k++) {
            m = wk__append(m, create_block(width, out, k ? 1 : stages[s].stride, stages[s].expansion));
            width = out;
        }
    }
    return wk__append(m, conv_norm_relu6((wk__conv_sizes){width, last, 1, 1, 1}));
}

wk_module *wk_nn_mobilenet_v2_at(wk_site site, const wk_nn_mobilenet_v2_options *options)
{
    static const wk__initial_values values = {
        .convolution = wk__kaiming_fan_out, .linear = wk__normal_001, .linear_bias_zero = true};
    static const char name[] = "nn_mobilenet_v2";
    wk_nn_mobilenet_v2_options o;
    if (!wk__options(site, name, options, &o)) return NULL;
    const double factor = wk__option_or(o.width, 1);
    if (!(factor > 0 && factor <= 1024)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .width must be in (0, 1024], got %g", name, factor);
        return NULL;
    }
    wk__network network = {.name = name,
                           .site = site,
                           .classes = o.classes ? o.classes : 1000,
                           .in_channels = o.in_channels ? o.in_channels : 3};
    if (!wk__network_begin(&network, o.device)) return NULL;
    const int64_t last = scaled_width(1280, factor > 1 ? factor : 1);
    wk_module *m = wk__classifier("mobile_net_v2");
    m = wk__with(m, "features", create_features(network.in_channels, factor, last));
    m = wk__with(m, "avgpool", wk__global_pool());
    wk_module *classifier = wk__append(wk_nn_sequential(), wk_nn_dropout(wk__option_or(o.dropout, 0.2)));
    m = wk__with(m, "classifier", wk__append(classifier, wk_nn_linear(last, network.classes)));
    return wk__network_end(&network, wk__initialize_network(m, &values));
}
