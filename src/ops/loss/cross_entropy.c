/* SPDX-License-Identifier: Apache-2.0 */
/* cross_entropy, nll_loss: loss of a row of scores for its label.
 *
 *     x  (N, C, d..)  scores; seen as rows (N, d.., C)          label (N, d..) i64, or probabilities of x's shape
 *     T  weight of each score in a row: for a label 1 at its index, smoothed, times the class's weight
 *
 *     cross_entropy   sum over c of T (log sum e^x - x)         nll_loss   sum over c of -T x
 *
 * T is never stored: position and label are compared where T is needed, so forward is one row program and backward
 * another. With many classes, only the elements at the labels are read and written: forward gathers them, backward adds
 * to them. The mean is taken over the weights of the labels' classes; ignored labels have T = 0. */
#include "labels.h"
#include "losses.h"
#include <math.h>
#include <string.h>

/* Arguments of one call. */
typedef struct loss_call {
    const wk__op *op;
    wk_site site;
    wk_tensor *in[3]; /* scores, target, class weights or NULL */
    wk_reduction reduction;
    int64_t ignored;
    double smoothing;
} loss_call;

/* Operands of forward and backward. All tensors are seen with the class dimension last. */
typedef struct ce_operands {
    const wk__op *op;
    wk_site site;
    wk_tensor *x, *target, *weight; /* target: labels with a last dimension of size 1, or probabilities */
    wk__label_range classes;
    double smoothing;
    bool probabilities;
    bool gathers;  /* T is 0 except at the label, and there are many classes */
    uint16_t last; /* mask of the class dimension */
} ce_operands;

/* With this many classes, comparing every index with the label takes longer than a separate kernel that gathers. */
enum { GATHER_MIN = 1024 };

/* ---- expressions ------------------------------------------------------------------------------------------------- */

/* in: label, index of the class */
static int is_label(wk__emit *e, const int in[])
{
    return wk__emit_compare(e, WK__EQ, in[0], in[1]);
}
/* T without the class's weight. in: whether this is the label's class, x (for its dtype), T if so, T otherwise */
static int target_weight(wk__emit *e, const int in[])
{
    return wk__emit_where(e, in[0], in[2], in[3]);
}
/* in: x, maximum of the row */
static int exp_from(wk__emit *e, const int in[])
{
    return wk__emit_unary(e, WK__EXP, wk__emit_binary(e, WK__SUB, in[0], in[1]));
}
/* T (log s - (x - m)); 0 if T is, because the other factor may be infinite. in: T, x, m, s */
static int weighted_nll(wk__emit *e, const int in[])
{
    int zero = wk__emit_constant(e, 0);
    int distance =
        wk__emit_binary(e, WK__SUB, wk__emit_unary(e, WK__LOG, in[3]), wk__emit_binary(e, WK__SUB, in[1], in[2]));
    return wk__emit_where(e, wk__emit_compare(e, WK__NE, in[0], zero), wk__emit_binary(e, WK__MUL, in[0], distance),
                          zero);
}
/* -T x. in: T, x */
static int nll_term(wk__emit *e, const int in[])
{
    int zero = wk__emit_constant(e, 0), minus = wk__emit_unary(e, WK__NEG, wk__emit_binary(e, WK__MUL, in[0], in[1]));
    return wk__emit_where(e, wk__emit_compare(e, WK__NE, in[0], zero), minus, zero);
}

static const wk__op label_op = {.name = "cross_entropy", .expression = is_label, .arity = 2, .result = WK__RESULT_BOOL};
static const wk__op target_op = {
    .name = "cross_entropy", .expression = target_weight, .arity = 4, .own_dtype_operands = 1};
static const wk__op exp_op = {.name = "cross_entropy", .expression = exp_from, .arity = 2};
static const wk__op surprise_op = {.name = "cross_entropy", .expression = weighted_nll, .arity = 4};
static const wk__op picked_op = {.name = "cross_entropy", .expression = nll_term, .arity = 2};

/* ---- target weights ---------------------------------------------------------------------------------------------- */

