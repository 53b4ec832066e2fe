/* SPDX-License-Identifier: Apache-2.0 */
/* bert: embeddings, an encoder of layers, and a pooler. */
#include "base/options.h"
#include "bert.h"
#include "nn/attention_call.h"
#include "nn/language/language.h"
#include "ops/core/call.h"
#include <wick/ops.h>

enum { MOST_INPUTS = 3, MOST_OUTPUTS = 2 };

/* States of the modules: their children. */
typedef struct embeddings {
    wk_module *word, *position, *type, *norm, *dropout;
    int64_t most_positions;
} embeddings;
typedef struct encoder {
    wk_module *layers;
} encoder;
typedef struct pooler {
    wk_module *dense, *activation;
} pooler;
typedef struct bert {
    wk_module *embeddings, *encoder, *pooler;
} bert;

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* in: ids; types or NULL. Without types all have type 0. */
static int embeddings_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    const embeddings *s = wk__module_of(self)->state;
    if (!wk__bert_takes(self, inputs, 1, outputs)) return -1;
    const int64_t tokens = wk_size(in[0], -1);
    if (tokens > s->most_positions) {
        wk__error_set((wk_site){0}, WK_ERR_SHAPE,
                      "%s: a sequence has %lld tokens, but .max_position_embeddings is %lld",
                      wk__module_of(self)->kind.name, (long long)tokens, (long long)s->most_positions);
        return -1;
    }
    if (!wk__ids_check((wk_site){0}, wk__module_of(self)->kind.name, in[0], wk__ids_bound(s->word))) return -1;
    const wk_device device = wk_device_of(in[0]);
    wk_tensor *types = inputs > 1 ? in[1] : wk_zeros((tokens), .dtype = WK_I64, .device = device);
    wk_tensor *x = wk__bert_call(s->word, in[0], NULL);
    x = x ? wk_add(x, wk__bert_call(s->type, types, NULL)) : NULL;
    x = x ? wk_add(x, wk__bert_call(s->position, wk_arange(tokens, .dtype = WK_I64, .device = device), NULL)) : NULL;
    out[0] = wk__bert_call(s->dropout, wk__bert_call(s->norm, x, NULL), NULL);
    return out[0] ? 1 : -1;
}

static int encoder_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    const encoder *s = wk__module_of(self)->state;
    if (!wk__bert_takes(self, inputs, 1, outputs)) return -1;
    wk_tensor *x = in[0];
    const int layers = wk_module_child_count(s->layers);
    for (int k = 0; k < layers && x; k++)
        x = wk__bert_call(wk_module_child_by_index(s->layers, k), x, inputs > 1 ? in[1] : NULL);
    out[0] = x;
    return x ? 1 : -1;
}

static wk_tensor *pooler_forward(wk_module *self, wk_tensor *x)
{
    const pooler *s = wk__module_of(self)->state;
    return wk__bert_call(s->activation, wk__bert_call(s->dense, wk_select(x, 1, 0), NULL), NULL);
}

/* ---- the network ------------------------------------------------------------------------------------------------- */

static bool check_ids(const wk_tensor *ids)
{
    if (wk_ndim(ids) == 2 && 1u << wk_dtype_of(ids) & WK__ID_DTYPES) return true;
    return wk__ids_refuse((wk_site){0}, ids, WK__ID_DTYPES, "bert_model: expected ids (N, T) of dtype i64 or i32");
}

/* Checks an input with a value for each token. */
static bool check_input(const char *name, wk_tensor *x, const wk_tensor *ids)
{
    if (!wk__check_tensor(x, (wk_site){0}, "bert_model", name)) return false;
    const wk__body *body = wk__body_of(x), *like = wk__body_of(ids);
    if (wk__same_shape(body->ndim, body->shape, like->ndim, like->shape)) return true;
    return wk__tensor_refuse((wk_site){0}, WK_ERR_SHAPE, x, "",
                             "bert_model: %s must have the shape of ids, (%lld, %lld)", name, (long long)like->shape[0],
                             (long long)like->shape[1]);
}

/* in: ids; types; the mask of tokens. Options have these two instead. */
static int bert_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    const bert *s = wk__module_of(self)->state;
    const wk_forward_bert_options *o = wk__forward_options();
    if (inputs < 1 || inputs > MOST_INPUTS || outputs < 1 || outputs > MOST_OUTPUTS) {
        wk__error_set((wk_site){0}, WK_ERR_ARGUMENT,
                      "bert_model: expected 1 to 3 inputs and 1 or 2 outputs, got %d and %d", inputs, outputs);
        return -1;
    }
    wk_tensor *types = o ? o->token_type_ids : inputs > 1 ? in[1] : NULL;
    wk_tensor *mask = o ? o->attention_mask : inputs > 2 ? in[2] : NULL;
    if (!check_ids(in[0]) || (types && !check_input("token_type_ids", types, in[0])) ||
        (mask && !check_input("attention_mask", mask, in[0])))
        return -1;
    wk_tensor *x = wk__bert_call(s->embeddings, in[0], types);
    wk_tensor *keys = mask && x ? wk_reshape(wk_ne(mask, 0), (wk_size(mask, 0), 1, 1, wk_size(mask, 1))) : NULL;
    if (x && (keys || !mask)) out[0] = wk__bert_call(s->encoder, x, keys);
    if (out[0] && outputs > 1) out[1] = wk__bert_call(s->pooler, out[0], NULL);
    return out[0] && (outputs < 2 || out[1]) ? outputs : -1;
}

