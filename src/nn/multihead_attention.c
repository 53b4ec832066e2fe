/* SPDX-License-Identifier: Apache-2.0 */
/* multihead_attention: projections around scaled_dot_product_attention. Inside, sequences are (N, L, E) and heads
 * (N, H, L, E / H); as in that call, false in a bool mask hides a key, and a floating mask is added. */
#include "attention_call.h"
#include "ops/attention/attention.h"
#include "ops/core/call.h"
#include "tensor/call_scope.h"
#include <math.h>
#include <string.h>
#include <wick/ops.h>

enum { QUERY, KEY, VALUE, PARTS };
enum { MOST_INPUTS = 3, MOST_OUTPUTS = 2 };

/* State of the module; it owns the tensors. */
typedef struct attention {
    wk_tensor *in_weight;     /* (3 E, E), or NULL and one for each part: */
    wk_tensor *weight[PARTS]; /* (E, E), (E, kdim), (E, vdim) */
    wk_tensor *in_bias;       /* (3 E); NULL without bias */
    wk_tensor *extra[PARTS];  /* bias_k, bias_v (1, 1, E) at KEY and VALUE; NULL: none */
    wk_module *out;           /* out_proj */
    int64_t size, heads;      /* E, H */
    double dropout;
    bool add_zero, batch_first;
} attention;

/* One call. */
typedef struct call {
    const attention *state;
    const wk_forward_attention_options *options;
    bool training, unbatched;
    int64_t samples, rows, keys;
    wk_tensor *heads[PARTS]; /* (N, H, L, E / H) */
    wk_tensor *mask;         /* broadcasts to (N, H, L, S); NULL: none */
} call;

/* ---- the parts of a call ----------------------------------------------------------------------------------------- */

/* Returns a sequence as (N, L, features). */
static wk_tensor *batch_first(const call *c, wk_tensor *x)
{
    if (c->unbatched) return wk_unsqueeze_at((wk_site){0}, x, 0);
    return c->state->batch_first ? x : wk_transpose(x, 0, 1);
}

static bool check_inputs(const call *c, wk_tensor *const in[])
{
    static const char *const names[PARTS] = {"query", "key", "value"};
    const attention *s = c->state;
    const int samples = s->batch_first ? 0 : 1;
    for (int k = 0; k < PARTS; k++) {
        wk_tensor *const pair[2] = {in[QUERY], in[k]};
        const int64_t size = s->in_weight ? s->size : wk_size(s->weight[k], 1);
        if (wk_ndim(in[k]) != wk_ndim(in[QUERY]) || wk_size(in[k], -1) != size)
            wk__call_error("multihead_attention", (wk_site){0}, WK_ERR_SHAPE, pair,
                           k == QUERY ? "%s $b must have %d dimensions and %lld features"
                                      : "%s $b must have the dimensions of query $a (%d) and %lld features",
                           names[k], wk_ndim(in[QUERY]), (long long)size);
        else if (!c->unbatched && wk_size(in[k], samples) != wk_size(in[QUERY], samples))
            wk__call_error("multihead_attention", (wk_site){0}, WK_ERR_SHAPE, pair,
                           "query $a and %s $b must have the same number of samples (dimension %d)", names[k], samples);
        else
            continue;
        return false;
    }
    const int steps = c->unbatched ? 0 : 1 - samples;
    if (wk_size(in[KEY], steps) == wk_size(in[VALUE], steps)) return true;
    wk__call_error("multihead_attention", (wk_site){0}, WK_ERR_SHAPE, in + KEY,
                   "key $a and value $b must have the same length (dimension %d)", steps);
    return false;
}

/* Returns rows of the stacked parameter for a part; NULL for NULL. */
static wk_tensor *part_of(const attention *s, wk_tensor *stacked, int part)
{
    return stacked ? wk_narrow(stacked, 0, part * s->size, s->size) : NULL;
}

/* Projects the inputs to (N, L, E); inputs that are one tensor in one product. */
static bool project(const call *c, wk_tensor *const in[], wk_tensor *out[])
{
    const attention *s = c->state;
    if (s->in_weight && in[QUERY] == in[KEY] && in[KEY] == in[VALUE]) {
        wk_tensor *all = wk_linear(batch_first(c, in[QUERY]), s->in_weight, s->in_bias);
        return wk_chunk(all, PARTS, -1, out) == PARTS;
    }
    for (int k = 0; k < PARTS; k++)
        out[k] = wk_linear(batch_first(c, in[k]), s->in_weight ? part_of(s, s->in_weight, k) : s->weight[k],
                           part_of(s, s->in_bias, k));
    return out[QUERY] && out[KEY] && out[VALUE];
}