/* Returns whether each score is the label's. The labels are checked. */
static wk_tensor *is_label_class(const ce_operands *s, wk_tensor *labels)
{
    wk_tensor *positions = labels ? wk__row_iota(s->site, s->x, s->last) : NULL;
    return positions ? wk__elementwise(&label_op, s->site,
                                       (wk__arg[]){wk__tensor_arg(labels), wk__tensor_arg(positions)}, 2, NULL)
                     : NULL;
}

/* Returns T for labels: 1 - smoothing at the label plus smoothing / C everywhere; 0 if the label is ignored. */
static wk_tensor *hard_target(const ce_operands *s, wk_tensor *labels, double smoothing)
{
    wk_tensor *hit = is_label_class(s, labels);
    if (!hit) return NULL;
    double even = smoothing / (double)s->classes.count;
    wk__arg args[4] = {wk__tensor_arg(hit), wk__tensor_arg(s->x), wk__float_arg(1 - smoothing + even),
                       wk__float_arg(even)};
    wk_tensor *t = wk__elementwise(&target_op, s->site, args, 4, NULL);
    return smoothing == 0 ? t : wk_mul(t, wk_ge(labels, 0));
}

/* Returns indices that can be gathered: 0 for ignored labels, which are -1. */
static wk_tensor *indices(wk_tensor *labels)
{
    return labels ? wk_maximum(labels, 0) : NULL;
}

/* Returns T at the labels, with a last dimension of size 1: the weights of their classes, 0 for ignored ones. */
static wk_tensor *label_weights(const ce_operands *s, wk_tensor *labels)
{
    wk_tensor *used = labels ? wk_to_dtype_at(s->site, wk_ge(labels, 0), (wk_dtype)wk__body_of(s->x)->dtype) : NULL;
    return s->weight ? wk_mul(used, wk_take_at(s->site, s->weight, indices(labels))) : used;
}

/* Returns T for labels or probabilities, with the class weights. Constants: no gradient. */
static wk_tensor *target_weights(const ce_operands *s, wk_tensor *labels, double smoothing)
{
    wk_tensor *t = s->target;
    if (!s->probabilities)
        t = hard_target(s, labels, smoothing);
    else if (smoothing != 0)
        t = wk_add(wk_mul(s->target, 1 - smoothing), smoothing / (double)s->classes.count);
    return s->weight ? wk_mul(t, s->weight) : t;
}

/* Returns the divisor of the mean over labels: the number of labels that are not ignored, or the sum of their classes'
 * weights. 0-d. */
static wk_tensor *denominator(const ce_operands *s, wk_tensor *labels)
{
    if (!labels) return NULL;
    wk_tensor *rows = !s->weight || s->gathers ? label_weights(s, labels)
                                               : wk__reduce_sum(s->site, target_weights(s, labels, 0), s->last, true);
    return rows ? wk__reduce_sum(s->site, rows, (uint16_t)((1u << wk__body_of(rows)->ndim) - 1), false) : NULL;
}

