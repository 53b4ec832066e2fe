/* SPDX-License-Identifier: Apache-2.0 */
/* googlenet: Inception v1 with batch norm and, on request, auxiliary classifiers. */
#include "base/options.h"
#include "build.h"
#include <wick/nn_vision.h>
#include <wick/shape.h>

enum { LAYERS = 17, AUXILIARIES = 2 };

/* Children of the network, also owned by it. */
typedef struct state {
    wk_module *layer[LAYERS]; /* in the order in which they run */
    int layers;
    wk_module *auxiliary[AUXILIARIES]; /* NULL without .aux_logits */
    int auxiliary_after[AUXILIARIES];  /* number of the layer whose output is its input */
    wk_module *dropout, *fc;
} state;

/* Channels of an inception module. */
typedef struct inception_sizes {
    const char *name;
    int64_t in, c1, reduce3, c3, reduce5, c5, pool;
} inception_sizes;

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static wk_module *create_conv(wk__conv_sizes sizes)
{
    wk_module *m = wk__with(wk_nn_sequential(), "conv", wk__conv(sizes));
    m = wk__with(m, "bn", wk_nn_batch_norm2d(sizes.out, .eps = 1e-3));
    return wk__with(m, "relu", wk_nn_relu());
}

/* A branch whose second convolution is 3 x 3. (The original has 5 x 5 in the third branch, torchvision 3 x 3.) */
static wk_module *create_reduced(int64_t in, int64_t between, int64_t out)
{
    wk_module *m = wk__append(wk_nn_sequential(), create_conv((wk__conv_sizes){in, between, 1, 1, 1}));
    return wk__append(m, create_conv((wk__conv_sizes){between, out, 3, 1, 1}));
}

static wk_module *create_inception(const inception_sizes *s)
{
    wk_module *m = wk__branches("inception");
    m = wk__with(m, "branch1", create_conv((wk__conv_sizes){s->in, s->c1, 1, 1, 1}));
    m = wk__with(m, "branch2", create_reduced(s->in, s->reduce3, s->c3));
    m = wk__with(m, "branch3", create_reduced(s->in, s->reduce5, s->c5));
    wk_module *pooled = wk__append(wk_nn_sequential(), wk_nn_max_pool2d(3, .stride = 1, .padding = 1));
    return wk__with(m, "branch4", wk__append(pooled, create_conv((wk__conv_sizes){s->in, s->pool, 1, 1, 1})));
}

static wk_module *create_auxiliary(int64_t in, int64_t classes, double dropout)
{
    wk_module *m = wk__with(wk_nn_sequential(), "avgpool", wk_nn_adaptive_avg_pool2d((4, 4)));
    m = wk__with(m, "conv", create_conv((wk__conv_sizes){in, 128, 1, 1, 1}));
    m = wk__with(m, "flatten", wk_nn_flatten());
    m = wk__with(m, "fc1", wk_nn_linear(2048, 1024));
    m = wk__with(m, "relu", wk_nn_relu());
    m = wk__with(m, "dropout", wk_nn_dropout(dropout));
    return wk__with(m, "fc2", wk_nn_linear(1024, classes));
}

/* ---- the network ------------------------------------------------------------------------------------------------- */

/* Adds a layer that runs after the previous one. */
static wk_module *add_layer(wk_module *m, const char *name, wk_module *layer)
{
    if (!wk__with(m, name, layer)) return NULL;
    state *s = wk__module_of(m)->state;
    s->layer[s->layers++] = layer;
    return m;
}

static wk_module *add_pool(wk_module *m, const char *name, int64_t kernel)
{
    return add_layer(m, name, wk_nn_max_pool2d(kernel, .stride = 2, .ceil_mode = true));
}

