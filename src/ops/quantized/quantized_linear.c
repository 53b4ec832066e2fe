/* SPDX-License-Identifier: Apache-2.0 */
/* quantized_linear: checks, bias and gradient; quantized_kernel.c and quantized_product.c multiply. */
#include "ops/core/compose.h"
#include "ops/reduce/reduction.h"
#include "quantized.h"

enum { X, BLOCKS, BIAS, OPERANDS };

#define OP (&wk__op_quantized_linear)

static bool check_dtypes(wk_site site, wk_tensor *const in[], bool biased)
{
    const wk_dtype dtype = wk__body_of(in[X])->dtype;
    if (!wk__check_float(OP, site, in[X]) || !wk__check_blocks(OP, site, in[BLOCKS])) return false;
    if (!biased || wk__body_of(in[BIAS])->dtype == dtype) return true;
    wk__op_error(OP, site, WK_ERR_DTYPE, in, "bias $c must have the dtype of x $a; convert it with wk_to_dtype");
    return false;
}

static bool check_shapes(wk_site site, wk_tensor *const in[], bool biased, const wk__block_format *format)
{
    const wk__body *x = wk__body_of(in[X]), *blocks = wk__body_of(in[BLOCKS]);
    if (blocks->ndim != 2) {
        wk__op_error(OP, site, WK_ERR_SHAPE, in, "the blocks must have shape (out, bytes of a row), got $b");
        return false;
    }
    if (!wk__check_row_of_blocks(OP, site, in[BLOCKS], format->bytes, "bytes", format)) return false;
    const int64_t columns = blocks->shape[1] / format->bytes * format->elements;
    if (x->ndim == 0 || x->shape[x->ndim - 1] != columns) {
        wk__op_error(OP, site, WK_ERR_SHAPE, in,
                     "x $a must have the last size %lld, the elements of a row of blocks $b", (long long)columns);
        return false;
    }
    const wk__body *bias = biased ? wk__body_of(in[BIAS]) : NULL;
    if (!biased || (bias->ndim == 1 && bias->shape[0] == blocks->shape[0])) return true;
    wk__op_error(OP, site, WK_ERR_SHAPE, in, "bias $c must have one element per row of the blocks $b");
    return false;
}

wk_tensor *wk_quantized_linear_at(wk_site site, wk_tensor *x, wk_tensor *blocks, wk_tensor *bias,
                                  const wk_block_options *options)
{
    wk_tensor *in[OPERANDS] = {x, blocks, bias}, *out = NULL;
    wk_block_options o;
    wk__compose c;
    if (!wk__options(site, OP->name, options, &o)) return NULL;
    const wk__block_format *format = wk__block_format_of(OP->name, site, o.format);
    if (!format || (!bias && wk__omitted_may_have_failed())) return NULL;
    if (!wk__compose_begin(&c, OP, site, in, bias ? OPERANDS : BIAS)) return NULL;
    if (check_dtypes(site, in, bias != NULL) && check_shapes(site, in, bias != NULL, format)) {
        const wk__quantized_product p = {wk__to_opmath(x), blocks, o.format};
        out = wk__quantized_has_kernel(&p) ? wk__quantized_by_kernel(&p) : wk__quantized_product_of(&p);
        if (bias) out = wk_add(out, wk__to_opmath(bias));
        out = wk_to_dtype_at(site, out, wk__body_of(x)->dtype);
    }
    const wk__attr attr = wk__quantized_linear_attr((wk__quantized_linear_attributes){.format = (int)o.format});
    return wk__compose_end(&c, out, &attr);
}

/* ---- gradient ---------------------------------------------------------------------------------------------------- */

static void gradient(wk__grad_ctx *g)
{
    wk_tensor *grad = g->out[0];
    if (wk__needs_input_grad(g, X)) {
        const wk__quantized_product p = {.blocks = wk__saved(g, BLOCKS),
                                         .format = (wk_block_format)wk__quantized_linear_attributes_of(g->attr).format};
        const wk_dtype dtype = wk_dtype_of(grad);
        if (p.blocks)
            g->in[X] = wk_to_dtype_at((wk_site){0}, wk__quantized_product_gradient(&p, wk__to_opmath(grad)), dtype);
    }
    if (g->node->inputs > BIAS && wk__needs_input_grad(g, BIAS)) g->in[BIAS] = grad;
}

const wk__op wk__op_quantized_linear = {
    .gradient = gradient,
    .saves = {WK__SAVE_1},
    WK__SIGNATURE_quantized_linear,
};
