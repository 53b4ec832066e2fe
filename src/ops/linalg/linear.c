/* SPDX-License-Identifier: Apache-2.0 */
/* Products plus an addend: addmm, baddbmm, linear; and outer. The addition is the product's epilogue: one kernel. */
#include "ops/core/compose.h"
#include "matmul.h"
#include <math.h>

/* ---- addmm, baddbmm ---------------------------------------------------------------------------------------------- */

/* Checks that the factor of integer operands is an integer. */
static bool check_integer_factor(const wk__op *op, wk_site site, wk_tensor *const in[], const char *name, double factor)
{
    if (factor == floor(factor) || wk__is_float(wk__body_of(in[1])->dtype)) return true;
    wk__op_error(op, site, WK_ERR_ARGUMENT, in, "%s must be an integer for integer operands $b and $c, got %g", name,
                 factor);
    return false;
}

/* Returns x times a factor; an integer factor keeps integers integers. */
static wk_tensor *scaled(wk_tensor *x, double by)
{
    if (!x || by == 1) return x;
    return by == floor(by) && fabs(by) < 0x1p63 ? wk_mul(x, (int64_t)by) : wk_mul(x, by);
}

static bool check_addend(const wk__op *op, wk_site site, wk_tensor *const in[], const wk_tensor *product)
{
    const wk__body *x = wk__body_of(in[0]), *to = wk__body_of(product);
    int64_t shape[WK__MAX_DIMS];
    int ndim;
    if (x->dtype != wk__body_of(in[1])->dtype) {
        wk__op_error(op, site, WK_ERR_DTYPE, in, "$a must have the dtype of $b and $c; convert one with wk_to_dtype");
        return false;
    }
    if (wk__broadcast(x->ndim, x->shape, to->ndim, to->shape, &ndim, shape) &&
        wk__same_shape(ndim, shape, to->ndim, to->shape))
        return true;
    wk__op_error(op, site, WK_ERR_SHAPE, in, "$a does not broadcast to the product of $b and $c");
    return false;
}

/* Product and sum are rounded together, once. */
static wk_tensor *addmm_call(const wk__op *op, wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b, int ndim,
                             const wk_addmm_options *options)
{
    wk_tensor *in[3] = {x, a, b};
    wk_addmm_options o;
    if (!wk__read_addmm_options(site, op->name, options, &o)) return NULL;
    const wk__attr attr = wk__addmm_attr((wk__addmm_attributes){.beta = o.beta, .alpha = o.alpha});
    wk__compose c;
    if (!wk__compose_begin(&c, op, site, in, 3)) return NULL;
    wk_tensor *out = NULL;
    if (wk__body_of(a)->ndim != ndim || wk__body_of(b)->ndim != ndim)
        wk__op_error(op, site, WK_ERR_SHAPE, in, "expected %d-d factors, got $b and $c", ndim);
    else if (check_integer_factor(op, site, in, "beta", o.beta) && check_integer_factor(op, site, in, "alpha", o.alpha))
        out = wk__matmul_opmath(op, site, &in[1], false);
    if (out && !check_addend(op, site, c.in, out)) out = NULL;
    if (out) {
        out = scaled(out, o.alpha);
        if (o.beta != 0) out = wk_add(out, scaled(wk__to_opmath(in[0]), o.beta));
        out = wk_to_dtype_at(site, out, wk__body_of(a)->dtype);
    }
    return wk__compose_end(&c, out, &attr);
}

wk_tensor *wk_addmm_at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b, const wk_addmm_options *options)
{
    return addmm_call(&wk__op_addmm, site, x, a, b, 2, options);
}
wk_tensor *wk_baddbmm_at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b, const wk_addmm_options *options)
{
    return addmm_call(&wk__op_baddbmm, site, x, a, b, 3, options);
}

static void added_gradient(wk__grad_ctx *g)
{
    const wk__addmm_attributes a = wk__addmm_attributes_of(g->attr);
    wk__matmul_gradient(g, scaled(g->out[0], a.alpha), 1);
    if (wk__needs_input_grad(g, 0)) g->in[0] = scaled(g->out[0], a.beta);
}

const wk__op wk__op_addmm = {
    .gradient = added_gradient,
    .saves = {0, WK__SAVE_2, WK__SAVE_1},
    WK__SIGNATURE_addmm,
};
const wk__op wk__op_baddbmm = {
    .gradient = added_gradient,
    .saves = {0, WK__SAVE_2, WK__SAVE_1},
    WK__SIGNATURE_baddbmm,
};

/* ---- linear ------------------------------------------------------------------------------------------------------ */

