/* SPDX-License-Identifier: Apache-2.0 */
/* LoRA (wick/nn_lora.h): layers with adapters, and the selection of the layers that get one. */
#ifndef WICK_NN_LORA_ADAPTER_H
#define WICK_NN_LORA_ADAPTER_H

#include "nn/module.h"
#include <wick/nn_lora.h>

/* Options of an adapter, with their defaults filled in. */
typedef struct wk__lora_config {
    int64_t r;
    double alpha, dropout;
    bool rslora;
} wk__lora_config;

/* State of a layer with an adapter, kind lora_linear. Pointers are to children. */
typedef struct wk__lora {
    wk_module *base, *a, *b;
    wk_module *dropout; /* NULL: none */
    wk__lora_config config;
} wk__lora;

/* Returns the state of a layer with an adapter; NULL if m is another kind of module. */
const wk__lora *wk__lora_of(const wk_module *m);
/* Returns true if m is a linear layer, of floats or quantised; *transposed: its weight is (in, out). */
bool wk__lora_is_linear(const wk_module *m, bool *transposed);
/* Creates a layer with an adapter for a linear layer, which becomes its child and may stay that of others. NULL on
 * error. */
wk_module *wk__lora_create(wk_module *base, const wk__lora_config *config);
/* Checks the options. Returns false after recording an error. */
bool wk__lora_config_check(wk_site site, const char *op, const wk__lora_config *config);

/* The linear layers that get an adapter. */
typedef struct wk__lora_targets {
    const char *names; /* between commas */
    bool all;          /* all linear layers but the head of a language model; names is NULL */
    bool optional;     /* names may be missing as long as one exists */
    bool paths;        /* names are complete paths */
} wk__lora_targets;

/* Layers with adapters for a network, before they are part of it. They belong to the current scope. */
typedef struct wk__lora_plan {
    wk__module_tree tree; /* of the network */
    wk_module **layer;    /* [tree.count]: the layer for each entry; NULL: none */
    wk_tensors *frozen;   /* parameters of the network */
} wk__lora_plan;

/* Creates the layers. Returns false after recording an error; then nothing needs to be freed. */
bool wk__lora_plan_create(wk__lora_plan *plan, wk_site site, const char *op, wk_module *net,
                          const wk__lora_config *config, const wk__lora_targets *targets);
/* Puts the layers into the network and freezes its other parameters. Returns false on error. */
bool wk__lora_plan_apply(const wk__lora_plan *plan, wk_site site, const char *op);
void wk__lora_plan_free(wk__lora_plan *plan);

/* Reports a network without adapters. */
void wk__lora_report_none(wk_site site, const char *op, const wk_module *net);

#endif
