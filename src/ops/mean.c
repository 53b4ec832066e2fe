/* mean: sum / number of elements. */
#include "reference.h"
#include "rows.h"

wk_tensor *wk_mean_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)
{
    wk__compose c;
    uint16_t mask;
    if (!wk__compose_begin(&c, &wk__op_mean, site, &x, 1)) return NULL;
    wk_tensor *out = NULL;
    wk__attr attr = {.i = {0}};
    wk_dtype dtype = options && options->dtype ? options->dtype : wk__body_of(x)->dtype;
    if (wk__dtype_usable(&wk__op_mean, site, dtype) && (wk__is_float(dtype) || wk__must_float(&wk__op_mean, site, x)) &&
        wk__dims_mask(&wk__op_mean, site, x, dims, count, &mask)) {
        wk_dtype class = wk__class_of(dtype);
        attr.i[0] = mask;
        attr.i[1] = options && options->keepdim;
        attr.f[0] = (double)wk__columns(x, mask);
        out = wk__narrowed(wk_div(wk__reduce(&wk__op_sum, site, x, mask, attr.i[1], class, class), attr.f[0]), dtype);
    }
    return wk__compose_end(&c, out, &attr);
}

static void gradient(wk__gradient *g)
{
    g->in[0] = wk_div(wk__spread(g, g->out[0]), g->attr->f[0]);
}

static int invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__invoke_reduction(wk_mean_at, site, args, out);
}

static double mean(const double *x, int64_t n)
{
    double total = 0;
    for (int64_t k = 0; k < n; k++) total += x[k];
    return total / (double)n;
}

static void reference(wk__reference *r)
{
    wk__reference_reduce(r, mean);
}

const wk__op wk__op_mean = {
    .name = "mean",
    .schema = "mean(Tensor self, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    .group = "reduction",
    .node = "MeanBackward0",
    .doc = "mean over all or the named dimensions, of floats",
    .domain = WK__FLOATS,
    .gradient = gradient,
    .invoke = invoke,
    .reference = reference,
    .samples = wk__samples_reduce,
    .low = -3,
    .high = 3,
};
