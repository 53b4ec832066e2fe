/* SPDX-License-Identifier: Apache-2.0 */
/* scaled_dot_product_attention: checks, the groups of heads, and the gradient. attention_kernel.c and
 * attention_composed.c compute. */
#include "attention.h"
#include "base/alloc.h"
#include "ops/core/compose.h"
#include "ops/random/dropout.h"
#include <math.h>
#include <string.h>

enum { QUERY, KEY, VALUE, MASK, OPERANDS };

#define OP (&wk__op_scaled_dot_product_attention)

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static bool check_dtypes(wk_site site, wk_tensor *const in[], int count)
{
    const wk_dtype dtype = wk__body_of(in[QUERY])->dtype;
    if (!wk__is_float(dtype) || wk__body_of(in[KEY])->dtype != dtype || wk__body_of(in[VALUE])->dtype != dtype) {
        wk__op_error(OP, site, WK_ERR_DTYPE, in,
                     "query $a, key $b and value $c must have one floating dtype; convert with wk_to_dtype");
        return false;
    }
    if (count <= MASK) return true;
    const wk_dtype mask = wk__body_of(in[MASK])->dtype;
    if (mask == WK_BOOL || mask == dtype) return true;
    wk__op_error(OP, site, WK_ERR_DTYPE, in, "attn_mask $d must be bool or have the dtype of query $a");
    return false;
}

static int64_t size_from_end(const wk__body *body, int place)
{
    return body->shape[body->ndim - place];
}

static bool check_matrices(wk_site site, wk_tensor *const in[])
{
    const wk__body *query = wk__body_of(in[QUERY]), *key = wk__body_of(in[KEY]), *value = wk__body_of(in[VALUE]);
    if (query->ndim < 2 || key->ndim < 2 || value->ndim < 2) {
        wk__op_error(OP, site, WK_ERR_SHAPE, in, "expected at least 2 dimensions: query $a, key $b, value $c");
        return false;
    }
    if (size_from_end(query, 1) != size_from_end(key, 1)) {
        wk__op_error(OP, site, WK_ERR_SHAPE, in, "the last sizes of query $a and key $b differ");
        return false;
    }
    if (size_from_end(key, 2) == size_from_end(value, 2)) return true;
    wk__op_error(OP, site, WK_ERR_SHAPE, in,
                 "key $b and value $c have different numbers of rows (second-to-last size)");
    return false;
}

/* Checks the heads of grouped queries. */
static bool check_heads(wk_site site, wk_tensor *const in[])
{
    const wk__body *query = wk__body_of(in[QUERY]), *key = wk__body_of(in[KEY]), *value = wk__body_of(in[VALUE]);
    if (query->ndim < 3 || key->ndim < 3 || value->ndim < 3 || query->ndim == WK__MAX_DIMS ||
        key->ndim == WK__MAX_DIMS || value->ndim == WK__MAX_DIMS) {
        wk__op_error(OP, site, WK_ERR_SHAPE, in,
                     ".enable_gqa needs 3 to %d dimensions, (..., heads, rows, size): query $a, key $b, value $c",
                     WK__MAX_DIMS - 1);
        return false;
    }
    const int64_t heads = size_from_end(key, 3);
    if (heads > 0 && size_from_end(value, 3) == heads && size_from_end(query, 3) % heads == 0) return true;
    wk__op_error(OP, site, WK_ERR_SHAPE, in,
                 "key $b and value $c must have one number of heads (dimension -3), which divides that of query $a");
    return false;
}

/* Computes the shape (batch.., L, S) of the products in *ndim and shape[], and checks that leading dimensions and mask
 * broadcast. */
static bool check_broadcast(wk_site site, wk_tensor *const in[], int count, bool grouped, int *ndim, int64_t shape[])
{
    const wk__body *query = wk__body_of(in[QUERY]), *key = wk__body_of(in[KEY]), *value = wk__body_of(in[VALUE]);
    const int tail = grouped ? 3 : 2; /* dimensions that do not broadcast */
    int64_t lead[WK__MAX_DIMS];
    int leads;
    if (!wk__broadcast(query->ndim - tail, query->shape, key->ndim - tail, key->shape, &leads, lead) ||
        !wk__broadcast(leads, lead, value->ndim - tail, value->shape, &leads, lead)) {
        wk__op_error(OP, site, WK_ERR_SHAPE, in,
                     "the leading dimensions of query $a, key $b and value $c do not broadcast%s",
                     grouped ? "" : "; .enable_gqa groups heads");
        return false;
    }
    memcpy(shape, lead, sizeof lead);
    if (grouped) shape[leads++] = size_from_end(query, 3);
    shape[leads] = size_from_end(query, 2);
    shape[leads + 1] = size_from_end(key, 2);
    *ndim = leads + 2;
    if (count <= MASK) return true;
    const wk__body *mask = wk__body_of(in[MASK]);
    int64_t both[WK__MAX_DIMS];
    int dims;
    if (wk__broadcast(mask->ndim, mask->shape, *ndim, shape, &dims, both) && wk__same_shape(dims, both, *ndim, shape))
        return true;
    wk__op_error(OP, site, WK_ERR_SHAPE, in,
                 "attn_mask $d does not broadcast to the products of query $a and key $b: (..., %lld, %lld)",
                 (long long)shape[*ndim - 2], (long long)shape[*ndim - 1]);
    return false;
}

