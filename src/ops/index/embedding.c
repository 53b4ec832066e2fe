/* SPDX-License-Identifier: Apache-2.0 */
/* embedding: rows of a table, read by one record; and the options of its gradient and of the table's norms. */
#include "gather.h"
#include "index_check.h"
#include "ops/core/compose.h"
#include "ops/core/view_geometry.h"
#include <math.h>
#include <string.h>

enum { NO_PADDING = -1 };

/* Returns how often each of n rows occurs in the index, a vector. */
static wk_tensor *frequencies(wk_tensor *index, int64_t n)
{
    const wk_site here = {0};
    const wk_tensor_options options = {.size = sizeof options, .dtype = WK_I64, .device = wk_device_of(index)};
    return wk_index_add_at(here, wk_zeros_at(here, &n, 1, &options), 0, index, wk_ones_like_at(here, index, NULL));
}

/* Scales down to max_norm the rows of the table that occur in the index and whose norm exceeds it. */
static bool limit_norms(wk_site site, wk_tensor *weight, wk_tensor *index, double max_norm, double p)
{
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALL, "embedding", site, WK__GRAD_OFF)) return false;
    const wk_norm_options options = {.size = sizeof options, .keepdim = true, .p = p != 0 ? p : WK_EXPLICIT_ZERO};
    wk_tensor *norm = wk_norm_at(site, weight, (const int64_t[]){1}, 1, &options);
    wk_tensor *vector = wk__as_vector(index), *counts = vector ? frequencies(vector, wk_size(weight, 0)) : NULL;
    wk_tensor *hit = wk_unsqueeze_at(site, wk_gt(counts, 0), 1);
    wk_tensor *scale = wk_where(wk_logical_and(hit, wk_gt(norm, max_norm)), wk_div(max_norm, wk_add(norm, 1e-7)), 1);
    const bool fine = wk_mul__at(site, weight, wk_to_dtype_at(site, scale, wk_dtype_of(weight))) != NULL;
    wk__call_end(&c, NULL, 0);
    return fine;
}

/* Checks the options and sets *padding to the row without gradient. */
static bool check_options(const wk_embedding_options *o, wk_site site, wk_tensor *const in[2], int64_t *padding)
{
    const int64_t rows = wk__body_of(in[0])->shape[0];
    const double row = wk__option_or(o->padding_idx, NAN), limit = wk__option_or(o->max_norm, 0);
    *padding = NO_PADDING;
    if (!isnan(row) && (row != floor(row) || row < -(double)rows || row >= (double)rows)) {
        wk__op_error(&wk__op_embedding, site, WK_ERR_ARGUMENT, in, "padding_idx %g is out of range for the weight $a",
                     row);
        return false;
    }
    if (!isnan(row)) *padding = (int64_t)row < 0 ? (int64_t)row + rows : (int64_t)row;
    if (limit >= 0) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "embedding: .max_norm must be at least 0, got %g", limit);
    return false;
}

static wk_tensor *read_rows(wk_site site, wk_tensor *in[2])
{
    const wk__body *table = wk__body_of(in[0]), *index = wk__body_of(in[1]);
    wk__gather_geometry way = {.ndim = index->ndim + 1, .bound = table->shape[0], .stride = table->stride[0]};
    memcpy(way.shape, index->shape, sizeof *way.shape * index->ndim);
    memcpy(way.index, index->stride, sizeof *way.index * index->ndim);
    way.shape[index->ndim] = table->shape[1];
    way.x[index->ndim] = table->stride[1];
    return wk__record_gather(&wk__op_embedding, site, in, &way);
}

wk_tensor *wk_embedding_at(wk_site site, wk_tensor *index, wk_tensor *weight, const wk_embedding_options *options)
{
    const wk__op *op = &wk__op_embedding;
    wk_embedding_options o;
    int64_t padding;
    if (!wk__read_embedding_options(site, op->name, options, &o) || !wk__check_input(op, site, index) ||
        !wk__check_tensor(weight, site, op->name, "weight"))
        return NULL;
    wk_tensor *in[2] = {weight, index};
    const wk__body *table = wk__body_of(weight);
    if (table->ndim != 2 || wk__body_of(index)->ndim == WK__MAX_DIMS) {
        wk__op_error(op, site, WK_ERR_SHAPE, in,
                     "the weight must have two dimensions (rows, width), got $a, and the index fewer than %d",
                     WK__MAX_DIMS);
        return NULL;
    }
    if (!check_options(&o, site, in, &padding)) return NULL;
    if (!(in[1] = wk__to_i64_index(op, site, index, table->shape[0], in))) return NULL;
    if (wk__option_or(o.max_norm, 0) > 0 && !limit_norms(site, weight, in[1], o.max_norm, o.norm_type)) return NULL;
    wk_tensor *out = read_rows(site, in);
    if (!out || !wk__needs_grad_fn(wk__context(), in, 2)) return out;
    const wk__attr attr =
        wk__embedding_attr((wk__embedding_attributes){.padding = padding, .scaled = o.scale_grad_by_freq});
    return wk__node_attach(op, site, in, 2, &out, 1, &attr) ? out : NULL;
}

/* Adds the rows of the gradient to the rows of the table that they were read from. */
static void gradient(wk__grad_ctx *g)
{
    const wk_site here = {0};
    const wk__embedding_attributes a = wk__embedding_attributes_of(g->attr);
    const wk__tensor_meta *table = &g->node->shape[0];
    wk_tensor *index = wk__as_vector(wk__saved(g, 1));
    if (!index) return;
    const int64_t n = table->size[0], shape[2] = {wk__body_of(index)->shape[0], table->size[1]};
    wk_tensor *rows = wk_reshape_at(here, g->out[0], shape, 2);
    if (a.padding != NO_PADDING) {
        wk_tensor *skipped = wk_logical_or(wk_eq(index, a.padding), wk_eq(index, a.padding - n));
        rows = wk_where(wk_unsqueeze_at(here, skipped, 1), 0, rows);
    }
    if (a.scaled) {
        wk_tensor *counts = frequencies(index, n), *each = counts ? wk_index_select_at(here, counts, 0, index) : NULL;
        rows = wk_div(rows, wk_to_dtype_at(here, wk_unsqueeze_at(here, each, 1), wk_dtype_of(rows)));
    }
    g->in[0] = wk_index_add_at(here, wk__zeros_like_operand(g), 0, index, rows);
}

/* The node's operands are the table and the index, in this order. */
const wk__op wk__op_embedding = {
    .expression = wk__lookup,
    .gradient = gradient,
    .saves = {WK__SAVE_1},
    WK__SIGNATURE_embedding,
};
