/* SPDX-License-Identifier: Apache-2.0 */
/* Dimensions of size 1 come and go: squeeze, unsqueeze. */
#include "views.h"

wk_tensor *wk_squeeze_at(wk_site site, wk_tensor *x, const int64_t *dims, int count)
{
    if (!wk__view_begin(&wk__op_squeeze, site, x)) return NULL;
    uint16_t mask = 0; /* an empty list names no dimension */
    wk__geometry g;
    if (count != 0 && !wk__dims_mask(&wk__op_squeeze, site, x, dims, count, &mask)) return NULL;
    wk__geometry_of(wk__body_of(x), &g);
    for (int d = g.ndim; d-- > 0;)
        if (mask >> d & 1 && g.shape[d] == 1) wk__geometry_drop(&g, d);
    const wk__attr named = {.node = count != 1 ? "SqueezeBackward2" : "SqueezeBackward1"};
    return wk__view_as(&wk__op_squeeze, site, x, &g, count >= 0 ? &named : NULL);
}

wk_tensor *wk_unsqueeze_at(wk_site site, wk_tensor *x, int64_t dim)
{
    int d;
    wk__geometry g;
    if (!wk__view_begin(&wk__op_unsqueeze, site, x) || !wk__dim_of(&wk__op_unsqueeze, site, x, dim, 1, &d)) return NULL;
    wk__geometry_of(wk__body_of(x), &g);
    int64_t stride = d < g.ndim ? g.shape[d] * g.stride[d] : 1; /* as a dense tensor's would be */
    if (!wk__geometry_insert(&wk__op_unsqueeze, site, x, &g, d, 1, stride)) return NULL;
    return wk__view_as(&wk__op_unsqueeze, site, x, &g, NULL);
}

static int squeeze_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_value *dims = &args[1];
    if (dims->kind == WK_VALUE_INT) return wk__one(out, wk_squeeze_at(site, wk__value_tensor(&args[0]), &dims->i, 1));
    return wk__one(out, wk_squeeze_at(site, wk__value_tensor(&args[0]), dims->ints,
                                      dims->kind == WK_VALUE_INTS ? dims->count : -1));
}
static int unsqueeze_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__one(out, wk_unsqueeze_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0)));
}

static void squeeze_reference(wk__reference *r)
{
    const wk__array *x = &r->in[0];
    const wk_value *dims = &r->args[1];
    int64_t shape[WK__MAX_DIMS];
    int ndim = 0;
    for (int d = 0; d < x->ndim; d++) {
        bool named =
            dims->kind == WK_VALUE_NONE || (dims->kind == WK_VALUE_INT && (dims->i == d || dims->i == d - x->ndim));
        for (int k = 0; dims->kind == WK_VALUE_INTS && k < dims->count; k++)
            named = named || dims->ints[k] == d || dims->ints[k] == d - x->ndim;
        if (x->shape[d] != 1 || !named) shape[ndim++] = x->shape[d];
    }
    wk__reference_same(r, ndim, shape);
}

static void unsqueeze_reference(wk__reference *r)
{
    const wk__array *x = &r->in[0];
    int64_t shape[WK__MAX_DIMS];
    int d = 0;
    wk__dim(x->ndim + 1, wk__value_int(&r->args[1], 0), &d);
    for (int k = 0; k <= x->ndim; k++) shape[k] = k < d ? x->shape[k] : k == d ? 1 : x->shape[k - 1];
    wk__reference_same(r, x->ndim + 1, shape);
}

static const char *const squeeze_samples[] = {"[1,3,1]",     "[1,3,1], (0)", "[1,3,1], (-1)", "[1,3,1], (0,1)",
                                              "[1,3,1], ()", "[]",           "[1,0]",         NULL};
static const char *const unsqueeze_samples[] = {"[3,4], 0", "[3,4], 1", "[3,4], -1", "[], 0", "[0], 1", NULL};

#define SIZE_ONE .group = "view", .gradient = wk__reshape_back, .low = -3, .high = 3

const wk__op wk__op_squeeze = {
    .name = "squeeze",
    .schema = "squeeze(Tensor self, int[]? dim=None) -> Tensor",
    .node = "SqueezeBackward0",
    .doc = "without the dimensions of size 1, or those of the named ones",
    .invoke = squeeze_invoke,
    .reference = squeeze_reference,
    .samples = squeeze_samples,
    SIZE_ONE,
};
const wk__op wk__op_unsqueeze = {
    .name = "unsqueeze",
    .schema = "unsqueeze(Tensor self, int dim) -> Tensor",
    .node = "UnsqueezeBackward0",
    .doc = "with a new dimension of size 1 at this place",
    .invoke = unsqueeze_invoke,
    .reference = unsqueeze_reference,
    .samples = unsqueeze_samples,
    SIZE_ONE,
};
