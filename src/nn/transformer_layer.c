/* SPDX-License-Identifier: Apache-2.0 */
/* transformer_encoder_layer and transformer_decoder_layer: attention and two linear layers, each part added to its
 * input. */
#include "attention_call.h"
#include "tensor/call_scope.h"
#include <wick/autograd.h>
#include <wick/ops.h>

enum { MOST_NORMS = 3 };

/* State of both kinds: the children, and the arguments of the constructor. */
typedef struct layer {
    wk_module *self_attn, *cross_attn; /* cross_attn: multihead_attn of a decoder layer */
    wk_module *linear[2], *dropout, *norm[MOST_NORMS], *dropout_of[MOST_NORMS];
    int64_t d_model, nhead;
    wk_nn_transformer_layer_options options;
} layer;

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* A part of a layer, which computes x + dropout(part(x)), normalised after or before. */
typedef struct part {
    const layer *s;
    wk_module *attention; /* NULL: the linear layers */
    wk_tensor *memory;    /* key and value; NULL: x */
    wk_forward_attention_options options;
    int number; /* of its norm */
} part;

static wk_tensor *feed_forward(const layer *s, wk_tensor *x)
{
    x = wk_forward_at((wk_site){0}, s->linear[0], x);
    x = s->options.activation == WK_TRANSFORMER_GELU ? wk_gelu(x) : wk_relu(x);
    return wk_forward_at((wk_site){0}, s->linear[1], wk_forward_at((wk_site){0}, s->dropout, x));
}

static wk_tensor *run_part(const part *p, wk_tensor *x)
{
    wk_tensor *memory = p->memory ? p->memory : x;
    x = p->attention ? wk_forward_attention_at((wk_site){0}, p->attention, x, memory, memory, &p->options)
                     : feed_forward(p->s, x);
    return x ? wk_forward_at((wk_site){0}, p->s->dropout_of[p->number], x) : NULL;
}

static wk_tensor *add_part(const part *p, wk_tensor *x)
{
    wk_module *norm = p->s->norm[p->number];
    if (!x) return NULL;
    if (!p->s->options.norm_first) return wk_forward_at((wk_site){0}, norm, wk_add(x, run_part(p, x)));
    wk_tensor *in = wk_forward_at((wk_site){0}, norm, x);
    return in ? wk_add(x, run_part(p, in)) : NULL;
}

static int encoder_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    const wk_forward_transformer_options *o = wk__forward_options();
    const layer *s = wk__module_of(self)->state;
    if (!wk__forward_takes("transformer_encoder_layer", 1, inputs, outputs)) return -1;
    part p = {.s = s, .attention = s->self_attn, .options = {.size = sizeof p.options}};
    if (o) {
        p.options.attn_mask = o->src_mask;
        p.options.key_padding_mask = o->src_key_padding_mask;
        p.options.is_causal = o->src_is_causal;
    }
    wk_tensor *x = add_part(&p, in[0]);
    out[0] = add_part(&(part){.s = s, .number = 1}, x);
    return out[0] ? 1 : -1;
}

static int decoder_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    const wk_forward_transformer_options *o = wk__forward_options();
    const layer *s = wk__module_of(self)->state;
    if (!wk__forward_takes("transformer_decoder_layer", 2, inputs, outputs)) return -1;
    part own = {.s = s, .attention = s->self_attn, .options = {.size = sizeof own.options}};
    part cross = {
        .s = s, .attention = s->cross_attn, .memory = in[1], .options = {.size = sizeof cross.options}, .number = 1};
    if (o) {
        own.options.attn_mask = o->tgt_mask;
        own.options.key_padding_mask = o->tgt_key_padding_mask;
        own.options.is_causal = o->tgt_is_causal;
        cross.options.attn_mask = o->memory_mask;
        cross.options.key_padding_mask = o->memory_key_padding_mask;
        cross.options.is_causal = o->memory_is_causal;
    }
    wk_tensor *x = add_part(&cross, add_part(&own, in[0]));
    out[0] = add_part(&(part){.s = s, .number = 2}, x);
    return out[0] ? 1 : -1;
}

/* ---- constructors ------------------------------------------------------------------------------------------------ */

static bool add(wk_site site, wk_module *m, const char *name, wk_module *child, wk_module **to)
{
    *to = child;
    return child && wk_module_add_at(site, m, name, child);
}

