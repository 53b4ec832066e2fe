/* SPDX-License-Identifier: Apache-2.0 */
/* Records a convolution as an op would, to test the engine before such an op exists. */
#ifndef TESTS_SUPPORT_CONV2D_H
#define TESTS_SUPPORT_CONV2D_H

#include "wick.h"

#include "engine/op_queue.h"

/* y[n, o, i, j] = sum over c, u, v of w[o, c, u, v] x[n, c, stride i + u - padding, stride j + v - padding] */
static inline wk_tensor *record_conv2d(wk_tensor *x, wk_tensor *w, int64_t stride, int64_t padding)
{
    static const wk__op op = {.name = "conv2d"};
    wk_context *context = wk__context();
    const wk__body *of_x = wk__body_of(x), *of_w = wk__body_of(w);
    int64_t shape[] = {of_x->shape[0], of_w->shape[0], 0, 0}, along_w[] = {0, of_w->stride[0], 0, 0},
            along_x[] = {of_x->stride[0], 0, 0, 0};
    for (int d = 2; d < 4; d++) shape[d] = (of_x->shape[d] + 2 * padding - of_w->shape[d]) / stride + 1;
    if (!wk__prepare_operand(context, x, WK_HERE) || !wk__prepare_operand(context, w, WK_HERE)) return NULL;
    wk_tensor *out =
        wk__tensor_pending(context, of_x->storage->device, (wk_dtype)of_x->dtype, 4, shape, WK_HERE, "conv2d");
    assert_non_null(out);
    wk__record *r =
        wk__record_begin(context, WK__CONTRACTION, &op, of_x->storage->device, WK_HERE, 4, shape, 1, WK__FACTORS);
    assert_non_null(r);
    r->compute = of_x->dtype;
    wk__record_ref(r, 0, wk__body_of(out), wk__body_of(out)->stride);
    wk__record_ref(r, 1, of_w, along_w);
    wk__record_ref(r, 2, of_x, along_x);
    wk__contraction *sum = wk__record_sum(r);
    *sum = (wk__contraction){.dtype = wk__accumulator_dtype(of_x->dtype), .nsummed = 3, .naffine = {0, 2}};
    for (int i = 0; i < 3; i++) {
        sum->extent[i] = of_w->shape[1 + i];
        sum->stride[0][i] = of_w->stride[1 + i];
    }
    sum->stride[1][0] = of_x->stride[1];
    for (int d = 0; d < 2; d++) {
        wk__affine_index *q = &sum->affine[1][d];
        *q = (wk__affine_index){
            .offset = -padding, .divisor = 1, .extent = of_x->shape[2 + d], .stride = of_x->stride[2 + d]};
        q->coefficient[2 + d] = stride;
        q->coefficient[5 + d] = 1;
    }
    wk__record_commit(context, r);
    return out;
}

#endif