wk_tensor *wk_forward_bert_at(wk_site site, wk_module *m, wk_tensor *ids, const wk_forward_bert_options *options)
{
    static const char *const kinds[] = {"bert_model", NULL};
    wk_forward_bert_options o;
    wk_tensor *out[MOST_OUTPUTS] = {NULL};
    if (!wk__options(site, "forward_bert", options, &o)) return NULL;
    if (o.pooled) *o.pooled = NULL;
    if ((!o.token_type_ids || !o.attention_mask) && wk__omitted_may_have_failed()) return NULL;
    if (!wk__forward_with(site, "forward_bert", m, kinds, &ids, 1, out, o.pooled ? 2 : 1, &o)) return NULL;
    if (o.pooled) *o.pooled = out[1];
    return out[0];
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

static wk_module *create_embeddings(const wk_nn_bert_options *o)
{
    wk_module *m = wk__bert_module("bert_embeddings", sizeof(embeddings), embeddings_forward, NULL);
    if (!m) return NULL;
    embeddings *s = wk__module_of(m)->state;
    s->most_positions = o->max_position_embeddings;
    s->word = wk_nn_embedding(o->vocab_size, o->hidden_size, .padding_idx = 0);
    m = wk__with(m, "word_embeddings", s->word);
    m = wk__with(m, "position_embeddings", s->position = wk_nn_embedding(s->most_positions, o->hidden_size));
    m = wk__with(m, "token_type_embeddings", s->type = wk_nn_embedding(o->type_vocab_size, o->hidden_size));
    m = wk__with(m, "LayerNorm", s->norm = wk__bert_norm(o));
    return wk__with(m, "dropout", s->dropout = wk_nn_dropout(o->dropout));
}

static wk_module *create_encoder(const wk_nn_bert_options *o)
{
    wk_module *m = wk__bert_module("bert_encoder", sizeof(encoder), encoder_forward, NULL),
              *layers = wk_nn_module_list();
    if (!m) return NULL;
    for (int64_t k = 0; k < o->num_hidden_layers && layers; k++) layers = wk__append(layers, wk__bert_layer(o));
    encoder *s = wk__module_of(m)->state;
    return wk__with(m, "layer", s->layers = layers);
}

static wk_module *create_pooler(const wk_nn_bert_options *o)
{
    wk_module *m = wk__bert_module("bert_pooler", sizeof(pooler), NULL, pooler_forward);
    if (!m) return NULL;
    pooler *s = wk__module_of(m)->state;
    m = wk__with(m, "dense", s->dense = wk_nn_linear(o->hidden_size, o->hidden_size));
    return wk__with(m, "activation", s->activation = wk_nn_tanh());
}

static wk_tensor *normal(wk_tensor *weight)
{
    return wk_init_normal_(weight, 0, 0.02);
}

static wk_module *create(const wk_nn_bert_options *o)
{
    static const wk__initial_values values = {.linear = normal, .linear_bias_zero = true};
    wk_module *m = wk__bert_module("bert_model", sizeof(bert), bert_forward, NULL);
    if (!m) return NULL;
    bert *s = wk__module_of(m)->state;
    m = wk__with(m, "embeddings", s->embeddings = create_embeddings(o));
    m = wk__with(m, "encoder", s->encoder = create_encoder(o));
    m = wk__with(m, "pooler", s->pooler = create_pooler(o));
    m = wk__initialize_network(m, &values);
    wk_tensor *padding = m ? wk_select(wk_module_parameter(m, "embeddings.word_embeddings.weight"), 0, 0) : NULL;
    return padding && wk_init_zeros_(padding) ? m : NULL;
}

/* Sets defaults and checks the options. Layers check the others. */
static bool read_options(wk_site site, const char *name, wk_nn_bert_options *o)
{
    const wk__model_size sizes[] = {{"vocab_size", &o->vocab_size, 30522},
                                    {"hidden_size", &o->hidden_size, 768},
                                    {"num_hidden_layers", &o->num_hidden_layers, 12},
                                    {"num_attention_heads", &o->num_attention_heads, 12},
                                    {"intermediate_size", &o->intermediate_size, 3072},
                                    {"max_position_embeddings", &o->max_position_embeddings, 512},
                                    {"type_vocab_size", &o->type_vocab_size, 2}};
    if (!wk__model_sizes(site, name, sizes, sizeof sizes / sizeof *sizes)) return false;
    o->dropout = wk__option_or(o->dropout, 0.1);
    if (o->layer_norm_eps == 0) o->layer_norm_eps = 1e-12;
    return wk__model_heads_check(site, name, o->hidden_size, o->num_attention_heads);
}

wk_module *wk_nn_bert_at(wk_site site, const wk_nn_bert_options *options)
{
    static const char name[] = "nn_bert";
    wk_nn_bert_options o;
    if (!wk__options(site, name, options, &o) || !read_options(site, name, &o)) return NULL;
    wk__network network = {.name = name, .site = site};
    if (!wk__network_open(&network, o.device)) return NULL;
    return wk__network_end(&network, create(&o));
}
