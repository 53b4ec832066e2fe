/* SPDX-License-Identifier: Apache-2.0 */
/* lenet: two convolutions and three linear layers. */
#include "base/options.h"
#include "build.h"
#include <wick/nn_vision.h>

wk_module *wk_nn_lenet_at(wk_site site, const wk_nn_model_options *options)
{
    static const wk__initial_values values = {.convolution = wk__xavier, .linear = wk__xavier};
    wk_nn_model_options o;
    if (!wk__options(site, "nn_lenet", options, &o)) return NULL;
    wk__network network = {.name = "nn_lenet",
                           .site = site,
                           .classes = o.classes ? o.classes : 10,
                           .in_channels = o.in_channels ? o.in_channels : 1};
    if (!wk__network_begin(&network, o.device)) return NULL;
    wk_module *m = wk__append(wk_nn_sequential(), wk_nn_conv2d(network.in_channels, 6, 5, .padding = 2));
    m = wk__append(m, wk_nn_sigmoid());
    m = wk__append(m, wk_nn_avg_pool2d(2));
    m = wk__append(m, wk_nn_conv2d(6, 16, 5));
    m = wk__append(m, wk_nn_sigmoid());
    m = wk__append(m, wk_nn_avg_pool2d(2));
    m = wk__append(m, wk_nn_flatten());
    m = wk__append(m, wk_nn_linear(16 * 5 * 5, 120));
    m = wk__append(m, wk_nn_sigmoid());
    m = wk__append(m, wk_nn_linear(120, 84));
    m = wk__append(m, wk_nn_sigmoid());
    m = wk__append(m, wk_nn_linear(84, network.classes));
    return wk__network_end(&network, wk__initialize_network(m, &values));
}
