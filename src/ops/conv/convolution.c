/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions as contractions with computed coordinates (convolution.h). Indices of the space and the summed ones,
 * with the dimensions of the factors a and b among them ('-' is a computed coordinate):
 *
 *     result     space            summed      a            b
 *     y          n g o t..        c k..       w: g o c k   x: n g c -
 *     x          n g c p..        o k..       w: g o c k   y: n g o -
 *     w          g o c k..        n t..       y: n g o t   x: n g c -
 *
 * The coordinate is p = stride t + dilation k - padding, or t = (p + padding - dilation k) / stride. */
#include "convolution.h"
#include "backend/contraction.h"
#include "tensor/tensor.h"
#include <string.h>

int wk__convolution_shape(const wk__convolution *c, wk__conv_role role, int64_t shape[])
{
    int ndim = 0;
    if (role == WK__CONV_W) {
        shape[ndim++] = c->groups * c->out;
        shape[ndim++] = c->in;
    } else {
        if (!c->unbatched) shape[ndim++] = c->n;
        shape[ndim++] = c->groups * (role == WK__CONV_X ? c->in : c->out);
    }
    const int64_t *spatial = role == WK__CONV_X ? c->size : role == WK__CONV_W ? c->kernel : c->result;
    for (int d = 0; d < c->dims; d++) shape[ndim++] = spatial[d];
    return ndim;
}

/* A tensor with its channels split by groups: (n, g, channels, size..) or (g, o, c, kernel..). */
typedef struct split_tensor {
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
} split_tensor;

static void split_groups(const wk__convolution *c, wk__conv_role role, const int64_t *stride, split_tensor *s)
{
    const int batched = !c->unbatched;
    if (role == WK__CONV_W) {
        const int64_t shape[] = {c->groups, c->out, c->in}, strides[] = {c->out * stride[0], stride[0], stride[1]};
        memcpy(s->shape, shape, sizeof shape);
        memcpy(s->stride, strides, sizeof strides);
    } else {
        const int64_t channels = role == WK__CONV_X ? c->in : c->out;
        const int64_t shape[] = {c->n, c->groups, channels};
        const int64_t strides[] = {batched ? stride[0] : 0, channels * stride[batched], stride[batched]};
        memcpy(s->shape, shape, sizeof shape);
        memcpy(s->stride, strides, sizeof strides);
    }
    const int first = role == WK__CONV_W ? 2 : batched + 1;
    const int64_t *spatial = role == WK__CONV_X ? c->size : role == WK__CONV_W ? c->kernel : c->result;
    for (int d = 0; d < c->dims; d++) {
        s->shape[3 + d] = spatial[d];
        s->stride[3 + d] = stride[first + d];
    }
}

/* The roles of the factors a and b for each result, and the index of each of their first three dimensions: an index of
 * the space, or SUMMED for the first summed index. */
enum { SUMMED = -1 };
typedef struct product {
    wk__conv_role a, b;
    int a_index[3], b_index[3];
} product;
static const product products[WK__CONV_ROLES] = {
    [WK__CONV_Y] = {WK__CONV_W, WK__CONV_X, {1, 2, SUMMED}, {0, 1, SUMMED}},
    [WK__CONV_X] = {WK__CONV_W, WK__CONV_Y, {1, SUMMED, 2}, {0, 1, SUMMED}},
    [WK__CONV_W] = {WK__CONV_Y, WK__CONV_X, {SUMMED, 0, 1}, {SUMMED, 0, 2}},
};

/* Spreads the strides of a factor over the indices: those of the space, then the summed ones. The spatial dimensions of
 * a are the last summed indices; those of b are computed. */
static void spread_strides(const split_tensor *s, const int index[3], int ndim, int dims, bool spatial, int64_t over[])
{
    memset(over, 0, sizeof *over * WK__MAX_INDICES);
    for (int k = 0; k < 3; k++) over[index[k] == SUMMED ? ndim : index[k]] = s->stride[k];
    for (int d = 0; d < dims && spatial; d++) over[ndim + 1 + d] = s->stride[3 + d];
}

