/* SPDX-License-Identifier: Apache-2.0 */
/* all, any, count_nonzero: reductions of x != 0. */
#include "reference.h"
#include "rows.h"

static int nonzero(wk__emit *e, const int in[])
{
    return wk__emit_compare(e, WK__NE, in[0], wk__emit_constant(e, 0));
}

/* Also right for rows without elements, of which the least is the greatest number and the greatest the least. */
static int positive(wk__emit *e, const int in[])
{
    return wk__emit_compare(e, WK__GT, in[0], wk__emit_constant(e, 0));
}

static const wk__op nonzero_op = {.name = "all", .expression = nonzero, .arity = 1, .result = WK__RESULT_BOOL};
static const wk__op positive_op = {.name = "all", .expression = positive, .arity = 1, .result = WK__RESULT_BOOL};

static wk_tensor *truth(const wk__op *op, wk_site site, wk_tensor *x, const int64_t *dims, int count,
                        const wk_reduce_options *options)
{
    wk__reducing r;
    const bool counted = op == &wk__op_count_nonzero;
    if (!wk__reducing_read(&r, op, site, x, dims, count, options)) return NULL;
    const wk__op *reduction = counted ? &wk__op_sum : op == &wk__op_all ? &wk__op_amin : &wk__op_amax;
    wk_dtype dtype = counted ? WK_I64 : WK_I32;
    wk_tensor *out = wk__unary(&nonzero_op, site, x);
    if (out) out = wk__reduce(reduction, site, out, r.mask, r.keepdim, dtype, dtype);
    if (out && !counted) out = wk__unary(&positive_op, site, out);
    return wk__reducing_end(&r, out);
}

wk_tensor *wk_all_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)
{
    return truth(&wk__op_all, site, x, dims, count, options);
}
wk_tensor *wk_any_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)
{
    return truth(&wk__op_any, site, x, dims, count, options);
}
wk_tensor *wk_count_nonzero_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                               const wk_reduce_options *options)
{
    return truth(&wk__op_count_nonzero, site, x, dims, count, options);
}

static int invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    return wk__invoke_reduction(truth, op, site, args, out);
}

static double count(const double *x, int64_t n)
{
    double total = 0;
    for (int64_t k = 0; k < n; k++) total += x[k] != 0;
    return total;
}
static double all(const double *x, int64_t n)
{
    return count(x, n) == (double)n;
}
static double any(const double *x, int64_t n)
{
    return count(x, n) > 0;
}
static void all_reference(wk__reference *r)
{
    wk__reference_reduce(r, all);
}
static void any_reference(wk__reference *r)
{
    wk__reference_reduce(r, any);
}
static void count_reference(wk__reference *r)
{
    wk__reference_reduce(r, count);
}

static const char *const samples[] = {"[]",
                                      "[7]",
                                      "[3,5]:bool",
                                      "[3,5]:i64<2, (1)",
                                      "[2,3,4]:bool, (0,2)",
                                      "[2,3,4]:bool, (-2), true",
                                      "[0,3], (0)",
                                      "[3,0], (1)",
                                      "[130,3]:bool, (0)",
                                      NULL};

#define TRUTH .group = "reduction", .invoke = invoke, .samples = samples, .low = 0, .high = 2

const wk__op wk__op_all = {
    .name = "all",
    .schema = "all(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
    .doc = "are all elements other than 0? true of none",
    .reference = all_reference,
    TRUTH,
};
const wk__op wk__op_any = {
    .name = "any",
    .schema = "any(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
    .doc = "is some element other than 0? false of none",
    .reference = any_reference,
    TRUTH,
};
const wk__op wk__op_count_nonzero = {
    .name = "count_nonzero",
    .schema = "count_nonzero(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
    .doc = "how many elements are other than 0, as i64",
    .reference = count_reference,
    TRUTH,
};
