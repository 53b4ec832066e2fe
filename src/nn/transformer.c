/* SPDX-License-Identifier: Apache-2.0 */
/* transformer_encoder and transformer_decoder: stacks of layers; transformer: an encoder and a decoder. */
#include "attention_call.h"
#include "ops/core/call.h"
#include "tensor/call_scope.h"
#include <string.h>
#include <wick/ops.h>

/* State of a stack, whose children are "layers" and "norm". */
typedef struct stack {
    wk_module *layers, *norm; /* norm: NULL: none */
} stack;

/* State of a transformer. */
typedef struct transformer {
    wk_module *encoder, *decoder;
} transformer;

static const char *const encoders[] = {"transformer_encoder", "transformer_encoder_layer", NULL};
static const char *const decoders[] = {"transformer_decoder", "transformer_decoder_layer", NULL};
static const char *const transformers[] = {"transformer", NULL};

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* Calls the layers; in[1], the memory, is the same for all. */
static int run_stack(wk_module *self, const char *name, const char *const kinds[], wk_tensor *const *in, int inputs,
                     int expected, wk_tensor **out, int outputs)
{
    const stack *s = wk__module_of(self)->state;
    const void *options = wk__forward_options();
    if (!wk__forward_takes(name, expected, inputs, outputs)) return -1;
    wk_tensor *x[2] = {in[0], expected > 1 ? in[1] : NULL};
    for (int k = 0; k < wk_module_child_count_at((wk_site){0}, s->layers); k++) {
        wk_module *layer = wk_module_child_by_index_at((wk_site){0}, s->layers, k);
        wk_tensor *next = NULL;
        if (!wk__forward_with((wk_site){0}, name, layer, kinds, x, expected, &next, 1, options)) return -1;
        x[0] = next;
    }
    out[0] = s->norm ? wk_forward_at((wk_site){0}, s->norm, x[0]) : x[0];
    return out[0] ? 1 : -1;
}

static int encoder_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    return run_stack(self, "transformer_encoder", encoders, in, inputs, 1, out, outputs);
}

static int decoder_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    return run_stack(self, "transformer_decoder", decoders, in, inputs, 2, out, outputs);
}

static int transformer_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    const transformer *s = wk__module_of(self)->state;
    const void *options = wk__forward_options();
    wk_tensor *memory = NULL;
    if (!wk__forward_takes("transformer", 2, inputs, outputs) ||
        !wk__forward_with((wk_site){0}, "transformer", s->encoder, encoders, in, 1, &memory, 1, options))
        return -1;
    wk_tensor *const pair[] = {in[1], memory};
    return wk__forward_with((wk_site){0}, "transformer", s->decoder, decoders, pair, 2, out, 1, options) ? 1 : -1;
}

static wk_tensor *call(wk_site site, const char *name, wk_module *m, const char *const kinds[], wk_tensor *const *in,
                       int inputs, const wk_forward_transformer_options *options)
{
    wk_forward_transformer_options o;
    wk_tensor *out = NULL;
    if (!wk__options(site, name, options, &o)) return NULL;
    if (wk__omitted_may_have_failed()) return NULL;
    return wk__forward_with(site, name, m, kinds, in, inputs, &out, 1, &o) ? out : NULL;
}

wk_tensor *wk_forward_encoder_at(wk_site site, wk_module *m, wk_tensor *src,
                                 const wk_forward_transformer_options *options)
{
    return call(site, "forward_encoder", m, encoders, &src, 1, options);
}

wk_tensor *wk_forward_decoder_at(wk_site site, wk_module *m, wk_tensor *tgt, wk_tensor *memory,
                                 const wk_forward_transformer_options *options)
{
    return call(site, "forward_decoder", m, decoders, (wk_tensor *[]){tgt, memory}, 2, options);
}

wk_tensor *wk_forward_transformer_at(wk_site site, wk_module *m, wk_tensor *src, wk_tensor *tgt,
                                     const wk_forward_transformer_options *options)
{
    return call(site, "forward_transformer", m, transformers, (wk_tensor *[]){src, tgt}, 2, options);
}

/* ---- constructors ------------------------------------------------------------------------------------------------ */

static bool add_layers(wk_site site, wk_module *m, wk_module *layer, int64_t count, wk_module *norm)
{
    stack *s = wk__module_of(m)->state;
    s->layers = wk_nn_module_list_at(site, NULL, 0);
    bool fine = s->layers && wk_module_add_at(site, m, "layers", s->layers);
    for (int64_t k = 0; k < count && fine; k++) {
        wk_module *copy = wk__transformer_layer_copy(site, layer);
        fine = copy && wk_module_append_at(site, s->layers, copy);
    }
    s->norm = norm;
    return fine && (!norm || wk_module_add_at(site, m, "norm", norm));
}