/* x (.., in), weight (out, in), bias (out), G the gradient: d x = G weight, d weight = G^T x over all rows. A weight
 * (in) is handled as in matmul. */
static void linear_gradient(wk__grad_ctx *g)
{
    wk_tensor *grad = g->out[0];
    if (wk__needs_input_grad(g, 2)) g->in[2] = grad;
    if (g->node->shape[1].ndim == 1) {
        wk__matmul_gradient(g, grad, 0);
        return;
    }
    if (wk__needs_input_grad(g, 0)) g->in[0] = wk_matmul(grad, wk__saved(g, 1));
    if (wk__needs_input_grad(g, 1))
        g->in[1] =
            wk_mm(wk_transpose_at((wk_site){0}, wk__flatten_to_2d(grad), 0, 1), wk__flatten_to_2d(wk__saved(g, 0)));
}

const wk__op wk__op_linear = {
    .gradient = linear_gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_linear,
};

/* PyTorch's grad_fn names: [weight is 1-d][has bias][dimensions of the input, 3 or more as 3] */
static const char *const linear_nodes[2][2][4] = {
    {{NULL, "SqueezeBackward4", "MmBackward0", "UnsafeViewBackward0"},
     {NULL, "AddBackward0", "AddmmBackward0", "ViewBackward0"}},
    {{NULL, "DotBackward0", "MvBackward0", "UnsafeViewBackward0"},
     {NULL, "AddBackward0", "AddBackward0", "AddBackward0"}},
};

static bool check_linear_operands(wk_site site, wk_tensor *const in[], bool biased)
{
    const wk__body *weight = wk__body_of(in[1]);
    if (weight->ndim != 2 && weight->ndim != 1) {
        wk__op_error(&wk__op_linear, site, WK_ERR_SHAPE, in, "the weight must have shape (out, in) or (in), got $b");
        return false;
    }
    if (!biased) return true;
    const wk__body *bias = wk__body_of(in[2]);
    const bool fits = bias->ndim == weight->ndim - 1 && (bias->ndim == 0 || bias->shape[0] == weight->shape[0]);
    if (bias->dtype == weight->dtype && fits) return true;
    wk__op_error(&wk__op_linear, site, bias->dtype == weight->dtype ? WK_ERR_SHAPE : WK_ERR_DTYPE, in,
                 "bias $c does not match weight $b: expected the same dtype and one element per row of the weight (0-d "
                 "for a 1-d weight)");
    return false;
}

wk_tensor *wk_linear_at(wk_site site, wk_tensor *x, wk_tensor *weight, wk_tensor *bias)
{
    wk_tensor *in[3] = {x, weight, bias}, *out = NULL;
    if (!bias && wk__omitted_may_have_failed()) return NULL;
    wk__compose c;
    if (!wk__compose_begin(&c, &wk__op_linear, site, in, 2 + (bias != NULL))) return NULL;
    const int ndim = wk__body_of(x)->ndim;
    const bool row = wk__body_of(weight)->ndim == 1;
    wk__attr attr = {.grad_fn_name = linear_nodes[row][bias != NULL][ndim > 3 ? 3 : ndim]};
    if (check_linear_operands(site, in, bias != NULL)) out = wk__matmul_opmath(&wk__op_linear, site, in, !row);
    if (bias && out) out = wk_add(out, wk__to_opmath(bias));
    return wk__compose_end(&c, wk_to_dtype_at(site, out, wk__body_of(x)->dtype), &attr);
}

/* ---- outer ------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_outer_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    wk_tensor *in[2] = {a, b}, *out = NULL;
    wk__compose c;
    if (!wk__compose_begin(&c, &wk__op_outer, site, in, 2)) return NULL;
    if (wk__body_of(a)->ndim != 1 || wk__body_of(b)->ndim != 1)
        wk__op_error(&wk__op_outer, site, WK_ERR_SHAPE, in, "expected two vectors, got $a and $b");
    else
        out = wk_mul(wk_unsqueeze_at(site, a, 1), b);
    return wk__compose_end(&c, out, NULL);
}

static void outer_gradient(wk__grad_ctx *g)
{
    if (wk__needs_input_grad(g, 0)) g->in[0] = wk_sum(wk_mul(g->out[0], wk__saved(g, 1)), (1));
    if (wk__needs_input_grad(g, 1))
        g->in[1] = wk_sum(wk_mul(g->out[0], wk_unsqueeze_at((wk_site){0}, wk__saved(g, 0), 1)), (0));
}

const wk__op wk__op_outer = {
    .gradient = outer_gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_outer,
};
