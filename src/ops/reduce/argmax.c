/* SPDX-License-Identifier: Apache-2.0 */
/* argmax, argmin: index of the largest and the smallest element, the first among equal ones. NaN takes precedence.
 *
 *     best  = amax(x)                         one row program: two reductions over the same row
 *     first = amin(x is best ? position in all of x : 2^63 - 1)
 *     index = first mod columns
 *
 * Positions are not stored in a tensor, which would need 8 bytes per element of x. */
#include "reduction.h"

/* in: x, best -> i64. Any NaN counts as best: then `best` is NaN, which equals nothing. */
static int best_index_expression(wk__emit *e, const int in[])
{
    int equal = wk__emit_compare(e, WK__EQ, in[0], in[1]), nan = wk__emit_compare(e, WK__NE, in[0], in[0]);
    int found = wk__emit_ins(e, WK__OR, WK_BOOL, equal, nan, 0);
    int place = wk__emit_ins(e, WK__IOTA, WK_I64, 0, 0, 0);
    return wk__emit_ins(e, WK__WHERE, WK_I64, found, place, wk__emit_imm(e, WK_I64, (wk__imm){.i = INT64_MAX}));
}

static const wk__op first_op = {
    .name = "argmax", .expression = best_index_expression, .reduction = WK__RMIN, .arity = 2, .uses_position = true};
static const wk__op column_op = {
    .name = "argmax", .expression = wk__single_instruction, .instruction = WK__REM, .arity = 2};

/* mask: the last dimensions of x, or all. */
static wk_tensor *reduce_argbest(const wk__op *reduction, wk_site site, wk_tensor *x, uint16_t mask, bool keepdim)
{
    if (!x) return NULL;
    wk_tensor *best = wk__reduce(reduction, site, x, mask, true, wk__body_of(x)->dtype, 0);
    wk_tensor *first = best ? wk__reduce_expression(&first_op, site, (wk_tensor *[]){x, best}, 2, mask, keepdim,
                                                    wk__body_of(x)->dtype, WK_I64)
                            : NULL;
    if (!first || wk__reduced_numel(x, mask) == wk__body_numel(wk__body_of(x))) return first;
    return wk__elementwise(&column_op, site,
                           (wk__arg[]){wk__tensor_arg(first), wk__int_arg(wk__reduced_numel(x, mask))}, 2, NULL);
}

static bool check_one_dim(const wk__op *op, wk_site site, wk_tensor *x, int count)
{
    if (count <= 1) return true;
    wk__op_error(op, site, WK_ERR_ARGUMENT, &x, "expected at most one dimension of $a, got %d", count);
    return false;
}

static wk_tensor *argminmax_call(const wk__op *op, wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                 const wk_reduce_options *options)
{
    wk__reduction_call r;
    if (!wk__reduction_begin_options(&r, op, site, x, dims, count, options)) return NULL;
    wk_tensor *out = NULL;
    const wk__op *reduction = op == &wk__op_argmax ? &wk__op_amax : &wk__op_amin;
    int ndim = wk__body_of(x)->ndim, axis = r.mask ? __builtin_ctz(r.mask) : 0;
    if (check_one_dim(op, site, x, count) && wk__check_nonempty_reduction(op, site, x, r.mask)) {
        bool all = count <= 0 || ndim == 0;
        out =
            all ? reduce_argbest(reduction, site, x, r.mask, r.keepdim)
                : reduce_argbest(reduction, site, wk__move_dim_last(x, axis), (uint16_t)(1u << (ndim - 1)), r.keepdim);
        if (!all && r.keepdim) out = wk__move_dim_back(out, axis);
    }
    return wk__reduction_end(&r, out);
}

wk_tensor *wk_argmax_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)
{
    return argminmax_call(&wk__op_argmax, site, x, dims, count, options);
}
wk_tensor *wk_argmin_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)
{
    return argminmax_call(&wk__op_argmin, site, x, dims, count, options);
}

const wk__op wk__op_argmax = {
    WK__SIGNATURE_argmax,
};
const wk__op wk__op_argmin = {
    WK__SIGNATURE_argmin,
};