wk_tensor *wk__split_heads(wk_tensor *x, int64_t heads)
{
    if (!x) return NULL;
    const int64_t *size = wk__body_of(x)->shape;
    return wk_transpose(wk_reshape(x, (size[0], size[1], heads, size[2] / heads)), 1, 2);
}

/* Returns (N, H, L, E / H) of (N, L, E), with the trained row after those of the input. */
static wk_tensor *split_heads(const call *c, wk_tensor *x, wk_tensor *extra)
{
    const attention *s = c->state;
    if (extra) x = wk_cat((x, wk_expand_at((wk_site){0}, extra, (int64_t[]){c->samples, 1, s->size}, 3)), 1);
    return wk__split_heads(x, s->heads);
}

/* ---- masks ------------------------------------------------------------------------------------------------------- */

static bool check_mask(const char *name, wk_tensor *mask, const int64_t *shape, int ndim, const int64_t *other,
                       int other_ndim)
{
    if (!wk__check_tensor(mask, (wk_site){0}, "multihead_attention", name)) return false;
    const wk__body *body = wk__body_of(mask);
    if (!wk__is_float(body->dtype) && body->dtype != WK_BOOL) {
        wk__error_set((wk_site){0}, WK_ERR_DTYPE, "multihead_attention: .%s must be bool or floating, got %s", name,
                      wk_dtype_str(body->dtype));
        return false;
    }
    if (wk__same_shape(body->ndim, body->shape, ndim, shape) ||
        wk__same_shape(body->ndim, body->shape, other_ndim, other))
        return true;
    wk__text text = {0};
    for (int k = 0; k < (other == shape ? 1 : 2); k++) {
        wk__text_add(&text, k ? " or " : "");
        wk__text_tuple(&text, k ? other : shape, k ? other_ndim : ndim);
    }
    wk__text_add(&text, ", got ");
    wk__text_tuple(&text, body->shape, body->ndim);
    wk__error_set((wk_site){0}, WK_ERR_SHAPE, "multihead_attention: .%s must have shape %s", name,
                  text.data ? text.data : "");
    wk__text_free(&text);
    return false;
}

/* Combines the call's mask with one in which true hides a key, or which is added, and which broadcasts to
 * (N, H, L, S). */
static bool join(call *c, wk_tensor *mask)
{
    if (!mask) return false;
    const bool boolean = wk_dtype_of(mask) == WK_BOOL;
    wk_tensor *own = boolean ? wk_logical_not(mask) : mask;
    if (!c->mask) {
        c->mask = own;
    } else if (boolean && wk_dtype_of(c->mask) == WK_BOOL) {
        c->mask = wk_logical_and(c->mask, own);
    } else {
        wk_tensor *sum = wk_dtype_of(c->mask) == WK_BOOL ? own : c->mask, *hide = sum == own ? c->mask : own;
        c->mask = wk_dtype_of(hide) == WK_BOOL ? wk_where(hide, sum, -INFINITY) : wk_add(sum, hide);
    }
    return c->mask;
}

/* Combines the masks of the options, and extends them by the added keys, which are visible. */
static bool set_mask(call *c)
{
    const wk_forward_attention_options *o = c->options;
    const attention *s = c->state;
    const int64_t n = c->samples, rows = c->rows, keys = c->keys;
    if (o->attn_mask) {
        const int64_t one[] = {rows, keys}, each[] = {n * s->heads, rows, keys};
        if (!check_mask("attn_mask", o->attn_mask, one, 2, each, 3)) return false;
        wk_tensor *mask = o->attn_mask;
        if (wk_ndim(mask) == 3) mask = wk_reshape(mask, (n, s->heads, rows, keys));
        if (!join(c, mask)) return false;
    }
    if (o->key_padding_mask) {
        const int64_t each[] = {n, keys}, one[] = {keys};
        const bool alone = c->unbatched; /* then the mask needs no dimension of samples */
        if (!check_mask("key_padding_mask", o->key_padding_mask, each, 2, alone ? one : each, alone ? 1 : 2))
            return false;
        if (!join(c, wk_reshape(o->key_padding_mask, (n, 1, 1, keys)))) return false;
    }
    if (o->is_causal && (c->mask || o->weights || s->extra[KEY] || s->add_zero)) {
        wk_tensor *later = wk_ones((rows, keys), .dtype = WK_BOOL, .device = wk_device_of(c->heads[QUERY]));
        if (!join(c, wk_triu(later, 1))) return false;
    }
    const int64_t added = (s->extra[KEY] != NULL) + s->add_zero;
    if (c->mask && added) c->mask = wk_pad(c->mask, (0, added), .value = wk_dtype_of(c->mask) == WK_BOOL);
    if (c->mask && wk_dtype_of(c->mask) != WK_BOOL) c->mask = wk_to_dtype(c->mask, wk_dtype_of(c->heads[QUERY]));
    return c->mask || !wk__error_pending();
}

