/* SPDX-License-Identifier: Apache-2.0 */
/* process_logits: the rules that change the scores of the next token before one is drawn. Each is a composition of ops,
 * so scores stay on their device. */
#include "base/options.h"
#include "generate.h"
#include "ir/op.h"
#include "ops/core/call.h"
#include "tensor/call_scope.h"
#include <math.h>
#include <wick/creation.h>
#include <wick/pointwise.h>
#include <wick/reduce.h>
#include <wick/shape.h>

/* ---- checks ------------------------------------------------------------------------------------------------------ */

bool wk__bad_option(wk_site site, const char *op, const char *option, const char *expected, double value)
{
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: .%s must be %s, got %g", op, option, expected, value);
    return false;
}

bool wk__logits_rules_set(wk_site site, const char *op, wk__logits_rules *rules)
{
    static const char positive[] = "a positive number", fraction[] = "in [0, 1]";
    rules->repetition_penalty = wk__option_or(rules->repetition_penalty, 1);
    rules->temperature = wk__option_or(rules->temperature, 1);
    rules->top_p = wk__option_or(rules->top_p, 1);
    rules->min_p = wk__option_or(rules->min_p, 0);
    if (!(rules->repetition_penalty > 0 && isfinite(rules->repetition_penalty)))
        return wk__bad_option(site, op, "repetition_penalty", positive, rules->repetition_penalty);
    if (rules->temperature == 0) {
        wk__error_set(
            site, WK_ERR_ARGUMENT,
            "%s: .temperature must be a positive number, got 0; wk_argmax, and wk_generate without .do_sample, "
            "take the likeliest token",
            op);
        return false;
    }
    if (!(rules->temperature > 0 && isfinite(rules->temperature)))
        return wk__bad_option(site, op, "temperature", positive, rules->temperature);
    if (!(rules->top_p >= 0 && rules->top_p <= 1)) return wk__bad_option(site, op, "top_p", fraction, rules->top_p);
    if (!(rules->min_p >= 0 && rules->min_p <= 1)) return wk__bad_option(site, op, "min_p", fraction, rules->min_p);
    if (rules->top_k < 0) return wk__bad_option(site, op, "top_k", "at least 0", (double)rules->top_k);
    if (rules->keep < 1) return wk__bad_option(site, op, "min_tokens_to_keep", "at least 1", (double)rules->keep);
    return true;
}

/* ---- rules ------------------------------------------------------------------------------------------------------- */

static int64_t at_most(int64_t n, int64_t most)
{
    return n < most ? n : most;
}

static wk_tensor *drop(wk_tensor *scores, wk_tensor *dropped)
{
    return wk_masked_fill(scores, dropped, -INFINITY);
}

static wk_tensor *penalise(wk_tensor *scores, wk_tensor *ids, double penalty)
{
    wk_tensor *given = wk_gather(scores, 1, ids);
    wk_tensor *changed = wk_where(wk_lt(given, 0), wk_mul(given, penalty), wk_div(given, penalty));
    return wk_scatter(scores, 1, ids, changed);
}

static wk_tensor *keep_greatest(wk_tensor *scores, int64_t k)
{
    wk_tensor *values;
    k = at_most(k, wk_size(scores, 1));
    if (wk_topk(scores, k, 1, true, &values, NULL) != WK_OK) return NULL;
    return drop(scores, wk_lt(scores, wk_narrow(values, 1, k - 1, 1)));
}

/* Drops the unlikeliest tokens as long as the sum of their probabilities is at most 1 - p. */
static wk_tensor *keep_sum(wk_tensor *scores, double p, int64_t keep)
{
    wk_tensor *sorted, *order;
    const int64_t count = wk_size(scores, 1), most = count - at_most(keep, count);
    if (most == 0) return scores;
    if (wk_sort(scores, 1, false, &sorted, &order) != WK_OK) return NULL;
    wk_tensor *sums = wk_cumsum(wk_softmax(sorted, 1), 1);
    wk_tensor *dropped = wk_le(wk_narrow(sums, 1, 0, most), 1 - p);
    wk_tensor *none = wk_zeros_like(scores, .dtype = WK_BOOL);
    return drop(scores, wk_scatter(none, 1, wk_narrow(order, 1, 0, most), dropped));
}

