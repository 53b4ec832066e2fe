/* Losses of elements: mse_loss, l1_loss, smooth_l1_loss, huber_loss, binary_cross_entropy (and with logits),
 * kl_div. Each is one expression of input and target, then a sum. */
#include "losses.h"
#include "reference.h"
#include <math.h>

/* ---- shared ------------------------------------------------------------------------------------------------------ */

wk_tensor *wk__loss_reduced(wk_site site, wk_tensor *loss, wk_reduction reduction, wk_dtype dtype, wk__attr *attr)
{
    if (!loss) return NULL;
    const wk__body *body = wk__body_of(loss);
    uint16_t all = (uint16_t)((1u << body->ndim) - 1);
    int64_t rows = body->ndim ? body->shape[0] : 1;
    attr->i[0] = reduction;
    attr->f[0] = reduction == WK_REDUCE_MEAN        ? (double)wk__body_numel(body)
                 : reduction == WK_REDUCE_BATCHMEAN ? (double)rows
                                                    : 1;
    if (reduction != WK_REDUCE_NONE) loss = wk__row_sum(site, loss, all, false);
    if (reduction == WK_REDUCE_MEAN || reduction == WK_REDUCE_BATCHMEAN) loss = wk_div(loss, attr->f[0]);
    return wk__narrowed(loss, dtype);
}

wk_tensor *wk__loss_gradient(const wk__gradient *g)
{
    bool divided = g->attr->i[0] == WK_REDUCE_MEAN || g->attr->i[0] == WK_REDUCE_BATCHMEAN;
    return divided ? wk_div(g->out[0], g->attr->f[0]) : g->out[0];
}

/* One call: `op`'s expression over input, target and its number, then the reduction. `weights` (may be NULL) times
 * each loss. */
typedef struct loss_call {
    const wk__op *op;
    wk_site site;
    wk_tensor *in[3];
    wk_reduction reduction;
    double number;
} loss_call;

static bool fits(const loss_call *l)
{
    const wk__body *a = wk__body_of(l->in[0]), *b = wk__body_of(l->in[1]);
    bool same = a->ndim == b->ndim;
    for (int d = 0; d < a->ndim && same; d++) same = a->shape[d] == b->shape[d];
    if (!same)
        wk__op_error(l->op, l->site, WK_ERR_SHAPE, l->in,
                     "input $a and target $b must have the same shape: see wk_reshape");
    else if (!wk__is_float(a->dtype) && !wk__is_float(b->dtype))
        wk__op_error(l->op, l->site, WK_ERR_DTYPE, l->in,
                     "$a is not of a floating dtype; convert it with wk_to_dtype(x, WK_F32)");
    else
        return (unsigned)l->reduction <= WK_REDUCE_BATCHMEAN ||
               (wk__op_error(l->op, l->site, WK_ERR_ARGUMENT, l->in, "no such reduction"), false);
    return false;
}

static wk_tensor *computed(const loss_call *l)
{
    wk__compose c;
    if (l->in[2] && !wk__check(l->in[2], l->site, l->op->name, "weight")) return NULL;
    if (!l->in[2] && wk__error_pending()) return NULL;
    if (!wk__compose_begin(&c, l->op, l->site, l->in, 2)) return NULL;
    c.in[2] = l->in[2];
    c.inputs = 3;
    wk_tensor *out = NULL;
    wk__attr attr = {.f = {0, l->number}};
    if (fits(l)) {
        wk_dtype dtype = wk__promote_types(wk__body_of(l->in[0])->dtype, wk__body_of(l->in[1])->dtype);
        wk__arg args[3] = {wk__t(wk__widened(l->in[0])), wk__t(wk__widened(l->in[1])), wk__f(l->number)};
        wk_tensor *loss = wk__elementwise(l->op, l->site, args, 3);
        if (l->in[2]) loss = wk_mul(loss, l->in[2]);
        out = wk__loss_reduced(l->site, loss, l->reduction, dtype, &attr);
    }
    return wk__compose_end(&c, out, &attr);
}