/* ---- the result -------------------------------------------------------------------------------------------------- */

/* Computes the weights, and the result from them. */
static wk_tensor *attend_with_weights(const call *c, wk_tensor **weights)
{
    const attention *s = c->state;
    wk_tensor *score =
        wk_matmul(wk_mul(c->heads[QUERY], 1 / sqrt((double)(s->size / s->heads))), wk_transpose(c->heads[KEY], 2, 3));
    wk_tensor *weight = wk__attention_softmax(score, c->mask);
    if (!weight) return NULL;
    if (c->training && s->dropout > 0) weight = wk_dropout(weight, s->dropout, true);
    *weights = c->options->no_average_weights ? weight : wk_mean(weight, (1));
    if (c->unbatched) *weights = wk_squeeze(*weights, 0);
    return wk_matmul(weight, c->heads[VALUE]);
}

static wk_tensor *attend(const call *c)
{
    return wk_scaled_dot_product_attention(c->heads[QUERY], c->heads[KEY], c->heads[VALUE], .attn_mask = c->mask,
                                           .dropout_p = c->training ? c->state->dropout : 0,
                                           .is_causal = c->options->is_causal && !c->mask);
}

/* Appends a row of zeros to keys or values of heads. */
static wk_tensor *with_zero(const call *c, wk_tensor *x)
{
    return c->state->add_zero ? wk_pad(x, (0, 0, 0, 1)) : x;
}

static int compute(call *c, wk_tensor *const in[], wk_tensor **out, int outputs)
{
    const attention *s = c->state;
    wk_tensor *parts[PARTS], *weights = NULL;
    if (!check_inputs(c, in) || !project(c, in, parts)) return -1;
    c->samples = wk_size(parts[QUERY], 0);
    c->rows = wk_size(parts[QUERY], 1);
    c->keys = wk_size(parts[KEY], 1);
    for (int k = 0; k < PARTS; k++) {
        c->heads[k] = split_heads(c, parts[k], s->extra[k]);
        if (k != QUERY) c->heads[k] = with_zero(c, c->heads[k]);
        if (!c->heads[k]) return -1;
    }
    if (!set_mask(c)) return -1;
    wk_tensor *x = c->options->weights || outputs > 1 ? attend_with_weights(c, &weights) : attend(c);
    if (!x) return -1;
    x = wk_forward(s->out, wk_reshape(wk_transpose(x, 1, 2), (c->samples, c->rows, s->size)));
    if (c->unbatched)
        x = wk_squeeze(x, 0);
    else if (!s->batch_first)
        x = wk_transpose(x, 0, 1);
    out[0] = x;
    if (outputs > 1) out[1] = weights;
    return x && (outputs < 2 || weights) ? outputs : -1;
}

static int forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    static const wk_forward_attention_options none = {.size = sizeof none};
    const wk_forward_attention_options *options = wk__forward_options();
    wk_tensor *const same[PARTS] = {in[0], in[0], in[0]};
    if ((inputs != 1 && inputs != PARTS) || outputs < 1 || outputs > MOST_OUTPUTS) {
        wk__error_set((wk_site){0}, WK_ERR_ARGUMENT,
                      "multihead_attention: expected 1 or 3 inputs and 1 or 2 outputs, got %d and %d", inputs, outputs);
        return -1;
    }
    const int ndim = wk_ndim(in[0]);
    if (ndim != 2 && ndim != 3) {
        wk__error_set((wk_site){0}, WK_ERR_SHAPE,
                      "multihead_attention: expected sequences of 3 dimensions, or of 2 for one sample, got %d", ndim);
        return -1;
    }
    call c = {.state = wk__module_of(self)->state,
              .options = options ? options : &none,
              .training = !wk__module_of(self)->eval,
              .unbatched = ndim == 2};
    return compute(&c, inputs == 1 ? same : in, out, outputs);
}

wk_tensor *wk_forward_attention_at(wk_site site, wk_module *m, wk_tensor *query, wk_tensor *key, wk_tensor *value,
                                   const wk_forward_attention_options *options)
{
    wk_forward_attention_options o;
    wk_tensor *in[PARTS] = {query, key, value}, *out[MOST_OUTPUTS] = {NULL};
    if (!wk__options(site, "forward_attention", options, &o)) return NULL;
    if (o.weights) *o.weights = NULL;
    if ((!o.attn_mask || !o.key_padding_mask) && wk__omitted_may_have_failed()) return NULL;
    static const char *const kinds[] = {"multihead_attention", NULL};
    const bool fine =
        wk__forward_with(site, "forward_attention", m, kinds, in, PARTS, out, o.weights ? MOST_OUTPUTS : 1, &o);
    if (!fine) return NULL;
    if (o.weights) *o.weights = out[1];
    return out[0];
}

