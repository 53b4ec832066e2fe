/* SPDX-License-Identifier: Apache-2.0 */
/* dequantize: elements of quantised blocks, as calls of other ops on the bytes. Operations on floats and their order
 * are those of the decoders in ir/blocks.c, and so are all bits of the result.
 *
 * A block consists of parts, which share a scale and an offset:
 *
 *     out[part][k] = scale[part] code[part][k] + offset[part]
 *
 * Tensors of a format have dimensions (rows, blocks of a row, parts, elements of a part). Codes of less than 8 bits lie
 * side by side in a byte, those of one byte far apart in the block. */
#include "ops/core/compose.h"
#include "quantized.h"
#include <math.h>

/* The numbers of a format; offset may be NULL. */
typedef struct decoded {
    wk_tensor *code, *scale, *offset;
} decoded;

/* The bytes of blocks: (rows, blocks of a row, bytes of a block). */
typedef struct bytes {
    wk_site site;
    wk_tensor *all;
    int64_t rows, count;
} bytes;

static wk_tensor *bytes_at(const bytes *b, int64_t first, int64_t count)
{
    return wk_narrow_at(b->site, b->all, 2, first, count);
}

/* Returns x, with as many elements for each block, as (rows, blocks, parts, n). */
static wk_tensor *in_parts(const bytes *b, wk_tensor *x, int64_t parts, int64_t n)
{
    return wk_reshape_at(b->site, x, (const int64_t[]){b->rows, b->count, parts, n}, 4);
}

static wk_tensor *to_f32(wk_tensor *x)
{
    return wk_to_dtype_at((wk_site){0}, x, WK_F32);
}

/* Returns numbers of i8 whose bytes are x. */
static wk_tensor *to_signed(wk_tensor *x)
{
    return wk_to_dtype_at((wk_site){0}, x, WK_I8);
}

/* Returns `fields` fields of bits of bytes that are `groups` x n per block, as (rows, blocks, groups fields, n): field
 * f is (byte >> f width) & mask. */
static wk_tensor *fields_of(const bytes *b, wk_tensor *x, int64_t groups, int64_t n, int64_t fields, int width)
{
    const wk_tensor_options like = {.size = sizeof like, .dtype = WK_U8, .device = wk_device_of(x)};
    wk_tensor *apart = wk_reshape_at(b->site, x, (const int64_t[]){b->rows, b->count, groups, 1, n}, 5);
    wk_tensor *shift = wk_arange_from_at(b->site, 0, (double)(fields * width), width, &like);
    wk_tensor *bits = wk_bitwise_right_shift(apart, wk_unsqueeze_at(b->site, shift, 1));
    return in_parts(b, wk_bitwise_and(bits, (1 << width) - 1), groups * fields, n);
}

/* Returns low | high << width: codes of which a format stores the upper bits elsewhere. */
static wk_tensor *with_upper(wk_tensor *low, wk_tensor *high, int width)
{
    return wk_bitwise_or(low, wk_bitwise_left_shift(high, width));
}

/* Returns the f16 at byte `first` of each block as f32, (rows, blocks, 1, 1): (-1)^sign significand 2^(exponent - 25),
 * by steps that are exact. */
static wk_tensor *half_at(const bytes *b, int64_t first)
{
    wk_tensor *part = wk_to_dtype_at(b->site, bytes_at(b, first, 2), WK_I32);
    wk_tensor *low = in_parts(b, wk_narrow_at(b->site, part, 2, 0, 1), 1, 1);
    wk_tensor *high = in_parts(b, wk_narrow_at(b->site, part, 2, 1, 1), 1, 1);
    wk_tensor *exponent = wk_bitwise_and(wk_bitwise_right_shift(high, 2), 31);
    wk_tensor *fraction = with_upper(low, wk_bitwise_and(high, 3), 8);
    wk_tensor *significand = wk_where(wk_eq(exponent, 0), fraction, wk_bitwise_or(fraction, 1024));
    wk_tensor *power = wk_bitwise_left_shift(1, wk_sub(wk_maximum(exponent, 1), 1));
    wk_tensor *value = wk_mul(wk_mul(to_f32(significand), to_f32(power)), 0x1p-24);
    wk_tensor *special = wk_where(wk_eq(fraction, 0), (double)INFINITY, (double)NAN);
    value = wk_where(wk_eq(exponent, 31), wk_to_dtype_at(b->site, special, WK_F32), value);
    return wk_where(wk_ge(high, 128), wk_neg(value), value);
}

