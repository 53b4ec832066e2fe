/* SPDX-License-Identifier: Apache-2.0 */
/* alexnet: five convolutions and three linear layers. */
#include "base/options.h"
#include "build.h"
#include <wick/nn_vision.h>

enum { CONVOLUTIONS = 5 };

static wk_module *create_features(int64_t in)
{
    static const struct {
        int64_t out, kernel, stride, padding;
        bool pooled;
    } sizes[CONVOLUTIONS] = {
        {64, 11, 4, 2, true}, {192, 5, 1, 2, true}, {384, 3, 1, 1, false}, {256, 3, 1, 1, false}, {256, 3, 1, 1, true}};
    wk_module *m = wk_nn_sequential();
    for (int k = 0; k < CONVOLUTIONS; k++) {
        m = wk__append(
            m, wk_nn_conv2d(in, sizes[k].out, sizes[k].kernel, .stride = sizes[k].stride, .padding = sizes[k].padding));
        m = wk__append(m, wk_nn_relu());
        if (sizes[k].pooled) m = wk__append(m, wk_nn_max_pool2d(3, .stride = 2));
        in = sizes[k].out;
    }
    return m;
}

static wk_module *create_classifier(int64_t classes, double dropout)
{
    wk_module *m = wk__append(wk_nn_sequential(), wk_nn_dropout(dropout));
    m = wk__append(m, wk_nn_linear(256 * 6 * 6, 4096));
    m = wk__append(m, wk_nn_relu());
    m = wk__append(m, wk_nn_dropout(dropout));
    m = wk__append(m, wk_nn_linear(4096, 4096));
    m = wk__append(m, wk_nn_relu());
    return wk__append(m, wk_nn_linear(4096, classes));
}

wk_module *wk_nn_alexnet_at(wk_site site, const wk_nn_dropout_model_options *options)
{
    wk_nn_dropout_model_options o;
    if (!wk__options(site, "nn_alexnet", options, &o)) return NULL;
    wk__network network = {.name = "nn_alexnet",
                           .site = site,
                           .classes = o.classes ? o.classes : 1000,
                           .in_channels = o.in_channels ? o.in_channels : 3};
    if (!wk__network_begin(&network, o.device)) return NULL;
    wk_module *m = wk__with(wk__classifier("alex_net"), "features", create_features(network.in_channels));
    m = wk__with(m, "avgpool", wk_nn_adaptive_avg_pool2d((6, 6)));
    m = wk__with(m, "classifier", create_classifier(network.classes, wk__option_or(o.dropout, 0.5)));
    return wk__network_end(&network, m);
}