/* The slope of an element's loss into the gradients of input and target, which it has with opposite signs. */
static void of_difference(wk__gradient *g, wk_tensor *slope)
{
    wk_tensor *grad = wk_mul(slope, wk__loss_gradient(g));
    if (wk__wants(g, 0)) g->in[0] = grad;
    if (wk__wants(g, 1)) g->in[1] = wk_mul(grad, -1);
}

static wk_tensor *difference(const wk__gradient *g)
{
    return wk_sub(wk__saved(g, 0), wk__saved(g, 1));
}

/* The slope of an element's loss times its gradient, and times its weight if there is one. */
static wk_tensor *weighted(const wk__gradient *g, wk_tensor *slope)
{
    wk_tensor *grad = wk_mul(slope, wk__loss_gradient(g));
    return g->node->saved[2] ? wk_mul(grad, wk__saved(g, 2)) : grad;
}

/* Reference: `exact` of input, target and the number, times the weight, reduced as the named argument says. */
static void reference_of(wk__reference *r, double (*exact)(const double *x), int reduction_at, double number)
{
    const wk__array *in = &r->in[0];
    int64_t n = wk__array_numel(in), reduction = wk__value_int(&r->args[reduction_at], WK_REDUCE_MEAN);
    double total = 0, *out = reduction == WK_REDUCE_NONE ? wk__reference_out(r, 0, in->ndim, in->shape)
                                                         : wk__reference_out(r, 0, 0, NULL);
    for (int64_t k = 0; k < n; k++) {
        double loss = exact((const double[]){in->data[k], r->in[1].data[k], number});
        if (r->inputs > 2) loss *= r->in[2].data[k % wk__array_numel(&r->in[2])];
        total += loss;
        if (reduction == WK_REDUCE_NONE) out[k] = loss;
    }
    if (reduction == WK_REDUCE_NONE) return;
    int64_t rows = in->ndim ? in->shape[0] : 1;
    out[0] = total / (reduction == WK_REDUCE_SUM ? 1 : (double)(reduction == WK_REDUCE_MEAN ? n : rows));
}

static const char *const samples[] = {"[], []", "[7], [7]", "[3,5], [3,5]", "[3,5], [3,5], 1", "[2,3,4], [2,3,4], 2",
                                      NULL};

/* ---- mse_loss, l1_loss ------------------------------------------------------------------------------------------- */

static int mse(wk__emit *e, const int in[])
{
    int difference = wk__emit_2(e, WK__SUB, in[0], in[1]);
    return wk__emit_2(e, WK__MUL, difference, difference);
}
static int l1(wk__emit *e, const int in[])
{
    return wk__emit_1(e, WK__ABS, wk__emit_2(e, WK__SUB, in[0], in[1]));
}

wk_tensor *wk_mse_loss_at(wk_site site, wk_tensor *input, wk_tensor *target, const wk_loss_options *options)
{
    return computed(
        &(loss_call){&wk__op_mse_loss, site, {input, target}, options ? options->reduction : WK_REDUCE_MEAN, 0});
}
wk_tensor *wk_l1_loss_at(wk_site site, wk_tensor *input, wk_tensor *target, const wk_loss_options *options)
{
    return computed(
        &(loss_call){&wk__op_l1_loss, site, {input, target}, options ? options->reduction : WK_REDUCE_MEAN, 0});
}

static void mse_gradient(wk__gradient *g)
{
    of_difference(g, wk_mul(difference(g), 2));
}
static void l1_gradient(wk__gradient *g)
{
    of_difference(g, wk_sign(difference(g)));
}

static int plain_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    loss_call l = {op,
                   site,
                   {wk__value_tensor(&args[0]), wk__value_tensor(&args[1])},
                   (wk_reduction)wk__value_int(&args[2], WK_REDUCE_MEAN),
                   0};
    return wk__one(out, computed(&l));
}

