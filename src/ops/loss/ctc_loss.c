/* SPDX-License-Identifier: Apache-2.0 */
/* ctc_loss: the probability of label sequences, summed over alignments step by step, as calls of other ops.
 *
 *     labels   b x b y b     the targets (x y) with blanks b around them
 *     alpha    after step t, the log-probability of all alignments of the first labels up to each position:
 *
 *         alpha'[s] = log_probs[t][label s] + logaddexp of alpha[s], alpha[s - 1] and, if label s is not blank and
 *                     differs from label s - 2, alpha[s - 2]
 *
 * A large negative number replaces log 0, so that no gradient is NaN. */
#include "losses.h"
#include "ops/index/index_check.h"
#include "ops/core/view_geometry.h"
#include <math.h>

static const double LOG_0 = -1e30, INFINITE_LOSS = 1e29;

/* One call; all tensors have a batch. */
typedef struct ctc_call {
    wk_site site;
    wk_tensor *log_probs;       /* (T, N, C), in the computation dtype */
    wk_tensor *targets;         /* (N, S), i64: the labels of each sequence, then blanks */
    wk_tensor *steps, *lengths; /* (N), i64 */
    int64_t t, n, c, s, blank;
} ctc_call;

static wk_tensor *shape2(wk_tensor *x, int64_t rows, int64_t columns)
{
    return wk_reshape_at((wk_site){0}, x, (const int64_t[]){rows, columns}, 2);
}

/* Returns 0, 1, ... n - 1 on the device of x. */
static wk_tensor *numbers(wk_tensor *x, int64_t n)
{
    const wk_tensor_options options = {.size = sizeof options, .device = wk_device_of(x)};
    return wk_arange_i64_at((wk_site){0}, n, &options);
}