/* ---- blocks of 32 ------------------------------------------------------------------------------------------------ */

/* Codes of 4 bits at byte `first`, or of 5 if their bits 4 are at byte `high`. */
static wk_tensor *codes_of_32(const bytes *b, int64_t first, int64_t high)
{
    wk_tensor *low = fields_of(b, bytes_at(b, first, 16), 1, 16, 2, 4);
    if (!high) return low;
    wk_tensor *upper = wk_transpose_at(b->site, fields_of(b, bytes_at(b, high, 4), 1, 4, 8, 1), 2, 3);
    return with_upper(low, in_parts(b, upper, 2, 16), 4);
}

static decoded q8_0(const bytes *b)
{
    return (decoded){in_parts(b, to_signed(bytes_at(b, 2, 32)), 1, 32), half_at(b, 0), NULL};
}

static decoded q4_0(const bytes *b)
{
    return (decoded){wk_sub(to_signed(codes_of_32(b, 2, 0)), 8), half_at(b, 0), NULL};
}

static decoded q4_1(const bytes *b)
{
    return (decoded){codes_of_32(b, 4, 0), half_at(b, 0), half_at(b, 2)};
}

static decoded q5_0(const bytes *b)
{
    return (decoded){wk_sub(to_signed(codes_of_32(b, 6, 2)), 16), half_at(b, 0), NULL};
}

static decoded q5_1(const bytes *b)
{
    return (decoded){codes_of_32(b, 8, 4), half_at(b, 0), half_at(b, 2)};
}

/* ---- blocks of 256 ----------------------------------------------------------------------------------------------- */

/* Returns `scale`, of a block, times the numbers of its parts, (rows, blocks, parts, 1). */
static wk_tensor *of_parts(const bytes *b, wk_tensor *scale, wk_tensor *numbers, int64_t parts)
{
    return wk_mul(to_f32(in_parts(b, numbers, parts, 1)), scale);
}

/* Codes of 2 bits at byte `first`, (rows, blocks, 8, 32). */
static wk_tensor *pairs_at(const bytes *b, int64_t first)
{
    return fields_of(b, bytes_at(b, first, 64), 2, 32, 4, 2);
}

/* scales of 4 bits, each with the 4 bits of an offset; codes; scale, scale of the offsets */
static decoded q2_k(const bytes *b)
{
    wk_tensor *numbers = bytes_at(b, 0, 16);
    return (decoded){in_parts(b, pairs_at(b, 16), 16, 16), of_parts(b, half_at(b, 80), wk_bitwise_and(numbers, 15), 16),
                     wk_neg(of_parts(b, half_at(b, 82), wk_bitwise_right_shift(numbers, 4), 16))};
}

/* inverted bits 2 of the codes, codes, scales of 6 bits, scale */
static decoded q3_k(const bytes *b)
{
    wk_tensor *high = fields_of(b, bytes_at(b, 0, 32), 1, 32, 8, 1);
    wk_tensor *code = wk_sub(to_signed(with_upper(pairs_at(b, 32), high, 2)), 4);
    wk_tensor *low = in_parts(b, fields_of(b, bytes_at(b, 96, 8), 1, 8, 2, 4), 16, 1);
    wk_tensor *upper = in_parts(b, fields_of(b, bytes_at(b, 104, 4), 1, 4, 4, 2), 16, 1);
    wk_tensor *scale = wk_sub(to_signed(with_upper(low, upper, 4)), 32);
    return (decoded){in_parts(b, code, 16, 16), of_parts(b, half_at(b, 108), scale, 16), NULL};
}

/* Numbers of 6 bits of 8 parts: those of the first 4 in `own`, of the others 4 bits in `rest` and 2 above the
 * former. */
