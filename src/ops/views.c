/* Views that keep all elements: transpose, permute, movedim, squeeze, unsqueeze, flatten, unflatten, expand_as, view_as. */
#include "views.h"
#include <string.h>

/* ---- shared ------------------------------------------------------------------------------------------------------ */

void wk__geometry_of(const wk__body *body, wk__geometry *g)
{
    g->ndim = body->ndim;
    g->offset = body->offset;
    memcpy(g->shape, body->shape, sizeof g->shape);
    memcpy(g->stride, body->stride, sizeof g->stride);
}

void wk__geometry_drop(wk__geometry *g, int d)
{
    for (g->ndim--; d < g->ndim; d++) {
        g->shape[d] = g->shape[d + 1];
        g->stride[d] = g->stride[d + 1];
    }
}

bool wk__geometry_insert(const wk__op *op, wk_site site, wk_tensor *x, wk__geometry *g, int d, int64_t size,
                         int64_t stride)
{
    if (g->ndim == WK__MAX_DIMS) {
        wk__op_error(op, site, WK_ERR_SHAPE, &x, "$a would get more than %d dimensions", WK__MAX_DIMS);
        return false;
    }
    for (int e = g->ndim++; e > d; e--) {
        g->shape[e] = g->shape[e - 1];
        g->stride[e] = g->stride[e - 1];
    }
    g->shape[d] = size;
    g->stride[d] = stride;
    return true;
}

wk_tensor *wk__view_as(const wk__op *op, wk_site site, wk_tensor *x, const wk__geometry *g, const wk__attr *attr)
{
    return wk__view(op, site, x, g->offset, g->ndim, g->shape, g->stride, attr);
}

bool wk__dim_of(const wk__op *op, wk_site site, wk_tensor *x, int64_t dim, int more, int *d)
{
    if (wk__dim(wk__body_of(x)->ndim + more, dim, d)) return true;
    wk__op_error(op, site, WK_ERR_INDEX, &x, "dimension %lld is out of range for $a, which has %d", (long long)dim,
                 wk__body_of(x)->ndim);
    return false;
}

void wk__reshape_back(wk__gradient *g)
{
    const wk__shape *from = &g->node->shape[0];
    g->in[0] = wk_reshape_at((wk_site){0}, g->out[0], from->size, from->ndim);
}

wk_tensor *wk__zeros_like_operand(const wk__gradient *g)
{
    const wk__shape *from = &g->node->shape[0];
    wk_tensor *grad = g->out[0];
    for (int k = 1; k < g->node->outputs && !grad; k++) grad = g->out[k];
    wk_options options = {.size = sizeof options, .dtype = wk_dtype_of(grad), .device = wk_device_of(grad)};
    return wk_zeros_at((wk_site){0}, from->size, from->ndim, &options);
}

void wk__reference_strided(wk__reference *r, int ndim, const int64_t *shape, const int64_t *stride, int64_t offset)
{
    double *out = wk__reference_out(r, 0, ndim, shape);
    for (int64_t k = 0; k < wk__array_numel(&r->out[0]); k++) {
        int64_t rest = k, at = offset;
        for (int d = ndim; d-- > 0; rest /= shape[d]) at += rest % shape[d] * stride[d];
        out[k] = r->in[0].data[at];
    }
}

/* ---- transpose, t, swapaxes -------------------------------------------------------------------------------------- */

static wk_tensor *transposed(const wk__op *op, wk_site site, wk_tensor *x, int64_t a, int64_t b)
{
    int d, e;
    if (!wk__view_begin(op, site, x) || !wk__dim_of(op, site, x, a, 0, &d) || !wk__dim_of(op, site, x, b, 0, &e))
        return NULL;
    wk__geometry g;
    const wk__body *body = wk__body_of(x);
    wk__geometry_of(body, &g);
    if (body->ndim) {
        g.shape[d] = body->shape[e];
        g.stride[d] = body->stride[e];
        g.shape[e] = body->shape[d];
        g.stride[e] = body->stride[d];
    }
    return wk__view_as(op, site, x, &g, &(wk__attr){.i = {d, e}});
}

wk_tensor *wk_transpose_at(wk_site site, wk_tensor *x, int64_t a, int64_t b)
{
    return transposed(&wk__op_transpose, site, x, a, b);
}

