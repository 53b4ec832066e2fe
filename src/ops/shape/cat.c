/* SPDX-License-Identifier: Apache-2.0 */
/* cat and stack: each operand is written into its part of the result by a separate record, which fuses with the
 * computation of the operand. The first record allocates the result's memory, the rest of which is still unwritten;
 * each following one takes it over:
 *
 *     value 1  [a a a . . . . .]      value 2  [a a a b b . . .]      value 3  [a a a b b c c c] */
#include "cat.h"
#include "ops/core/view_geometry.h"
#include <string.h>

enum { MOST_OPERANDS = 128 /* edges of one node; longer lists are joined in batches */ };

static int identity(wk__emit *e, const int in[])
{
    (void)e;
    return in[0];
}

/* One call: its checked operands and the properties of the result. */
typedef struct cat_call {
    const wk__op *op;
    wk_site site;
    wk_context *context;
    wk__device *device;
    wk_tensor **in;
    int count, d;
    wk_dtype dtype;
    int ndim;
    int64_t shape[WK__MAX_DIMS];
} cat_call;

/* PyTorch allows tensors of shape (0) among tensors of any shape. */
static bool is_skipped_empty(const wk_tensor *x)
{
    return wk__body_of(x)->ndim == 1 && wk__body_of(x)->shape[0] == 0;
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static bool prepare_operands(cat_call *j)
{
    if (j->count < 1) {
        wk__error_set(j->site, WK_ERR_ARGUMENT, "%s: the list of tensors is empty", j->op->name);
        return false;
    }
    j->device = wk__prepare_operands(j->context, j->op, j->site, j->in, j->count, WK__COLOCATE_IF_SOFT);
    return j->device != NULL;
}

static const wk__body *first_nonskipped(const cat_call *j)
{
    for (int k = 0; k < j->count; k++)
        if (!is_skipped_empty(j->in[k])) return wk__body_of(j->in[k]);
    return wk__body_of(j->in[0]);
}

static bool report_shape_mismatch(const cat_call *j, int k)
{
    wk__text text = {0};
    const wk__body *model = first_nonskipped(j);
    wk__text_format(&text, "%s: tensor %d is ", j->op->name, k);
    wk__text_tensor(&text, j->in[k]);
    wk__text_add(&text, ", the shape of the first is ");
    wk__text_shape(&text, model->ndim, model->shape);
    if (j->op == &wk__op_cat)
        wk__text_format(&text, "; they may differ only in dimension %d", j->d);
    else
        wk__text_add(&text, "; they must be equal");
    wk__error_set_text(j->site, WK_ERR_SHAPE, &text);
    return false;
}

/* Computes shape and dtype of the result from the operands. */
static bool resolve_shape(cat_call *j)
{
    const wk__body *model = first_nonskipped(j);
    wk__promotion promotion = {{0}};
    j->ndim = model->ndim;
    memcpy(j->shape, model->shape, sizeof j->shape);
    j->shape[j->d] = 0;
    for (int k = 0; k < j->count; k++) {
        const wk__body *body = wk__body_of(j->in[k]);
        wk__promotion_add(&promotion, body->dtype, WK__PRIORITY_TENSOR);
        if (is_skipped_empty(j->in[k])) continue;
        if (body->ndim != model->ndim) return report_shape_mismatch(j, k);
        for (int d = 0; d < model->ndim; d++)
            if (d != j->d && body->shape[d] != model->shape[d]) return report_shape_mismatch(j, k);
        if (__builtin_add_overflow(j->shape[j->d], body->shape[j->d], &j->shape[j->d]))
            return report_shape_mismatch(j, k);
    }
    j->dtype = wk__promotion_result(&promotion);
    int64_t bytes;
    if (wk__dense_bytes(j->ndim, j->shape, j->dtype, &bytes)) return true;
    wk__error_set(j->site, WK_ERR_SHAPE, "%s: the result exceeds 2^63 bytes", j->op->name);
    return false;
}

/* ---- recording --------------------------------------------------------------------------------------------------- */

bool wk__write_part(const wk__op *op, wk_site site, wk_tensor *out, int64_t offset, wk_tensor *x, bool first)
{
    wk_context *context = wk__context();
    const wk__body *body = wk__body_of(x), *whole = wk__body_of(out);
    wk__device *device = whole->storage->device;
    wk__value *value = NULL;
    wk_tensor *part = wk__tensor_view(context, out, offset, body->ndim, body->shape, whole->stride);
    if (!part) return false;
    if (!first) { /* a full queue may have flushed and parked unreferenced values, x among them */
        if (!wk__prepare_operand(context, out, site) || !wk__prepare_operand(context, x, site)) return false;
        value = wk__value_new(context, device, whole->storage->bytes, site);
        if (!value) return false;
    }
    wk__record *r = wk__record_begin(context, WK__PROGRAM, op, device, site, body->ndim, body->shape, 1, 1);
    if (!r) {
        if (value) wk__value_free(value);
        return false;
    }
    r->compute = body->dtype;
    wk__record_ref(r, 1, body, body->stride);
    if (first) {
        wk__record_ref(r, 0, wk__body_of(part), whole->stride);
        wk__record_commit(context, r);
    } else {
        wk__record_partial_write(context, r, part, value);
    }
    wk__handle_release(&part->handle, site);
    return true;
}

/* Writes x into out from index `at` of the dimension on. */
static bool write_part(const cat_call *j, wk_tensor *out, wk_tensor *x, int64_t at, bool first)
{
    return wk__write_part(j->op, j->site, out, at * wk__body_of(out)->stride[j->d], x, first);
}

/* Discards an incomplete result. If a record writes it already, it is only released. */
static wk_tensor *discard_partial(const cat_call *j, wk_tensor *out, bool first)
{
    if (first) return wk__discard_result(out);
    wk__handle_release(&out->handle, j->site);
    return NULL;
}

/* Parts do not read each other, but each takes over the memory of the part recorded before it and is computed after it.
 * Parts of one size can share a kernel, so they are recorded together: a part of another size between them would
 * separate them, and operands computed with the first part would have to be stored until theirs. */
static wk_tensor *record_parts(const cat_call *j)
{
    wk_tensor *out = wk__tensor_pending(j->context, j->device, j->dtype, j->ndim, j->shape, j->site, j->op->name);
    if (!out) return NULL;
    int64_t size[MOST_OPERANDS], at[MOST_OPERANDS + 1] = {0};
    for (int k = 0; k < j->count; k++) {
        const wk__body *body = wk__body_of(j->in[k]);
        size[k] = wk__body_numel(body) == 0 ? 0 : body->shape[j->d];
        at[k + 1] = at[k] + size[k];
    }
    bool first = true;
    for (int k = 0; k < j->count; k++) {
        const int64_t wanted = size[k]; /* 0: empty, or written already */
        for (int i = k; i < j->count && wanted; i++) {
            if (size[i] != wanted) continue;
            if (!write_part(j, out, j->in[i], at[i], first)) return discard_partial(j, out, first);
            first = false;
            size[i] = 0;
        }
    }
    /* an empty result has a record too */
    if (first && !write_part(j, out, j->in[0], 0, true)) return discard_partial(j, out, first);
    return out;
}

static wk_tensor *record_cat(const cat_call *j)
{
    const wk__frame before = wk__frame_begin(j->context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    wk_tensor *out = record_parts(j);
    wk__frame_end(j->context, before);
    return out;
}

/* Joins a list longer than one node allows in batches, and then the batches. */
static wk_tensor *cat_in_batches(wk_site site, wk_tensor *const *x, int count, int64_t dim,
                                 wk_tensor *(*call)(wk_site, wk_tensor *const *, int, int64_t))
{
    wk_tensor *part[MOST_OPERANDS];
    int each = (count + MOST_OPERANDS - 1) / MOST_OPERANDS, parts = 0;
    for (int from = 0; from < count; from += each)
        if (!(part[parts++] = call(site, x + from, count - from < each ? count - from : each, dim))) return NULL;
    return wk_cat_at(site, part, parts, dim);
}

static wk_tensor *cat(cat_call *j, int64_t dim)
{
    if (!prepare_operands(j)) return NULL;
    wk_tensor *model = j->in[0];
    for (int k = 0; k < j->count && is_skipped_empty(model); k++) model = j->in[k];
    if (wk__body_of(model)->ndim == 0) {
        wk__op_error(j->op, j->site, WK_ERR_SHAPE, &model, "cannot concatenate 0-d tensors: $a; use wk_stack");
        return NULL;
    }
    if (!wk__resolve_dim(j->op, j->site, model, dim, 0, &j->d) || !resolve_shape(j)) return NULL;
    wk_tensor *out = record_cat(j);
    if (!out || !wk__needs_grad_fn(j->context, j->in, j->count)) return out;
    const wk__attr attr = wk__along_attr((wk__along_attributes){.dim = j->d});
    return !wk__is_float(j->dtype) || wk__node_attach(j->op, j->site, j->in, j->count, &out, 1, &attr) ? out : NULL;
}

wk_tensor *wk_cat_at(wk_site site, wk_tensor *const *x, int count, int64_t dim)
{
    if (!wk__array_check(x, count, site, "cat", "the array of tensors")) return NULL;
    if (count > MOST_OPERANDS) return cat_in_batches(site, x, count, dim, wk_cat_at);
    wk_tensor *in[MOST_OPERANDS] = {0};
    if (count > 0) memcpy(in, x, sizeof *in * (size_t)count);
    cat_call j = {.op = &wk__op_cat, .site = site, .context = wk__context(), .in = in, .count = count};
    return cat(&j, dim);
}

wk_tensor *wk_stack_at(wk_site site, wk_tensor *const *x, int count, int64_t dim)
{
    int d;
    if (!wk__array_check(x, count, site, "stack", "the array of tensors")) return NULL;
    if (count > MOST_OPERANDS) return cat_in_batches(site, x, count, dim, wk_stack_at);
    wk_tensor *in[MOST_OPERANDS] = {0}, *wide[MOST_OPERANDS];
    if (count > 0 && x) memcpy(in, x, sizeof *in * (size_t)count);
    cat_call j = {.op = &wk__op_stack, .site = site, .context = wk__context(), .in = in, .count = count};
    if (!prepare_operands(&j) || !wk__resolve_dim(j.op, site, in[0], dim, 1, &d)) return NULL;
    const wk__body *model = wk__body_of(in[0]);
    for (int k = 0; k < count; k++) {
        const wk__body *body = wk__body_of(in[k]);
        wk__geometry g;
        j.d = d;
        if (!wk__same_sizes(body, model)) {
            report_shape_mismatch(&j, k);
            return NULL;
        }
        wk__geometry_of(body, &g);
        if (!wk__geometry_insert(j.op, site, in[k], &g, d, 1, 1)) return NULL;
        if (!(wide[k] = wk__tensor_view(j.context, in[k], g.offset, g.ndim, g.shape, g.stride))) return NULL;
    }
    j.in = wide;
    j.d = d;
    wk_tensor *out = resolve_shape(&j) ? record_cat(&j) : NULL;
    for (int k = 0; k < count; k++) wk__handle_release(&wide[k]->handle, site);
    if (!out || !wk__needs_grad_fn(j.context, in, count)) return out;
    const wk__attr attr = wk__along_attr((wk__along_attributes){.dim = d});
    return !wk__is_float(j.dtype) || wk__node_attach(j.op, site, in, count, &out, 1, &attr) ? out : NULL;
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

static void cat_gradient(wk__grad_ctx *g)
{
    const int d = (int)wk__along_attributes_of(g->attr).dim;
    int64_t at = 0;
    const int64_t all[] = {-1};
    for (int k = 0; k < g->node->inputs; k++) {
        const wk__tensor_meta *shape = &g->node->shape[k];
        bool empty = shape->ndim == 1 && shape->size[0] == 0;
        int64_t length = empty ? 0 : shape->size[d];
        if (wk__needs_input_grad(g, k))
            g->in[k] = empty ? wk_narrow_at((wk_site){0}, wk_reshape_at((wk_site){0}, g->out[0], all, 1), 0, 0, 0)
                             : wk_narrow_at((wk_site){0}, g->out[0], d, at, length);
        at += length;
    }
}

static void stack_gradient(wk__grad_ctx *g)
{
    const int64_t d = wk__along_attributes_of(g->attr).dim;
    for (int k = 0; k < g->node->inputs; k++)
        if (wk__needs_input_grad(g, k)) g->in[k] = wk_select_at((wk_site){0}, g->out[0], d, k);
}

/* ---- descriptors ------------------------------------------------------------------------------------------------- */

const wk__op wk__op_cat = {
    .expression = identity,
    .gradient = cat_gradient,
    WK__SIGNATURE_cat,
};
const wk__op wk__op_stack = {
    .expression = identity,
    .gradient = stack_gradient,
    WK__SIGNATURE_stack,
};
