/* SPDX-License-Identifier: Apache-2.0 */
/* Another shape, named in another way than by reshape: flatten, unflatten, view_as, expand_as. */
#include "views.h"

/* reshape, or expand, under the name of the op that the program called. */
static wk_tensor *seen_as(const wk__op *op, wk_site site, wk_tensor *x, const int64_t *shape, int ndim,
                          wk_tensor *(*view)(wk_site, wk_tensor *, const int64_t *, int))
{
    wk_context *context = wk__context();
    const wk__outer before = wk__outer_enter(context, op->name, site);
    wk_tensor *out = view(site, x, shape, ndim);
    wk__outer_leave(context, before);
    return out;
}

wk_tensor *wk_flatten_at(wk_site site, wk_tensor *x, int64_t start, int64_t end)
{
    int first, last;
    if (!wk__view_begin(&wk__op_flatten, site, x) || !wk__dim_of(&wk__op_flatten, site, x, start, 0, &first) ||
        !wk__dim_of(&wk__op_flatten, site, x, end, 0, &last))
        return NULL;
    const wk__body *body = wk__body_of(x);
    if (first > last) {
        wk__op_error(&wk__op_flatten, site, WK_ERR_ARGUMENT, &x, "dimension %d comes after dimension %d of $a", first,
                     last);
        return NULL;
    }
    if (body->ndim == 0) return wk_reshape_at(site, x, (const int64_t[]){1}, 1);
    int64_t shape[WK__MAX_DIMS], merged = 1;
    int ndim = 0;
    for (int d = 0; d < body->ndim; d++) {
        bool inside = d >= first && d <= last;
        if (inside) merged *= body->shape[d];
        if (!inside || d == last) shape[ndim++] = inside ? merged : body->shape[d];
    }
    return wk_reshape_at(site, x, shape, ndim);
}

wk_tensor *wk_unflatten_at(wk_site site, wk_tensor *x, int64_t dim, const int64_t *sizes, int count)
{
    int d;
    if (!wk__view_begin(&wk__op_unflatten, site, x) || !wk__dim_of(&wk__op_unflatten, site, x, dim, 0, &d)) return NULL;
    if (!wk__array_check(sizes, count, site, "unflatten", "the list of sizes")) return NULL;
    const wk__body *body = wk__body_of(x);
    int64_t shape[WK__MAX_DIMS], parts[WK__MAX_DIMS];
    if (!wk__sizes_fit(&wk__op_unflatten, site, x, d, sizes, count, parts)) return NULL;
    for (int k = 0; k < body->ndim - 1 + count; k++)
        shape[k] = k < d ? body->shape[k] : k < d + count ? parts[k - d] : body->shape[k - count + 1];
    return seen_as(&wk__op_unflatten, site, x, shape, body->ndim - 1 + count, wk_reshape_at);
}

wk_tensor *wk_expand_as_at(wk_site site, wk_tensor *x, wk_tensor *other)
{
    if (!wk__view_begin(&wk__op_expand_as, site, x) || !wk__check(other, site, "expand_as", "second operand"))
        return NULL;
    return seen_as(&wk__op_expand_as, site, x, wk__body_of(other)->shape, wk__body_of(other)->ndim, wk_expand_at);
}

wk_tensor *wk_view_as_at(wk_site site, wk_tensor *x, wk_tensor *other)
{
    if (!wk__view_begin(&wk__op_view_as, site, x) || !wk__check(other, site, "view_as", "second operand")) return NULL;
    return seen_as(&wk__op_view_as, site, x, wk__body_of(other)->shape, wk__body_of(other)->ndim, wk_reshape_at);
}

static void expand_as_gradient(wk__gradient *g)
{
    g->in[0] = g->out[0]; /* summed back by the engine */
}

static int flatten_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__one(
        out, wk_flatten_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0), wk__value_int(&args[2], -1)));
}
static int unflatten_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__one(out, wk_unflatten_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0), args[2].ints,
                                        args[2].count));
}
static int like_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    wk_tensor *x = wk__value_tensor(&args[0]), *other = wk__value_tensor(&args[1]);
    return wk__one(out, op == &wk__op_view_as ? wk_view_as_at(site, x, other) : wk_expand_as_at(site, x, other));
}

