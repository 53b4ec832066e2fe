/* SPDX-License-Identifier: Apache-2.0 */
/* A layer of BERT: self-attention and two linear layers. */
#include "bert.h"
#include "nn/attention_call.h"
#include <wick/ops.h>

/* States of the modules: their children. */
typedef struct self_attention {
    wk_module *query, *key, *value, *dropout;
    int64_t heads;
    double dropout_p;
} self_attention;
/* The end of a part, which adds the input of the part. */
typedef struct output {
    wk_module *dense, *norm, *dropout;
} output;
typedef struct attention {
    wk_module *self, *output;
} attention;
typedef struct intermediate {
    wk_module *dense, *activation;
} intermediate;
typedef struct layer {
    wk_module *attention, *intermediate, *output;
} layer;

/* ---- calls ------------------------------------------------------------------------------------------------------- */

wk_tensor *wk__bert_call(wk_module *m, wk_tensor *x, wk_tensor *second)
{
    wk_tensor *const in[] = {x, second};
    wk_tensor *out = NULL;
    return x && wk_forward_n_at((wk_site){0}, m, in, second ? 2 : 1, &out, 1) == 1 ? out : NULL;
}

bool wk__bert_takes(const wk_module *self, int inputs, int least, int outputs)
{
    if (inputs >= least && inputs <= 2 && outputs >= 1) return true;
    wk__error_set((wk_site){0}, WK_ERR_ARGUMENT, "%s: expected %s inputs and 1 output, got %d and %d",
                  wk__module_of(self)->kind.name, least == 2 ? "2" : "1 or 2", inputs, outputs);
    return false;
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* in: x; a mask of keys, bool (N, 1, 1, T), or NULL */
static int self_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    const self_attention *s = wk__module_of(self)->state;
    if (!wk__bert_takes(self, inputs, 1, outputs)) return -1;
    wk_tensor *query = wk__split_heads(wk__bert_call(s->query, in[0], NULL), s->heads);
    wk_tensor *key = wk__split_heads(wk__bert_call(s->key, in[0], NULL), s->heads);
    wk_tensor *value = wk__split_heads(wk__bert_call(s->value, in[0], NULL), s->heads);
    if (!query || !key || !value) return -1;
    wk_tensor *x = wk_scaled_dot_product_attention(query, key, value, .attn_mask = inputs > 1 ? in[1] : NULL,
                                                   .dropout_p = wk__module_of(self)->eval ? 0 : s->dropout_p);
    if (!x) return -1;
    out[0] = wk_flatten(wk_transpose(x, 1, 2), 2);
    return out[0] ? 1 : -1;
}

/* in: x; the input of the part */
static int output_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    const output *s = wk__module_of(self)->state;
    if (!wk__bert_takes(self, inputs, 2, outputs)) return -1;
    wk_tensor *x = wk__bert_call(s->dropout, wk__bert_call(s->dense, in[0], NULL), NULL);
    out[0] = x ? wk__bert_call(s->norm, wk_add(x, in[1]), NULL) : NULL;
    return out[0] ? 1 : -1;
}

/* in: x; the mask or NULL */
static int attention_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    const attention *s = wk__module_of(self)->state;
    if (!wk__bert_takes(self, inputs, 1, outputs)) return -1;
    out[0] = wk__bert_call(s->output, wk__bert_call(s->self, in[0], inputs > 1 ? in[1] : NULL), in[0]);
    return out[0] ? 1 : -1;
}

static int layer_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    const layer *s = wk__module_of(self)->state;
    if (!wk__bert_takes(self, inputs, 1, outputs)) return -1;
    wk_tensor *x = wk__bert_call(s->attention, in[0], inputs > 1 ? in[1] : NULL);
    out[0] = wk__bert_call(s->output, wk__bert_call(s->intermediate, x, NULL), x);
    return out[0] ? 1 : -1;
}

static wk_tensor *intermediate_forward(wk_module *self, wk_tensor *x)
{
    const intermediate *s = wk__module_of(self)->state;
    return wk__bert_call(s->activation, wk__bert_call(s->dense, x, NULL), NULL);
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

wk_module *wk__bert_module(const char *name, size_t state, wk__forward_n *forward, wk__forward_1 *forward1)
{
    const wk_module_kind kind = {
        .size = sizeof kind, .name = name, .state = state, .forward = forward, .forward1 = forward1};
    return wk__module_make((wk_site){0}, &kind);
}

wk_module *wk__bert_norm(const wk_nn_bert_options *o)
{
    const wk_nn_layer_norm_options options = {.size = sizeof options, .eps = o->layer_norm_eps};
    return wk_nn_layer_norm_at((wk_site){0}, &o->hidden_size, 1, &options);
}

static wk_module *create_self(const wk_nn_bert_options *o)
{
    wk_module *m = wk__bert_module("bert_self_attention", sizeof(self_attention), self_forward, NULL);
    if (!m) return NULL;
    self_attention *s = wk__module_of(m)->state;
    s->heads = o->num_attention_heads;
    s->dropout_p = o->dropout;
    m = wk__with(m, "query", s->query = wk_nn_linear(o->hidden_size, o->hidden_size));
    m = wk__with(m, "key", s->key = wk_nn_linear(o->hidden_size, o->hidden_size));
    m = wk__with(m, "value", s->value = wk_nn_linear(o->hidden_size, o->hidden_size));
    return wk__with(m, "dropout", s->dropout = wk_nn_dropout(o->dropout));
}

static wk_module *create_output(const char *kind_name, int64_t in, const wk_nn_bert_options *o)
{
    wk_module *m = wk__bert_module(kind_name, sizeof(output), output_forward, NULL);
    if (!m) return NULL;
    output *s = wk__module_of(m)->state;
    m = wk__with(m, "dense", s->dense = wk_nn_linear(in, o->hidden_size));
    m = wk__with(m, "LayerNorm", s->norm = wk__bert_norm(o));
    return wk__with(m, "dropout", s->dropout = wk_nn_dropout(o->dropout));
}

static wk_module *create_attention(const wk_nn_bert_options *o)
{
    wk_module *m = wk__bert_module("bert_attention", sizeof(attention), attention_forward, NULL);
    if (!m) return NULL;
    attention *s = wk__module_of(m)->state;
    m = wk__with(m, "self", s->self = create_self(o));
    return wk__with(m, "output", s->output = create_output("bert_self_output", o->hidden_size, o));
}

static wk_module *create_intermediate(const wk_nn_bert_options *o)
{
    wk_module *m = wk__bert_module("bert_intermediate", sizeof(intermediate), NULL, intermediate_forward);
    if (!m) return NULL;
    intermediate *s = wk__module_of(m)->state;
    m = wk__with(m, "dense", s->dense = wk_nn_linear(o->hidden_size, o->intermediate_size));
    return wk__with(m, "intermediate_act_fn", s->activation = wk_nn_gelu());
}

wk_module *wk__bert_layer(const wk_nn_bert_options *o)
{
    wk_module *m = wk__bert_module("bert_layer", sizeof(layer), layer_forward, NULL);
    if (!m) return NULL;
    layer *s = wk__module_of(m)->state;
    m = wk__with(m, "attention", s->attention = create_attention(o));
    m = wk__with(m, "intermediate", s->intermediate = create_intermediate(o));
    return wk__with(m, "output", s->output = create_output("bert_output", o->intermediate_size, o));
}
