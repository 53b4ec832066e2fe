/* SPDX-License-Identifier: Apache-2.0 */
/* cross_entropy, nll_loss: how far a row of scores is from its label.
 *
 *     x  (N, C, d..)  scores; seen as rows (N, d.., C)          label (N, d..) i64, or probabilities of x's shape
 *     T  rows of weights that say which scores count: for a label 1 in its place, smoothed, times the class's weight
 *
 *     cross_entropy   sum over c of T (log sum e^x - x)         nll_loss   sum over c of -T x
 *
 * T is never stored: position and label are compared where T is needed, so forward is one row program and backward
 * another. The mean is taken over the weights of the labels' classes; ignored labels have T = 0. */
#include "labels.h"
#include "losses.h"
#include <math.h>
#include <string.h>

typedef struct loss_call {
    const wk__op *op;
    wk_site site;
    wk_tensor *in[3]; /* scores, target, weights of classes or NULL */
    wk_reduction reduction;
    int64_t ignored;
    double smoothing;
} loss_call;

/* What forward and backward have in common. All tensors are seen with the classes last. */
typedef struct scores {
    const wk__op *op;
    wk_site site;
    wk_tensor *x, *target, *weight; /* target: labels with a last dimension of size 1, or probabilities */
    wk__classes classes;
    double smoothing;
    bool probabilities;
    uint16_t last; /* mask of the classes */
} scores;

/* ---- expressions ------------------------------------------------------------------------------------------------- */

/* in: label, position of the class */
static int is_label(wk__emit *e, const int in[])
{
    return wk__emit_compare(e, WK__EQ, in[0], in[1]);
}
/* T of a row, without the class's weight. in: is this the label's class? x (for its dtype), T there, T elsewhere */
static int target_weight(wk__emit *e, const int in[])
{
    return wk__emit_where(e, in[0], in[2], in[3]);
}
/* in: x, largest of the row */
static int exp_from(wk__emit *e, const int in[])
{
    return wk__emit_1(e, WK__EXP, wk__emit_2(e, WK__SUB, in[0], in[1]));
}
/* T (log s - (x - m)); what does not count may be infinite. in: T, x, m, s */
static int surprise(wk__emit *e, const int in[])
{
    int zero = wk__emit_constant(e, 0);
    int distance = wk__emit_2(e, WK__SUB, wk__emit_1(e, WK__LOG, in[3]), wk__emit_2(e, WK__SUB, in[1], in[2]));
    return wk__emit_where(e, wk__emit_compare(e, WK__NE, in[0], zero), wk__emit_2(e, WK__MUL, in[0], distance), zero);
}
/* -T x. in: T, x */
static int picked(wk__emit *e, const int in[])
{
    int zero = wk__emit_constant(e, 0), minus = wk__emit_1(e, WK__NEG, wk__emit_2(e, WK__MUL, in[0], in[1]));
    return wk__emit_where(e, wk__emit_compare(e, WK__NE, in[0], zero), minus, zero);
}

static const wk__op label_op = {.name = "cross_entropy", .expression = is_label, .arity = 2, .result = WK__RESULT_BOOL};
static const wk__op target_op = {.name = "cross_entropy", .expression = target_weight, .arity = 4, .conditions = 1};
static const wk__op exp_op = {.name = "cross_entropy", .expression = exp_from, .arity = 2};
static const wk__op surprise_op = {.name = "cross_entropy", .expression = surprise, .arity = 4};
static const wk__op picked_op = {.name = "cross_entropy", .expression = picked, .arity = 2};

/* ---- target weights ---------------------------------------------------------------------------------------------- */

/* Is this the label's place? Labels are as checked or known. */
static wk_tensor *hits(const scores *s, wk_tensor *labels)
{
    wk_tensor *positions = labels ? wk__row_positions(s->site, s->x, s->last) : NULL;
    return positions ? wk__elementwise(&label_op, s->site, (wk__arg[]){wk__t(labels), wk__t(positions)}, 2, NULL)
                     : NULL;
}

