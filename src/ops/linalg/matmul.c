/* SPDX-License-Identifier: Apache-2.0 */
/* matmul, mm, bmm, mv, dot: one record each, whatever the dimensions.
 *
 *   space        (batch.., m, n)
 *   a            (batch.., m, k)    a vector on the left is one row, m = 1
 *   b            (batch.., k, n)    a vector on the right is one column, n = 1
 *
 * Batch dimensions broadcast: stride 0. The backend makes one tall product of batches that share b. */
#include "base/alloc.h"
#include "matmul.h"
#include <string.h>

/* ---- geometry ---------------------------------------------------------------------------------------------------- */

/* An operand as a stack of matrices. */
typedef struct matrix_stack {
    int ndim; /* at least 2 */
    int64_t shape[WK__MAX_DIMS + 1], stride[WK__MAX_DIMS + 1];
} matrix_stack;

/* Index space of one product, and the operands' strides over it. */
typedef struct matmul_geometry {
    int ndim, nbatch, nout;
    int64_t k;
    int64_t space[WK__MAX_DIMS], out[WK__MAX_DIMS];            /* out: the result's shape */
    int64_t a[WK__MAX_DIMS], b[WK__MAX_DIMS], c[WK__MAX_DIMS]; /* strides over the index space */
    int64_t a_step, b_step;                                    /* strides along the summed dimension */
} matmul_geometry;

static void as_matrix_stack(const wk__body *body, bool column, matrix_stack *m)
{
    m->ndim = body->ndim;
    memcpy(m->shape, body->shape, sizeof *m->shape * body->ndim);
    memcpy(m->stride, body->stride, sizeof *m->stride * body->ndim);
    if (body->ndim > 1) return;
    m->ndim = 2;
    m->shape[!column] = body->shape[0];
    m->stride[!column] = body->stride[0];
    m->shape[column] = 1;
    m->stride[column] = 0;
}

static void transpose_last_two(matrix_stack *m)
{
    int64_t shape = m->shape[m->ndim - 1], stride = m->stride[m->ndim - 1];
    m->shape[m->ndim - 1] = m->shape[m->ndim - 2];
    m->stride[m->ndim - 1] = m->stride[m->ndim - 2];
    m->shape[m->ndim - 2] = shape;
    m->stride[m->ndim - 2] = stride;
}

/* Computes strides over (batch.., rows, columns). */
static void strides_over(const matmul_geometry *p, const matrix_stack *m, int64_t *stride)
{
    int lead = p->nbatch + 2 - m->ndim;
    for (int d = 0; d < p->nbatch + 2; d++) {
        bool absent = d < lead || (d < p->nbatch && m->shape[d - lead] == 1);
        stride[d] = absent ? 0 : m->stride[d - lead];
    }
}

/* True if the sizes of x after the first multiply to `want`, as for images passed to a linear layer. */
static bool flattens_to(const wk__body *x, int64_t want)
{
    int64_t product = 1;
    for (int d = 1; d < x->ndim; d++)
        if (!wk__mul_size(product, x->shape[d], &product)) return false;
    return x->ndim > 2 && product == want;
}

static void report_inner_size(const wk__op *op, wk_site site, wk_tensor *const in[], int64_t have, int64_t want,
                              bool transpose_b)
{
    if (!transpose_b && wk__body_of(in[0])->ndim == 1 && wk__body_of(in[1])->ndim == 1) {
        wk__op_error(op, site, WK_ERR_SHAPE, in,
                     "sizes differ: $a and $b; the dot product needs vectors of equal size");
        return;
    }
    const char *place = transpose_b ? "last" : wk__body_of(in[1])->ndim == 1 ? "only" : "second-to-last";
    const char *mend = transpose_b && flattens_to(wk__body_of(in[0]), want)
                           ? "flatten the input first: add wk_nn_flatten(), or wk_flatten(x, 1)"
                       : transpose_b
                           ? "a weight has shape (out, in) and the last dimension of the input must equal `in`"
                           : "transpose one with wk_transpose";
    wk__op_error(op, site, WK_ERR_SHAPE, in,
                 "inner dimensions differ: $a and $b (last size of the first %lld, %s size of the second %lld); %s",
                 (long long)have, place, (long long)want, mend);
}