/* ---- the constructor --------------------------------------------------------------------------------------------- */

static wk_tensor *add_parameter(wk_site site, wk_module *m, const char *name, const int64_t *shape, int ndim,
                                const wk_tensor_options *like)
{
    wk_tensor *x = wk_zeros_at(site, shape, ndim, like);
    return x ? wk_module_add_parameter_at(site, m, name, x) : NULL;
}

/* Adds the weights of the input, initialised by xavier_uniform_. */
static bool add_weights(wk_site site, wk_module *m, attention *s, const int64_t size[PARTS],
                        const wk_tensor_options *like)
{
    static const char *const names[PARTS] = {"q_proj_weight", "k_proj_weight", "v_proj_weight"};
    if (size[KEY] == s->size && size[VALUE] == s->size) {
        s->in_weight = add_parameter(site, m, "in_proj_weight", (int64_t[]){3 * s->size, s->size}, 2, like);
        return s->in_weight && wk_init_xavier_uniform__at(site, s->in_weight, NULL);
    }
    for (int k = 0; k < PARTS; k++) {
        s->weight[k] = add_parameter(site, m, names[k], (int64_t[]){s->size, size[k]}, 2, like);
        if (!s->weight[k] || !wk_init_xavier_uniform__at(site, s->weight[k], NULL)) return false;
    }
    return true;
}

static bool add_contents(wk_site site, wk_module *m, attention *s, const wk_nn_multihead_attention_options *o)
{
    const wk_tensor_options like = {.size = sizeof like, .dtype = o->dtype, .device = o->device};
    const int64_t size[PARTS] = {s->size, o->kdim ? o->kdim : s->size, o->vdim ? o->vdim : s->size};
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALL, "nn_multihead_attention", site, WK__GRAD_OFF)) return false;
    bool fine = add_weights(site, m, s, size, &like);
    if (fine && !o->no_bias)
        fine = (s->in_bias = add_parameter(site, m, "in_proj_bias", (int64_t[]){3 * s->size}, 1, &like)) != NULL;
    for (int k = KEY; fine && o->add_bias_kv && k <= VALUE; k++) {
        s->extra[k] = add_parameter(site, m, k == KEY ? "bias_k" : "bias_v", (int64_t[]){1, 1, s->size}, 3, &like);
        fine = s->extra[k] && wk_init_xavier_normal__at(site, s->extra[k], NULL);
    }
    if (fine) {
        s->out = wk_nn_linear(s->size, s->size, .no_bias = o->no_bias, .dtype = o->dtype, .device = o->device);
        fine = s->out && (o->no_bias || wk_init_zeros__at(site, wk_module_parameter_at(site, s->out, "bias"))) &&
               wk_module_add_at(site, m, "out_proj", s->out);
    }
    wk__call_end(&c, NULL, 0);
    return fine;
}

static bool check_options(wk_site site, int64_t size, int64_t heads, const wk_nn_multihead_attention_options *o)
{
    if (size < 1 || heads < 1 || size % heads != 0)
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "nn_multihead_attention: embed_dim must be a positive multiple of num_heads, got %lld and %lld",
                      (long long)size, (long long)heads);
    else if (o->kdim < 0 || o->vdim < 0)
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "nn_multihead_attention: .kdim and .vdim must be at least 0, got %lld and %lld",
                      (long long)o->kdim, (long long)o->vdim);
    else if (!(o->dropout >= 0 && o->dropout <= 1))
        wk__error_set(site, WK_ERR_ARGUMENT, "nn_multihead_attention: .dropout must be in [0, 1], got %g", o->dropout);
    else
        return true;
    return false;
}

wk_module *wk_nn_multihead_attention_at(wk_site site, int64_t embed_dim, int64_t num_heads,
                                        const wk_nn_multihead_attention_options *options)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "multihead_attention", .state = sizeof(attention), .forward = forward};
    wk_nn_multihead_attention_options o;
    if (!wk__options(site, "nn_multihead_attention", options, &o)) return NULL;
    o.dropout = wk__option_or(o.dropout, 0);
    if (!check_options(site, embed_dim, num_heads, &o)) return NULL;
    wk_module *m = wk__module_make(site, &kind);
    if (!m) return NULL;
    attention *s = wk__module_of(m)->state;
    *s = (attention){.size = embed_dim,
                     .heads = num_heads,
                     .dropout = o.dropout,
                     .add_zero = o.add_zero_attn,
                     .batch_first = o.batch_first};
    return add_contents(site, m, s, &o) ? m : wk__module_discard(m);
}