static double mse_exact(const double *x)
{
    return (x[0] - x[1]) * (x[0] - x[1]);
}
static double l1_exact(const double *x)
{
    return fabs(x[0] - x[1]);
}
static void mse_reference(wk__reference *r)
{
    reference_of(r, mse_exact, 2, 0);
}
static void l1_reference(wk__reference *r)
{
    reference_of(r, l1_exact, 2, 0);
}

const wk__op wk__op_mse_loss = {
    .name = "mse_loss",
    .schema = "mse_loss(Tensor input, Tensor target, int reduction=0) -> Tensor",
    .group = "loss",
    .node = "MseLossBackward0",
    .doc = "(input - target)^2, its mean, sum or each",
    .expression = mse,
    .arity = 3,
    .domain = WK__FLOATS,
    .gradient = mse_gradient,
    .needs = {WK__SAVE_0 | WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1},
    .invoke = plain_invoke,
    .reference = mse_reference,
    .samples = samples,
    .low = -3,
    .high = 3,
};
const wk__op wk__op_l1_loss = {
    .name = "l1_loss",
    .schema = "l1_loss(Tensor input, Tensor target, int reduction=0) -> Tensor",
    .group = "loss",
    .node = "L1LossBackward0",
    .doc = "|input - target|, its mean, sum or each",
    .expression = l1,
    .arity = 3,
    .domain = WK__FLOATS,
    .gradient = l1_gradient,
    .needs = {WK__SAVE_0 | WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1},
    .invoke = plain_invoke,
    .reference = l1_reference,
    .samples = samples,
    .low = -3,
    .high = 3,
};

/* ---- smooth_l1_loss, huber_loss ---------------------------------------------------------------------------------- */

/* d = |input - target|: below the bend half of d^2 (over the bend for smooth_l1), above it a line. With a bend of 0
 * all is line. */
static int bent(wk__emit *e, const int in[], bool divided)
{
    int d = wk__emit_1(e, WK__ABS, wk__emit_2(e, WK__SUB, in[0], in[1])), half = wk__emit_constant(e, 0.5);
    int square = wk__emit_2(e, WK__MUL, half, wk__emit_2(e, WK__MUL, d, d));
    int line = wk__emit_2(e, WK__SUB, d, wk__emit_2(e, WK__MUL, half, in[2]));
    if (divided)
        square = wk__emit_2(e, WK__DIV, square, in[2]);
    else
        line = wk__emit_2(e, WK__MUL, in[2], line);
    return wk__emit_where(e, wk__emit_compare(e, WK__LT, d, in[2]), square, line);
}
static int smooth_l1(wk__emit *e, const int in[])
{
    return bent(e, in, true);
}
static int huber(wk__emit *e, const int in[])
{
    return bent(e, in, false);
}

wk_tensor *wk_smooth_l1_loss_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                const wk_smooth_l1_loss_options *options)
{
    double beta = wk__option(options ? options->beta : 0, 1);
    return computed(&(loss_call){
        &wk__op_smooth_l1_loss, site, {input, target}, options ? options->reduction : WK_REDUCE_MEAN, beta});
}
wk_tensor *wk_huber_loss_at(wk_site site, wk_tensor *input, wk_tensor *target, const wk_huber_loss_options *options)
{
    double delta = wk__option(options ? options->delta : 0, 1);
    return computed(
        &(loss_call){&wk__op_huber_loss, site, {input, target}, options ? options->reduction : WK_REDUCE_MEAN, delta});
}

/* Where the distance is below the bend the slope is d (over the bend), else the sign. */
static void bent_gradient(wk__gradient *g)
{
    double bend = g->attr->f[1];
    bool divided = g->node->op == &wk__op_smooth_l1_loss;
    wk_tensor *d = difference(g), *line = wk_mul(wk_sign(d), divided ? 1.0 : bend);
    of_difference(g, bend > 0 ? wk_where(wk_lt(wk_abs(d), bend), divided ? wk_div(d, bend) : d, line) : line);
}