static bool compute_geometry(const wk__op *op, wk_site site, wk_tensor *const in[], bool turned, matmul_geometry *p)
{
    const wk__body *left = wk__body_of(in[0]), *right = wk__body_of(in[1]);
    matrix_stack a, b;
    int64_t bytes;
    if (left->ndim == 0 || right->ndim == 0) {
        wk__op_error(op, site, WK_ERR_SHAPE, in,
                     "operands must have at least one dimension: $a and $b; use wk_mul to multiply by a scalar");
        return false;
    }
    as_matrix_stack(left, false, &a);
    as_matrix_stack(right, true, &b);
    if (turned) transpose_last_two(&b);
    p->k = a.shape[a.ndim - 1];
    if (p->k != b.shape[b.ndim - 2]) {
        report_inner_size(op, site, in, p->k, b.shape[b.ndim - 2], turned);
        return false;
    }
    if (!wk__broadcast(a.ndim - 2, a.shape, b.ndim - 2, b.shape, &p->nbatch, p->space)) {
        wk__op_error(op, site, WK_ERR_SHAPE, in,
                     "the batch dimensions of $a and $b (all but the last two) do not broadcast");
        return false;
    }
    p->ndim = p->nbatch + 2;
    p->space[p->nbatch] = a.shape[a.ndim - 2];
    p->space[p->nbatch + 1] = b.shape[b.ndim - 1];
    strides_over(p, &a, p->a);
    strides_over(p, &b, p->b);
    p->a_step = p->a[p->nbatch + 1];
    p->b_step = p->b[p->nbatch];
    p->a[p->nbatch + 1] = p->b[p->nbatch] = 0;
    memcpy(p->out, p->space, sizeof p->out);
    p->nout = p->nbatch;
    if (left->ndim > 1) p->out[p->nout++] = p->space[p->nbatch];
    if (right->ndim > 1) p->out[p->nout++] = p->space[p->nbatch + 1];
    if (!wk__dense_bytes(p->nout, p->out, left->dtype, &bytes)) {
        wk__op_error(op, site, WK_ERR_SHAPE, in, "the product of $a and $b exceeds 2^63 bytes");
        return false;
    }
    wk__strides_dense(p->ndim, p->space, p->c);
    return true;
}

static bool check_dtypes(const wk__op *op, wk_site site, wk_tensor *const in[])
{
    wk_dtype dtype = wk__body_of(in[0])->dtype;
    if (dtype == wk__body_of(in[1])->dtype && dtype != WK_BOOL) return true;
    if (dtype == WK_BOOL)
        wk__op_error(op, site, WK_ERR_DTYPE, in,
                     "bool is not supported: $a and $b; convert with wk_to_dtype(x, WK_F32)");
    else
        wk__op_error(op, site, WK_ERR_DTYPE, in, "$a and $b have different dtypes; convert one with wk_to_dtype");
    return false;
}

/* ---- recording --------------------------------------------------------------------------------------------------- */

static void fill_sum(wk__contraction *sum, const matmul_geometry *p, int dtype)
{
    sum->dtype = wk__accumulator_dtype(dtype);
    sum->nsummed = 1;
    sum->naffine[0] = sum->naffine[1] = 0;
    sum->extent[0] = p->k;
    sum->stride[0][0] = p->a_step;
    sum->stride[1][0] = p->b_step;
}

static wk_tensor *record(const wk__op *op, wk_site site, wk_tensor *in[], bool turned)
{
    matmul_geometry p;
    wk_context *context = wk__context();
    wk__device *device = wk__prepare_operands(context, op, site, in, 2, WK__COLOCATE_IF_SOFT);
    if (!device || !check_dtypes(op, site, in) || !compute_geometry(op, site, in, turned, &p)) return NULL;
    wk_tensor *out = wk__tensor_pending(context, device, wk__body_of(in[0])->dtype, p.nout, p.out, site, op->name);
    if (!out) return NULL;
    wk__record *r = wk__record_begin(context, WK__CONTRACTION, op, device, site, p.ndim, p.space, 1, 2);
    if (!r) return wk__discard_result(out);
    r->compute = wk__body_of(out)->dtype;
    wk__record_ref(r, 0, wk__body_of(out), p.c);
    wk__record_ref(r, 1, wk__body_of(in[0]), p.a);
    wk__record_ref(r, 2, wk__body_of(in[1]), p.b);
    fill_sum(wk__record_sum(r), &p, r->compute);
    wk__record_commit(context, r);
    return out;
}

wk_tensor *wk__matmul_opmath(const wk__op *op, wk_site site, wk_tensor *in[], bool turned)
{
    matmul_geometry p; /* errors refer to the operands as passed */
    if (!wk__prepare_operands(wk__context(), op, site, in, 2, WK__COLOCATE_IF_SOFT) || !check_dtypes(op, site, in) ||
        !compute_geometry(op, site, in, turned, &p))
        return NULL;
    wk_tensor *wide[2] = {wk__to_opmath(in[0]), wk__to_opmath(in[1])};
    return wide[0] && wide[1] ? record(op, site, wide, turned) : NULL;
}

