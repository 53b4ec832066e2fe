/* SPDX-License-Identifier: Apache-2.0 */
/* nn_gpt: GPT-2. Weights of projections are (in, out), as in files of this model. */
#include "language.h"
#include "nn/attention_call.h"
#include "nn/models/build.h"
#include <math.h>
#include <wick/ops.h>

/* ---- projections ------------------------------------------------------------------------------------------------- */

/* State of a projection. */
typedef struct projection {
    wk_tensor *weight, *bias; /* (in, out), (out); owned by the module */
    int64_t in, out;
} projection;

static wk_tensor *projection_forward(wk_module *self, wk_tensor *x)
{
    const projection *p = wk__module_of(self)->state;
    return wk_linear(x, wk_transpose(p->weight, 0, 1), p->bias);
}

static int projection_describe(wk_module *self, char *out, size_t size)
{
    const projection *p = wk__module_of(self)->state;
    wk__text text = {0};
    wk__text_format(&text, "nf=%lld, nx=%lld", (long long)p->out, (long long)p->in);
    return wk__describe_end(&text, out, size);
}

/* Creates a projection whose weight is normal with this standard deviation. */
static wk_module *create_projection(int64_t in, int64_t out, double std, wk_dtype dtype)
{
    static const wk_module_kind kind = {.size = sizeof kind,
                                        .name = "conv1D",
                                        .state = sizeof(projection),
                                        .forward1 = projection_forward,
                                        .describe = projection_describe};
    wk_module *m = wk__module_make((wk_site){0}, &kind);
    if (!m) return NULL;
    projection *p = wk__module_of(m)->state;
    *p = (projection){.in = in, .out = out};
    p->weight = wk_module_add_parameter(m, "weight", wk_empty((in, out), .dtype = dtype));
    p->bias = p->weight ? wk_module_add_parameter(m, "bias", wk_zeros((out), .dtype = dtype)) : NULL;
    return p->bias && wk_init_normal_(p->weight, 0, std) ? m : NULL;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* State of the attention. Pointers are to children. */
typedef struct attention {
    wk_module *c_attn, *c_proj, *resid_dropout;
    int64_t heads;
    double dropout; /* of the weights */
} attention;

static wk_tensor *attention_forward(wk_module *self, wk_tensor *x)
{
    const attention *a = wk__module_of(self)->state;
    wk__sequence own;
    const wk__sequence *s = wk__sequence_of_call(&own, x);
    wk_tensor *part[3], *all = s ? wk_forward(a->c_attn, x) : NULL;
    if (!all) return NULL;
    const int64_t features = wk_size(all, -1) / 3;
    for (int k = 0; k < 3; k++) part[k] = wk__split_heads(wk_narrow(all, -1, k * features, features), a->heads);
    const bool drops = !s->cache && !wk__module_of(self)->eval;
    x = wk__sequence_attend(s, part[0], part[1], part[2], drops ? a->dropout : 0);
    return x ? wk__sequence_dropout(s, a->resid_dropout, wk_forward(a->c_proj, x)) : NULL;
}

/* State of the MLP: children. */
typedef struct mlp {
    wk_module *c_fc, *c_proj, *act, *dropout;
} mlp;

static wk_tensor *mlp_forward(wk_module *self, wk_tensor *x)
{
    const mlp *m = wk__module_of(self)->state;
    wk__sequence own;
    const wk__sequence *s = wk__sequence_of_call(&own, x);
    if (!s) return NULL;
    x = wk_forward(m->act, wk_forward(m->c_fc, x));
    return x ? wk__sequence_dropout(s, m->dropout, wk_forward(m->c_proj, x)) : NULL;
}

/* State of a block: children. */
typedef struct block {
    wk_module *ln_1, *attn, *ln_2, *mlp;
} block;

static wk_tensor *block_forward(wk_module *self, wk_tensor *x)
{
    const block *b = wk__module_of(self)->state;
    wk__sequence own;
    const wk__sequence *s = wk__sequence_of_call(&own, x);
    if (!s) return NULL;
    x = wk_add(x, wk__sequence_call(s, "gpt2_attention", b->attn, wk_forward(b->ln_1, x)));
    return x ? wk_add(x, wk__sequence_call_mlp(s, "gpt2_mlp", b->mlp, wk_forward(b->ln_2, x))) : NULL;
}

/* ---- body -------------------------------------------------------------------------------------------------------- */

/* State of the body. Pointers are to children. */
typedef struct transformer {
    wk__language_body body; /* wte, h, ln_f */
    wk_module *wpe, *drop;
    int64_t positions;
} transformer;

static wk_tensor *transformer_forward(wk_module *self, wk_tensor *ids)
{
    const transformer *t = wk__module_of(self)->state;
    wk__sequence own;
    const wk__sequence *s = wk__sequence_of_call(&own, ids);
    if (!s || !wk__sequence_check("gpt", s, ids, t->body.embedding, t->positions)) return NULL;
    wk_tensor *x = wk_add(wk_forward(t->body.embedding, ids), wk_forward(t->wpe, s->positions));
    return wk__sequence_blocks(s, &t->body, "gpt2_block", wk__sequence_dropout(s, t->drop, x));
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

/* The options with their defaults, and the standard deviation of c_proj. */
typedef struct plan {
    wk_nn_gpt_options o;
    double residual_std;
} plan;

static wk_module *create_attention(const plan *p)
{
    wk_module *m = wk__language_part("gpt2_attention", sizeof(attention), attention_forward);
    if (!m) return NULL;
    attention *a = wk__module_of(m)->state;
    *a = (attention){.heads = p->o.n_head, .dropout = p->o.dropout};
    m = wk__with(m, "c_attn",
                 a->c_attn = create_projection(p->o.n_embd, 3 * p->o.n_embd, WK__LANGUAGE_STD, p->o.dtype));
    m = wk__with(m, "c_proj", a->c_proj = create_projection(p->o.n_embd, p->o.n_embd, p->residual_std, p->o.dtype));
    return wk__with(m, "resid_dropout", a->resid_dropout = wk_nn_dropout(p->o.dropout));
}

static wk_module *create_mlp(const plan *p)
{
    wk_module *m = wk__language_part("gpt2_mlp", sizeof(mlp), mlp_forward);
    if (!m) return NULL;
    mlp *s = wk__module_of(m)->state;
    m = wk__with(m, "c_fc", s->c_fc = create_projection(p->o.n_embd, p->o.n_inner, WK__LANGUAGE_STD, p->o.dtype));
    m = wk__with(m, "c_proj", s->c_proj = create_projection(p->o.n_inner, p->o.n_embd, p->residual_std, p->o.dtype));
    m = wk__with(m, "act", s->act = wk_nn_gelu(.approximate = WK_GELU_TANH));
    return wk__with(m, "dropout", s->dropout = wk_nn_dropout(p->o.dropout));
}

static wk_module *create_norm(const plan *p)
{
    return wk_nn_layer_norm((p->o.n_embd), .eps = p->o.layer_norm_epsilon, .dtype = p->o.dtype);
}

static wk_module *create_block(const plan *p)
{
    wk_module *m = wk__language_part("gpt2_block", sizeof(block), block_forward);
    if (!m) return NULL;
    block *b = wk__module_of(m)->state;
    m = wk__with(m, "ln_1", b->ln_1 = create_norm(p));
    m = wk__with(m, "attn", b->attn = create_attention(p));
    m = wk__with(m, "ln_2", b->ln_2 = create_norm(p));
    return wk__with(m, "mlp", b->mlp = create_mlp(p));
}

static wk_module *create_blocks(const plan *p)
{
    wk_module *m = wk_nn_module_list();
    for (int64_t k = 0; k < p->o.n_layer && m; k++) m = wk__append(m, create_block(p));
    return m;
}

static wk_module *create_transformer(const plan *p)
{
    wk_module *m = wk__language_part("gpt2_model", sizeof(transformer), transformer_forward);
    if (!m) return NULL;
    transformer *t = wk__module_of(m)->state;
    t->positions = p->o.n_positions;
    m = wk__with(m, "wte", t->body.embedding = wk__language_table(p->o.vocab_size, p->o.n_embd, p->o.dtype));
    m = wk__with(m, "wpe", t->wpe = wk__language_table(p->o.n_positions, p->o.n_embd, p->o.dtype));
    m = wk__with(m, "drop", t->drop = wk_nn_dropout(p->o.dropout));
    m = wk__with(m, "h", t->body.blocks = create_blocks(p));
    return wk__with(m, "ln_f", t->body.norm = create_norm(p));
}

/* Sets defaults and checks the options. Returns false on error. */
static bool read_options(wk_site site, const char *name, plan *p)
{
    wk_nn_gpt_options *o = &p->o;
    const wk__model_size sizes[] = {{"vocab_size", &o->vocab_size, 50257},
                                    {"n_positions", &o->n_positions, 1024},
                                    {"n_embd", &o->n_embd, 768},
                                    {"n_layer", &o->n_layer, 12},
                                    {"n_head", &o->n_head, 12}};
    if (!wk__model_sizes(site, name, sizes, sizeof sizes / sizeof *sizes)) return false;
    const wk__model_size inner = {"n_inner", &o->n_inner, o->n_embd <= INT64_MAX / 4 ? 4 * o->n_embd : 0};
    if (!wk__model_sizes(site, name, &inner, 1)) return false;
    o->dropout = wk__option_or(o->dropout, 0.1);
    o->layer_norm_epsilon = wk__option_or(o->layer_norm_epsilon, 1e-5);
    p->residual_std = WK__LANGUAGE_STD / sqrt(2 * (double)o->n_layer);
    if (o->n_embd % o->n_head != 0)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .n_embd must be a multiple of .n_head, got %lld and %lld", name,
                      (long long)o->n_embd, (long long)o->n_head);
    else if (!(o->dropout >= 0 && o->dropout <= 1))
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .dropout must be in [0, 1], got %g", name, o->dropout);
    else
        return true;
    return false;
}

wk_module *wk_nn_gpt_at(wk_site site, const wk_nn_gpt_options *options)
{
    static const char name[] = "nn_gpt";
    plan p;
    wk__network network = {.name = name, .site = site};
    if (!wk__options(site, name, options, &p.o) || !read_options(site, name, &p) ||
        !wk__network_open(&network, p.o.device))
        return NULL;
    const wk__language sizes = {.vocab = p.o.vocab_size,
                                .positions = p.o.n_positions,
                                .layers = p.o.n_layer,
                                .kv_heads = p.o.n_head,
                                .head_dim = p.o.n_embd / p.o.n_head};
    wk_module *m = wk__language_model("gpt2_lm_head_model", "transformer", create_transformer(&p), &sizes, p.o.n_embd,
                                      !p.o.untied, p.o.dtype);
    return wk__network_end(&network, m);
}
