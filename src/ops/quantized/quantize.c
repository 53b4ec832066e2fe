/* SPDX-License-Identifier: Apache-2.0 */
/* quantize: floats to quantised blocks, as calls of other ops. Operations on floats and their order are those of ggml's
 * reference, and so are all bytes of the result. */
#include "ops/core/compose.h"
#include "ops/reduce/reduction.h"
#include "quantized.h"

static wk_tensor *to(wk_tensor *x, wk_dtype dtype)
{
    return wk_to_dtype_at((wk_site){0}, x, dtype);
}

/* ---- scales ------------------------------------------------------------------------------------------------------ */

/* Returns 1, 2, 4 and so on, `count` numbers of i32. */
static wk_tensor *powers(wk_device device, int count)
{
    const wk_tensor_options like = {.size = sizeof like, .dtype = WK_I32, .device = device};
    return wk_bitwise_left_shift(1, wk_arange_from_at((wk_site){0}, 0, count, 1, &like));
}

/* Returns x (rows, blocks, 1) as f16, two bytes each. The exponent is the number of powers of 2 from 2^-14 to 2^16 that
 * |x| reaches. */
static wk_tensor *half_bytes(wk_tensor *x)
{
    enum { EXPONENTS = 31, QUIET = 512 };
    wk_tensor *half = to(to(x, WK_F16), WK_F32), *size = wk_abs(half), *is_nan = wk_isnan(half);
    wk_tensor *reached = wk_ge(size, wk_mul(to(powers(wk_device_of(x), EXPONENTS), WK_F32), 0x1p-14));
    wk_tensor *exponent = to(wk_sum(reached, (-1), .keepdim = true), WK_I32);
    wk_tensor *unit = wk_bitwise_left_shift(1, wk_sub(wk_maximum(exponent, 1), 1)); /* of the last bit, 2^24 times */
    wk_tensor *fraction = wk_div(wk_mul(size, 0x1p24), to(unit, WK_F32));
    wk_tensor *is_finite = wk_lt(exponent, EXPONENTS);
    fraction =
        wk_bitwise_and(to(wk_where(wk_logical_or(is_nan, wk_logical_not(is_finite)), 0, fraction), WK_I32), 1023);
    fraction = wk_where(is_nan, QUIET, fraction);
    exponent = wk_where(is_nan, EXPONENTS, exponent);
    wk_tensor *sign = wk_mul(to(wk_lt(wk_copysign(1, half), 0), WK_I32), 128);
    wk_tensor *high = wk_bitwise_or(wk_bitwise_right_shift(fraction, 8), wk_bitwise_left_shift(exponent, 2));
    wk_tensor *const both[2] = {to(wk_bitwise_and(fraction, 255), WK_U8), to(wk_bitwise_or(high, sign), WK_U8)};
    return wk_cat_at((wk_site){0}, both, 2, 2);
}

/* Returns 1 / scale, or 0 for 0. */
static wk_tensor *inverse(wk_tensor *scale)
{
    return wk_where(wk_eq(scale, 0), 0, wk_div(1, scale));
}

/* ---- formats ----------------------------------------------------------------------------------------------------- */

/* Take x (rows, blocks, 32), set *scale (rows, blocks, 1), and return (rows, blocks, bytes of the codes). */

static wk_tensor *q8_0(wk_tensor *x, wk_tensor **scale)
{
    *scale = wk_div(wk_amax(wk_abs(x), (-1), .keepdim = true), 127);
    wk_tensor *code = wk_mul(x, inverse(*scale)), *size = wk_abs(code), *floor = wk_floor(size);
    wk_tensor *rounded = wk_add(floor, wk_floor(wk_mul(wk_sub(size, floor), 2))); /* half away from 0 */
    return to(to(wk_mul(wk_sign(code), rounded), WK_I8), WK_U8);
}

static wk_tensor *q4_0(wk_tensor *x, wk_tensor **scale)
{
    wk_tensor *at = wk_argmax(wk_abs(x), -1, .keepdim = true);
    *scale = wk_div(wk_gather(x, -1, at), -8);
    wk_tensor *code = to(wk_minimum(wk_floor(wk_add(wk_mul(x, inverse(*scale)), 8.5)), 15), WK_U8);
    wk_tensor *high = wk_narrow_at((wk_site){0}, code, 2, 16, 16);
    return wk_bitwise_or(wk_narrow_at((wk_site){0}, code, 2, 0, 16), wk_bitwise_left_shift(high, 4));
}

/* ---- the op ------------------------------------------------------------------------------------------------------ */

static wk_tensor *quantized(wk_tensor *x, wk_block_format format)
{
    const wk__block_format *f = &wk__block_formats[format];
    wk_tensor *blocks = to(wk__split_blocks(x, f->elements), WK_F32), *scale = NULL;
    if (!blocks) return NULL;
    wk_tensor *code = format == WK_BLOCKS_Q8_0 ? q8_0(blocks, &scale) : q4_0(blocks, &scale);
    wk_tensor *const parts[2] = {scale ? half_bytes(scale) : NULL, code};
    return parts[0] && code ? wk__join_blocks(wk_cat_at((wk_site){0}, parts, 2, 2), x, f->elements, f->bytes) : NULL;
}

wk_tensor *wk_quantize_at(wk_site site, wk_tensor *x, const wk_block_options *options)
{
    const wk__op *op = &wk__op_quantize;
    wk_block_options o;
    wk__call_scope c;
    if (!wk__options(site, op->name, options, &o)) return NULL;
    const wk__block_format *format = wk__block_format_of(op, site, o.format, WK_BLOCKS_Q4_0);
    if (!format || !wk__inlined_begin(&c, op, site, &x, 1)) return NULL;
    const bool fine =
        wk__check_float(op, site, x) && wk__check_row_of_blocks(op, site, x, format->elements, "elements", format);
    return wk__inlined_end(&c, fine ? quantized(x, o.format) : NULL);
}

const wk__op wk__op_quantize = {WK__SIGNATURE_quantize};
