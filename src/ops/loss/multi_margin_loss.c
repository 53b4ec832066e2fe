/* SPDX-License-Identifier: Apache-2.0 */
/* multi_margin_loss: hinge losses of the scores of other classes against that of the label.
 *
 *     x  (N, C)  scores            z = margin - x[label] + x[c], for c other than the label
 *     loss of a row: sum of weight[label] max(0, z)^p / C */
#include "labels.h"
#include "losses.h"

/* Arguments of one call. */
typedef struct margin_call {
    wk_site site;
    wk_tensor *in[3]; /* scores, labels, class weights or NULL */
    double margin;
    int64_t p;
} margin_call;

/* Parts of the rows, which forward and backward compute: (N, C) and (N, 1). */
typedef struct margin_rows {
    wk_tensor *own, *distance; /* whether c is the label; z */
    wk_tensor *weight;         /* of the label; NULL: 1 */
    int64_t classes;
} margin_rows;

/* The classes of a call; no label is ignored. */
static wk__label_range classes_of(wk_tensor *x)
{
    const wk__body *body = wk__body_of(x);
    return (wk__label_range){.count = body->shape[body->ndim - 1], .ignore_index = INT64_MIN};
}

static bool check_operands(const margin_call *m)
{
    const wk__op *op = &wk__op_multi_margin_loss;
    const wk__body *x = wk__body_of(m->in[0]), *label = wk__body_of(m->in[1]),
                   *weight = m->in[2] ? wk__body_of(m->in[2]) : NULL;
    const bool rows = x->ndim == 2;
    if (!wk__check_float(op, m->site, m->in[0])) return false;
    if (!rows && x->ndim != 1)
        wk__op_error(op, m->site, WK_ERR_SHAPE, m->in, "input $a must have shape (C) or (N, C)");
    else if (label->ndim != rows || (rows && label->shape[0] != x->shape[0]))
        wk__op_error(op, m->site, WK_ERR_SHAPE, m->in,
                     "labels $b do not match input $a: expected one class index for each row");
    else if (wk__is_float(label->dtype) || label->dtype == WK_BOOL)
        wk__op_error(op, m->site, WK_ERR_DTYPE, m->in,
                     "labels must be i64 class indices, got $b; convert them with wk_to_dtype(labels, WK_I64)");
    else if (weight && (weight->ndim != 1 || weight->shape[0] != x->shape[rows]))
        wk__op_error(op, m->site, WK_ERR_SHAPE, m->in, "weight $c must have one element for each of the %lld classes",
                     (long long)x->shape[rows]);
    else {
        const wk__label_range classes = classes_of(m->in[0]);
        return wk__check_host_labels(op, m->site, m->in, &classes);
    }
    return false;
}

/* Computes the parts of the rows by public ops. */
static void make_rows(const margin_call *m, margin_rows *r)
{
    const wk_site site = m->site;
    wk_tensor *x = m->in[0], *labels = wk_to_dtype_at(site, m->in[1], WK_I64);
    if (!x || !labels) return;
    const wk__label_range classes = classes_of(x);
    labels = wk__record_label_check(&wk__op_multi_margin_loss, site, labels, &classes);
    if (!labels) return;
    if (wk__body_of(x)->ndim == 1) x = wk_unsqueeze_at(site, x, 0), labels = wk_unsqueeze_at(site, labels, 0);
    if (!x) return;
    r->classes = classes.count;
    const wk_tensor_options like = {.size = sizeof like, .device = wk_device_of(x)};
    wk_tensor *column = wk_unsqueeze_at(site, labels, 1);
    r->own = wk_eq(wk_arange_i64_at(site, r->classes, &like), column);
    r->distance = wk_add(wk_sub(x, wk_gather_at(site, x, 1, column)), m->margin);
    if (!m->in[2]) return;
    wk_tensor *weight = wk_to_dtype_at(site, m->in[2], wk_dtype_of(x));
    r->weight = wk_unsqueeze_at(site, wk_index_select_at(site, weight, 0, labels), 1);
}