static int bent_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    loss_call l = {op,
                   site,
                   {wk__value_tensor(&args[0]), wk__value_tensor(&args[1])},
                   (wk_reduction)wk__value_int(&args[2], WK_REDUCE_MEAN),
                   wk__value_float(&args[3], 1)};
    return wk__one(out, computed(&l));
}

static double smooth_l1_exact(const double *x)
{
    double d = fabs(x[0] - x[1]);
    return d < x[2] ? 0.5 * d * d / x[2] : d - 0.5 * x[2];
}
static double huber_exact(const double *x)
{
    double d = fabs(x[0] - x[1]);
    return d < x[2] ? 0.5 * d * d : x[2] * (d - 0.5 * x[2]);
}
static void smooth_l1_reference(wk__reference *r)
{
    reference_of(r, smooth_l1_exact, 2, wk__value_float(&r->args[3], 1));
}
static void huber_reference(wk__reference *r)
{
    reference_of(r, huber_exact, 2, wk__value_float(&r->args[3], 1));
}

static const char *const bent_samples[] = {"[], []", "[7], [7]", "[3,5], [3,5], 1", "[3,5], [3,5], 2, 0.5", NULL};

const wk__op wk__op_smooth_l1_loss = {
    .name = "smooth_l1_loss",
    .schema = "smooth_l1_loss(Tensor input, Tensor target, int reduction=0, float beta=1.0) -> Tensor",
    .group = "loss",
    .node = "SmoothL1LossBackward0",
    .doc = "d^2 / (2 beta) below beta, |d| - beta / 2 above",
    .expression = smooth_l1,
    .arity = 3,
    .domain = WK__FLOATS,
    .gradient = bent_gradient,
    .needs = {WK__SAVE_0 | WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1},
    .invoke = bent_invoke,
    .reference = smooth_l1_reference,
    .samples = bent_samples,
    .low = -3,
    .high = 3,
};
const wk__op wk__op_huber_loss = {
    .name = "huber_loss",
    .schema = "huber_loss(Tensor input, Tensor target, int reduction=0, float delta=1.0) -> Tensor",
    .group = "loss",
    .node = "HuberLossBackward0",
    .doc = "d^2 / 2 below delta, delta (|d| - delta / 2) above",
    .expression = huber,
    .arity = 3,
    .domain = WK__FLOATS,
    .gradient = bent_gradient,
    .needs = {WK__SAVE_0 | WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1},
    .invoke = bent_invoke,
    .reference = huber_reference,
    .samples = bent_samples,
    .low = -3,
    .high = 3,
};

/* ---- binary cross entropy ---------------------------------------------------------------------------------------- */

/* The logarithm is cut off at -100, so that a certain mistake costs much and not everything. */
static int cut_log(wk__emit *e, int x)
{
    return wk__emit_2(e, WK__MAX, wk__emit_1(e, WK__LOG, x), wk__emit_constant(e, -100));
}

static int bce(wk__emit *e, const int in[])
{
    int one = wk__emit_constant(e, 1);
    int yes = wk__emit_2(e, WK__MUL, in[1], cut_log(e, in[0]));
    int no = wk__emit_2(e, WK__MUL, wk__emit_2(e, WK__SUB, one, in[1]), cut_log(e, wk__emit_2(e, WK__SUB, one, in[0])));
    return wk__emit_1(e, WK__NEG, wk__emit_2(e, WK__ADD, yes, no));
}