static bool check_options(wk_site site, wk_tensor *const in[], const wk_attention_options *o)
{
    if (!(o->dropout_p >= 0 && o->dropout_p <= 1)) {
        wk__op_error(OP, site, WK_ERR_ARGUMENT, in, ".dropout_p must be in [0, 1], got %g", o->dropout_p);
        return false;
    }
    if (!o->is_causal || !o->attn_mask) return true;
    wk__op_error(OP, site, WK_ERR_ARGUMENT, in,
                 ".attn_mask and .is_causal exclude each other; combine them in the mask, for example with wk_tril");
    return false;
}

/* Returns true if each head of key belongs to several heads of query and does not broadcast. */
static bool is_grouped(wk_tensor *const in[])
{
    const wk__body *query = wk__body_of(in[QUERY]), *key = wk__body_of(in[KEY]);
    if (query->ndim < 3 || key->ndim < 3) return false;
    const int64_t heads = size_from_end(key, 3), all = size_from_end(query, 3);
    return heads > 1 && all != heads && all % heads == 0;
}

/* ---- groups of heads --------------------------------------------------------------------------------------------- */

/* Replaces dimension -3 of x, of `heads` x group heads, by two. */
static wk_tensor *split_heads(wk_tensor *x, int64_t heads)
{
    if (!x) return NULL;
    const wk__body *body = wk__body_of(x);
    int64_t shape[WK__MAX_DIMS];
    const int at = body->ndim - 3;
    memcpy(shape, body->shape, sizeof *shape * (size_t)at);
    shape[at] = heads;
    shape[at + 1] = body->shape[at] / heads;
    shape[at + 2] = body->shape[at + 1];
    shape[at + 3] = body->shape[at + 2];
    return wk_reshape_at((wk_site){0}, x, shape, body->ndim + 1);
}

/* Undoes split_heads. */
static wk_tensor *join_heads(wk_tensor *x)
{
    return x ? wk_flatten_at((wk_site){0}, x, -4, -3) : NULL;
}

/* Sets up the computation: converts the operands and groups heads. Returns false on error. */
static bool set_up(wk__attention *a, wk_tensor *const in[], bool grouped, int ndim, const int64_t *shape)
{
    a->query = wk__to_opmath(in[QUERY]);
    a->key = wk__to_opmath(in[KEY]);
    a->value = wk__to_opmath(in[VALUE]);
    a->mask = in[MASK] && wk__body_of(in[MASK])->dtype != WK_BOOL ? wk__to_opmath(in[MASK]) : in[MASK];
    a->rows = shape[ndim - 2];
    a->keys = shape[ndim - 1];
    a->batch = 1;
    for (int d = 0; d < ndim - 2; d++) a->batch *= shape[d];
    if (grouped) {
        const int64_t heads = size_from_end(wk__body_of(in[KEY]), 3);
        a->query = split_heads(a->query, heads);
        a->key = split_heads(a->key, heads);
        a->value = split_heads(a->value, heads);
        if (a->mask && wk__body_of(a->mask)->ndim > 2)
            a->mask = split_heads(a->mask, size_from_end(wk__body_of(a->mask), 3) == 1 ? 1 : heads);
    }
    return a->query && a->key && a->value && (a->mask || !in[MASK]);
}

/* ---- the op ------------------------------------------------------------------------------------------------------ */

/* Sets the attributes; draws the random numbers of a dropout. Returns false if there are more weights than integers. */
static bool set_attributes(wk_site site, const wk_attention_options *o, int ndim, const int64_t *shape,
                           wk__scaled_dot_product_attention_attributes *how)
{
    int64_t products = 1;
    *how = (wk__scaled_dot_product_attention_attributes){.causal = o->is_causal, .scale = o->scale};
    for (int d = 0; d < ndim; d++) {
        if (wk__mul_size(products, shape[d], &products)) continue;
        wk__error_set(site, WK_ERR_SHAPE, "%s: there are more than 2^63 weights; use smaller operands", OP->name);
        return false;
    }
    if (!(o->dropout_p > 0)) return true;
    const double kept = o->dropout_p < 1 ? 1 / (1 - o->dropout_p) : 0;
    const wk__dropout_attributes draw = wk__dropout_draw(products, o->dropout_p, kept);
    how->key = draw.key;
    how->counter = draw.counter;
    how->threshold = draw.threshold;
    how->kept = draw.scale;
    return true;
}