static wk_tensor *row_losses(const margin_call *m)
{
    margin_rows r = {.classes = 0};
    make_rows(m, &r);
    wk_tensor *far = wk_maximum(wk_where(r.own, 0, r.distance), 0);
    if (m->p == 2) far = wk_square(far);
    if (r.weight) far = wk_mul(far, r.weight);
    wk_tensor *sum = far ? wk__reduce_sum(m->site, far, 2, false) : NULL;
    wk_tensor *mean = wk_div(sum, (double)r.classes);
    return mean && wk__body_of(m->in[0])->ndim == 1 ? wk_select_at(m->site, mean, 0, 0) : mean;
}

wk_tensor *wk_multi_margin_loss_at(wk_site site, wk_tensor *x, wk_tensor *labels,
                                   const wk_multi_margin_loss_options *options)
{
    const wk__op *op = &wk__op_multi_margin_loss;
    wk_multi_margin_loss_options o;
    wk__compose c;
    if (!wk__read_multi_margin_loss_options(site, op->name, options, &o)) return NULL;
    if (o.p != 1 && o.p != 2) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .p must be 1 or 2, got %g", op->name, o.p);
        return NULL;
    }
    margin_call m = {site, {x, labels, o.weight}, o.margin, (int64_t)o.p};
    if (!wk__check_reduction(op, site, o.reduction)) return NULL;
    if (!wk__check_loss_weight(op, site, o.weight, "weight")) return NULL;
    if (!wk__compose_begin(&c, op, site, m.in, o.weight ? 3 : 2)) return NULL;
    wk_tensor *out = NULL;
    wk__loss_attributes a = {.reduction = (int64_t)o.reduction, .mode = m.p, .number = o.margin};
    if (check_operands(&m)) {
        const wk_dtype dtype = wk__body_of(x)->dtype;
        m.in[0] = wk__to_opmath(x);
        out = wk__cast_result(wk__reduce_losses(site, row_losses(&m), o.reduction, &a.divisor), dtype);
    }
    const wk__attr attr = wk__loss_attr(a);
    return wk__compose_end(&c, out, &attr);
}

/* Of another class weight p max(0, z)^(p - 1) / C, and of the label the sum of these, negated. */
static void gradient(wk__grad_ctx *g)
{
    const wk__loss_attributes a = wk__loss_attributes_of(g->attr);
    const bool weighted = g->node->saved[2], rows = g->node->shape[0].ndim == 2;
    const margin_call m = {
        .in = {wk__saved(g, 0), wk__saved(g, 1), weighted ? wk__saved(g, 2) : NULL}, .margin = a.number, .p = a.mode};
    margin_rows r = {.classes = 0};
    make_rows(&m, &r);
    wk_tensor *flow = a.reduction == WK_REDUCE_MEAN ? wk_div(g->out[0], a.divisor) : g->out[0];
    if (a.reduction == WK_REDUCE_NONE && rows) flow = wk_unsqueeze_at(m.site, flow, 1);
    flow = wk_div(flow, (double)r.classes);
    if (r.weight) flow = wk_mul(flow, r.weight);
    wk_tensor *counts = wk_logical_and(wk_gt(r.distance, 0), wk_logical_not(r.own));
    wk_tensor *slope = wk_where(counts, m.p == 2 ? wk_mul(r.distance, wk_mul(flow, 2)) : flow, 0);
    wk_tensor *grad = wk_where(r.own, wk_neg(wk__sum_keepdim(slope, 2)), slope);
    g->in[0] = rows ? grad : wk_select_at(m.site, grad, 0, 0);
}

const wk__op wk__op_multi_margin_loss = {
    .gradient = gradient,
    .saves = {WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_2},
    WK__SIGNATURE_multi_margin_loss,
};
