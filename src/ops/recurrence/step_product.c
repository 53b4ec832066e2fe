/* SPDX-License-Identifier: Apache-2.0 */
/* Products of a state of few rows with a weight that all steps share (recurrence.h).
 *
 * A product packs a large weight into panels of its tiles' width, which costs about as much as the product itself if
 * the state has few rows. So on the CPU the weight is copied into panels once, and each panel is one matrix of a
 * product of a stack: it is small enough for the product to read it directly.
 *
 *     weight (K, N)   k0 [ p0 p0 p1 p1 ]        panels (N / width, K, width)   [ k0 p0 p0 ]   [ k0 p1 p1 ]
 *                     k1 [ p0 p0 p1 p1 ]                                       [ k1 p0 p0 ]   [ k1 p1 p1 ] */
#include "backend/contraction.h"
#include "recurrence.h"

enum {
    PANEL_COLUMNS = 32,        /* two vectors of AVX-512, four of AVX2 */
    FEWEST_ROWS = 17,          /* a product of fewer rows reads the weight as it is */
    IN_PLACE_BYTES = 256 << 10 /* so does one by a smaller weight */
};

wk__step_weight wk__step_weight_of(wk_site site, wk_tensor *weight, int64_t rows, bool differentiable)
{
    wk__step_weight own = {.matrix = weight};
    if (!weight) return own;
    const wk__body *body = wk__body_of(weight);
    const int64_t k = body->shape[0], n = body->shape[1];
    own.columns = n;
    if (differentiable) return own;
    own.panels = wk_device_of(weight).kind == WK_CPU && rows >= FEWEST_ROWS && n % PANEL_COLUMNS == 0 &&
                 k * n > IN_PLACE_BYTES / (int64_t)wk_dtype_size(body->dtype);
    if (own.panels) {
        own.matrix = wk_reshape_at(site, weight, (int64_t[]){k, n / PANEL_COLUMNS, PANEL_COLUMNS}, 3);
        own.matrix = wk_permute_at(site, own.matrix, (int64_t[]){1, 0, 2}, 3);
    }
    own.matrix = wk_contiguous_at(site, own.matrix);
    return own;
}

/* Records the product over (panel, row, column of the panel). */
static wk_tensor *record(const wk__op *op, wk_site site, wk_tensor *x, const wk__step_weight *weight)
{
    wk_context *context = wk__context();
    wk_tensor *in[2] = {x, weight->matrix};
    wk__device *device = wk__prepare_operands(context, op, site, in, 2, WK__COLOCATE_IF_SOFT);
    if (!device) return NULL;
    const wk__body *a = wk__body_of(in[0]), *b = wk__body_of(in[1]);
    const int64_t rows = a->shape[0], columns = weight->columns, size[2] = {rows, columns};
    wk_tensor *out = wk__tensor_pending(context, device, a->dtype, 2, size, site, op->name);
    if (!out) return NULL;
    const int64_t space[3] = {b->shape[0], rows, PANEL_COLUMNS};
    wk__record *r = wk__record_begin(context, WK__CONTRACTION, op, device, site, 3, space, 1, 2);
    if (!r) return wk__discard_result(out);
    r->compute = a->dtype;
    wk__record_ref(r, 0, wk__body_of(out), (int64_t[]){PANEL_COLUMNS, columns, 1});
    wk__record_ref(r, 1, a, (int64_t[]){0, a->stride[0], 0});
    wk__record_ref(r, 2, b, (int64_t[]){b->stride[0], 0, b->stride[2]});
    wk__contraction *sum = wk__record_sum(r);
    *sum = (wk__contraction){.dtype = wk__accumulator_dtype(a->dtype), .nsummed = 1, .extent = {b->shape[1]}};
    sum->stride[0][0] = a->stride[1];
    sum->stride[1][0] = b->stride[1];
    wk__record_commit(context, r);
    return out;
}

wk_tensor *wk__step_product(const wk__op *op, wk_site site, wk_tensor *x, const wk__step_weight *weight)
{
    if (!x || !weight->matrix) return NULL;
    return weight->panels ? record(op, site, x, weight) : wk_matmul_at(site, x, weight->matrix);
}