static void describe_coordinates(const wk__convolution *c, wk__conv_role result, const split_tensor *b,
                                 wk__contraction *sum)
{
    const int ndim = 3 + c->dims;
    sum->naffine[1] = (int8_t)c->dims;
    for (int d = 0; d < c->dims; d++) {
        wk__affine_index *q = &sum->affine[1][d];
        const bool turned = result == WK__CONV_X; /* the coordinate is that of y */
        const int64_t inner = result == WK__CONV_W ? c->stride[d] : turned ? -c->dilation[d] : c->dilation[d];
        const int64_t outer = result == WK__CONV_W ? c->dilation[d] : turned ? 1 : c->stride[d];
        *q = (wk__affine_index){.offset = turned ? c->padding[d] : -c->padding[d],
                                .divisor = turned ? c->stride[d] : 1,
                                .extent = b->shape[3 + d],
                                .stride = b->stride[3 + d]};
        q->coefficient[3 + d] = outer;
        q->coefficient[ndim + 1 + d] = inner;
    }
}

static void describe(const wk__convolution *c, wk__conv_role result, const split_tensor of[], int dtype,
                     int64_t strides[2][WK__MAX_INDICES], wk__contraction *sum)
{
    const product *p = &products[result];
    const split_tensor *a = &of[p->a];
    const int ndim = 3 + c->dims;
    *sum = (wk__contraction){.dtype = wk__accumulator_dtype(dtype), .nsummed = (int8_t)(1 + c->dims)};
    spread_strides(a, p->a_index, ndim, c->dims, true, strides[0]);
    spread_strides(&of[p->b], p->b_index, ndim, c->dims, false, strides[1]);
    for (int k = 0; k < 3; k++)
        if (p->a_index[k] == SUMMED) sum->extent[0] = a->shape[k];
    for (int d = 0; d < c->dims; d++) sum->extent[1 + d] = a->shape[3 + d];
    for (int factor = 0; factor < WK__FACTORS; factor++)
        memcpy(sum->stride[factor], strides[factor] + ndim, sizeof sum->stride[factor]);
    describe_coordinates(c, result, &of[p->b], sum);
}

wk_tensor *wk__convolution_record(const wk__op *op, wk_site site, const wk__convolution *c, wk__conv_role result,
                                  wk_tensor *const of[WK__CONV_ROLES])
{
    const product *p = &products[result];
    wk_context *context = wk__context();
    wk_tensor *in[2] = {of[p->a], of[p->b]};
    wk__device *device = wk__prepare_operands(context, op, site, in, 2, WK__COLOCATE_IF_SOFT);
    if (!device) return NULL;
    const wk_dtype dtype = wk__body_of(in[0])->dtype;
    int64_t shape[WK__MAX_DIMS], dense[WK__MAX_DIMS], strides[2][WK__MAX_INDICES];
    const int ndim = wk__convolution_shape(c, result, shape);
    int64_t bytes;
    if (!wk__dense_bytes(ndim, shape, dtype, &bytes)) {
        wk__op_error(op, site, WK_ERR_SHAPE, in, "the result of $a and $b exceeds 2^63 bytes");
        return NULL;
    }
    wk__strides_dense(ndim, shape, dense);
    split_tensor split[WK__CONV_ROLES];
    split_groups(c, p->a, wk__body_of(in[0])->stride, &split[p->a]);
    split_groups(c, p->b, wk__body_of(in[1])->stride, &split[p->b]);
    split_groups(c, result, dense, &split[result]);
    wk__contraction sum;
    describe(c, result, split, (int)dtype, strides, &sum);
    const char *problem = wk__contraction_check(&sum, 3 + c->dims, split[result].shape);
    if (problem) {
        wk__op_error(op, site, WK_ERR_SHAPE, in, "$a and $b are too large: %s", problem);
        return NULL;
    }
    wk_tensor *out = wk__tensor_pending(context, device, dtype, ndim, shape, site, op->name);
    if (!out) return NULL;
    wk__record *r =
        wk__record_begin(context, WK__CONTRACTION, op, device, site, 3 + c->dims, split[result].shape, 1, 2);
    if (!r) return wk__discard_result(out);
    r->compute = (uint8_t)dtype;
    wk__record_ref(r, 0, wk__body_of(out), split[result].stride);
    wk__record_ref(r, 1, wk__body_of(in[0]), strides[0]);
    wk__record_ref(r, 2, wk__body_of(in[1]), strides[1]);
    *wk__record_sum(r) = sum;
    wk__record_commit(context, r);
    return out;
}
