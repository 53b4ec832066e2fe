/* as_strided: any geometry over a storage; and CopySlices, the node of a base that was written in place through a view. */
#include "../base/alloc.h"
#include "forms.h"
#include "reference.h"
#include <string.h>

wk_tensor *wk_as_strided_at(wk_site site, wk_tensor *x, const int64_t *shape, const int64_t *stride, int ndim,
                            int64_t offset)
{
    if (!wk__view_begin(&wk__op_as_strided, site, x) ||
        !wk__array_check(shape, ndim, site, "as_strided", "the shape") ||
        !wk__array_check(stride, ndim, site, "as_strided", "the list of strides"))
        return NULL;
    const wk__body *body = wk__body_of(x);
    int64_t last = 0, step, bytes, start = 0;
    bool fits = ndim >= 0 && ndim <= WK__MAX_DIMS && offset >= 0 && wk__add_size(body->offset, offset, &start);
    bool empty = false;
    for (int d = 0; d < ndim && fits; d++) {
        fits = shape[d] >= 0 && stride[d] >= 0 && wk__mul_size(shape[d] > 0 ? shape[d] - 1 : 0, stride[d], &step) &&
               wk__add_size(last, step, &last);
        empty = empty || shape[d] == 0;
    }
    fits = fits && wk__dense_bytes(ndim, shape, body->dtype, &bytes);
    int64_t room = body->storage->bytes / (int64_t)wk_dtype_size(body->dtype) - start;
    if (!fits || (!empty && last >= room)) {
        wk__op_error(&wk__op_as_strided, site, WK_ERR_SHAPE, &x,
                     "the geometry reaches past the storage of $a, or has a negative size or stride");
        return NULL;
    }
    wk__attr attr = {.i = {start, ndim, body->offset}};
    for (int d = 0; d < ndim; d++) { /* lists of length 0 may be NULL */
        attr.list[d] = stride[d];
        attr.list2[d] = shape[d];
    }
    memcpy(attr.list3, body->stride, sizeof attr.list3);
    return wk__view(&wk__op_as_strided, site, x, start, ndim, shape, stride, &attr);
}

/* Zeros that lie as the base lies, with the gradient written where the view was. Where the view saw an element several times
 * (stride 0), its gradients are summed first. */
static void gradient(wk__gradient *g)
{
    const wk__attr *a = g->attr;
    const wk__shape *base = &g->node->shape[0];
    wk_tensor *grad = g->out[0];
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS], dims[WK__MAX_DIMS];
    int ndim = 0, repeated = 0;
    for (int d = 0; d < a->i[1]; d++) {
        if (a->list[d] == 0 && a->list2[d] > 1) {
            dims[repeated++] = d;
        } else {
            shape[ndim] = a->list2[d];
            stride[ndim++] = a->list[d];
        }
    }
    if (repeated) grad = wk_sum_at((wk_site){0}, grad, dims, repeated, NULL);
    wk_options like = {.size = sizeof like, .dtype = base->dtype};
    if (!grad) return;
    like.device = wk_device_of(grad);
    like.dtype = wk_dtype_of(grad);
    wk_tensor *zeros = wk_zeros_at((wk_site){0}, base->size, base->ndim, &like);
    wk_tensor *part = wk_as_strided_at((wk_site){0}, zeros, shape, stride, ndim, a->i[0] - a->i[2]);
    if (part && wk__body_overlaps(wk__body_of(part)))
        wk__error_set((wk_site){0}, WK_ERR_UNSUPPORTED,
                      "as_strided: the gradient of a view whose elements overlap by unequal steps");
    else if (part && wk_copy__at((wk_site){0}, part,
                                 grad)) /* seen as the base only now: with the history that the copy gave it */
        g->in[0] = wk_as_strided_at((wk_site){0}, zeros, base->size, a->list3, base->ndim, 0);
}

static int invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    if (args[1].count != args[2].count) {
        wk__error_set(site, WK_ERR_ARGUMENT, "as_strided: size and stride have different lengths");
        return -1;
    }
    return wk__one(out, wk_as_strided_at(site, wk__value_tensor(&args[0]), args[1].ints, args[2].ints, args[1].count,
                                         wk__value_int(&args[3], 0)));
}

static void reference(wk__reference *r)
{
    const wk_value *a = r->args;
    double *out = wk__reference_out(r, 0, a[1].count, a[1].ints);
    for (int64_t k = 0; k < wk__array_numel(&r->out[0]); k++) {
        int64_t rest = k, at = wk__value_int(&a[3], 0);
        for (int d = a[1].count; d-- > 0; rest /= a[1].ints[d]) at += rest % a[1].ints[d] * a[2].ints[d];
        out[k] = r->in[0].data[at];
    }
}

static const char *const samples[] = {"[3,4], (4,3), (1,4)", "[6], (2,2), (3,1), 1", "[5], (3,5), (0,1)",
                                      "[2,3], (), (), 4", NULL};

const wk__op wk__op_as_strided = {
    .name = "as_strided",
    .schema = "as_strided(Tensor self, int[] size, int[] stride, int storage_offset=0) -> Tensor",
    .group = "view",
    .node = "AsStridedBackward0",
    .doc = "any shape and strides over the elements of self, which must be dense",
    .gradient = gradient,
    .invoke = invoke,
    .reference = reference,
    .samples = samples,
    .low = -3,
    .high = 3,
    .dense = true,
};

const wk__op wk__op_copy_slices = {.name = "copy_slices", .node = "CopySlices", .gradient = wk__copy_slices_gradient};