/* T for labels: 1 - smoothing in the label's place, smoothing / C everywhere, 0 if it is ignored. */
static wk_tensor *hard_target(const scores *s, wk_tensor *labels, double smoothing)
{
    wk_tensor *hit = hits(s, labels);
    if (!hit) return NULL;
    double even = smoothing / (double)s->classes.count;
    wk__arg args[4] = {wk__t(hit), wk__t(s->x), wk__f(1 - smoothing + even), wk__f(even)};
    wk_tensor *t = wk__elementwise(&target_op, s->site, args, 4, NULL);
    return smoothing == 0 ? t : wk_mul(t, wk_ge(labels, 0));
}

/* T for labels or probabilities, the class's weight included. Constants: no gradient. */
static wk_tensor *weights(const scores *s, wk_tensor *labels, double smoothing)
{
    wk_tensor *t = s->target;
    if (!s->probabilities)
        t = hard_target(s, labels, smoothing);
    else if (smoothing != 0)
        t = wk_add(wk_mul(s->target, 1 - smoothing), smoothing / (double)s->classes.count);
    return s->weight ? wk_mul(t, s->weight) : t;
}

/* What the mean over labels divides by: how many are not ignored, or the weights of their classes. 0-d. */
static wk_tensor *denominator(const scores *s, wk_tensor *labels)
{
    if (!labels) return NULL;
    wk_tensor *rows = wk_to_dtype_at(s->site, wk_ge(labels, 0), (wk_dtype)wk__body_of(s->x)->dtype);
    if (s->weight) rows = wk__row_sum(s->site, weights(s, labels, 0), s->last, true);
    return rows ? wk__row_sum(s->site, rows, (uint16_t)((1u << wk__body_of(rows)->ndim) - 1), false) : NULL;
}