static void flatten_reference(wk__reference *r)
{
    const wk__array *x = &r->in[0];
    int64_t shape[WK__MAX_DIMS] = {1};
    int ndim = x->ndim == 0, first = 0, last = 0;
    wk__dim(x->ndim, wk__value_int(&r->args[1], 0), &first);
    wk__dim(x->ndim, wk__value_int(&r->args[2], -1), &last);
    for (int d = 0; d < x->ndim; d++) {
        if (d > first && d <= last)
            shape[ndim - 1] *= x->shape[d];
        else
            shape[ndim++] = x->shape[d];
    }
    wk__reference_same(r, ndim, shape);
}

static void unflatten_reference(wk__reference *r)
{
    const wk__array *x = &r->in[0];
    const wk_value *sizes = &r->args[2];
    int64_t shape[WK__MAX_DIMS], known = 1;
    int d, ndim = 0;
    wk__dim(x->ndim, r->args[1].i, &d);
    for (int k = 0; k < sizes->count; k++) known *= sizes->ints[k] == -1 ? 1 : sizes->ints[k];
    for (int k = 0; k < d; k++) shape[ndim++] = x->shape[k];
    for (int k = 0; k < sizes->count; k++) shape[ndim++] = sizes->ints[k] == -1 ? x->shape[d] / known : sizes->ints[k];
    for (int k = d + 1; k < x->ndim; k++) shape[ndim++] = x->shape[k];
    wk__reference_same(r, ndim, shape);
}

static void view_as_reference(wk__reference *r)
{
    wk__reference_same(r, r->in[1].ndim, r->in[1].shape);
}

static void expand_as_reference(wk__reference *r)
{
    const wk__array *x = &r->in[0], *like = &r->in[1];
    double *out = wk__reference_out(r, 0, like->ndim, like->shape);
    for (int64_t k = 0; k < wk__array_numel(like); k++) out[k] = wk__array_at(x, like->ndim, like->shape, k);
}

static const char *const flatten_samples[] = {"[2,3,4]",    "[2,3,4], 1", "[2,3,4], 0, 1", "[]", "[2,0,3], 1",
                                              "[5], 0, -1", NULL};
static const char *const unflatten_samples[] = {"[6,2], 0, (2,3)", "[2,6], -1, (3,-1)", "[4], 0, (2,2,1)",
                                                "[0,4], 1, (2,2)", NULL};
static const char *const expand_as_samples[] = {"[3,1], [3,4]", "[], [2,2]", "[1,3], [5,2,3]", "[0,1], [0,3]", NULL};
static const char *const view_as_samples[] = {"[2,6], [3,4]", "[1], []", "[0,2], [3,0]", NULL};

#define RESHAPED .group = "view", .node = "ViewBackward0", .gradient = wk__reshape_back, .low = -3, .high = 3

const wk__op wk__op_flatten = {
    .name = "flatten",
    .schema = "flatten(Tensor self, int start_dim=0, int end_dim=-1) -> Tensor",
    .doc = "several dimensions as one",
    .invoke = flatten_invoke,
    .reference = flatten_reference,
    .samples = flatten_samples,
    RESHAPED,
};
const wk__op wk__op_unflatten = {
    .name = "unflatten",
    .schema = "unflatten(Tensor self, int dim, int[] sizes) -> Tensor",
    .doc = "one dimension as several",
    .invoke = unflatten_invoke,
    .reference = unflatten_reference,
    .samples = unflatten_samples,
    RESHAPED,
};
const wk__op wk__op_view_as = {
    .name = "view_as",
    .schema = "view_as(Tensor self, Tensor other) -> Tensor",
    .doc = "in the shape of another tensor",
    .invoke = like_invoke,
    .reference = view_as_reference,
    .samples = view_as_samples,
    RESHAPED,
};
const wk__op wk__op_expand_as = {
    .name = "expand_as",
    .schema = "expand_as(Tensor self, Tensor other) -> Tensor",
    .group = "view",
    .node = "ExpandBackward0",
    .doc = "expanded to the shape of another tensor",
    .gradient = expand_as_gradient,
    .invoke = like_invoke,
    .reference = expand_as_reference,
    .samples = expand_as_samples,
    .low = -3,
    .high = 3,
};
