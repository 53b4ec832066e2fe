/* SPDX-License-Identifier: Apache-2.0 */
/* multinomial: draws indices with given probabilities.
 *
 * With replacement, by inverting the running sum:
 *
 *     probabilities     .1  .4  0  .5
 *     running sum       .1  .5  .5  1.        uniform .3 of the total 1.: one sum is not above it, so index 1
 *
 * Without replacement, by arrival times: each index gets an exponentially distributed time with rate p, and the indices
 * with the smallest times are drawn, in order. The first is index k with probability p[k] / sum p. Exponential times
 * are memoryless, so the next one is drawn in the same way from the remaining indices. One pass draws any number of
 * them. The sum of the squares of two normal numbers is twice an exponential one, which needs no logarithm, so every
 * device computes the same bits. */
#include "ir/random.h"
#include "base/alloc.h"
#include "philox_draw.h"
#include "ops/reduce/reduction.h"

/* ---- with replacement -------------------------------------------------------------------------------------------- */

/* True if the draw is past the running sum. Never for the last positive probability, to which the product may round.
 * in: sums, draw, total */
static int cdf_below_draw(wk__emit *e, const int in[])
{
    int below = wk__emit_compare(e, WK__LE, in[0], wk__emit_binary(e, WK__MUL, in[1], in[2]));
    return wk__emit_ins(e, WK__AND, WK_BOOL, below, wk__emit_compare(e, WK__LT, in[0], in[2]), 0);
}

static const wk__op is_passed = {
    .name = "multinomial", .expression = cdf_below_draw, .arity = 3, .result = WK__RESULT_BOOL};

/* (rows, n) -> (rows, count); draws are independent. */
static wk_tensor *sample_with_replacement(wk_site site, wk_tensor *x, int64_t count)
{
    const wk__body *body = wk__body_of(x);
    int64_t rows = body->shape[0], n = body->shape[1];
    wk_tensor *sums = wk__record_scan(&wk__op_multinomial, site, x, 1, false, false);
    if (!sums) return NULL;
    wk_tensor *total = wk_reshape_at(site, wk_narrow_at(site, sums, 1, n - 1, 1), (const int64_t[]){rows, 1, 1}, 3);
    wk_tensor *uniform =
        wk__uniform(site, (const int64_t[]){rows, count, 1}, 3, body->dtype, body->storage->device->id);
    wk__arg args[3] = {wk__tensor_arg(wk_reshape_at(site, sums, (const int64_t[]){rows, 1, n}, 3)),
                       wk__tensor_arg(uniform), wk__tensor_arg(total)};
    wk_tensor *below = args[0].tensor && uniform && total ? wk__elementwise(&is_passed, site, args, 3, NULL) : NULL;
    return wk_sum_at(site, below, (const int64_t[]){2}, 1, NULL);
}

/* ---- without ----------------------------------------------------------------------------------------------------- */

/* Twice the time of each index. in: its probability, counter and key (raw) */
static int exponential_time(wk__emit *e, const int in[])
{
    int bits = wk__emit_bits(e, in[1], in[2], 64), total = 0;
    for (int half = 0; half < 2; half++) {
        int shifted = wk__emit_ins(e, WK__SHR, WK_I64, bits, wk__emit_imm(e, WK_I64, (wk__imm){.i = 32 * half}), 0);
        int mask = wk__emit_imm(e, WK_I64, (wk__imm){.i = UINT32_MAX});
        int word = wk__emit_ins(e, WK__AND, WK_I64, shifted, mask, 0);
        int normal = wk__emit_ins(e, WK__NDTRI, WK_F32, word, 0, 0);
        int square = wk__emit_ins(e, WK__MUL, WK_F32, normal, normal, 0);
        total = half ? wk__emit_ins(e, WK__ADD, WK_F32, total, square, 0) : square;
    }
    return wk__emit_binary(e, WK__DIV, e->dtype == WK_F64 ? wk__emit_cast(e, WK_F64, total) : total, in[0]);
}
static const wk__op arrival_op = {.name = "multinomial", .expression = exponential_time, .uses_position = true};

/* (rows, n) -> (rows, count) */
static wk_tensor *sample_without_replacement(wk_site site, wk_tensor *x, int64_t count)
{
    wk__philox_state draw = wk__philox_reserve(wk__body_numel(wk__body_of(x)));
    wk_tensor *times = wk__record_random_like(&arrival_op, site, x, draw, NULL, 0, 0), *first;
    if (!times) return NULL;
    if (count == 1)
        return wk_argmin_at(site, times, (const int64_t[]){1}, 1,
                            &(wk_reduce_options){.size = sizeof(wk_reduce_options), .keepdim = true});
    return wk_topk_at(site, times, count, 1, false, NULL, &first) == WK_OK ? first : NULL;
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static bool check_probabilities(wk_site site, wk_tensor *x, int64_t count, bool replacement)
{
    const wk__body *body = wk__body_of(x);
    int64_t n = body->ndim ? body->shape[body->ndim - 1] : 0;
    if (!wk__is_float(body->dtype) || body->ndim < 1 || body->ndim > 2 || n < 1) {
        wk__op_error(&wk__op_multinomial, site, body->ndim < 1 || body->ndim > 2 || n < 1 ? WK_ERR_SHAPE : WK_ERR_DTYPE,
                     &x,
                     "the probabilities must be floating-point of shape (n) or (rows, n) with n at least 1, got $a%s",
                     wk__is_float(body->dtype) ? "" : "; convert them with wk_to_dtype(x, WK_F32)");
        return false;
    }
    if (count >= 1 && (replacement || count <= n)) return true;
    wk__op_error(&wk__op_multinomial, site, WK_ERR_ARGUMENT, &x, "cannot draw %lld of the %lld categories of $a%s",
                 (long long)count, (long long)n, replacement ? "" : " without .replacement");
    return false;
}

wk_tensor *wk_multinomial_at(wk_site site, wk_tensor *x, int64_t count, const wk_multinomial_options *options)
{
    wk_multinomial_options o;
    wk__compose c;
    wk_tensor *out = NULL;
    if (!wk__options(site, "multinomial", options, &o)) return NULL;
    if (!wk__compose_begin(&c, &wk__op_multinomial, site, &x, 1)) return NULL;
    if (check_probabilities(site, x, count, o.replacement)) {
        const wk__body *body = wk__body_of(x);
        bool row = body->ndim == 1;
        int64_t shape[2] = {row ? 1 : body->shape[0], body->shape[body->ndim - 1]};
        wk_tensor *table = wk_reshape_at(site, wk__to_opmath(x), shape, 2);
        out = !table          ? NULL
              : o.replacement ? sample_with_replacement(site, table, count)
                              : sample_without_replacement(site, table, count);
        if (row) out = wk_reshape_at(site, out, &count, 1);
    }
    return wk__compose_end(&c, out, NULL);
}

const wk__op wk__op_multinomial = {
    WK__SIGNATURE_multinomial,
};
