/* SPDX-License-Identifier: Apache-2.0 */
/* nn_llama: Llama and Qwen2. */
#include "base/alloc.h"
#include "base/options.h"
#include "language.h"
#include "nn/attention_call.h"
#include "nn/models/build.h"
#include "rope.h"
#include <wick/ops.h>

/* ---- layers ------------------------------------------------------------------------------------------------------ */

/* State of the attention. Pointers are to children. */
typedef struct attention {
    wk_module *q_proj, *k_proj, *v_proj, *o_proj;
    int64_t heads, kv_heads;
    wk__rope rope;
} attention;

/* Copies the sequence to *own with tables of rotary positions. Returns own; NULL on error, also if s is NULL. */
static const wk__sequence *with_tables(const wk__sequence *s, const wk__rope *rope, wk__sequence *own)
{
    if (!s || s->rotary[0]) return s;
    if (s != own) *own = *s;
    return wk__rope_tables(rope, own->positions, own->rotary) ? own : NULL;
}

static wk_tensor *attention_forward(wk_module *self, wk_tensor *x)
{
    const attention *a = wk__module_of(self)->state;
    wk__sequence own;
    const wk__sequence *s = with_tables(wk__sequence_of_call(&own, x), &a->rope, &own);
    if (!s) return NULL;
    wk_tensor *query = wk__split_heads(wk_forward(a->q_proj, x), a->heads);
    wk_tensor *key = wk__split_heads(wk_forward(a->k_proj, x), a->kv_heads);
    wk_tensor *value = wk__split_heads(wk_forward(a->v_proj, x), a->kv_heads);
    query = wk__rope_rotate(query, s->rotary);
    x = wk__sequence_attend(s, query, wk__rope_rotate(key, s->rotary), value, 0);
    return x ? wk_forward(a->o_proj, x) : NULL;
}

/* State of the MLP: children. */
typedef struct mlp {
    wk_module *gate_proj, *up_proj, *down_proj, *act_fn;
} mlp;

static wk_tensor *mlp_forward(wk_module *self, wk_tensor *x)
{
    const mlp *m = wk__module_of(self)->state;
    wk_tensor *gate = wk_forward(m->act_fn, wk_forward(m->gate_proj, x)), *up = wk_forward(m->up_proj, x);
    return gate && up ? wk_forward(m->down_proj, wk_mul(gate, up)) : NULL;
}

/* State of a layer: children. */
typedef struct layer {
    wk_module *self_attn, *mlp, *input_layernorm, *post_attention_layernorm;
} layer;

static wk_tensor *layer_forward(wk_module *self, wk_tensor *x)
{
    const layer *l = wk__module_of(self)->state;
    wk__sequence own;
    const wk__sequence *s = wk__sequence_of_call(&own, x);
    if (!s) return NULL;
    x = wk_add(x, wk__sequence_call(s, "llama_attention", l->self_attn, wk_forward(l->input_layernorm, x)));
    return x ? wk_add(x, wk_forward(l->mlp, wk_forward(l->post_attention_layernorm, x))) : NULL;
}

/* ---- body -------------------------------------------------------------------------------------------------------- */

/* State of the body. */
typedef struct model {
    wk__language_body body; /* embed_tokens, layers, norm */
    wk__rope rope;
    int64_t positions;
} model;

