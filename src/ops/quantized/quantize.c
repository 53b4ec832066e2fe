/* SPDX-License-Identifier: Apache-2.0 */
/* quantize: floats to quantised blocks, in panels of blocks, one after the other. Each panel has a call scope, so that
 * what its encoder needs, several times the elements, is freed afterwards. */
#include "base/integers.h"
#include "encode.h"
#include "ops/core/compose.h"
#include "ops/reduce/reduction.h"

enum { PANEL_ELEMENTS = 1 << 16 };

/* Returns the bytes of blocks x (blocks, elements). */
static wk_tensor *encode(wk_tensor *x, wk_block_format format)
{
    wk_tensor *elements = wk__encode_to(x, WK_F32);
    return (wk__block_formats[format].elements == WK__BLOCK_ELEMENTS ? wk__encode_256 : wk__encode_32)(elements,
                                                                                                       format);
}

/* Writes the bytes of blocks `first` to `first` + `count` - 1 of x to out. Returns false on error. */
static bool encode_panel(wk_tensor *out, wk_tensor *x, int64_t first, int64_t count, wk_block_format format)
{
    wk__call_scope scope;
    if (!wk__call_begin(&scope, WK__FRAME_CALL, NULL, (wk_site){0}, WK__GRAD_OFF)) return false;
    wk_tensor *bytes = encode(wk_narrow(x, 0, first, count), format);
    const bool fine = bytes && wk_copy_(wk_narrow(out, 0, first, count), bytes);
    wk__call_end(&scope, NULL, 0);
    return fine;
}

static wk_tensor *quantized(wk_tensor *x, wk_block_format format)
{
    const wk__block_format *f = &wk__block_formats[format];
    const wk_tensor_options like = {.size = sizeof like, .dtype = WK_U8, .device = wk_device_of(x)};
    const int64_t count = wk_numel(x) / f->elements, most = PANEL_ELEMENTS / f->elements;
    wk_tensor *blocks = wk_reshape_at((wk_site){0}, x, (const int64_t[]){count, f->elements}, 2);
    if (count > 0 && count <= most) return wk__join_blocks(encode(blocks, format), x, f->elements, f->bytes);
    wk_tensor *out = wk_empty_at((wk_site){0}, (const int64_t[]){count, f->bytes}, 2, &like);
    bool fine = blocks && out;
    for (int64_t first = 0; first < count && fine; first += most)
        fine = encode_panel(out, blocks, first, wk__min_i64(count - first, most), format);
    return fine ? wk__join_blocks(out, x, f->elements, f->bytes) : NULL;
}

wk_tensor *wk_quantize_at(wk_site site, wk_tensor *x, const wk_block_options *options)
{
    const wk__op *op = &wk__op_quantize;
    wk_block_options o;
    wk__call_scope c;
    if (!wk__options(site, op->name, options, &o)) return NULL;
    const wk__block_format *format = wk__block_format_of(op->name, site, o.format);
    if (!format || !wk__check_operands(op, site, &x, 1)) return NULL;
    if (!wk__call_begin(&c, WK__FRAME_CALL, op->name, site, WK__GRAD_OFF)) return NULL;
    const bool fine =
        wk__check_float(op, site, x) && wk__check_row_of_blocks(op, site, x, format->elements, "elements", format);
    return wk__inlined_end(&c, fine ? quantized(x, o.format) : NULL);
}

const wk__op wk__op_quantize = {WK__SIGNATURE_quantize};