/* Adds the children in PyTorch's order. */
static bool add_children(wk_site site, wk_module *m, bool decoder)
{
    static const char *const norms[] = {"norm1", "norm2", "norm3"}, *const drops[] = {"dropout1", "dropout2",
                                                                                      "dropout3"};
    layer *s = wk__module_of(m)->state;
    const wk_nn_transformer_layer_options *o = &s->options;
    const double dropout = wk__option_or(o->dropout, 0.1);
    const wk_nn_multihead_attention_options attention = {.size = sizeof attention,
                                                         .dropout = dropout,
                                                         .no_bias = o->no_bias,
                                                         .batch_first = o->batch_first,
                                                         .dtype = o->dtype,
                                                         .device = o->device};
    const wk_nn_linear_options linear = {
        .size = sizeof linear, .no_bias = o->no_bias, .dtype = o->dtype, .device = o->device};
    const wk_nn_layer_norm_options norm = {
        .size = sizeof norm, .eps = o->layer_norm_eps, .no_bias = o->no_bias, .dtype = o->dtype, .device = o->device};
    const int64_t wide = o->dim_feedforward;
    const int count = decoder ? 3 : 2;
    bool fine =
        add(site, m, "self_attn", wk_nn_multihead_attention_at(site, s->d_model, s->nhead, &attention), &s->self_attn);
    if (decoder)
        fine = fine && add(site, m, "multihead_attn",
                           wk_nn_multihead_attention_at(site, s->d_model, s->nhead, &attention), &s->cross_attn);
    fine = fine && add(site, m, "linear1", wk_nn_linear_at(site, s->d_model, wide, &linear), &s->linear[0]);
    fine = fine && add(site, m, "dropout", wk_nn_dropout_at(site, dropout), &s->dropout);
    fine = fine && add(site, m, "linear2", wk_nn_linear_at(site, wide, s->d_model, &linear), &s->linear[1]);
    for (int k = 0; k < count && fine; k++)
        fine = add(site, m, norms[k], wk_nn_layer_norm_at(site, &s->d_model, 1, &norm), &s->norm[k]);
    for (int k = 0; k < count && fine; k++)
        fine = add(site, m, drops[k], wk_nn_dropout_at(site, dropout), &s->dropout_of[k]);
    return fine;
}

static wk_module *construct(wk_site site, const char *name, const wk_module_kind *kind, int64_t d_model, int64_t nhead,
                            const wk_nn_transformer_layer_options *options, bool decoder)
{
    wk_nn_transformer_layer_options o;
    if (!wk__options(site, name, options, &o)) return NULL;
    if (d_model < 1 || nhead < 1 || d_model % nhead != 0) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: d_model must be a positive multiple of nhead, got %lld and %lld",
                      name, (long long)d_model, (long long)nhead);
        return NULL;
    }
    if (o.dim_feedforward == 0) o.dim_feedforward = 2048;
    if (o.dim_feedforward < 0) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .dim_feedforward must be at least 0, got %lld", name,
                      (long long)o.dim_feedforward);
        return NULL;
    }
    if (o.activation != WK_TRANSFORMER_RELU && o.activation != WK_TRANSFORMER_GELU) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: .activation must be WK_TRANSFORMER_RELU or WK_TRANSFORMER_GELU, got %d", name, o.activation);
        return NULL;
    }
    wk__call_scope c;
    wk_module *m = wk__module_make(site, kind);
    if (!m || !wk__call_begin(&c, WK__FRAME_CALL, name, site, WK__GRAD_OFF)) return wk__module_discard(m);
    *(layer *)wk__module_of(m)->state = (layer){.d_model = d_model, .nhead = nhead, .options = o};
    const bool fine = add_children(site, m, decoder);
    wk__call_end(&c, NULL, 0);
    return fine ? m : wk__module_discard(m);
}

wk_module *wk_nn_transformer_encoder_layer_at(wk_site site, int64_t d_model, int64_t nhead,
                                              const wk_nn_transformer_layer_options *options)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "transformer_encoder_layer", .state = sizeof(layer), .forward = encoder_forward};
    return construct(site, "nn_transformer_encoder_layer", &kind, d_model, nhead, options, false);
}

wk_module *wk_nn_transformer_decoder_layer_at(wk_site site, int64_t d_model, int64_t nhead,
                                              const wk_nn_transformer_layer_options *options)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "transformer_decoder_layer", .state = sizeof(layer), .forward = decoder_forward};
    return construct(site, "nn_transformer_decoder_layer", &kind, d_model, nhead, options, true);
}

/* Sets the training modes of a copy and its children, which are those of `from`. Returns false on error. */
static bool copy_modes(wk_module *to, wk_module *from)
{
    wk__module_of(to)->eval = wk__module_of(from)->eval;
    const int count = wk_module_child_count_at((wk_site){0}, to);
    for (int k = 0; k < count; k++) {
        wk_module *child = wk_module_child_by_index_at((wk_site){0}, to, k);
        wk_module *of = wk_module_child_by_index_at((wk_site){0}, from, k);
        if (!child || !of || !copy_modes(child, of)) return false;
    }
    return true;
}

/* Copies values and requires_grad of all parameters. Returns false on error. */
static bool copy_parameters(wk_site site, wk_module *to, wk_tensors *from)
{
    wk_tensors *all = wk_parameters_at(site, to);
    if (!all) return false;
    for (int k = 0; k < wk_tensors_count_at(site, all); k++) {
        wk_tensor *x = wk_tensors_get_at(site, all, k), *of = wk_tensors_get_at(site, from, k);
        if (!wk_copy__at(site, x, of) || !wk_requires_grad__at(site, x, wk_requires_grad(of))) return false;
    }
    return true;
}

wk_module *wk__transformer_layer_copy(wk_site site, wk_module *m)
{
    const layer *s = wk__module_of(m)->state;
    wk_tensors *from = wk_parameters_at(site, m);
    if (!from) return NULL;
    wk_nn_transformer_layer_options o = s->options;
    wk_tensor *first = wk_tensors_get_at(site, from, 0);
    o.dtype = wk_dtype_of(first);
    o.device = wk_device_of(first);
    wk_module *copy = s->cross_attn ? wk_nn_transformer_decoder_layer_at(site, s->d_model, s->nhead, &o)
                                    : wk_nn_transformer_encoder_layer_at(site, s->d_model, s->nhead, &o);
    return copy && copy_parameters(site, copy, from) && copy_modes(copy, m) ? copy : NULL;
}