static wk_module *make_stack(wk_site site, const char *name, const wk_module_kind *kind, const char *expected,
                             wk_module *layer, int64_t count, const wk_nn_transformer_stack_options *options)
{
    wk_nn_transformer_stack_options o;
    if (!wk__options(site, name, options, &o) || !wk__handle_check(layer, &wk__module_kind, site, name, "the layer"))
        return NULL;
    if (!o.norm && wk__omitted_may_have_failed()) return NULL;
    const wk__module *body = wk__module_of(layer);
    if (!body->builtin || strcmp(body->kind.name, expected) != 0 || count < 0) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: expected a %s and at least 0 layers, got %s %s and %lld", name,
                      expected, wk__article(body->kind.name), body->kind.name, (long long)count);
        return NULL;
    }
    wk__call_scope c;
    wk_module *m = wk__module_make(site, kind);
    if (!m || !wk__call_begin(&c, WK__FRAME_CALL, name, site, WK__GRAD_OFF)) return wk__module_discard(m);
    const bool fine = add_layers(site, m, layer, count, o.norm);
    wk__call_end(&c, NULL, 0);
    return fine ? m : wk__module_discard(m);
}

wk_module *wk_nn_transformer_encoder_at(wk_site site, wk_module *layer, int64_t num_layers,
                                        const wk_nn_transformer_stack_options *options)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "transformer_encoder", .state = sizeof(stack), .forward = encoder_forward};
    return make_stack(site, "nn_transformer_encoder", &kind, encoders[1], layer, num_layers, options);
}

wk_module *wk_nn_transformer_decoder_at(wk_site site, wk_module *layer, int64_t num_layers,
                                        const wk_nn_transformer_stack_options *options)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "transformer_decoder", .state = sizeof(stack), .forward = decoder_forward};
    return make_stack(site, "nn_transformer_decoder", &kind, decoders[1], layer, num_layers, options);
}

/* Initialises all matrices by xavier_uniform_, as PyTorch does after it has created the layers. */
static bool initialize(wk_site site, wk_module *m)
{
    wk_tensors *all = wk_parameters_at(site, m);
    for (int k = 0; all && k < wk_tensors_count_at(site, all); k++) {
        wk_tensor *x = wk_tensors_get_at(site, all, k);
        if (wk_ndim(x) > 1 && !wk_init_xavier_uniform__at(site, x, NULL)) return false;
    }
    return all;
}

static bool add_halves(wk_site site, wk_module *m, int64_t d_model, int64_t nhead, const wk_nn_transformer_options *o)
{
    transformer *s = wk__module_of(m)->state;
    const wk_nn_transformer_layer_options layer = {.size = sizeof layer,
                                                   .dropout = o->dropout,
                                                   .layer_norm_eps = o->layer_norm_eps,
                                                   .dim_feedforward = o->dim_feedforward,
                                                   .activation = o->activation,
                                                   .batch_first = o->batch_first,
                                                   .norm_first = o->norm_first,
                                                   .no_bias = o->no_bias,
                                                   .dtype = o->dtype,
                                                   .device = o->device};
    const wk_nn_layer_norm_options norm = {
        .size = sizeof norm, .eps = o->layer_norm_eps, .no_bias = o->no_bias, .dtype = o->dtype, .device = o->device};
    const int64_t layers[] = {o->num_encoder_layers ? o->num_encoder_layers : 6,
                              o->num_decoder_layers ? o->num_decoder_layers : 6};
    for (int half = 0; half < 2; half++) {
        wk_module *of = half ? wk_nn_transformer_decoder_layer_at(site, d_model, nhead, &layer)
                             : wk_nn_transformer_encoder_layer_at(site, d_model, nhead, &layer);
        wk_module *last = of ? wk_nn_layer_norm_at(site, &d_model, 1, &norm) : NULL;
        if (!last) return false;
        const wk_nn_transformer_stack_options stack = {.size = sizeof stack, .norm = last};
        wk_module **to = half ? &s->decoder : &s->encoder;
        *to = half ? wk_nn_transformer_decoder_at(site, of, layers[half], &stack)
                   : wk_nn_transformer_encoder_at(site, of, layers[half], &stack);
        if (!*to || !wk_module_add_at(site, m, half ? "decoder" : "encoder", *to)) return false;
    }
    return initialize(site, m);
}

wk_module *wk_nn_transformer_at(wk_site site, int64_t d_model, int64_t nhead, const wk_nn_transformer_options *options)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "transformer", .state = sizeof(transformer), .forward = transformer_forward};
    wk_nn_transformer_options o;
    if (!wk__options(site, "nn_transformer", options, &o)) return NULL;
    wk__call_scope c;
    wk_module *m = wk__module_make(site, &kind);
    if (!m || !wk__call_begin(&c, WK__FRAME_CALL, "nn_transformer", site, WK__GRAD_OFF)) return wk__module_discard(m);
    const bool fine = add_halves(site, m, d_model, nhead, &o);
    wk__call_end(&c, NULL, 0);
    return fine ? m : wk__module_discard(m);
}