/* max(x, 0) - x t + log(1 + e^-|x|) */
static int bce_logits(wk__emit *e, const int in[])
{
    int positive = wk__emit_2(e, WK__MAX, in[0], wk__emit_constant(e, 0));
    int tail = wk__emit_1(e, WK__LOG1P, wk__emit_1(e, WK__EXP, wk__emit_1(e, WK__NEG, wk__emit_1(e, WK__ABS, in[0]))));
    return wk__emit_2(e, WK__ADD, wk__emit_2(e, WK__SUB, positive, wk__emit_2(e, WK__MUL, in[0], in[1])), tail);
}

wk_tensor *wk_binary_cross_entropy_at(wk_site site, wk_tensor *input, wk_tensor *target, const wk_bce_options *options)
{
    loss_call l = {&wk__op_binary_cross_entropy,
                   site,
                   {input, target, options ? options->weight : NULL},
                   options ? options->reduction : WK_REDUCE_MEAN,
                   0};
    return computed(&l);
}
wk_tensor *wk_binary_cross_entropy_with_logits_at(wk_site site, wk_tensor *input, wk_tensor *target,
                                                  const wk_bce_options *options)
{
    loss_call l = {&wk__op_binary_cross_entropy_with_logits,
                   site,
                   {input, target, options ? options->weight : NULL},
                   options ? options->reduction : WK_REDUCE_MEAN,
                   0};
    return computed(&l);
}

static void bce_gradient(wk__gradient *g)
{
    wk_tensor *p = wk__saved(g, 0), *rest = wk_sub(1, p);
    if (wk__wants(g, 0)) g->in[0] = weighted(g, wk_div(wk_sub(p, wk__saved(g, 1)), wk_maximum(wk_mul(p, rest), 1e-12)));
    if (wk__wants(g, 1)) g->in[1] = weighted(g, wk_sub(wk_maximum(wk_log(rest), -100), wk_maximum(wk_log(p), -100)));
}
static void bce_logits_gradient(wk__gradient *g)
{
    wk_tensor *x = wk__saved(g, 0);
    if (wk__wants(g, 0)) g->in[0] = weighted(g, wk_sub(wk_sigmoid(x), wk__saved(g, 1)));
    if (wk__wants(g, 1)) g->in[1] = weighted(g, wk_mul(x, -1));
}

static int bce_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    loss_call l = {op,
                   site,
                   {wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), wk__value_tensor(&args[2])},
                   (wk_reduction)wk__value_int(&args[3], WK_REDUCE_MEAN),
                   0};
    return wk__one(out, computed(&l));
}

static double bce_exact(const double *x)
{
    return -(x[1] * fmax(log(x[0]), -100) + (1 - x[1]) * fmax(log(1 - x[0]), -100));
}
static double bce_logits_exact(const double *x)
{
    return fmax(x[0], 0) - x[0] * x[1] + log1p(exp(-fabs(x[0])));
}
static void bce_reference(wk__reference *r)
{
    reference_of(r, bce_exact, 3, 0);
}
static void bce_logits_reference(wk__reference *r)
{
    reference_of(r, bce_logits_exact, 3, 0);
}

static const char *const bce_samples[] = {
    "[], []", "[7], [7]", "[3,5], [3,5], [5]:f32", "[3,5], [3,5], none, 1", "[3,5], [3,5], [3,5]:f32, 2", NULL};

const wk__op wk__op_binary_cross_entropy = {
    .name = "binary_cross_entropy",
    .schema = "binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, int reduction=0) -> Tensor",
    .group = "loss",
    .node = "BinaryCrossEntropyBackward0",
    .doc = "-(t log p + (1 - t) log(1 - p)), logarithms cut off at -100",
    .expression = bce,
    .arity = 3,
    .domain = WK__FLOATS,
    .gradient = bce_gradient,
    .needs = {WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_2, WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_2},
    .invoke = bce_invoke,
    .reference = bce_reference,
    .samples = bce_samples,
    .low = 0.1,
    .high = 0.9,
};
const wk__op wk__op_binary_cross_entropy_with_logits = {
    .name = "binary_cross_entropy_with_logits",
    .schema =
        "binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, int reduction=0) -> Tensor",
    .group = "loss",
    .node = "BinaryCrossEntropyWithLogitsBackward0",
    .doc = "binary_cross_entropy of sigmoid(x), without overflow",
    .expression = bce_logits,
    .arity = 3,
    .domain = WK__FLOATS,
    .gradient = bce_logits_gradient,
    .needs = {WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_2, WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_2},
    .invoke = bce_invoke,
    .reference = bce_logits_reference,
    .samples = bce_samples,
    .low = 0.1,
    .high = 0.9,
};