static wk_tensor *six_bits(const bytes *b, wk_tensor *own, wk_tensor *rest)
{
    wk_tensor *const halves[2] = {wk_bitwise_and(own, 63), with_upper(rest, wk_bitwise_right_shift(own, 6), 4)};
    return wk_cat_at(b->site, halves, 2, 2);
}

/* Codes of 4 bits, or of 5: scale, scale of the offsets, scales and offsets of 6 bits, bits 4 of the codes, codes. */
static decoded q4_or_5_k(const bytes *b, bool five)
{
    wk_tensor *rest = bytes_at(b, 12, 4);
    wk_tensor *scales = six_bits(b, bytes_at(b, 4, 4), wk_bitwise_and(rest, 15));
    wk_tensor *offsets = six_bits(b, bytes_at(b, 8, 4), wk_bitwise_right_shift(rest, 4));
    wk_tensor *code = fields_of(b, bytes_at(b, five ? 48 : 16, 128), 4, 32, 2, 4);
    if (five) code = with_upper(code, fields_of(b, bytes_at(b, 16, 32), 1, 32, 8, 1), 4);
    return (decoded){code, of_parts(b, half_at(b, 0), scales, 8), wk_neg(of_parts(b, half_at(b, 2), offsets, 8))};
}

static decoded q4_k(const bytes *b)
{
    return q4_or_5_k(b, false);
}

static decoded q5_k(const bytes *b)
{
    return q4_or_5_k(b, true);
}

/* low 4 bits of the codes, high 2 bits, scales as i8, scale */
static decoded q6_k(const bytes *b)
{
    wk_tensor *low = in_parts(b, fields_of(b, bytes_at(b, 0, 128), 2, 64, 2, 4), 16, 16);
    wk_tensor *code = with_upper(low, in_parts(b, pairs_at(b, 128), 16, 16), 4);
    return (decoded){wk_sub(to_signed(code), 32), of_parts(b, half_at(b, 208), to_signed(bytes_at(b, 192, 16)), 16),
                     NULL};
}

/* ---- the op ------------------------------------------------------------------------------------------------------ */

static decoded (*const decoders[WK__BLOCK_OP_FORMATS])(const bytes *b) = {
    [WK_BLOCKS_Q8_0] = q8_0, [WK_BLOCKS_Q4_0] = q4_0, [WK_BLOCKS_Q4_1] = q4_1, [WK_BLOCKS_Q5_0] = q5_0,
    [WK_BLOCKS_Q5_1] = q5_1, [WK_BLOCKS_Q2_K] = q2_k, [WK_BLOCKS_Q3_K] = q3_k, [WK_BLOCKS_Q4_K] = q4_k,
    [WK_BLOCKS_Q5_K] = q5_k, [WK_BLOCKS_Q6_K] = q6_k,
};

static wk_tensor *elements(wk_site site, wk_tensor *blocks, wk_block_format format)
{
    const wk__block_format *f = &wk__block_formats[format];
    bytes b = {.site = site, .all = wk__split_blocks(blocks, f->bytes)};
    if (!b.all) return NULL;
    b.rows = wk_size(b.all, 0);
    b.count = wk_size(b.all, 1);
    const decoded d = decoders[format](&b);
    wk_tensor *out = wk_mul(to_f32(d.code), d.scale);
    if (d.offset) out = wk_add(out, d.offset);
    return wk__join_blocks(out, blocks, f->bytes, f->elements);
}

wk_tensor *wk_dequantize_at(wk_site site, wk_tensor *blocks, const wk_block_options *options)
{
    const wk__op *op = &wk__op_dequantize;
    wk_block_options o;
    wk__call_scope c;
    if (!wk__options(site, op->name, options, &o)) return NULL;
    const wk__block_format *format = wk__block_format_of(op->name, site, o.format);
    if (!format || !wk__inlined_begin(&c, op, site, &blocks, 1)) return NULL;
    const bool fine =
        wk__check_blocks(op, site, blocks) && wk__check_row_of_blocks(op, site, blocks, format->bytes, "bytes", format);
    return wk__inlined_end(&c, fine ? elements(site, blocks, o.format) : NULL);
}

const wk__op wk__op_dequantize = {WK__SIGNATURE_dequantize};