/* Returns x moved by `by` positions along the last dimension, with `value` at the beginning. */
static wk_tensor *delayed(wk_tensor *x, int64_t by, double value)
{
    const wk_pad_options options = {.size = sizeof options, .value = value};
    const int64_t positions = wk_size(x, 1);
    if (by > positions) by = positions;
    return wk_pad_at((wk_site){0}, wk_narrow_at((wk_site){0}, x, 1, 0, positions - by), (const int64_t[]){by, 0}, 2,
                     &options);
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static bool is_index(const wk_tensor *x)
{
    return wk__body_of(x)->dtype == WK_I64 || wk__body_of(x)->dtype == WK_I32;
}

static bool check_arguments(wk_site site, wk_tensor *const in[4], int64_t blank)
{
    const wk__op *op = &wk__op_ctc_loss;
    const wk__body *x = wk__body_of(in[0]), *targets = wk__body_of(in[1]);
    const char *problem = NULL;
    wk_code code = WK_ERR_SHAPE;
    const int batch = x->ndim == 3;
    const int64_t n = batch ? x->shape[1] : 1, classes = x->ndim ? x->shape[x->ndim - 1] : 0;
    if (!wk__check_float(op, site, in[0])) return false;
    if (!is_index(in[1]) || !is_index(in[2]) || !is_index(in[3]))
        problem = "targets and lengths must be i64 or i32, got $b, $c and $d", code = WK_ERR_DTYPE;
    else if (x->ndim != 2 && x->ndim != 3)
        problem = "log_probs must have shape (T, N, C) or (T, C), got $a";
    else if (wk__body_of(in[2])->ndim > batch || wk__body_of(in[3])->ndim > batch ||
             wk__body_numel(wk__body_of(in[2])) != n || wk__body_numel(wk__body_of(in[3])) != n)
        problem = "lengths $c and $d must have one element for each sequence of $a";
    else if (targets->ndim != 1 && !(batch && targets->ndim == 2 && targets->shape[0] == n))
        problem = "targets must have shape (N, S) or be a vector, got $b for $a";
    else if (blank < 0 || blank >= classes)
        problem = ".blank is out of range for the classes of $a", code = WK_ERR_ARGUMENT;
    else if (x->shape[0] == 0)
        problem = "log_probs $a have no steps";
    if (problem) wk__op_error(op, site, code, in, "%s", problem);
    return !problem;
}

/* Returns false after an error if a length is negative or greater than `most`. Waits for the device. */
static bool check_lengths(const ctc_call *c, wk_tensor *lengths, const char *name, int64_t most)
{
    wk__index_values values;
    if (!wk__read_index_values(c->site, lengths, 0, most + 1, &values)) return false;
    if (values.in_range) return true;
    wk__error_set(c->site, WK_ERR_ARGUMENT, "ctc_loss: %s must be from 0 to %lld, got %lld", name, (long long)most,
                  (long long)values.found);
    return false;
}

/* Reads labels in one vector as rows: the labels of row k follow those of the rows before it. Waits for the device. */
static wk_tensor *rows_of_vector(ctc_call *c, wk_tensor *targets)
{
    const int64_t total = wk__body_numel(wk__body_of(targets));
    int64_t labels;
    if (wk_read_at(c->site, wk_amax_at(c->site, c->lengths, NULL, -1, NULL), &c->s, sizeof c->s) != WK_OK ||
        wk_read_at(c->site, wk_sum(c->lengths), &labels, sizeof labels) != WK_OK)
        return NULL;
    if (labels > total) {
        wk__error_set(c->site, WK_ERR_SHAPE, "ctc_loss: target_lengths add up to %lld, but there are %lld labels",
                      (long long)labels, (long long)total);
        return NULL;
    }
    if (c->s <= 0 || total == 0) return c->s = 0, shape2(wk_narrow_at(c->site, targets, 0, 0, 0), c->n, 0);
    wk_tensor *first = wk_sub(wk_cumsum_at(c->site, c->lengths, 0), c->lengths);
    wk_tensor *at = wk_add(wk_unsqueeze_at(c->site, first, 1), numbers(targets, c->s));
    return wk_take_at(c->site, targets, wk_minimum(at, total - 1));
}

static bool read_arguments(ctc_call *c, wk_tensor *const in[4])
{
    const wk__body *x = wk__body_of(in[0]);
    c->t = x->shape[0];
    c->n = x->ndim == 3 ? x->shape[1] : 1;
    c->c = x->shape[x->ndim - 1];
    c->log_probs = wk_reshape_at(c->site, wk__to_opmath(in[0]), (const int64_t[]){c->t, c->n, c->c}, 3);
    c->steps = wk_reshape_at(c->site, wk_to_dtype_at(c->site, in[2], WK_I64), &c->n, 1);
    c->lengths = wk_reshape_at(c->site, wk_to_dtype_at(c->site, in[3], WK_I64), &c->n, 1);
    wk_tensor *targets = wk_to_dtype_at(c->site, in[1], WK_I64);
    if (!c->log_probs || !c->steps || !c->lengths || !targets || !check_lengths(c, in[2], "input_lengths", c->t))
        return false;
    const wk__body *labels = wk__body_of(targets);
    const bool in_rows = labels->ndim == 2 || x->ndim == 2;
    if (!check_lengths(c, in[3], "target_lengths", in_rows ? labels->shape[labels->ndim - 1] : wk__body_numel(labels)))
        return false;
    if (!in_rows) {
        targets = rows_of_vector(c, targets);
    } else {
        c->s = labels->shape[labels->ndim - 1];
        targets = shape2(targets, c->n, c->s);
    }
    wk_tensor *inside = targets ? wk_lt(numbers(targets, c->s), wk_unsqueeze_at(c->site, c->lengths, 1)) : NULL;
    c->targets = wk_where(inside, targets, c->blank);
    return c->targets != NULL;
}

/* ---- alignments -------------------------------------------------------------------------------------------------- */

/* Returns the labels with blanks around them, (N, 2 S + 1). */
static wk_tensor *with_blanks(const ctc_call *c)
{
    wk_tensor *blanks = wk_full_like_i64_at(c->site, c->targets, c->blank, NULL);
    wk_tensor *pairs = wk_stack_at(c->site, (wk_tensor *const[]){blanks, c->targets}, 2, 2);
    const wk_pad_options options = {.size = sizeof options, .value = c->blank ? (double)c->blank : WK_EXPLICIT_ZERO};
    return wk_pad_at(c->site, shape2(pairs, c->n, 2 * c->s), (const int64_t[]){0, 1}, 2, &options);
}

/* Returns log_probs of the label of each position, (T, N, 2 S + 1). */
static wk_tensor *of_labels(const ctc_call *c, wk_tensor *labels)
{
    wk_tensor *index = wk_expand_at(c->site, labels, (const int64_t[]){c->t, c->n, 2 * c->s + 1}, 3);
    return wk_gather_at(c->site, c->log_probs, 2, index);
}

/* Returns the log-probability of each sequence, (N). */
static wk_tensor *log_likelihood(const ctc_call *c)
{
    wk_tensor *labels = with_blanks(c), *each = labels ? of_labels(c, labels) : NULL;
    if (!each) return NULL;
    wk_tensor *skips = wk_logical_and(wk_ne(labels, c->blank), wk_ne(labels, delayed(labels, 2, -1)));
    wk_tensor *begins = wk_lt(numbers(labels, 2 * c->s + 1), 2);
    wk_tensor *alpha = wk_where(begins, wk_select_at(c->site, each, 0, 0), LOG_0);
    for (int64_t t = 1; t < c->t && alpha; t++) {
        wk_tensor *moved = wk_logaddexp(alpha, delayed(alpha, 1, LOG_0));
        moved = wk_logaddexp(moved, wk_where(skips, delayed(alpha, 2, LOG_0), LOG_0));
        moved = wk_add(moved, wk_select_at(c->site, each, 0, t));
        alpha = wk_where(wk_unsqueeze_at(c->site, wk_gt(c->steps, t), 1), moved, alpha);
    }
    wk_tensor *last = wk_unsqueeze_at(c->site, wk_mul(c->lengths, 2), 1);
    wk_tensor *blank_end = wk_gather_at(c->site, alpha, 1, last);
    wk_tensor *label_end = wk_gather_at(c->site, alpha, 1, wk_maximum(wk_sub(last, 1), 0));
    wk_tensor *both = wk_logaddexp(blank_end, wk_where(wk_gt(last, 0), label_end, LOG_0));
    wk_tensor *none = wk_where(wk_eq(c->lengths, 0), 0.0, LOG_0); /* of no steps */
    return wk_where(wk_gt(c->steps, 0), wk_reshape_at(c->site, both, &c->n, 1), none);
}

static wk_tensor *reduced(const ctc_call *c, wk_tensor *losses, wk_reduction reduction, bool batch)
{
    if (!losses) return NULL;
    if (reduction == WK_REDUCE_SUM) return wk_sum(losses);
    if (reduction == WK_REDUCE_NONE) return batch ? losses : wk_reshape_at(c->site, losses, NULL, 0);
    return wk_mean(wk_div(losses, wk_to_dtype_at(c->site, wk_maximum(c->lengths, 1), wk_dtype_of(losses))));
}

wk_tensor *wk_ctc_loss_at(wk_site site, wk_tensor *log_probs, wk_tensor *targets, wk_tensor *input_lengths,
                          wk_tensor *target_lengths, const wk_ctc_loss_options *options)
{
    const wk__op *op = &wk__op_ctc_loss;
    wk_tensor *in[4] = {log_probs, targets, input_lengths, target_lengths}, *out = NULL;
    wk_ctc_loss_options o;
    wk__call_scope call;
    if (!wk__options(site, op->name, options, &o) || !wk__check_reduction(op, site, o.reduction)) return NULL;
    if (!wk__inlined_begin(&call, op, site, in, 4)) return NULL;
    ctc_call c = {.site = site, .blank = o.blank};
    if (check_arguments(site, in, o.blank) && read_arguments(&c, in)) {
        wk_tensor *losses = wk_neg(log_likelihood(&c)), *endless = wk_gt(losses, INFINITE_LOSS);
        losses = wk_where(endless, o.zero_infinity ? 0.0 : INFINITY, losses);
        out = reduced(&c, losses, o.reduction, wk__body_of(log_probs)->ndim == 3);
        out = wk__cast_result(out, wk__body_of(log_probs)->dtype);
    }
    return wk__inlined_end(&call, out);
}

const wk__op wk__op_ctc_loss = {WK__SIGNATURE_ctc_loss};