/* node: printed as grad_fn; NULL: the op's own. */
static wk_tensor *record_with_node(const wk__op *op, const char *node, wk_site site, wk_tensor *a, wk_tensor *b)
{
    wk_tensor *in[2] = {a, b}, *out = record(op, site, in, false);
    if (!out || !wk__needs_grad_fn(wk__context(), in, 2)) return out;
    return wk__node_attach(op, site, in, 2, &out, 1, node ? &(wk__attr){.grad_fn_name = node} : NULL) ? out : NULL;
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

wk_tensor *wk__flatten_to_2d(wk_tensor *x)
{
    if (!x || wk__body_of(x)->ndim == 2) return x;
    const wk__body *body = wk__body_of(x);
    int64_t shape[2] = {wk__numel(body->ndim - 1, body->shape), body->shape[body->ndim - 1]};
    return wk_reshape_at((wk_site){0}, x, shape, 2);
}

static wk_tensor *transposed_view(wk_tensor *x)
{
    return wk_transpose_at((wk_site){0}, x, -1, -2);
}

/* With G the gradient as (batch.., m, n), the gradient of a is G b^T and that of b is a^T G. If a has batches and b has
 * none, the sum over them is part of one product of tall matrices. */
void wk__matmul_gradient(const wk__grad_ctx *g, wk_tensor *grad, int k)
{
    const wk_site here = {0};
    const bool row = g->node->shape[k].ndim == 1, column = g->node->shape[k + 1].ndim == 1;
    if (row) grad = wk_unsqueeze_at(here, grad, column ? 0 : -2);
    if (column) grad = wk_unsqueeze_at(here, grad, -1);
    if (wk__needs_input_grad(g, k)) {
        wk_tensor *b = wk__saved(g, k + 1);
        if (column) b = wk_unsqueeze_at(here, b, -1);
        g->in[k] = wk_matmul_at(here, grad, transposed_view(b));
    }
    if (wk__needs_input_grad(g, k + 1)) {
        wk_tensor *a = wk__saved(g, k);
        if (row) a = wk_unsqueeze_at(here, a, 0);
        if (g->node->shape[k].ndim > 2 && g->node->shape[k + 1].ndim <= 2) {
            a = wk__flatten_to_2d(a);
            grad = wk__flatten_to_2d(grad);
        }
        wk_tensor *of_b = wk_matmul_at(here, transposed_view(a), grad);
        g->in[k + 1] = column ? wk_squeeze_at(here, of_b, (const int64_t[]){-1}, 1) : of_b;
    }
}

static void gradient(wk__grad_ctx *g)
{
    wk__matmul_gradient(g, g->out[0], 0);
}

/* ---- the ops ----------------------------------------------------------------------------------------------------- */

static bool check_ndims(const wk__op *op, wk_site site, wk_tensor *a, wk_tensor *b, int na, int nb)
{
    wk_tensor *in[2] = {a, b};
    if (!wk__check_tensor(a, site, op->name, "first operand") || !wk__check_tensor(b, site, op->name, "second operand"))
        return false;
    if (wk__body_of(a)->ndim == na && wk__body_of(b)->ndim == nb) return true;
    wk__op_error(op, site, WK_ERR_SHAPE, in,
                 "expected %d-d and %d-d operands, got $a and $b; use wk_matmul for other shapes", na, nb);
    return false;
}

static wk_tensor *record_checked(const wk__op *op, wk_site site, wk_tensor *a, wk_tensor *b, int na, int nb)
{
    return check_ndims(op, site, a, b, na, nb) ? record_with_node(op, NULL, site, a, b) : NULL;
}

wk_tensor *wk_mm_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return record_checked(&wk__op_mm, site, a, b, 2, 2);
}
wk_tensor *wk_mv_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return record_checked(&wk__op_mv, site, a, b, 2, 1);
}
wk_tensor *wk_dot_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return record_checked(&wk__op_dot, site, a, b, 1, 1);
}

wk_tensor *wk_bmm_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    if (!check_ndims(&wk__op_bmm, site, a, b, 3, 3)) return NULL;
    if (wk__body_of(a)->shape[0] == wk__body_of(b)->shape[0]) return record_with_node(&wk__op_bmm, NULL, site, a, b);
    wk_tensor *in[2] = {a, b};
    wk__op_error(&wk__op_bmm, site, WK_ERR_SHAPE, in,
                 "batch sizes of $a and $b differ; use wk_matmul to broadcast them");
    return NULL;
}

/* PyTorch's grad_fn names: [dimensions of a][dimensions of b] */
static const char *const matmul_grad_fn_names[3][3] = {
    {NULL}, {NULL, "DotBackward0", "SqueezeBackward4"}, {NULL, "MvBackward0", "MmBackward0"}};

wk_tensor *wk_matmul_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    int na = wk__is_tensor(a) ? wk__body_of(a)->ndim : 0, nb = wk__is_tensor(b) ? wk__body_of(b)->ndim : 0;
    return record_with_node(&wk__op_matmul, na <= 2 && nb <= 2 ? matmul_grad_fn_names[na][nb] : NULL, site, a, b);
}

const wk__op wk__op_matmul = {
    .gradient = gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_matmul,
};
const wk__op wk__op_mm = {
    .gradient = gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_mm,
};
const wk__op wk__op_bmm = {
    .gradient = gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_bmm,
};
const wk__op wk__op_mv = {
    .gradient = gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_mv,
};
const wk__op wk__op_dot = {
    .gradient = gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_dot,
};
