/* SPDX-License-Identifier: Apache-2.0 */
/* regnet: four stages of residual bottlenecks with grouped convolutions; RegNet-Y has squeeze and excitation, too. */
#include "base/options.h"
#include "build.h"
#include <string.h>
#include <wick/nn_vision.h>

enum { STAGES = 4, STEM = 32 };

/* Sizes of a network. */
typedef struct architecture {
    const char *name;
    int blocks[STAGES];
    int64_t widths[STAGES];
    int64_t group_width; /* channels of a group; at most the width of the stage */
} architecture;

static const architecture *find_architecture(const char *name)
{
    static const architecture all[] = {
        {"x_400mf", {1, 2, 7, 12}, {32, 64, 160, 400}, 16},
        {"x_800mf", {1, 3, 7, 5}, {64, 128, 288, 672}, 16},
        {"x_1_6gf", {2, 4, 10, 2}, {72, 168, 408, 912}, 24},
        {"x_3_2gf", {2, 6, 15, 2}, {96, 192, 432, 1008}, 48},
        {"x_8gf", {2, 5, 15, 1}, {80, 240, 720, 1920}, 120},
        {"x_16gf", {2, 6, 13, 1}, {256, 512, 896, 2048}, 128},
        {"x_32gf", {2, 7, 13, 1}, {336, 672, 1344, 2520}, 168},
        {"y_400mf", {1, 3, 6, 6}, {48, 104, 208, 440}, 8},
        {"y_800mf", {1, 3, 8, 2}, {64, 144, 320, 784}, 16},
        {"y_1_6gf", {2, 6, 17, 2}, {48, 120, 336, 888}, 24},
        {"y_3_2gf", {2, 5, 13, 1}, {72, 216, 576, 1512}, 24},
        {"y_8gf", {2, 4, 10, 1}, {224, 448, 896, 2016}, 56},
        {"y_16gf", {2, 4, 11, 1}, {224, 448, 1232, 3024}, 112},
        {"y_32gf", {2, 5, 12, 1}, {232, 696, 1392, 3712}, 232},
        {"y_128gf", {2, 7, 17, 1}, {528, 1056, 2904, 7392}, 264},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (strcmp(all[k].name, name) == 0) return &all[k];
    return NULL;
}

static wk_module *conv_norm_relu(wk__conv_sizes sizes)
{
    return wk__append(wk__conv_norm(sizes), wk_nn_relu());
}

static wk_module *create_squeeze_excitation(int64_t channels, int64_t squeezed)
{
    wk_module *m = wk__with(wk__scaled_by_children("squeeze_excitation"), "avgpool", wk__global_pool());
    m = wk__with(m, "fc1", wk_nn_conv2d(channels, squeezed, 1));
    m = wk__with(m, "activation", wk_nn_relu());
    m = wk__with(m, "fc2", wk_nn_conv2d(squeezed, channels, 1));
    return wk__with(m, "scale_activation", wk_nn_sigmoid());
}

/* The squeeze of RegNet-Y is to a quarter of the block's input. */
static wk_module *create_branch(const architecture *of, wk__conv_sizes sizes)
{
    const int64_t out = sizes.out, groups = out / (of->group_width < out ? of->group_width : out);
    wk_module *m = wk_nn_sequential();
    m = wk__with(m, "a", conv_norm_relu((wk__conv_sizes){sizes.in, out, 1, 1, 1}));
    m = wk__with(m, "b", conv_norm_relu((wk__conv_sizes){out, out, 3, sizes.stride, groups}));
    if (of->name[0] == 'y') m = wk__with(m, "se", create_squeeze_excitation(out, sizes.in / 4));
    return wk__with(m, "c", wk__conv_norm((wk__conv_sizes){out, out, 1, 1, 1}));
}

/* sizes: those of the shortcut, a convolution if they are not 1 and equal. */
static wk_module *create_block(const architecture *of, wk__conv_sizes sizes)
{
    wk_module *m = wk__residual_block("res_bottleneck_block");
    if (!m) return NULL;
    wk__residual *state = wk__residual_of(m);
    if (sizes.in != sizes.out || sizes.stride != 1) m = wk__with(m, "proj", state->shortcut = wk__conv_norm(sizes));
    m = wk__with(m, "f", state->branch = create_branch(of, sizes));
    return wk__with(m, "activation", state->activation = wk_nn_relu());
}

static wk_module *create_trunk(const architecture *of)
{
    wk_module *m = wk_nn_sequential();
    int64_t in = STEM;
    for (int stage = 0; stage < STAGES && m; stage++) {
        wk_module *blocks = wk_nn_sequential();
        char name[32];
        for (int k = 0; k < of->blocks[stage] && blocks; k++) {
            snprintf(name, sizeof name, "block%d-%d", stage + 1, k);
            blocks = wk__with(blocks, name, create_block(of, (wk__conv_sizes){in, of->widths[stage], 1, k ? 1 : 2, 1}));
            in = of->widths[stage];
        }
        snprintf(name, sizeof name, "block%d", stage + 1);
        m = wk__with(m, name, blocks);
    }
    return m;
}

static const architecture *read_name(wk_site site, const char *name)
{
    const architecture *of = name ? find_architecture(name) : NULL;
    if (!name)
        wk__error_set(site, WK_ERR_ARGUMENT, "nn_regnet: the name is NULL; expected x_400mf or another");
    else if (!of)
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "nn_regnet: unknown name \"%.40s\"; expected x_ or y_ with 400mf, 800mf, 1_6gf, 3_2gf, 8gf, "
                      "16gf or 32gf, or y_128gf",
                      name);
    return of;
}

wk_module *wk_nn_regnet_at(wk_site site, const char *name, const wk_nn_model_options *options)
{
    static const wk__initial_values values = {
        .convolution = wk__kaiming_fan_out, .linear = wk__normal_001, .linear_bias_zero = true};
    wk_nn_model_options o;
    if (!wk__options(site, "nn_regnet", options, &o)) return NULL;
    const architecture *of = read_name(site, name);
    wk__network network = {.name = "nn_regnet",
                           .site = site,
                           .classes = o.classes ? o.classes : 1000,
                           .in_channels = o.in_channels ? o.in_channels : 3};
    if (!of || !wk__network_begin(&network, o.device)) return NULL;
    wk_module *m = wk__classifier("reg_net");
    m = wk__with(m, "stem", conv_norm_relu((wk__conv_sizes){network.in_channels, STEM, 3, 2, 1}));
    m = wk__with(m, "trunk_output", create_trunk(of));
    m = wk__with(m, "avgpool", wk__global_pool());
    m = wk__with(m, "fc", wk_nn_linear(of->widths[STAGES - 1], network.classes));
    return wk__network_end(&network, wk__initialize_network(m, &values));
}