wk_tensor *wk_swapaxes_at(wk_site site, wk_tensor *x, int64_t a, int64_t b)
{
    return transposed(&wk__op_swapaxes, site, x, a, b);
}

wk_tensor *wk_t_at(wk_site site, wk_tensor *x)
{
    if (!wk__view_begin(&wk__op_t, site, x)) return NULL;
    int ndim = wk__body_of(x)->ndim;
    if (ndim <= 2) return transposed(&wk__op_t, site, x, 0, ndim == 2 ? 1 : 0);
    wk__op_error(&wk__op_t, site, WK_ERR_SHAPE, &x, "takes two dimensions at most, not $a; wk_transpose swaps any two");
    return NULL;
}
wk_tensor *(wk_t)(wk_tensor *x)
{
    return wk_t_at((wk_site){0}, x);
}

static void transpose_gradient(wk__gradient *g)
{
    g->in[0] = wk_transpose_at((wk_site){0}, g->out[0], g->attr->i[0], g->attr->i[1]);
}

static int transpose_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    wk_tensor *x = wk__value_tensor(&args[0]);
    if (op == &wk__op_t) return wk__one(out, wk_t_at(site, x));
    return wk__one(out, transposed(op, site, x, wk__value_int(&args[1], 0), wk__value_int(&args[2], 1)));
}

static void permuted_reference(wk__reference *r, const int *order)
{
    const wk__array *x = &r->in[0];
    int64_t dense[WK__MAX_DIMS], shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
    wk__strides_dense(x->ndim, x->shape, dense);
    for (int d = 0; d < x->ndim; d++) {
        shape[d] = x->shape[order[d]];
        stride[d] = dense[order[d]];
    }
    wk__reference_strided(r, x->ndim, shape, stride, 0);
}

static void transpose_reference(wk__reference *r)
{
    int order[WK__MAX_DIMS], d = 0, e = 0, ndim = r->in[0].ndim;
    wk__dim(ndim, wk__value_int(&r->args[1], 0), &d);
    wk__dim(ndim, wk__value_int(&r->args[2], 1), &e);
    for (int k = 0; k < ndim; k++) order[k] = k == d ? e : k == e ? d : k;
    permuted_reference(r, order);
}

static void t_reference(wk__reference *r)
{
    permuted_reference(r, r->in[0].ndim == 2 ? (const int[]){1, 0} : (const int[]){0});
}

static const char *const transpose_samples[] = {"[3,4], 0, 1", "[2,3,4], 1, -1", "[5], 0, 0",
                                                "[], 0, 0",    "[0,3], 0, 1",    NULL};
static const char *const t_samples[] = {"[3,4]", "[5]", "[]", "[0,3]", NULL};

const wk__op wk__op_transpose = {
    .name = "transpose",
    .schema = "transpose(Tensor self, int dim0, int dim1) -> Tensor",
    .group = "view",
    .node = "TransposeBackward0",
    .doc = "two dimensions change places",
    .gradient = transpose_gradient,
    .invoke = transpose_invoke,
    .reference = transpose_reference,
    .samples = transpose_samples,
    .low = -3,
    .high = 3,
};
const wk__op wk__op_swapaxes = {
    .name = "swapaxes",
    .schema = "swapaxes(Tensor self, int axis0, int axis1) -> Tensor",
    .group = "view",
    .node = "TransposeBackward0",
    .doc = "transpose by its other name",
    .gradient = transpose_gradient,
    .invoke = transpose_invoke,
    .reference = transpose_reference,
    .samples = transpose_samples,
    .low = -3,
    .high = 3,
};
const wk__op wk__op_t = {
    .name = "t",
    .schema = "t(Tensor self) -> Tensor",
    .group = "view",
    .node = "TBackward0",
    .doc = "the transpose of a matrix",
    .gradient = transpose_gradient,
    .invoke = transpose_invoke,
    .reference = t_reference,
    .samples = t_samples,
    .low = -3,
    .high = 3,
};

/* ---- permute, movedim -------------------------------------------------------------------------------------------- */