static wk_tensor *keep_likely(wk_tensor *scores, double p, int64_t keep)
{
    wk_tensor *share = wk_softmax(scores, 1), *likeliest;
    wk_tensor *dropped = wk_lt(share, wk_mul(wk_amax(share, (1), .keepdim = true), p));
    if (keep > 1) {
        if (wk_topk(share, at_most(keep, wk_size(scores, 1)), 1, true, NULL, &likeliest) != WK_OK) return NULL;
        dropped = wk_scatter(dropped, 1, likeliest, wk_zeros_like(likeliest, .dtype = WK_BOOL));
    }
    return drop(scores, dropped);
}

wk_tensor *wk__logits_rules_apply(const wk__logits_rules *rules, wk_tensor *scores, wk_tensor *ids)
{
    if (ids && rules->repetition_penalty != 1) scores = penalise(scores, ids, rules->repetition_penalty);
    if (scores && rules->temperature != 1) scores = wk_div(scores, rules->temperature);
    if (scores && rules->top_k > 0)
        scores = keep_greatest(scores, rules->top_k > rules->keep ? rules->top_k : rules->keep);
    if (scores && rules->top_p < 1) scores = keep_sum(scores, rules->top_p, rules->keep);
    if (scores && rules->min_p > 0) scores = keep_likely(scores, rules->min_p, rules->keep);
    return scores;
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static bool check_tensors(wk_site site, const wk_tensor *logits, const wk_tensor *ids)
{
    static const char op[] = "process_logits";
    const wk__body *x = wk__body_of(logits), *y = ids ? wk__body_of(ids) : NULL;
    if (x->ndim != 2 || x->shape[1] == 0)
        return wk__tensor_refuse(site, WK_ERR_SHAPE, logits,
                                 x->ndim == 1 && x->shape[0] > 0 ? "; use wk_unsqueeze(logits, 0) for one row" : "",
                                 "%s: expected scores (B, V) with V at least 1", op);
    if (!wk__is_float(x->dtype))
        return wk__tensor_refuse(site, WK_ERR_DTYPE, logits, "", "%s: expected scores of a floating dtype", op);
    if (y && !(1u << y->dtype & WK__INTS))
        return wk__tensor_refuse(site, WK_ERR_DTYPE, ids, "; convert them: wk_to_dtype(ids, WK_I64)",
                                 "%s: .ids must be integers", op);
    if (y && (y->ndim != 2 || y->shape[0] != x->shape[0]))
        return wk__tensor_refuse(site, WK_ERR_SHAPE, ids, "", "%s: .ids must be (%lld, L) for scores of %lld rows", op,
                                 (long long)x->shape[0], (long long)x->shape[0]);
    return true;
}

wk_tensor *wk_process_logits_at(wk_site site, wk_tensor *logits, const wk_process_logits_options *options)
{
    static const char op[] = "process_logits";
    wk_process_logits_options o;
    wk__call_scope c;
    if (!wk__options(site, op, options, &o) || (!o.ids && wk__omitted_may_have_failed())) return NULL;
    if (!wk__check_tensor(logits, site, op, "the scores") || (o.ids && !wk__check_tensor(o.ids, site, op, ".ids")) ||
        !check_tensors(site, logits, o.ids))
        return NULL;
    wk__logits_rules rules = {.repetition_penalty = o.repetition_penalty,
                              .temperature = o.temperature,
                              .top_p = o.top_p,
                              .min_p = o.min_p,
                              .top_k = o.top_k,
                              .keep = o.min_tokens_to_keep ? o.min_tokens_to_keep : 1};
    if (!wk__logits_rules_set(site, op, &rules) || !wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_KEPT))
        return NULL;
    wk_tensor *ids = o.ids ? wk_to_dtype(o.ids, WK_I64) : NULL;
    wk_tensor *out = wk_to_dtype(logits, WK_F32);
    if (out && (!o.ids || ids)) out = wk__logits_rules_apply(&rules, out, ids);
    if (out == logits) out = wk_clone(out);
    wk__call_end(&c, &out, 1);
    return out;
}