static double row_count(const ce_operands *s)
{
    return s->classes.count ? (double)wk__body_numel(wk__body_of(s->x)) / (double)s->classes.count : 0;
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

static wk_tensor *row_losses(const ce_operands *s, bool keepdim, wk_tensor **labels)
{
    bool scored = s->op == &wk__op_cross_entropy;
    wk_tensor *most = scored ? wk__reduce_max(s->site, s->x, s->last, true) : NULL; /* first: begins the row program */
    wk_tensor *part =
        most ? wk__elementwise(&exp_op, s->site, (wk__arg[]){wk__tensor_arg(s->x), wk__tensor_arg(most)}, 2, NULL)
             : NULL;
    wk_tensor *sum = wk__reduce_sum(s->site, part, s->last, true);
    *labels = s->probabilities ? NULL : wk__record_label_check(s->op, s->site, s->target, &s->classes);
    wk_tensor *t = s->gathers ? label_weights(s, *labels) : target_weights(s, *labels, s->smoothing);
    wk_tensor *x = s->gathers ? wk_gather_at(s->site, s->x, -1, indices(*labels)) : s->x;
    if (!t || !x || (scored && !sum)) return NULL;
    wk_tensor *cost =
        scored
            ? wk__elementwise(
                  &surprise_op, s->site,
                  (wk__arg[]){wk__tensor_arg(t), wk__tensor_arg(x), wk__tensor_arg(most), wk__tensor_arg(sum)}, 4, NULL)
            : wk__elementwise(&picked_op, s->site, (wk__arg[]){wk__tensor_arg(t), wk__tensor_arg(x)}, 2, NULL);
    return wk__reduce_sum(s->site, cost, s->last, keepdim);
}

static wk_tensor *loss_of(const ce_operands *s, wk_reduction reduction)
{
    wk_tensor *labels, *rows = row_losses(s, reduction != WK_REDUCE_NONE, &labels);
    if (!rows || reduction == WK_REDUCE_NONE) return rows;
    wk_tensor *over = s->probabilities || reduction == WK_REDUCE_SUM ? NULL : denominator(s, labels);
    wk_tensor *total = wk__reduce_sum(s->site, rows, (uint16_t)((1u << wk__body_of(rows)->ndim) - 1), false);
    if (reduction == WK_REDUCE_SUM) return total;
    return s->probabilities ? wk_div(total, row_count(s)) : wk_div(total, over);
}

/* ---- checks and call --------------------------------------------------------------------------------------------- */

/* Returns true if the labels have the scores' shape without the class dimension. */
static bool labels_fit(const wk__body *x, const wk__body *label, int axis)
{
    bool same = label->ndim == x->ndim - 1;
    for (int d = 0; d < label->ndim && same; d++) same = label->shape[d] == x->shape[d + (d >= axis)];
    return same;
}

/* True if labels have shape (N, 1) for scores (N, C). */
static bool is_column(const wk__body *label, const wk__body *x)
{
    return x->ndim == 2 && x->shape[1] != 1 && label->ndim == 2 && label->shape[0] == x->shape[0] &&
           label->shape[1] == 1;
}

static bool check_operands(const loss_call *l, int axis)
{
    const wk__body *x = wk__body_of(l->in[0]), *target = wk__body_of(l->in[1]),
                   *weight = l->in[2] ? wk__body_of(l->in[2]) : NULL;
    bool smooth = l->op == &wk__op_cross_entropy, fractions = wk__is_float(target->dtype);
    const bool column = is_column(target, x), floats = fractions && (column || labels_fit(x, target, axis));
    const char *also = smooth ? ", or float probabilities of the input's shape" : "";
    if (fractions && !wk__is_float(x->dtype))
        wk__op_error(l->op, l->site, WK_ERR_DTYPE, l->in,
                     "operands may be swapped: expected a float input and integer labels, got $a and $b");
    else if (x->ndim == 0 || !wk__is_float(x->dtype))
        wk__op_error(l->op, l->site, x->ndim ? WK_ERR_DTYPE : WK_ERR_SHAPE, l->in,
                     "input must be floating-point of shape (C), (N, C) or (N, C, d1, ...), got $a%s",
                     x->ndim ? "; convert it with wk_to_dtype(x, WK_F32)" : "");
    else if (floats || column)
        wk__op_error(l->op, l->site, floats ? WK_ERR_DTYPE : WK_ERR_SHAPE, l->in,
                     "labels must be i64 class indices of the input's shape without dimension %d, got $b; %s%s%s", axis,
                     column ? "remove the last dimension with wk_squeeze(labels, -1)" : "",
                     column && floats ? ", " : "", floats ? "convert with wk_to_dtype(labels, WK_I64)" : "");
    else if (fractions ? !smooth || !wk__same_sizes(x, target) : !labels_fit(x, target, axis))
        wk__op_error(
            l->op, l->site, fractions ? WK_ERR_DTYPE : WK_ERR_SHAPE, l->in,
            "labels $b do not match input $a: expected i64 class indices of the input's shape without dimension %d%s",
            axis, also);
    else if (target->dtype == WK_BOOL)
        wk__op_error(l->op, l->site, WK_ERR_DTYPE, l->in,
                     "labels must be i64 class indices, got $b; convert them with wk_to_dtype(labels, WK_I64)");
    else if (weight && (weight->ndim != 1 || weight->shape[0] != x->shape[axis]))
        wk__op_error(l->op, l->site, WK_ERR_SHAPE, l->in,
                     "weight $c must have one element for each of the %lld classes", (long long)x->shape[axis]);
    else if ((unsigned)l->reduction > WK_REDUCE_NONE)
        wk__op_error(l->op, l->site, WK_ERR_ARGUMENT, l->in,
                     "unknown reduction %d; expected WK_REDUCE_MEAN, WK_REDUCE_SUM or WK_REDUCE_NONE",
                     (int)l->reduction);
    else
        return true;
    return false;
}

static bool prepare_operands(ce_operands *s, const wk__op *op, wk_site site, wk_tensor *const in[], int axis)
{
    s->op = op;
    s->site = site;
    s->probabilities = wk__is_float(wk__body_of(in[1])->dtype);
    s->classes.count = wk__body_of(in[0])->shape[axis];
    s->gathers = !s->probabilities && s->smoothing == 0 && s->classes.count >= GATHER_MIN;
    s->last = (uint16_t)(1u << (wk__body_of(in[0])->ndim - 1));
    wk_tensor *x = wk__to_opmath(in[0]),
              *target = s->probabilities ? wk__to_opmath(in[1]) : wk_to_dtype_at(site, in[1], WK_I64);
    s->weight = in[2] ? wk__to_opmath(in[2]) : NULL;
    if (!x || !target || (in[2] && !s->weight)) return false;
    s->x = wk__move_dim_last(x, axis);
    s->target = s->probabilities ? wk__move_dim_last(target, axis) : wk__append_unit_dim(target);
    return s->x && s->target;
}

/* Returns PyTorch's grad_fn name of the result. PyTorch has functions for labels of one and of two dimensions, converts
 * others to the latter, and composes the other cases. */
static const char *grad_fn_name(const loss_call *l)
{
    const int ndim = wk__body_of(l->in[0])->ndim;
    if (wk__is_float(wk__body_of(l->in[1])->dtype))
        return l->reduction == WK_REDUCE_MEAN ? "DivBackward1" : "NegBackward0";
    if (l->smoothing > 0) return "AddBackward0";
    if (ndim <= 2) return "NllLossBackward0";
    return l->reduction == WK_REDUCE_NONE && ndim != 4 ? "ViewBackward0" : "NllLoss2DBackward0";
}

/* Checks a weight, which may be omitted but not have failed. With labels it must be a constant. */
static bool check_weight(const loss_call *l)
{
    wk_tensor *weight = l->in[2];
    if (!weight) return !wk__omitted_may_have_failed();
    if (!wk__check_tensor(weight, l->site, l->op->name, "weight")) return false;
    bool fractions = l->in[1] && wk__is_tensor(l->in[1]) && wk__is_float(wk__body_of(l->in[1])->dtype);
    return fractions || wk__check_weight_is_constant(l->op, l->site, weight, "with class labels, weight");
}

static wk_tensor *compute_loss(const loss_call *l)
{
    wk__compose c;
    if (!(l->smoothing >= 0 && l->smoothing <= 1)) {
        wk__error_set(l->site, WK_ERR_ARGUMENT, "%s: .label_smoothing must be in [0, 1], got %g", l->op->name,
                      l->smoothing);
        return NULL;
    }
    if (!check_weight(l)) return NULL;
    if (!wk__compose_begin(&c, l->op, l->site, l->in, 2)) return NULL;
    c.in[2] = l->in[2];
    c.inputs = 3;
    wk_tensor *out = NULL;
    const int axis = wk__body_of(l->in[0])->ndim > 1;
    ce_operands s = {.classes.ignore_index = l->ignored, .smoothing = l->smoothing};
    wk__attr attr = wk__cross_entropy_attr((wk__cross_entropy_attributes){
        .reduction = (int64_t)l->reduction, .ignored = l->ignored, .smoothing = l->smoothing});
    attr.grad_fn_name = grad_fn_name(l);
    wk_tensor *in[3] = {l->in[0], l->in[1], l->in[2]};
    if (check_operands(l, axis) &&
        wk__prepare_operands(wk__context(), l->op, l->site, in, in[2] ? 3 : 2, WK__COLOCATE_IF_SOFT) &&
        prepare_operands(&s, l->op, l->site, in, axis) &&
        (s.probabilities || wk__check_host_labels(l->op, l->site, l->in, &s.classes)))
        out = wk__cast_result(loss_of(&s, l->reduction), wk__body_of(l->in[0])->dtype);
    return wk__compose_end(&c, out, &attr);
}

static wk_tensor *call_with_options(const wk__op *op, wk_site site, wk_tensor *x, wk_tensor *target,
                                    const wk_cross_entropy_options *options)
{
    wk_cross_entropy_options o;
    if (!wk__read_cross_entropy_options(site, op->name, options, &o)) return NULL;
    double smoothing = op == &wk__op_cross_entropy ? o.label_smoothing : 0;
    return compute_loss(&(loss_call){op, site, {x, target, o.weight}, o.reduction, (int64_t)o.ignore_index, smoothing});
}

wk_tensor *wk_cross_entropy_at(wk_site site, wk_tensor *logits, wk_tensor *labels,
                               const wk_cross_entropy_options *options)
{
    return call_with_options(&wk__op_cross_entropy, site, logits, labels, options);
}
wk_tensor *wk_nll_loss_at(wk_site site, wk_tensor *logs, wk_tensor *labels, const wk_cross_entropy_options *options)
{
    return call_with_options(&wk__op_nll_loss, site, logs, labels, options);
}

/* ---- gradient ---------------------------------------------------------------------------------------------------- */

/* Inputs of backward: the operands, the labels (NULL for probabilities), and the gradient of each row's loss, which
 * broadcasts to the scores. */
typedef struct ce_backward {
    ce_operands s;
    int axis;
    wk_tensor *labels, *grad;
} ce_backward;

/* Returns the gradient of each row's loss; 0 if its label is ignored, even if all are and the mean is 0 / 0. */
static wk_tensor *mean_row_grad(const ce_operands *s, wk_tensor *labels, wk_tensor *grad, int axis)
{
    return wk_movedim_at(s->site, wk_where(wk_ge(labels, 0), wk_div(grad, denominator(s, labels)), 0), -1, axis);
}

static bool prepare_backward(wk__grad_ctx *g, ce_backward *b)
{
    const wk__tensor_meta *shape = &g->node->shape[0];
    wk_tensor *in[3] = {wk__saved(g, 0), wk__saved(g, 1), g->node->saved[2] ? wk__saved(g, 2) : NULL};
    const wk__cross_entropy_attributes a = wk__cross_entropy_attributes_of(g->attr);
    ce_operands *s = &b->s;
    *s = (ce_operands){.classes.ignore_index = a.ignored, .smoothing = a.smoothing};
    b->axis = shape->ndim > 1;
    if (!in[0] || !in[1] || !prepare_operands(s, g->node->op, (wk_site){0}, in, b->axis)) return false;
    b->labels = s->probabilities ? NULL : wk__record_label_check(s->op, s->site, s->target, &s->classes);
    b->grad = g->out[0];
    if (a.reduction == WK_REDUCE_MEAN)
        b->grad = s->probabilities ? wk_div(b->grad, row_count(s)) : mean_row_grad(s, b->labels, b->grad, b->axis);
    if (a.reduction == WK_REDUCE_NONE && b->grad) { /* rows: restore the class dimension with size 1 */
        int64_t sizes[WK__MAX_DIMS];
        for (int d = 0; d < shape->ndim; d++) sizes[d] = d == b->axis ? 1 : shape->size[d];
        b->grad = wk_reshape_at(s->site, b->grad, sizes, shape->ndim);
    }
    return b->grad && (s->probabilities || b->labels);
}

/* Returns the class weights (NULL: 1) as a public op, shaped to broadcast along the classes. */
static wk_tensor *class_weights(const wk__grad_ctx *g, int axis)
{
    int64_t shape[WK__MAX_DIMS];
    int ndim = g->node->shape[0].ndim - axis;
    for (int d = 0; d < ndim; d++) shape[d] = d ? 1 : -1;
    return g->node->saved[2] ? wk_reshape_at((wk_site){0}, wk__saved(g, 2), shape, ndim) : NULL;
}

/* Returns the gradient of the scores for T that is 0 except at the labels. */
static wk_tensor *gathered_gradient(const ce_backward *b, wk_tensor *x)
{
    const wk_site here = {0};
    wk_tensor *scale = wk_mul(wk__move_dim_back(label_weights(&b->s, b->labels), b->axis), b->grad);
    wk_tensor *share = wk_mul(wk_softmax_at(here, x, b->axis), scale);
    wk_tensor *index = wk__move_dim_back(indices(b->labels), b->axis);
    return wk_scatter_add_at(here, share, b->axis, index, wk_neg(scale));
}

static wk_tensor *soft_target(const wk__grad_ctx *g, const ce_operands *s, wk_tensor *weight)
{
    wk_tensor *t = wk_add(wk_mul(wk__saved(g, 1), 1 - s->smoothing), s->smoothing / (double)s->classes.count);
    return weight ? wk_mul(t, weight) : t;
}

/* Gradient of the scores: (softmax(x) sum T - T) g. Of probabilities: -log softmax(x) (1 - smoothing) weight g. Of the
 * weights: -log softmax(x) T g with T without weights; the engine sums it over all dimensions but the classes, moved
 * last. */
static void cross_entropy_gradient(wk__grad_ctx *g)
{
    const wk_site here = {0};
    ce_backward b;
    if (!prepare_backward(g, &b)) return;
    wk_tensor *x = wk__saved(g, 0), *weight = b.s.probabilities ? class_weights(g, b.axis) : NULL;
    if (wk__needs_input_grad(g, 0) && b.s.gathers) {
        g->in[0] = gathered_gradient(&b, x);
    } else if (wk__needs_input_grad(g, 0)) {
        wk_tensor *t = b.s.probabilities ? soft_target(g, &b.s, weight)
                                         : wk__move_dim_back(target_weights(&b.s, b.labels, b.s.smoothing), b.axis);
        wk_tensor *share = wk_mul(wk_softmax_at(here, x, b.axis), wk__sum_keepdim(t, 1 << b.axis));
        g->in[0] = wk_mul(wk_sub(share, t), b.grad);
    }
    if (!wk__needs_input_grad(g, 1) && !wk__needs_input_grad(g, 2)) return;
    wk_tensor *surprise = wk_mul(wk_mul(wk_log_softmax_at(here, x, b.axis), -1), b.grad);
    if (wk__needs_input_grad(g, 1)) {
        wk_tensor *part = wk_mul(surprise, 1 - b.s.smoothing);
        g->in[1] = weight ? wk_mul(part, weight) : part;
    }
    if (wk__needs_input_grad(g, 2))
        g->in[2] = wk_movedim_at(here, wk_mul(surprise, soft_target(g, &b.s, NULL)), b.axis, -1);
}

/* -g at the label's index, times the class's weight. Other scores are not part of the loss and get 0 for any g: if all
 * weights are 0, the mean is 0 / 0 and g is NaN. */
static void nll_gradient(wk__grad_ctx *g)
{
    ce_backward b;
    if (!wk__needs_input_grad(g, 0) || !prepare_backward(g, &b)) return;
    wk_tensor *weight = class_weights(g, b.axis), *slope = wk_neg(b.grad), *hit = is_label_class(&b.s, b.labels);
    if (weight) slope = wk_mul(slope, wk_to_dtype_at((wk_site){0}, weight, wk_dtype_of(slope))); /* it may be 0-d */
    if (hit) g->in[0] = wk_where(wk__move_dim_back(hit, b.axis), slope, 0);
}

enum { ALL = WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_2 };

const wk__op wk__op_cross_entropy = {
    .gradient = cross_entropy_gradient,
    .saves = {ALL, ALL, ALL},
    .saves_by_value = WK__SAVE_0, /* instead of the log-probabilities, which then need not be stored */
    WK__SIGNATURE_cross_entropy,
};
const wk__op wk__op_nll_loss = {
    .gradient = nll_gradient,
    .saves = {ALL},
    WK__SIGNATURE_nll_loss,
};
