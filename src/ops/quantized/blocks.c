/* SPDX-License-Identifier: Apache-2.0 */
/* Formats and shapes of quantised blocks; see quantized.h. */
#include "quantized.h"
#include <string.h>

const wk__block_format *wk__block_format_of(const char *call, wk_site site, wk_block_format format)
{
    if ((unsigned)format < WK__BLOCK_OP_FORMATS) return &wk__block_formats[format];
    wk__error_set(site, WK_ERR_ARGUMENT,
                  "%s: .format must be a format from WK_BLOCKS_Q8_0 (0) to WK_BLOCKS_Q6_K (%d), got %d", call,
                  WK__BLOCK_OP_FORMATS - 1, (int)format);
    return NULL;
}

bool wk__check_row_of_blocks(const wk__op *op, wk_site site, wk_tensor *x, int unit, const char *unit_name,
                             const wk__block_format *format)
{
    const wk__body *body = wk__body_of(x);
    if (body->ndim > 0 && body->shape[body->ndim - 1] % unit == 0) return true;
    wk__op_error(op, site, WK_ERR_SHAPE, &x, "the last size of $a must be a multiple of %d: a block of %s has %d %s",
                 unit, format->name, unit, unit_name);
    return false;
}

bool wk__check_blocks(const wk__op *op, wk_site site, wk_tensor *blocks)
{
    if (wk__body_of(blocks)->dtype == WK_U8) return true;
    wk__op_error(op, site, WK_ERR_DTYPE, &blocks, "blocks must be u8, as wk_quantize returns them, got $a");
    return false;
}

wk_tensor *wk__split_blocks(wk_tensor *x, int unit)
{
    const wk__body *body = wk__body_of(x);
    int64_t rows = 1;
    for (int d = 0; d < body->ndim - 1; d++) rows *= body->shape[d];
    return wk_reshape_at((wk_site){0}, x, (const int64_t[]){rows, body->shape[body->ndim - 1] / unit, unit}, 3);
}

wk_tensor *wk__join_blocks(wk_tensor *blocks, wk_tensor *x, int unit, int to)
{
    const wk__body *body = wk__body_of(x);
    int64_t shape[WK__MAX_DIMS];
    memcpy(shape, body->shape, sizeof shape);
    shape[body->ndim - 1] = shape[body->ndim - 1] / unit * to;
    return wk_reshape_at((wk_site){0}, blocks, shape, body->ndim);
}
