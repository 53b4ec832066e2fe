/* SPDX-License-Identifier: Apache-2.0 */
/* Construction of ready networks (wick/models.h).
 *
 * Between begin and end, the constructor of a network calls those of layers. Each statement creates one layer, so that
 * the order, and with it the initial values, does not depend on the compiler. A failed call returns NULL; the calls
 * below return NULL for NULL. */
#ifndef WICK_NN_MODELS_BUILD_H
#define WICK_NN_MODELS_BUILD_H

#include "nn/module.h"
#include "tensor/call_scope.h"
#include <wick/models.h>

/* ---- construction ------------------------------------------------------------------------------------------------ */

/* The construction of a network. */
typedef struct wk__network {
    const char *name; /* "nn_resnet" */
    wk_site site;
    int64_t classes, in_channels;
    wk__call_scope call;
} wk__network;

/* Begins the construction on a device, after which wk__network_end() must be called. name, site, classes and
 * in_channels are set; the last two must not be 0. Returns false on error. */
bool wk__network_begin(wk__network *network, wk_device device);
/* The same without classes and in_channels. */
bool wk__network_open(wk__network *network, wk_device device);
/* Ends the construction and keeps m, the network. Returns it; NULL if it is NULL. */
wk_module *wk__network_end(wk__network *network, wk_module *m);

/* An option that is a size or a number of layers. */
typedef struct wk__model_size {
    const char *option; /* "hidden_size" */
    int64_t *value;     /* 0: the default */
    int64_t usual;      /* the default */
} wk__model_size;
/* Sets options to their defaults. Returns false and records the error if one is less than 1. */
bool wk__model_sizes(wk_site site, const char *name, const wk__model_size *sizes, int count);
/* Returns false and records the error unless hidden_size is a multiple of num_attention_heads. */
bool wk__model_heads_check(wk_site site, const char *name, int64_t hidden_size, int64_t num_attention_heads);
/* Reports a depth that no network has. Returns NULL. */
wk_module *wk__network_unknown_depth(wk_site site, const char *name, int depth, const char *expected);

/* Adds a child under its name, or under the next number. Returns m; NULL if m or child is NULL, or on error. */
wk_module *wk__with(wk_module *m, const char *name, wk_module *child);
wk_module *wk__append(wk_module *m, wk_module *child);

/* ---- initial values ---------------------------------------------------------------------------------------------- */

/* Overwrites a weight. NULL on error. */
typedef wk_tensor *wk__initialize(wk_tensor *weight);
wk_tensor *wk__kaiming_fan_in(wk_tensor *weight);
wk_tensor *wk__kaiming_fan_out(wk_tensor *weight);
wk_tensor *wk__normal_001(wk_tensor *weight); /* standard deviation 0.01 */
wk_tensor *wk__xavier(wk_tensor *weight);

/* The initial values of a network that differ from those of its layers. */
typedef struct wk__initial_values {
    wk__initialize *convolution, *linear; /* of weights; NULL: those of the layer */
    bool convolution_bias_zero, linear_bias_zero;
} wk__initial_values;
/* Overwrites the parameters of m. Returns m; NULL if it is NULL, or on error. */
wk_module *wk__initialize_network(wk_module *m, const wk__initial_values *values);

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* Creates a module that calls its children in order and flattens the input of the last one. */
wk_module *wk__classifier(const char *kind_name);
/* Creates a module whose output is the outputs of all its children, concatenated along the channels. */
wk_module *wk__branches(const char *kind_name);
/* Creates a module that concatenates the output of each child to its input, which is the input of the next. */
wk_module *wk__dense_block(void);
/* Creates a module that multiplies its input by the output of its children, called in order. */
wk_module *wk__scaled_by_children(const char *kind_name);

/* A residual block: out = activation(shortcut(x) + branch(x)). */
typedef struct wk__residual {
    wk_module *branch;
    wk_module *shortcut;   /* NULL: x itself */
    wk_module *activation; /* NULL: none */
    bool branch_only;      /* without the sum */
} wk__residual;
/* Creates a residual block without children, which the caller adds and enters into the state. */
wk_module *wk__residual_block(const char *kind_name);
static inline wk__residual *wk__residual_of(wk_module *m)
{
    return wk__module_of(m)->state;
}

/* A convolution with padding that keeps the sizes if stride is 1, for odd kernels. */
typedef struct wk__conv_sizes {
    int64_t in, out, kernel;
    int64_t stride, groups; /* 0: 1 */
} wk__conv_sizes;
/* Creates the convolution, without bias. */
wk_module *wk__conv(wk__conv_sizes sizes);
/* Creates a sequential of this convolution and batch norm, to which the caller may append an activation. */
wk_module *wk__conv_norm(wk__conv_sizes sizes);
/* Creates the first pooling of ResNet and others. */
wk_module *wk__stem_pool(void);
/* Creates a global average pooling. */
wk_module *wk__global_pool(void);

#endif
