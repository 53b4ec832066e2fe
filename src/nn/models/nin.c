/* SPDX-License-Identifier: Apache-2.0 */
/* nin: Network in Network, blocks of a convolution and two linear maps of the channels. */
#include "base/options.h"
#include "build.h"
#include <wick/nn_vision.h>

/* Sizes of a block. */
typedef struct block_sizes {
    int64_t in, out, kernel, stride, padding;
} block_sizes;

static wk_module *create_block(block_sizes sizes)
{
    wk_module *m = wk_nn_sequential();
    m = wk__append(m,
                   wk_nn_conv2d(sizes.in, sizes.out, sizes.kernel, .stride = sizes.stride, .padding = sizes.padding));
    m = wk__append(m, wk_nn_relu());
    for (int k = 0; k < 2; k++) {
        m = wk__append(m, wk_nn_conv2d(sizes.out, sizes.out, 1));
        m = wk__append(m, wk_nn_relu());
    }
    return m;
}

wk_module *wk_nn_nin_at(wk_site site, const wk_nn_dropout_model_options *options)
{
    static const wk__initial_values values = {.convolution = wk__xavier};
    wk_nn_dropout_model_options o;
    if (!wk__options(site, "nn_nin", options, &o)) return NULL;
    wk__network network = {.name = "nn_nin",
                           .site = site,
                           .classes = o.classes ? o.classes : 10,
                           .in_channels = o.in_channels ? o.in_channels : 3};
    if (!wk__network_begin(&network, o.device)) return NULL;
    const block_sizes blocks[] = {{network.in_channels, 96, 11, 4, 0}, {96, 256, 5, 1, 2}, {256, 384, 3, 1, 1}};
    wk_module *m = wk_nn_sequential();
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        m = wk__append(m, create_block(blocks[k]));
        m = wk__append(m, wk_nn_max_pool2d(3, .stride = 2));
    }
    m = wk__append(m, wk_nn_dropout(wk__option_or(o.dropout, 0.5)));
    m = wk__append(m, create_block((block_sizes){384, network.classes, 3, 1, 1}));
    m = wk__append(m, wk__global_pool());
    m = wk__append(m, wk_nn_flatten());
    return wk__network_end(&network, wk__initialize_network(m, &values));
}