/* ---- kl_div ------------------------------------------------------------------------------------------------------ */

/* in: log of the model's probability, target, is the target a logarithm too? A probability of 0 costs nothing. */
static int kl(wk__emit *e, const int in[])
{
    int zero = wk__emit_constant(e, 0), logs = wk__emit_compare(e, WK__NE, in[2], zero);
    int p = wk__emit_where(e, logs, wk__emit_1(e, WK__EXP, in[1]), in[1]);
    int log_p = wk__emit_where(e, logs, in[1], wk__emit_1(e, WK__LOG, in[1]));
    int cost = wk__emit_2(e, WK__MUL, p, wk__emit_2(e, WK__SUB, log_p, in[0]));
    return wk__emit_where(e, wk__emit_compare(e, WK__EQ, p, zero), zero, cost);
}

wk_tensor *wk_kl_div_at(wk_site site, wk_tensor *input, wk_tensor *target, const wk_kl_div_options *options)
{
    loss_call l = {&wk__op_kl_div,
                   site,
                   {input, target},
                   options ? options->reduction : WK_REDUCE_MEAN,
                   options && options->log_target};
    return computed(&l);
}

static void kl_gradient(wk__gradient *g)
{
    bool logs = g->attr->f[1] != 0;
    wk_tensor *x = wk__saved(g, 0), *t = wk__saved(g, 1), *grad = wk__loss_gradient(g), *p = logs ? wk_exp(t) : t;
    if (wk__wants(g, 0)) g->in[0] = wk_mul(wk_mul(p, -1), grad);
    if (!wk__wants(g, 1)) return;
    wk_tensor *slope = wk_add(wk_sub(logs ? t : wk_log(t), x), 1);
    g->in[1] = wk_mul(grad, logs ? wk_mul(p, slope) : slope);
}

static int kl_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    loss_call l = {op,
                   site,
                   {wk__value_tensor(&args[0]), wk__value_tensor(&args[1])},
                   (wk_reduction)wk__value_int(&args[2], WK_REDUCE_MEAN),
                   (double)wk__value_int(&args[3], 0)};
    return wk__one(out, computed(&l));
}

static double kl_exact(const double *x)
{
    double p = x[2] != 0 ? exp(x[1]) : x[1];
    return p == 0 ? 0 : p * (log(p) - x[0]);
}
static void kl_reference(wk__reference *r)
{
    reference_of(r, kl_exact, 2, (double)wk__value_int(&r->args[3], 0));
}

static const char *const kl_samples[] = {"[7], [7]", "[3,5], [3,5], 1", "[3,5], [3,5], 2, true", "[3,5], [3,5], 3",
                                         NULL};

const wk__op wk__op_kl_div = {
    .name = "kl_div",
    .schema = "kl_div(Tensor input, Tensor target, int reduction=0, bool log_target=False) -> Tensor",
    .group = "loss",
    .node = "KlDivBackward0",
    .doc = "p (log p - input), p the target or e^target; input is a logarithm",
    .expression = kl,
    .arity = 3,
    .domain = WK__FLOATS,
    .gradient = kl_gradient,
    .needs = {WK__SAVE_0 | WK__SAVE_1, WK__SAVE_0 | WK__SAVE_1},
    .invoke = kl_invoke,
    .reference = kl_reference,
    .samples = kl_samples,
    .low = 0.1,
    .high = 0.9,
};
