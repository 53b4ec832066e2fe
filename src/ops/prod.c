/* prod: product of the elements. Integers and bool multiply in i64. */
#include "reference.h"
#include "rows.h"

wk_tensor *wk_prod_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)
{
    wk__compose c;
    uint16_t mask;
    if (!wk__compose_begin(&c, &wk__op_prod, site, &x, 1)) return NULL;
    wk_tensor *out = NULL;
    wk__attr attr = {.i = {0}};
    if (wk__dims_mask(&wk__op_prod, site, x, dims, count, &mask) &&
        (!options || !options->dtype || wk__dtype_usable(&wk__op_prod, site, options->dtype))) {
        wk_dtype dtype = wk__body_of(x)->dtype;
        wk_dtype result = options && options->dtype ? options->dtype : wk__is_float(dtype) ? dtype : WK_I64;
        attr.i[0] = mask;
        attr.i[1] = options && options->keepdim;
        out = wk__reduce(&wk__op_prod, site, x, mask, attr.i[1],
                         wk__is_float(result) || !wk__is_float(dtype) ? result : WK_F32, result);
    }
    return wk__compose_end(&c, out, &attr);
}

/* The product of the others: with zeros as ones the product divided by the element, where no other is zero. */
static void gradient(wk__gradient *g)
{
    wk_tensor *x = wk__saved(g, 0), *zero = wk_eq(x, 0), *zeros = wk__sum_kept(zero, g->attr->i[0]);
    wk_tensor *whole = wk_where(zero, 1, x);
    int64_t dims[WK__MAX_DIMS];
    int count = wk__masked_dims(g->attr->i[0], dims);
    wk_tensor *product = wk_prod_at((wk_site){0}, whole, dims, count,
                                    &(wk_reduce_options){.size = sizeof(wk_reduce_options), .keepdim = true});
    wk_tensor *alone = wk_eq(zeros, wk_to_dtype_at((wk_site){0}, zero, WK_I64));
    g->in[0] = wk_mul(wk_mul(wk__spread(g, g->out[0]), wk_div(product, whole)), alone);
}

static int invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__invoke_reduction(wk_prod_at, site, args, out);
}

static double product(const double *x, int64_t n)
{
    double total = 1;
    for (int64_t k = 0; k < n; k++) total *= x[k];
    return total;
}

static void reference(wk__reference *r)
{
    wk__reference_reduce(r, product);
}

static const char *const samples[] = {
    "[]", "[7]", "[3,5]", "[3,5], (1)", "[2,3,4], (0,2)", "[2,3,4], (-2), true", "[0,3], (0)", NULL};

const wk__op wk__op_prod = {
    .name = "prod",
    .schema = "prod(Tensor self, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    .group = "reduction",
    .node = "ProdBackward0",
    .doc = "product over all or the named dimensions",
    .reduction = WK__RPROD,
    .gradient = gradient,
    .needs = {WK__SAVE_0},
    .invoke = invoke,
    .reference = reference,
    .samples = samples,
    .low = -2,
    .high = 2,
};
