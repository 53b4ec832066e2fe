/* SPDX-License-Identifier: Apache-2.0 */
/* Products with a weight of quantised blocks by the kernel of a backend (WK__QUANTIZED in backend/work.h). */
#include "ops/linalg/matmul.h"
#include "quantized.h"
#include <string.h>

#define OP (&wk__op_quantized_linear)

enum { R, O, I, B, DIMS };

bool wk__quantized_has_kernel(const wk__quantized_product *p)
{
    if (!p->x) return false;
    const wk__body *x = wk__body_of(p->x);
    const wk__device *device = x->storage->value->device;
    return x->dtype == WK_F32 && device->backend->supports(device->state, WK__QUANTIZED, WK_F32, WK__LAYOUT_STRIDES);
}

/* Sets operand k of a record, a matrix with these dimensions of the space. */
static void set_matrix(wk__record *r, int k, wk_tensor *x, int row, int column)
{
    const wk__body *body = wk__body_of(x);
    int64_t stride[DIMS] = {0};
    stride[row] = body->shape[0] == 1 ? 0 : body->stride[0];
    stride[column] = body->shape[1] == 1 ? 0 : body->stride[1];
    wk__record_ref(r, k, body, stride);
}

/* Records the product of in[0], a matrix, and in[1]. */
static wk_tensor *multiply(wk_tensor *in[2], wk_block_format format)
{
    wk_context *context = wk__context();
    wk__device *device = wk__prepare_operands(context, OP, (wk_site){0}, in, 2, WK__COLOCATE_IF_SOFT);
    if (!device) return NULL;
    const wk__body *x = wk__body_of(in[0]), *blocks = wk__body_of(in[1]);
    const int64_t space[DIMS] = {x->shape[0], blocks->shape[0], x->shape[1], blocks->shape[1]};
    wk_tensor *out = wk__tensor_pending(context, device, WK_F32, 2, space, (wk_site){0}, OP->name);
    if (!out) return NULL;
    wk__record *r = wk__record_begin(context, WK__QUANTIZED, OP, device, (wk_site){0}, DIMS, space, 1, 2);
    if (!r) return wk__discard_result(out);
    r->mode = (int8_t)format;
    set_matrix(r, 0, out, R, O);
    set_matrix(r, 1, in[0], R, I);
    set_matrix(r, 2, in[1], O, B);
    wk__record_commit(context, r);
    return out;
}

/* Returns x, a matrix, with contiguous rows. */
static wk_tensor *with_rows(wk_tensor *x)
{
    return !x || wk__body_of(x)->stride[1] == 1 ? x : wk_contiguous(x);
}

/* Returns blocks with contiguous rows at even offsets. */
static wk_tensor *with_even_rows(wk_tensor *blocks)
{
    wk_tensor *rows = with_rows(blocks);
    if (!rows) return NULL;
    const wk__body *body = wk__body_of(rows);
    const bool even = body->offset % 2 == 0 && (body->shape[0] == 1 || body->stride[0] % 2 == 0);
    return even ? rows : wk_clone(rows);
}

wk_tensor *wk__quantized_by_kernel(const wk__quantized_product *p)
{
    wk_tensor *in[2] = {with_rows(wk__flatten_to_2d(p->x)), with_even_rows(p->blocks)};
    const wk__body *x = wk__body_of(p->x);
    int64_t shape[WK__MAX_DIMS];
    memcpy(shape, x->shape, sizeof shape);
    shape[x->ndim - 1] = wk_size(p->blocks, 0);
    wk_tensor *out = in[0] && in[1] ? multiply(in, p->format) : NULL;
    return wk_reshape_at((wk_site){0}, out, shape, x->ndim);
}