wk_tensor *wk_permute_at(wk_site site, wk_tensor *x, const int64_t *dims, int count)
{
    if (!wk__view_begin(&wk__op_permute, site, x)) return NULL;
    const wk__body *body = wk__body_of(x);
    wk__geometry g;
    wk__attr attr = {.count = count};
    unsigned seen = 0;
    wk__geometry_of(body, &g);
    for (int k = 0; k < count && k < body->ndim; k++) {
        int d;
        if (!wk__dim_of(&wk__op_permute, site, x, dims[k], 0, &d)) return NULL;
        seen |= 1u << d;
        g.shape[k] = body->shape[d];
        g.stride[k] = body->stride[d];
        attr.list[k] = d;
    }
    if (count != body->ndim || seen != (1u << body->ndim) - 1) {
        wk__op_error(&wk__op_permute, site, WK_ERR_ARGUMENT, &x, "each of the %d dimensions of $a must be named once",
                     body->ndim);
        return NULL;
    }
    return wk__view_as(&wk__op_permute, site, x, &g, &attr);
}

static void permute_gradient(wk__gradient *g)
{
    int64_t back[WK__MAX_DIMS];
    for (int k = 0; k < g->attr->count; k++) back[g->attr->list[k]] = k;
    g->in[0] = wk_permute_at((wk_site){0}, g->out[0], back, g->attr->count);
}

/* The order of dimensions once `from` stands at `to`. */
static void moved_order(int ndim, int from, int to, int64_t *order)
{
    for (int k = 0, next = 0; k < ndim; k++) {
        if (next == from) next++;
        order[k] = k == to ? from : next++;
    }
}

wk_tensor *wk_movedim_at(wk_site site, wk_tensor *x, int64_t source, int64_t destination)
{
    int from, to;
    if (!wk__view_begin(&wk__op_movedim, site, x) || !wk__dim_of(&wk__op_movedim, site, x, source, 0, &from) ||
        !wk__dim_of(&wk__op_movedim, site, x, destination, 0, &to))
        return NULL;
    int64_t order[WK__MAX_DIMS];
    moved_order(wk__body_of(x)->ndim, from, to, order);
    return wk_permute_at(site, x, order, wk__body_of(x)->ndim);
}

static int permute_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    wk_tensor *x = wk__value_tensor(&args[0]);
    if (op == &wk__op_permute) return wk__one(out, wk_permute_at(site, x, args[1].ints, args[1].count));
    return wk__one(out, wk_movedim_at(site, x, wk__value_int(&args[1], 0), wk__value_int(&args[2], 0)));
}

static void permute_reference(wk__reference *r)
{
    int order[WK__MAX_DIMS];
    for (int k = 0; k < r->in[0].ndim; k++) wk__dim(r->in[0].ndim, r->args[1].ints[k], &order[k]);
    permuted_reference(r, order);
}

static void movedim_reference(wk__reference *r)
{
    int from, to, order[WK__MAX_DIMS];
    int64_t wide[WK__MAX_DIMS];
    wk__dim(r->in[0].ndim, r->args[1].i, &from);
    wk__dim(r->in[0].ndim, r->args[2].i, &to);
    moved_order(r->in[0].ndim, from, to, wide);
    for (int k = 0; k < r->in[0].ndim; k++) order[k] = (int)wide[k];
    permuted_reference(r, order);
}

static const char *const permute_samples[] = {"[2,3,4], (2,0,1)", "[2,3,4], (0,-1,1)", "[3], (0)",
                                              "[], ()",           "[0,3], (1,0)",      NULL};
static const char *const movedim_samples[] = {"[2,3,4], 0, 2", "[2,3,4], -1, 0", "[2,3,4], 1, 1", "[0,3], 1, 0", NULL};

const wk__op wk__op_permute = {
    .name = "permute",
    .schema = "permute(Tensor self, int[] dims) -> Tensor",
    .group = "view",
    .node = "PermuteBackward0",
    .doc = "dimensions in another order",
    .gradient = permute_gradient,
    .invoke = permute_invoke,
    .reference = permute_reference,
    .samples = permute_samples,
    .low = -3,
    .high = 3,
};
const wk__op wk__op_movedim = {
    .name = "movedim",
    .schema = "movedim(Tensor self, int source, int destination) -> Tensor",
    .group = "view",
    .node = "PermuteBackward0",
    .doc = "one dimension moves to another place",
    .gradient = permute_gradient,
    .invoke = permute_invoke,
    .reference = movedim_reference,
    .samples = movedim_samples,
    .low = -3,
    .high = 3,
};