static wk_module *add_layers(wk_module *m, int64_t in_channels)
{
    static const inception_sizes sizes[] = {
        {"inception3a", 192, 64, 96, 128, 16, 32, 32},     {"inception3b", 256, 128, 128, 192, 32, 96, 64},
        {"inception4a", 480, 192, 96, 208, 16, 48, 64},    {"inception4b", 512, 160, 112, 224, 24, 64, 64},
        {"inception4c", 512, 128, 128, 256, 24, 64, 64},   {"inception4d", 512, 112, 144, 288, 32, 64, 64},
        {"inception4e", 528, 256, 160, 320, 32, 128, 128}, {"inception5a", 832, 256, 160, 320, 32, 128, 128},
        {"inception5b", 832, 384, 192, 384, 48, 128, 128}};
    m = add_layer(m, "conv1", create_conv((wk__conv_sizes){in_channels, 64, 7, 2, 1}));
    m = add_pool(m, "maxpool1", 3);
    m = add_layer(m, "conv2", create_conv((wk__conv_sizes){64, 64, 1, 1, 1}));
    m = add_layer(m, "conv3", create_conv((wk__conv_sizes){64, 192, 3, 1, 1}));
    m = add_pool(m, "maxpool2", 3);
    for (int k = 0; k < 9; k++) {
        m = add_layer(m, sizes[k].name, create_inception(&sizes[k]));
        if (k == 1) m = add_pool(m, "maxpool3", 3);
        if (k == 6) m = add_pool(m, "maxpool4", 2);
    }
    return m;
}

static wk_module *add_auxiliaries(wk_module *m, int64_t classes, double dropout)
{
    static const struct {
        const char *name;
        int64_t in;
        int after;
    } sizes[AUXILIARIES] = {{"aux1", 512, 8}, {"aux2", 528, 11}}; /* inception4a, inception4d */
    for (int k = 0; k < AUXILIARIES && m; k++) {
        state *s = wk__module_of(m)->state;
        s->auxiliary[k] = create_auxiliary(sizes[k].in, classes, dropout);
        s->auxiliary_after[k] = sizes[k].after;
        m = wk__with(m, sizes[k].name, s->auxiliary[k]);
    }
    return m;
}

/* Computes the scores and, if there is room and training needs them, those of the auxiliary classifiers, the deeper one
 * first. */
static int forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    const state *s = wk__module_of(self)->state;
    const bool auxiliaries = s->auxiliary[0] && !wk__module_of(self)->eval && outputs > AUXILIARIES;
    if (inputs != 1 || outputs < 1) {
        wk__error_set((wk_site){0}, WK_ERR_ARGUMENT,
                      "forward: goog_le_net takes one input and returns at least one output; got %d inputs, %d outputs "
                      "requested",
                      inputs, outputs);
        return -1;
    }
    wk_tensor *x = in[0];
    for (int k = 0; k < s->layers && x; k++) {
        x = wk_forward(s->layer[k], x);
        for (int a = 0; a < AUXILIARIES && auxiliaries && x; a++)
            if (s->auxiliary_after[a] == k) out[AUXILIARIES - a] = wk_forward(s->auxiliary[a], x);
    }
    if (x) x = wk_forward(s->dropout, wk_flatten(x, 1, -1));
    out[0] = x ? wk_forward(s->fc, x) : NULL;
    return !out[0] ? -1 : auxiliaries ? 1 + AUXILIARIES : 1;
}

static wk_module *create(const wk__network *network, const wk_nn_googlenet_options *o)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "goog_le_net", .state = sizeof(state), .forward = forward};
    wk_module *m = wk__module_make((wk_site){0}, &kind);
    if (!m) return NULL;
    state *s = wk__module_of(m)->state;
    m = add_layers(m, network->in_channels);
    if (o->aux_logits) m = add_auxiliaries(m, network->classes, wk__option_or(o->dropout_aux, 0.7));
    m = add_layer(m, "avgpool", wk__global_pool());
    m = wk__with(m, "dropout", s->dropout = wk_nn_dropout(wk__option_or(o->dropout, 0.2)));
    return wk__with(m, "fc", s->fc = wk_nn_linear(1024, network->classes));
}

wk_module *wk_nn_googlenet_at(wk_site site, const wk_nn_googlenet_options *options)
{
    static const wk__initial_values values = {.convolution = wk__normal_001, .linear = wk__normal_001};
    wk_nn_googlenet_options o;
    if (!wk__options(site, "nn_googlenet", options, &o)) return NULL;
    wk__network network = {.name = "nn_googlenet",
                           .site = site,
                           .classes = o.classes ? o.classes : 1000,
                           .in_channels = o.in_channels ? o.in_channels : 3};
    if (!wk__network_begin(&network, o.device)) return NULL;
    return wk__network_end(&network, wk__initialize_network(create(&network, &o), &values));
}