static wk_tensor *model_forward(wk_module *self, wk_tensor *ids)
{
    const model *m = wk__module_of(self)->state;
    wk__sequence own;
    const wk__sequence *s = wk__sequence_of_call(&own, ids);
    if (!s || !wk__sequence_check("llama", s, ids, m->body.embedding, m->positions)) return NULL;
    s = with_tables(s, &m->rope, &own);
    return s ? wk__sequence_blocks(s, &m->body, "llama_decoder_layer", wk_forward(m->body.embedding, ids)) : NULL;
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

/* The options with their defaults. */
typedef struct plan {
    wk_nn_llama_options o;
    wk__rope rope;
} plan;

static wk_module *create_attention(const plan *p)
{
    const wk_nn_llama_options *o = &p->o;
    const int64_t queries = o->num_attention_heads * o->head_dim, keys = o->num_key_value_heads * o->head_dim;
    wk_module *m = wk__language_part("llama_attention", sizeof(attention), attention_forward);
    if (!m) return NULL;
    attention *a = wk__module_of(m)->state;
    *a = (attention){.heads = o->num_attention_heads, .kv_heads = o->num_key_value_heads, .rope = p->rope};
    m = wk__with(m, "q_proj", a->q_proj = wk__language_linear(o->hidden_size, queries, o->attention_bias, o->dtype));
    m = wk__with(m, "k_proj", a->k_proj = wk__language_linear(o->hidden_size, keys, o->attention_bias, o->dtype));
    m = wk__with(m, "v_proj", a->v_proj = wk__language_linear(o->hidden_size, keys, o->attention_bias, o->dtype));
    return wk__with(m, "o_proj", a->o_proj = wk__language_linear(queries, o->hidden_size, false, o->dtype));
}

static wk_module *create_mlp(const plan *p)
{
    const int64_t features = p->o.hidden_size, inner = p->o.intermediate_size;
    wk_module *m = wk__language_part("llama_mlp", sizeof(mlp), mlp_forward);
    if (!m) return NULL;
    mlp *s = wk__module_of(m)->state;
    m = wk__with(m, "gate_proj", s->gate_proj = wk__language_linear(features, inner, false, p->o.dtype));
    m = wk__with(m, "up_proj", s->up_proj = wk__language_linear(features, inner, false, p->o.dtype));
    m = wk__with(m, "down_proj", s->down_proj = wk__language_linear(inner, features, false, p->o.dtype));
    return wk__with(m, "act_fn", s->act_fn = wk_nn_silu());
}

static wk_module *create_norm(const plan *p)
{
    return wk_nn_rms_norm((p->o.hidden_size), .eps = p->o.rms_norm_eps, .dtype = p->o.dtype);
}

static wk_module *create_layer(const plan *p)
{
    wk_module *m = wk__language_part("llama_decoder_layer", sizeof(layer), layer_forward);
    if (!m) return NULL;
    layer *l = wk__module_of(m)->state;
    m = wk__with(m, "self_attn", l->self_attn = create_attention(p));
    m = wk__with(m, "mlp", l->mlp = create_mlp(p));
    m = wk__with(m, "input_layernorm", l->input_layernorm = create_norm(p));
    return wk__with(m, "post_attention_layernorm", l->post_attention_layernorm = create_norm(p));
}

static wk_module *create_layers(const plan *p)
{
    wk_module *m = wk_nn_module_list();
    for (int64_t k = 0; k < p->o.num_hidden_layers && m; k++) m = wk__append(m, create_layer(p));
    return m;
}

static wk_module *create_model(const plan *p)
{
    wk_module *m = wk__language_part("llama_model", sizeof(model), model_forward);
    if (!m) return NULL;
    model *s = wk__module_of(m)->state;
    s->positions = p->o.max_position_embeddings;
    s->rope = p->rope;
    s->body.embedding = wk__language_table(p->o.vocab_size, p->o.hidden_size, p->o.dtype);
    m = wk__with(m, "embed_tokens", s->body.embedding);
    m = wk__with(m, "layers", s->body.blocks = create_layers(p));
    return wk__with(m, "norm", s->body.norm = create_norm(p));
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* Sets defaults and checks sizes one by one. Returns false on error. */
static bool read_sizes(wk_site site, const char *name, wk_nn_llama_options *o)
{
    const wk__model_size sizes[] = {{"vocab_size", &o->vocab_size, 32000},
                                    {"hidden_size", &o->hidden_size, 4096},
                                    {"intermediate_size", &o->intermediate_size, 11008},
                                    {"num_hidden_layers", &o->num_hidden_layers, 32},
                                    {"num_attention_heads", &o->num_attention_heads, 32},
                                    {"max_position_embeddings", &o->max_position_embeddings, 2048},
                                    {"rope_original_positions", &o->rope_original_positions, 8192}};
    if (!wk__model_sizes(site, name, sizes, sizeof sizes / sizeof *sizes)) return false;
    if (o->head_dim == 0) o->head_dim = o->hidden_size / o->num_attention_heads;
    const wk__model_size heads = {"num_key_value_heads", &o->num_key_value_heads, o->num_attention_heads};
    return wk__model_sizes(site, name, &heads, 1);
}

static void set_defaults(wk_nn_llama_options *o)
{
    o->rms_norm_eps = wk__option_or(o->rms_norm_eps, 1e-6);
    o->rope_theta = wk__option_or(o->rope_theta, 10000);
    o->rope_factor = wk__option_or(o->rope_factor, 0);
    o->rope_low_freq_factor = wk__option_or(o->rope_low_freq_factor, 1);
    o->rope_high_freq_factor = wk__option_or(o->rope_high_freq_factor, 4);
}

static bool check_heads(wk_site site, const char *name, const wk_nn_llama_options *o)
{
    int64_t features;
    if (o->num_attention_heads % o->num_key_value_heads != 0)
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: .num_attention_heads must be a multiple of .num_key_value_heads, got %lld and %lld", name,
                      (long long)o->num_attention_heads, (long long)o->num_key_value_heads);
    else if (o->head_dim < 1 || o->head_dim % 2 != 0)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .head_dim must be even and at least 2, got %lld", name,
                      (long long)o->head_dim);
    else if (!wk__mul_size(o->num_attention_heads, o->head_dim, &features))
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .num_attention_heads times .head_dim exceeds 2^63", name);
    else
        return true;
    return false;
}

static bool check_rope(wk_site site, const char *name, const wk_nn_llama_options *o)
{
    if (!(o->rope_theta > 0))
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .rope_theta must be greater than 0, got %g", name, o->rope_theta);
    else if (!(o->rope_factor >= 0))
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .rope_factor must be at least 0, got %g", name, o->rope_factor);
    else if (!(o->rope_low_freq_factor < o->rope_high_freq_factor))
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: .rope_low_freq_factor must be below .rope_high_freq_factor, got %g and %g", name,
                      o->rope_low_freq_factor, o->rope_high_freq_factor);
    else
        return true;
    return false;
}

wk_module *wk_nn_llama_at(wk_site site, const wk_nn_llama_options *options)
{
    static const char name[] = "nn_llama";
    plan p;
    wk__network network = {.name = name, .site = site};
    wk_nn_llama_options *o = &p.o;
    if (!wk__options(site, name, options, o) || !read_sizes(site, name, o)) return NULL;
    set_defaults(o);
    if (!check_heads(site, name, o) || !check_rope(site, name, o) || !wk__network_open(&network, o->device))
        return NULL;
    p.rope = (wk__rope){.head_dim = o->head_dim,
                        .theta = o->rope_theta,
                        .factor = o->rope_factor,
                        .low = o->rope_low_freq_factor,
                        .high = o->rope_high_freq_factor,
                        .original = (double)o->rope_original_positions};
    const wk__language sizes = {.vocab = o->vocab_size,
                                .positions = o->max_position_embeddings,
                                .layers = o->num_hidden_layers,
                                .kv_heads = o->num_key_value_heads,
                                .head_dim = o->head_dim};
    wk_module *m = wk__language_model("llama_for_causal_lm", "model", create_model(&p), &sizes, o->hidden_size,
                                      o->tie_word_embeddings, o->dtype);
    return wk__network_end(&network, m);
}