static double row_count(const scores *s)
{
    return s->classes.count ? (double)wk__body_numel(wk__body_of(s->x)) / (double)s->classes.count : 0;
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

static wk_tensor *row_losses(const scores *s, bool keepdim, wk_tensor **labels)
{
    bool scored = s->op == &wk__op_cross_entropy;
    wk_tensor *most = scored ? wk__row_max(s->site, s->x, s->last, true) : NULL; /* first: it opens the row program */
    wk_tensor *part = most ? wk__elementwise(&exp_op, s->site, (wk__arg[]){wk__t(s->x), wk__t(most)}, 2, NULL) : NULL;
    wk_tensor *sum = wk__row_sum(s->site, part, s->last, true);
    *labels = s->probabilities ? NULL : wk__labels_checked(s->op, s->site, s->target, &s->classes);
    wk_tensor *t = weights(s, *labels, s->smoothing);
    if (!t || (scored && !sum)) return NULL;
    wk_tensor *cost = scored ? wk__elementwise(&surprise_op, s->site,
                                               (wk__arg[]){wk__t(t), wk__t(s->x), wk__t(most), wk__t(sum)}, 4, NULL)
                             : wk__elementwise(&picked_op, s->site, (wk__arg[]){wk__t(t), wk__t(s->x)}, 2, NULL);
    return wk__row_sum(s->site, cost, s->last, keepdim);
}

static wk_tensor *loss_of(const scores *s, wk_reduction reduction)
{
    wk_tensor *labels, *rows = row_losses(s, reduction != WK_REDUCE_NONE, &labels);
    if (!rows || reduction == WK_REDUCE_NONE) return rows;
    wk_tensor *over = s->probabilities || reduction == WK_REDUCE_SUM ? NULL : denominator(s, labels);
    wk_tensor *total = wk__row_sum(s->site, rows, (uint16_t)((1u << wk__body_of(rows)->ndim) - 1), false);
    if (reduction == WK_REDUCE_SUM) return total;
    return s->probabilities ? wk_div(total, row_count(s)) : wk_div(total, over);
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

/* Labels have the scores' shape without the classes. */
static bool labels_fit(const wk__body *x, const wk__body *label, int axis)
{
    bool same = label->ndim == x->ndim - 1;
    for (int d = 0; d < label->ndim && same; d++) same = label->shape[d] == x->shape[d + (d >= axis)];
    return same;
}

static bool operands_fit(const loss_call *l, int axis)
{
    const wk__body *x = wk__body_of(l->in[0]), *target = wk__body_of(l->in[1]),
                   *weight = l->in[2] ? wk__body_of(l->in[2]) : NULL;
    bool smooth = l->op == &wk__op_cross_entropy, fractions = wk__is_float(target->dtype);
    const char *also = smooth ? ", or float probabilities of the scores' shape" : "";
    if (fractions && !wk__is_float(x->dtype))
        wk__op_error(l->op, l->site, WK_ERR_DTYPE, l->in,
                     "scores come first and labels behind them: $a has no fractions, as labels have, and $b has some");
    else if (x->ndim == 0 || !wk__is_float(x->dtype))
        wk__op_error(l->op, l->site, x->ndim ? WK_ERR_DTYPE : WK_ERR_SHAPE, l->in,
                     "scores must be floats of shape (C), (N, C) or (N, C, d1, ...), not $a%s",
                     x->ndim ? "; convert them with wk_to_dtype(scores, WK_F32)" : "");
    else if (fractions ? !smooth || !wk__same_sizes(x, target) : !labels_fit(x, target, axis))
        wk__op_error(
            l->op, l->site, fractions ? WK_ERR_DTYPE : WK_ERR_SHAPE, l->in,
            "labels $b do not fit scores $a: class labels are i64 of the scores' shape without its dimension %d%s",
            axis, also);
    else if (target->dtype == WK_BOOL)
        wk__op_error(l->op, l->site, WK_ERR_DTYPE, l->in,
                     "labels are $b, but class labels are i64; convert them with wk_to_dtype(labels, WK_I64)");
    else if (weight && (weight->ndim != 1 || weight->shape[0] != x->shape[axis]))
        wk__op_error(l->op, l->site, WK_ERR_SHAPE, l->in, "weight $c must have one number for each of the %lld classes",
                     (long long)x->shape[axis]);
    else if ((unsigned)l->reduction > WK_REDUCE_NONE)
        wk__op_error(l->op, l->site, WK_ERR_ARGUMENT, l->in,
                     "there is no reduction %d; there are WK_REDUCE_MEAN, WK_REDUCE_SUM and WK_REDUCE_NONE",
                     (int)l->reduction);
    else
        return true;
    return false;
}

static bool see(scores *s, const wk__op *op, wk_site site, wk_tensor *const in[], int axis)
{
    s->op = op;
    s->site = site;
    s->probabilities = wk__is_float(wk__body_of(in[1])->dtype);
    s->classes.count = wk__body_of(in[0])->shape[axis];
    s->last = (uint16_t)(1u << (wk__body_of(in[0])->ndim - 1));
    wk_tensor *x = wk__widened(in[0]),
              *target = s->probabilities ? wk__widened(in[1]) : wk_to_dtype_at(site, in[1], WK_I64);
    s->weight = in[2] ? wk__widened(in[2]) : NULL;
    if (!x || !target || (in[2] && !s->weight)) return false;
    s->x = wk__axis_last(x, axis);
    s->target = s->probabilities ? wk__axis_last(target, axis) : wk__with_column(target);
    return s->x && s->target;
}

/* What PyTorch's result prints: it has a function for labels of one and of two dimensions, brings others to the
 * latter, and composes the rest. */
static const char *node_of(const loss_call *l)
{
    const int ndim = wk__body_of(l->in[0])->ndim;
    if (wk__is_float(wk__body_of(l->in[1])->dtype))
        return l->reduction == WK_REDUCE_MEAN ? "DivBackward1" : "NegBackward0";
    if (l->smoothing > 0) return "AddBackward0";
    if (ndim <= 2) return "NllLossBackward0";
    return l->reduction == WK_REDUCE_NONE && ndim != 4 ? "ViewBackward0" : "NllLoss2DBackward0";
}

/* A weight that may be missing, but not for an error; beside labels it is a constant. */
static bool weight_usable(const loss_call *l)
{
    wk_tensor *weight = l->in[2];
    if (!weight) return !wk__error_pending();
    if (!wk__check(weight, l->site, l->op->name, "weight")) return false;
    bool fractions = l->in[1] && wk__is_tensor(l->in[1]) && wk__is_float(wk__body_of(l->in[1])->dtype);
    return fractions || wk__loss_constant(l->op, l->site, weight, "beside class labels, weight");
}

static wk_tensor *computed(const loss_call *l)
{
    wk__compose c;
    if (!(l->smoothing >= 0 && l->smoothing <= 1)) {
        wk__error_set(l->site, WK_ERR_ARGUMENT, "%s: .label_smoothing is %g; it must lie in 0..1", l->op->name,
                      l->smoothing);
        return NULL;
    }
    if (!weight_usable(l)) return NULL;
    if (!wk__compose_begin(&c, l->op, l->site, l->in, 2)) return NULL;
    c.in[2] = l->in[2];
    c.inputs = 3;
    wk_tensor *out = NULL;
    const int axis = wk__body_of(l->in[0])->ndim > 1;
    scores s = {.classes.ignored = l->ignored, .smoothing = l->smoothing};
    wk__attr attr = wk__cross_entropy_attr((wk__cross_entropy_attributes){
        .reduction = (int64_t)l->reduction, .ignored = l->ignored, .smoothing = l->smoothing});
    attr.node = node_of(l);
    wk_tensor *in[3] = {l->in[0], l->in[1], l->in[2]};
    if (operands_fit(l, axis) && wk__ready(wk__context(), l->op, l->site, in, in[2] ? 3 : 2, WK__MEET_ANYWHERE) &&
        see(&s, l->op, l->site, in, axis) &&
        (s.probabilities || wk__labels_known_good(l->op, l->site, l->in, &s.classes)))
        out = wk__narrowed(loss_of(&s, l->reduction), wk__body_of(l->in[0])->dtype);
    return wk__compose_end(&c, out, &attr);
}

static wk_tensor *with(const wk__op *op, wk_site site, wk_tensor *x, wk_tensor *target,
                       const wk_cross_entropy_options *options)
{
    wk_cross_entropy_options o;
    if (!wk__read_cross_entropy_options(site, op->name, options, &o)) return NULL;
    double smoothing = op == &wk__op_cross_entropy ? o.label_smoothing : 0;
    return computed(&(loss_call){op, site, {x, target, o.weight}, o.reduction, (int64_t)o.ignore_index, smoothing});
}

wk_tensor *wk_cross_entropy_at(wk_site site, wk_tensor *logits, wk_tensor *labels,
                               const wk_cross_entropy_options *options)
{
    return with(&wk__op_cross_entropy, site, logits, labels, options);
}
wk_tensor *wk_nll_loss_at(wk_site site, wk_tensor *logs, wk_tensor *labels, const wk_cross_entropy_options *options)
{
    return with(&wk__op_nll_loss, site, logs, labels, options);
}

/* ---- gradient ---------------------------------------------------------------------------------------------------- */

/* What backward reads: the labels, if that is what the target is, and the gradient of each row's loss, which goes with
 * the shape of the scores. */
typedef struct slopes {
    scores s;
    int axis;
    wk_tensor *labels, *grad;
} slopes;

/* Of each row: 0 where its label is ignored, also if all are and the mean is 0 / 0. */
static wk_tensor *mean_slope(const scores *s, wk_tensor *labels, wk_tensor *grad, int axis)
{
    return wk_movedim_at(s->site, wk_where(wk_ge(labels, 0), wk_div(grad, denominator(s, labels)), 0), -1, axis);
}

static bool slopes_of(wk__gradient *g, slopes *b)
{
    const wk__shape *shape = &g->node->shape[0];
    wk_tensor *in[3] = {wk__saved(g, 0), wk__saved(g, 1), g->node->saved[2] ? wk__saved(g, 2) : NULL};
    const wk__cross_entropy_attributes a = wk__cross_entropy_attributes_of(g->attr);
    scores *s = &b->s;
    *s = (scores){.classes.ignored = a.ignored, .smoothing = a.smoothing};
    b->axis = shape->ndim > 1;
    if (!in[0] || !in[1] || !see(s, g->node->op, (wk_site){0}, in, b->axis)) return false;
    b->labels = s->probabilities ? NULL : wk__labels_checked(s->op, s->site, s->target, &s->classes);
    b->grad = g->out[0];
    if (a.reduction == WK_REDUCE_MEAN)
        b->grad = s->probabilities ? wk_div(b->grad, row_count(s)) : mean_slope(s, b->labels, b->grad, b->axis);
    if (a.reduction == WK_REDUCE_NONE && b->grad) { /* rows: the classes' dimension comes back with size 1 */
        int64_t sizes[WK__MAX_DIMS];
        for (int d = 0; d < shape->ndim; d++) sizes[d] = d == b->axis ? 1 : shape->size[d];
        b->grad = wk_reshape_at(s->site, b->grad, sizes, shape->ndim);
    }
    return b->grad && (s->probabilities || b->labels);
}

/* T of probabilities and the classes' weights (NULL: 1) in public ops: the probabilities may want a gradient too. */
static wk_tensor *class_weights(const wk__gradient *g, int axis)
{
    int64_t shape[WK__MAX_DIMS];
    int ndim = g->node->shape[0].ndim - axis;
    for (int d = 0; d < ndim; d++) shape[d] = d ? 1 : -1;
    return g->node->saved[2] ? wk_reshape_at((wk_site){0}, wk__saved(g, 2), shape, ndim) : NULL;
}

static wk_tensor *soft_target(const wk__gradient *g, const scores *s, wk_tensor *weight)
{
    wk_tensor *t = wk_add(wk_mul(wk__saved(g, 1), 1 - s->smoothing), s->smoothing / (double)s->classes.count);
    return weight ? wk_mul(t, weight) : t;
}

/* (softmax(x) sum T - T) g; for probabilities also -log softmax(x) (1 - smoothing) weight g, and that of the weights,
 * where T is without them: -log softmax(x) T g, summed over all but the classes by the engine once those are last. */
static void cross_entropy_gradient(wk__gradient *g)
{
    const wk_site here = {0};
    slopes b;
    if (!slopes_of(g, &b)) return;
    wk_tensor *x = wk__saved(g, 0), *weight = b.s.probabilities ? class_weights(g, b.axis) : NULL;
    if (wk__wants(g, 0)) {
        wk_tensor *t = b.s.probabilities ? soft_target(g, &b.s, weight)
                                         : wk__axis_back(weights(&b.s, b.labels, b.s.smoothing), b.axis);
        wk_tensor *share = wk_mul(wk_softmax_at(here, x, b.axis), wk__sum_kept(t, 1 << b.axis));
        g->in[0] = wk_mul(wk_sub(share, t), b.grad);
    }
    if (!wk__wants(g, 1) && !wk__wants(g, 2)) return;
    wk_tensor *surprise = wk_mul(wk_mul(wk_log_softmax_at(here, x, b.axis), -1), b.grad);
    if (wk__wants(g, 1)) {
        wk_tensor *part = wk_mul(surprise, 1 - b.s.smoothing);
        g->in[1] = weight ? wk_mul(part, weight) : part;
    }
    if (wk__wants(g, 2)) g->in[2] = wk_movedim_at(here, wk_mul(surprise, soft_target(g, &b.s, NULL)), b.axis, -1);
}

/* -g in the label's place, times the class's weight. Other scores have no part in the loss, whatever g is: with weights
 * of 0 alone a mean has none, and g is NaN. */
static void nll_gradient(wk__gradient *g)
{
    slopes b;
    if (!wk__wants(g, 0) || !slopes_of(g, &b)) return;
    wk_tensor *weight = class_weights(g, b.axis), *slope = wk_neg(b.grad), *hit = hits(&b.s, b.labels);
    if (weight) slope = wk_mul(slope, wk_to_dtype_at((wk_site){0}, weight, wk_dtype_of(slope))); /* it may be 0-d */
    if (hit) g->in[0] = wk_where(wk__axis_back(hit, b.axis), slope, 0);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

enum { ALL = WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_2 };

const wk__op wk__op_cross_entropy = {
    .gradient = cross_entropy_gradient,
    .needs = {ALL, ALL, ALL},
    .keeps = WK__SAVE_0, /* instead of the logarithms of the probabilities, which need not be stored so */
    WK__SIGNATURE_cross_entropy,
};
const wk__op wk__op_nll_loss = {
    .gradient = nll_gradient,
    .needs = {ALL},
    WK__SIGNATURE_nll_loss,
};