/* ---- squeeze, unsqueeze ------------------------------------------------------------------------------------------ */

wk_tensor *wk_squeeze_at(wk_site site, wk_tensor *x, const int64_t *dims, int count)
{
    if (!wk__view_begin(&wk__op_squeeze, site, x)) return NULL;
    uint16_t mask;
    wk__geometry g;
    if (!wk__dims_mask(&wk__op_squeeze, site, x, dims, count, &mask)) return NULL;
    wk__geometry_of(wk__body_of(x), &g);
    for (int d = g.ndim; d-- > 0;)
        if (mask >> d & 1 && g.shape[d] == 1) wk__geometry_drop(&g, d);
    const wk__attr named = {.node = count > 1 ? "SqueezeBackward2" : "SqueezeBackward1"};
    return wk__view_as(&wk__op_squeeze, site, x, &g, count > 0 ? &named : NULL);
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

static void same_elements(wk__reference *r, int ndim, const int64_t *shape)
{
    memcpy(wk__reference_out(r, 0, ndim, shape), r->in[0].data, sizeof(double) * (size_t)wk__array_numel(&r->in[0]));
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
    same_elements(r, ndim, shape);
}

static void unsqueeze_reference(wk__reference *r)
{
    const wk__array *x = &r->in[0];
    int64_t shape[WK__MAX_DIMS];
    int d = 0;
    wk__dim(x->ndim + 1, wk__value_int(&r->args[1], 0), &d);
    for (int k = 0; k <= x->ndim; k++) shape[k] = k < d ? x->shape[k] : k == d ? 1 : x->shape[k - 1];
    same_elements(r, x->ndim + 1, shape);
}

static const char *const squeeze_samples[] = {
    "[1,3,1]", "[1,3,1], (0)", "[1,3,1], (-1)", "[1,3,1], (0,1)", "[]", "[1,0]", NULL};
static const char *const unsqueeze_samples[] = {"[3,4], 0", "[3,4], 1", "[3,4], -1", "[], 0", "[0], 1", NULL};

const wk__op wk__op_squeeze = {
    .name = "squeeze",
    .schema = "squeeze(Tensor self, int[]? dim=None) -> Tensor",
    .group = "view",
    .node = "SqueezeBackward0",
    .doc = "without the dimensions of size 1, or those of the named ones",
    .gradient = wk__reshape_back,
    .invoke = squeeze_invoke,
    .reference = squeeze_reference,
    .samples = squeeze_samples,
    .low = -3,
    .high = 3,
};
const wk__op wk__op_unsqueeze = {
    .name = "unsqueeze",
    .schema = "unsqueeze(Tensor self, int dim) -> Tensor",
    .group = "view",
    .node = "UnsqueezeBackward0",
    .doc = "with a new dimension of size 1 at this place",
    .gradient = wk__reshape_back,
    .invoke = unsqueeze_invoke,
    .reference = unsqueeze_reference,
    .samples = unsqueeze_samples,
    .low = -3,
    .high = 3,
};

/* ---- shapes of reshape ------------------------------------------------------------------------------------------- */

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
    int64_t shape[WK__MAX_DIMS];
    int ndim = 0;
    for (int d = 0; d < body->ndim; d++) {
        if (d > first && d <= last)
            shape[ndim - 1] *= body->shape[d];
        else
            shape[ndim++] = body->shape[d];
    }
    return wk_reshape_at(site, x, shape, ndim);
}

