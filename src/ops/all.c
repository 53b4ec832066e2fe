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

static wk_tensor *truth(const wk__op *op, const wk__op *reduction, wk_dtype dtype, wk_site site, wk_tensor *x,
                        const int64_t *dims, int count, const wk_reduce_options *options)
{
    wk__compose c;
    uint16_t mask;
    if (!wk__compose_begin(&c, op, site, &x, 1)) return NULL;
    wk_tensor *out = NULL;
    if (wk__dims_mask(op, site, x, dims, count, &mask) && (out = wk__unary(&nonzero_op, site, x))) {
        out = wk__reduce(reduction, site, out, mask, options && options->keepdim, dtype, dtype);
        if (out && dtype == WK_I32) out = wk__unary(&positive_op, site, out);
    }
    return wk__compose_end(&c, out, NULL);
}

wk_tensor *wk_all_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)
{
    return truth(&wk__op_all, &wk__op_amin, WK_I32, site, x, dims, count, options);
}
wk_tensor *wk_any_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)
{
    return truth(&wk__op_any, &wk__op_amax, WK_I32, site, x, dims, count, options);
}
wk_tensor *wk_count_nonzero_at(wk_site site, wk_tensor *x, const int64_t *dims, int count,
                               const wk_reduce_options *options)
{
    return truth(&wk__op_count_nonzero, &wk__op_sum, WK_I64, site, x, dims, count, options);
}

static int all_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    return wk__invoke_reduction(op == &wk__op_all   ? wk_all_at
                                : op == &wk__op_any ? wk_any_at
                                                    : wk_count_nonzero_at,
                                site, args, out);
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

const wk__op wk__op_all = {
    .name = "all",
    .schema = "all(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
    .group = "reduction",
    .doc = "are all elements other than 0? true of none",
    .invoke = all_invoke,
    .reference = all_reference,
    .samples = samples,
    .low = 0,
    .high = 2,
};
const wk__op wk__op_any = {
    .name = "any",
    .schema = "any(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
    .group = "reduction",
    .doc = "is some element other than 0? false of none",
    .invoke = all_invoke,
    .reference = any_reference,
    .samples = samples,
    .low = 0,
    .high = 2,
};
const wk__op wk__op_count_nonzero = {
    .name = "count_nonzero",
    .schema = "count_nonzero(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
    .group = "reduction",
    .doc = "how many elements are other than 0, as i64",
    .invoke = all_invoke,
    .reference = count_reference,
    .samples = samples,
    .low = 0,
    .high = 2,
};