/* Computes the result as out[0] and, if a kernel computes it, the logarithms of sums that the kernel of the gradient
 * reads as out[1]. Returns the number of results. On error it returns 1, and out[0] is NULL. */
static int compute(const wk__attention *a, wk_tensor *out[2])
{
    if (wk__attention_has_kernel(a)) return wk__attention_by_kernel(a, out) ? 2 : 1;
    out[0] = wk__attention_composed(a);
    return 1;
}

wk_tensor *wk_scaled_dot_product_attention_at(wk_site site, wk_tensor *query, wk_tensor *key, wk_tensor *value,
                                              const wk_attention_options *options)
{
    wk_attention_options o;
    if (!wk__options(site, OP->name, options, &o)) return NULL;
    if (!o.attn_mask && wk__omitted_may_have_failed()) return NULL;
    wk_tensor *in[OPERANDS] = {query, key, value, o.attn_mask};
    const int count = o.attn_mask ? OPERANDS : MASK;
    wk__compose c;
    if (!wk__compose_begin(&c, OP, site, in, count)) return NULL;
    wk_tensor *out[2] = {NULL};
    wk__attr attr = {.count = 0};
    int ndim, results = 1;
    int64_t shape[WK__MAX_DIMS];
    const bool grouped = o.enable_gqa && is_grouped(in);
    if (check_options(site, in, &o) && check_dtypes(site, in, count) && check_matrices(site, in) &&
        (!o.enable_gqa || check_heads(site, in)) && check_broadcast(site, in, count, grouped, &ndim, shape)) {
        o.scale = wk__option_or(o.scale, 1 / sqrt((double)size_from_end(wk__body_of(query), 1)));
        wk__attention a;
        if (set_attributes(site, &o, ndim, shape, &a.how) && set_up(&a, in, grouped, ndim, shape))
            results = compute(&a, out);
        attr = wk__scaled_dot_product_attention_attr(a.how);
        if (grouped) out[0] = join_heads(out[0]);
        out[0] = wk_to_dtype_at(site, out[0], wk__body_of(query)->dtype);
    }
    if (!wk__compose_end_n(&c, out, results, &attr)) return NULL;
    if (results > 1) wk__handle_release(&out[1]->handle, site); /* the node keeps it */
    return out[0];
}

/* ---- gradient ---------------------------------------------------------------------------------------------------- */

/* Returns the gradient of a key or value: the sum over the queries of each group. */
static wk_tensor *sum_groups(wk_tensor *x, bool grouped)
{
    return x && grouped ? wk_sum(x, (-3)) : x;
}

static void gradient(wk__grad_ctx *g)
{
    wk_tensor *in[OPERANDS] = {NULL}, *grad = wk__to_opmath(g->out[0]);
    const int count = g->node->inputs;
    int ndim;
    int64_t shape[WK__MAX_DIMS];
    for (int k = 0; k < count; k++)
        if (!(in[k] = wk__saved(g, k))) return;
    const bool grouped = is_grouped(in);
    wk__attention a = {.how = wk__scaled_dot_product_attention_attributes_of(g->attr)};
    wk__attention_grads out = {.query = NULL};
    for (int k = 0; k < count; k++) out.needs[k] = wk__needs_input_grad(g, k);
    if (!grad || !check_broadcast((wk_site){0}, in, count, grouped, &ndim, shape) ||
        !set_up(&a, in, grouped, ndim, shape))
        return;
    const int64_t heads = grouped ? size_from_end(wk__body_of(in[KEY]), 3) : 0;
    if (grouped) grad = split_heads(grad, heads);
    const bool by_kernel = g->node->saved[WK__SAVED_OUT + 1] && !wk_is_grad_enabled() && !out.needs[MASK];
    if (by_kernel) {
        wk_tensor *result = wk__to_opmath(wk__saved(g, WK__SAVED_OUT));
        if (grouped) result = split_heads(result, heads);
        wk__attention_gradient_by_kernel(&a, grad, result, wk__saved(g, WK__SAVED_OUT + 1), &out);
    } else {
        wk__attention_composed_gradient(&a, grad, &out);
    }
    g->in[QUERY] = grouped ? join_heads(out.query) : out.query;
    g->in[KEY] = sum_groups(out.key, grouped);
    g->in[VALUE] = sum_groups(out.value, grouped);
    if (count > MASK) g->in[MASK] = grouped ? join_heads(out.mask) : out.mask;
}

enum { ALL = WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_2 | WK__SAVE_3 | WK__SAVE_OUT | WK__SAVE_OUT_1 };

const wk__op wk__op_scaled_dot_product_attention = {
    .gradient = gradient,
    .saves = {ALL, ALL, ALL, ALL},
    WK__SIGNATURE_scaled_dot_product_attention,
};