wk_tensor *wk_unflatten_at(wk_site site, wk_tensor *x, int64_t dim, const int64_t *sizes, int count)
{
    int d;
    if (!wk__view_begin(&wk__op_unflatten, site, x) || !wk__dim_of(&wk__op_unflatten, site, x, dim, 0, &d)) return NULL;
    const wk__body *body = wk__body_of(x);
    int64_t shape[2 * WK__MAX_DIMS], known = 1;
    if (body->ndim == 0 || count < 1 || body->ndim - 1 + count > WK__MAX_DIMS) {
        wk__op_error(&wk__op_unflatten, site, WK_ERR_SHAPE, &x, "a dimension of $a cannot become %d", count);
        return NULL;
    }
    for (int k = 0; k < body->ndim - 1 + count; k++)
        shape[k] = k < d ? body->shape[k] : k < d + count ? sizes[k - d] : body->shape[k - count + 1];
    for (int k = 0; k < count; k++)
        if (sizes[k] != -1 && __builtin_mul_overflow(known, sizes[k], &known)) known = 0;
    for (int k = 0; k < count; k++)
        if (sizes[k] == -1 && known > 0)
            shape[d + k] = body->shape[d] / known; /* of this dimension, not of all elements */
    return wk_reshape_at(site, x, shape, body->ndim - 1 + count);
}

wk_tensor *wk_expand_as_at(wk_site site, wk_tensor *x, wk_tensor *other)
{
    if (!wk__view_begin(&wk__op_expand_as, site, x) || !wk__check(other, site, "expand_as", "second operand"))
        return NULL;
    return wk_expand_at(site, x, wk__body_of(other)->shape, wk__body_of(other)->ndim);
}

wk_tensor *wk_view_as_at(wk_site site, wk_tensor *x, wk_tensor *other)
{
    if (!wk__view_begin(&wk__op_view_as, site, x) || !wk__check(other, site, "view_as", "second operand")) return NULL;
    return wk_reshape_at(site, x, wk__body_of(other)->shape, wk__body_of(other)->ndim);
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
    same_elements(r, ndim, shape);
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
    same_elements(r, ndim, shape);
}

static void view_as_reference(wk__reference *r)
{
    same_elements(r, r->in[1].ndim, r->in[1].shape);
}

static void expand_as_reference(wk__reference *r)
{
    const wk__array *x = &r->in[0], *like = &r->in[1];
    int64_t dense[WK__MAX_DIMS], stride[WK__MAX_DIMS];
    wk__strides_dense(x->ndim, x->shape, dense);
    for (int d = 0; d < like->ndim; d++) {
        int e = d - (like->ndim - x->ndim);
        stride[d] = e < 0 || x->shape[e] == 1 ? 0 : dense[e];
    }
    wk__reference_strided(r, like->ndim, like->shape, stride, 0);
}

static const char *const flatten_samples[] = {"[2,3,4]",    "[2,3,4], 1", "[2,3,4], 0, 1", "[]", "[2,0,3], 1",
                                              "[5], 0, -1", NULL};
static const char *const unflatten_samples[] = {"[6,2], 0, (2,3)", "[2,6], -1, (3,-1)", "[4], 0, (2,2,1)", NULL};
static const char *const expand_as_samples[] = {"[3,1], [3,4]", "[], [2,2]", "[1,3], [5,2,3]", NULL};
static const char *const view_as_samples[] = {"[2,6], [3,4]", "[1], []", "[0,2], [3,0]", NULL};

const wk__op wk__op_flatten = {
    .name = "flatten",
    .schema = "flatten(Tensor self, int start_dim=0, int end_dim=-1) -> Tensor",
    .group = "view",
    .node = "ViewBackward0",
    .doc = "several dimensions as one",
    .gradient = wk__reshape_back,
    .invoke = flatten_invoke,
    .reference = flatten_reference,
    .samples = flatten_samples,
    .low = -3,
    .high = 3,
};
const wk__op wk__op_unflatten = {
    .name = "unflatten",
    .schema = "unflatten(Tensor self, int dim, int[] sizes) -> Tensor",
    .group = "view",
    .node = "ViewBackward0",
    .doc = "one dimension as several",
    .gradient = wk__reshape_back,
    .invoke = unflatten_invoke,
    .reference = unflatten_reference,
    .samples = unflatten_samples,
    .low = -3,
    .high = 3,
};
const wk__op wk__op_view_as = {
    .name = "view_as",
    .schema = "view_as(Tensor self, Tensor other) -> Tensor",
    .group = "view",
    .node = "ViewBackward0",
    .doc = "in the shape of another tensor",
    .gradient = wk__reshape_back,
    .invoke = like_invoke,
    .reference = view_as_reference,
    .samples = view_as_samples,
    .low = -3,
    .high = 3,
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
