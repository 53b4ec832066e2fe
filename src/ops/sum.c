/* sum: of the elements. Integers and bool add up in i64. */
#include "forms.h"
#include "reference.h"

wk_tensor *wk_sum_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)
{
    wk__compose c;
    uint16_t mask;
    if (!wk__compose_begin(&c, &wk__op_sum, site, &x, 1)) return NULL;
    wk_tensor *out = NULL;
    wk__attr attr = {.i = {0}};
    if (wk__dims_mask(&wk__op_sum, site, x, dims, count, &mask) &&
        (!options || !options->dtype || wk__dtype_usable(&wk__op_sum, site, options->dtype))) {
        wk_dtype dtype = wk__body_of(x)->dtype;
        wk_dtype result = options && options->dtype ? options->dtype : wk__is_float(dtype) ? dtype : WK_I64;
        attr.i[0] = mask;
        attr.i[1] = options && options->keepdim;
        out = wk__reduce(&wk__op_sum, site, x, mask, attr.i[1],
                         wk__is_float(result) || !wk__is_float(dtype) ? result : WK_F32, result);
    }
    return wk__compose_end(&c, out, &attr);
}

static void gradient(wk__gradient *g)
{
    g->in[0] = wk__spread(g, g->out[0]);
}

static int invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    wk_reduce_options options = {
        .size = sizeof options, .keepdim = wk__value_int(&args[2], 0), .dtype = (wk_dtype)wk__value_int(&args[3], 0)};
    return wk__one(out, wk_sum_at(site, wk__value_tensor(&args[0]), args[1].ints,
                                  args[1].kind == WK_VALUE_INTS ? args[1].count : -1, &options));
}

static double sum(const double *x, int64_t n)
{
    double total = 0;
    for (int64_t k = 0; k < n; k++) total += x[k];
    return total;
}

static void reference(wk__reference *r)
{
    wk__reference_reduce(r, sum);
}

const wk__op wk__op_sum = {
    .name = "sum",
    .schema = "sum(Tensor self, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    .group = "reduction",
    .node = "SumBackward0",
    .doc = "sum over all or the named dimensions",
    .reduction = WK__RSUM,
    .gradient = gradient,
    .invoke = invoke,
    .reference = reference,
    .samples = wk__samples_reduce,
    .low = -3,
    .high = 3,
};
