/* SPDX-License-Identifier: Apache-2.0 */
/* all, any, count_nonzero: reductions of x != 0. */
#include "reduction.h"

static int nonzero(wk__emit *e, const int in[])
{
    return wk__emit_compare(e, WK__NE, in[0], wk__emit_constant(e, 0));
}

/* For a row without elements the minimum is the largest value of the dtype and the maximum the smallest, so the
 * comparison is also correct for empty rows. */
static int positive(wk__emit *e, const int in[])
{
    return wk__emit_compare(e, WK__GT, in[0], wk__emit_constant(e, 0));
}

static const wk__op nonzero_op = {.name = "all", .expression = nonzero, .arity = 1, .result = WK__RESULT_BOOL};
static const wk__op positive_op = {.name = "all", .expression = positive, .arity = 1, .result = WK__RESULT_BOOL};

static wk_tensor *reduce_nonzero(const wk__op *op, wk_site site, wk_tensor *x, const int64_t *dims, int count,
                                 const wk_reduce_options *options)
{
    wk__reduction_call r;
    const bool counted = op == &wk__op_count_nonzero;
    if (!wk__reduction_begin_options(&r, op, site, x, dims, count, options)) return NULL;
    const wk__op *reduction = counted ? &wk__op_sum : op == &wk__op_all ? &wk__op_amin : &wk__op_amax;
    wk_dtype dtype = counted ? WK_I64 : WK_I32;
    wk_tensor *out = wk__unary(&nonzero_op, site, x);
    if (out) out = wk__reduce(reduction, site, out, r.mask, r.keepdim, dtype, dtype);
    if (out && !counted) out = wk__unary(&positive_op, site, out);
    return wk__reduction_end(&r, out);
}

wk_tensor *wk_all_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)
{
    return reduce_nonzero(&wk__op_all, site, x, dims, count, options);
}
wk_tensor *wk_any_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)
{
    return reduce_nonzero(&wk__op_any, site, x, dims, count, options);
}
wk_tensor *wk_count_nonzero_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                               const wk_reduce_options *options)
{
    return reduce_nonzero(&wk__op_count_nonzero, site, x, dims, count, options);
}

const wk__op wk__op_all = {
    WK__SIGNATURE_all,
};
const wk__op wk__op_any = {
    WK__SIGNATURE_any,
};
const wk__op wk__op_count_nonzero = {
    WK__SIGNATURE_count_nonzero,
};
