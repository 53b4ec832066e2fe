/* SPDX-License-Identifier: Apache-2.0 */
/* Weights in quantised blocks: functions that their ops share. */
#ifndef WICK_OPS_QUANTIZED_H
#define WICK_OPS_QUANTIZED_H

#include "ir/blocks.h"
#include "ops/core/entries.h"

/* A product with a weight of quantised blocks. */
typedef struct wk__quantized_product {
    wk_tensor *x;      /* (..., in), f32 or f64 */
    wk_tensor *blocks; /* (out, bytes of a row) */
    wk_block_format format;
} wk__quantized_product;

/* Returns a format of an argument of `call`; NULL, after recording an error, if it is unknown. */
const wk__block_format *wk__block_format_of(const char *call, wk_site site, wk_block_format format);
/* Checks that the last dimension of x consists of blocks of `unit` elements of x each, called `unit_name`. */
bool wk__check_row_of_blocks(const wk__op *op, wk_site site, wk_tensor *x, int unit, const char *unit_name,
                             const wk__block_format *format);
/* Checks that blocks are u8. */
bool wk__check_blocks(const wk__op *op, wk_site site, wk_tensor *blocks);
/* Returns x (..., n unit) as (rows, n, unit). */
wk_tensor *wk__split_blocks(wk_tensor *x, int unit);
/* Returns blocks (rows, n, elements.. ), `to` for each block, as (..., n to): the leading dimensions are those of x
 * (..., n unit). */
wk_tensor *wk__join_blocks(wk_tensor *blocks, wk_tensor *x, int unit, int to);

/* Returns true if the device has a kernel for the product. */
bool wk__quantized_has_kernel(const wk__quantized_product *p);
/* Records the kernel of x dequantize(blocks)^T, (..., out). */
wk_tensor *wk__quantized_by_kernel(const wk__quantized_product *p);
/* Returns x dequantize(blocks)^T, (..., out), by public ops. */
wk_tensor *wk__quantized_product_of(const wk__quantized_product *p);
/* Returns grad dequantize(blocks), (..., in), for grad (..., out) of x's dtype. Differentiable. */
wk_tensor *wk__quantized_product_gradient(const wk__quantized_product *p, wk_tensor *grad);

#endif
