/* SPDX-License-Identifier: Apache-2.0 */
/* Encoders of blocks of 256 elements. Numbers of parts multiply a scale, and maybe an offset, of the block:
 *
 *     element = (scale number[part]) code - offset offset_number[part]
 *
 * The scale in the doc of quantize gives the extreme elements of a part a code without rounding. With a scale that is a
 * little smaller or larger, the other elements may have smaller errors. So CHOICES numbers, or pairs of numbers, are
 * tried, and each part gets those of the least error. Tensors have dimensions (blocks, parts, elements of a part);
 * those of all choices have two more in front. */
#include "encode.h"

enum { STEPS = 3, CHOICES = STEPS * STEPS };

/* A format. Numbers and codes that are signed are stored plus -least. */
typedef struct layout {
    int64_t parts; /* in a block */
    int least_code, most_code;
    int least_number, most_number; /* of a part */
    double first, step;            /* choice k is the number of a scale or offset (first + k step) as large */
} layout;

static const layout q2 = {16, 0, 3, 0, 15, 1, -0x1.8p-4};
static const layout q3 = {16, -4, 3, -32, 31, 0.859375, 0x1.8p-5};
static const layout q4 = {8, 0, 15, 0, 63, 1, -0x1p-5};
static const layout q5 = {8, 0, 31, 0, 63, 1.015625, -0x1p-6};
static const layout q6 = {16, -32, 31, -128, 127, 0.953125, 0x1p-6};

/* Codes and numbers are u8, least 0; scale and offset (blocks, 1), rounded to f16. */
typedef struct encoded {
    wk_tensor *code, *number, *scale, *offset_number, *offset;
} encoded;

static wk_tensor *rounded(wk_tensor *x, int least, int most)
{
    return wk_clamp(wk_round(x), least, most);
}

static wk_tensor *as_half(wk_tensor *x)
{
    return wk__encode_to(wk__encode_to(x, WK_F16), WK_F32);
}

/* Returns x, floats from `least` to 127, minus least. NaN becomes 0 first. */
static wk_tensor *stored(wk_tensor *x, int least)
{
    return wk__encode_to(wk_sub(wk__encode_to(x, WK_I32), least), WK_U8);
}

/* ---- choices ----------------------------------------------------------------------------------------------------- */

/* Returns 0 to count - 1 as floats, in a shape of five dimensions with `count` in one of them. */
static wk_tensor *counted(wk_tensor *x, int count, int dim)
{
    const wk_tensor_options like = {.size = sizeof like, .dtype = WK_F32, .device = wk_device_of(x)};
    int64_t shape[5] = {1, 1, 1, 1, 1};
    shape[dim] = count;
    return wk_reshape_at((wk_site){0}, wk_arange_from_at((wk_site){0}, 0, count, 1, &like), shape, 5);
}

/* Returns the numbers of choice k for parts whose scale or offset is `units` times that of the block. */
static wk_tensor *numbers(const layout *f, wk_tensor *units, wk_tensor *k)
{
    return rounded(wk_mul(units, wk_add(wk_mul(k, f->step), f->first)), f->least_number, f->most_number);
}

/* Returns the nearest codes, for the scale of a part. */
static wk_tensor *codes(const layout *f, wk_tensor *x, wk_tensor *scale)
{
    return rounded(wk_mul(x, wk__encode_inverse(scale)), f->least_code, f->most_code);
}

/* Returns the choice of each part, as floats (blocks, parts, 1), for the errors of all, (..., blocks, parts, n), in
 * units that make those that matter less than 2^13. Squares are summed as integers, 2^30 times: exactly, in any
 * order. */
static wk_tensor *best(const layout *f, wk_tensor *error)
{
    wk_tensor *square = wk_mul(wk_minimum(wk_square(error), 0x1p26), 0x1p30);
    wk_tensor *sum = wk_sum(wk__encode_to(square, WK_I64), (-1), .keepdim = true);
    const int64_t shape[4] = {CHOICES, -1, f->parts, 1};
    return wk__encode_to(wk_argmin(wk_reshape_at((wk_site){0}, sum, shape, 4), 0), WK_F32);
}

/* ---- codes ------------------------------------------------------------------------------------------------------- */

/* Rounds x (blocks, parts, n) to a scale times signed codes. */
static encoded with_scale(const layout *f, wk_tensor *x)
{
    wk_tensor *of_part = wk_div(wk__encode_largest(x, -1), f->least_code);
    wk_tensor *scale = as_half(wk_div(wk__encode_largest(of_part, 1), f->least_number));
    wk_tensor *inverse = wk__encode_inverse(scale), *units = wk_mul(of_part, inverse);
    wk_tensor *tried = wk_mul(numbers(f, units, counted(x, CHOICES, 1)), scale);
    wk_tensor *error = wk_mul(wk_sub(wk_mul(codes(f, x, tried), tried), x), inverse);
    wk_tensor *number = numbers(f, units, best(f, error));
    wk_tensor *code = codes(f, x, wk_mul(number, scale));
    return (encoded){stored(code, f->least_code), stored(number, f->least_number), wk_flatten(scale, 1), NULL, NULL};
}

/* Rounds x (blocks, parts, n) to a scale times codes minus an offset. */
static encoded with_offset(const layout *f, wk_tensor *x)
{
    wk_tensor *low = wk_abs(wk_minimum(wk_amin(x, (-1), .keepdim = true), 0)); /* abs: of zeros, the positive one */
    wk_tensor *of_part = wk_div(wk_add(wk_amax(x, (-1), .keepdim = true), low), f->most_code);
    wk_tensor *scale = as_half(wk_div(wk_amax(of_part, (1), .keepdim = true), f->most_number));
    wk_tensor *offset = as_half(wk_div(wk_amax(low, (1), .keepdim = true), f->most_number));
    wk_tensor *units = wk_mul(of_part, wk__encode_inverse(scale)), *low_units = wk_mul(low, wk__encode_inverse(offset));
    wk_tensor *tried = wk_mul(numbers(f, units, counted(x, STEPS, 0)), scale);
    wk_tensor *minus = wk_mul(numbers(f, low_units, counted(x, STEPS, 1)), offset);
    wk_tensor *error = wk_sub(wk_sub(wk_mul(codes(f, wk_add(x, minus), tried), tried), minus), x);
    wk_tensor *choice = best(f, wk_mul(error, wk__encode_inverse(wk_maximum(scale, offset))));
    wk_tensor *step = wk_floor(wk_div(choice, STEPS));
    wk_tensor *number = numbers(f, units, step);
    wk_tensor *low_number = numbers(f, low_units, wk_sub(choice, wk_mul(step, STEPS)));
    wk_tensor *code = codes(f, wk_add(x, wk_mul(low_number, offset)), wk_mul(number, scale));
    return (encoded){stored(code, 0), stored(number, 0), wk_flatten(scale, 1), stored(low_number, 0),
                     wk_flatten(offset, 1)};
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

/* Codes of 2 bits, 4 in a byte. */
static wk_tensor *pairs(wk_tensor *code)
{
    return wk__encode_fields(code, 2, 4, 32, 2);
}

/* 8 codes of 1 bit in a byte. */
static wk_tensor *single_bits(wk_tensor *code)
{
    return wk__encode_fields(code, 1, 8, 32, 1);
}

static wk_tensor *q2_k(wk_tensor *x)
{
    const encoded e = with_offset(&q2, x);
    wk_tensor *numbers = wk_flatten(wk_bitwise_or(e.number, wk_bitwise_left_shift(e.offset_number, 4)), 1);
    return wk_cat((numbers, pairs(e.code), wk__encode_half(e.scale), wk__encode_half(e.offset)), 1);
}

static wk_tensor *q3_k(wk_tensor *x)
{
    const encoded e = with_scale(&q3, x);
    wk_tensor *low = wk__encode_fields(wk__encode_bits(e.number, 0, 4), 1, 2, 8, 4);
    wk_tensor *high = wk__encode_fields(wk__encode_bits(e.number, 4, 2), 1, 4, 4, 2);
    return wk_cat((single_bits(wk__encode_bits(e.code, 2, 1)), pairs(wk__encode_bits(e.code, 0, 2)), low, high,
                   wk__encode_half(e.scale)),
                  1);
}

/* Returns 4 bytes for 8 numbers of 6 bits: the first 4, with bits 4 and 5 of the others above them. */
static wk_tensor *first_numbers(wk_tensor *numbers)
{
    wk_tensor *high = wk_bitwise_left_shift(wk__encode_bits(wk_narrow(numbers, 1, 4, 4), 4, 2), 6);
    return wk_bitwise_or(wk_narrow(numbers, 1, 0, 4), high);
}

static wk_tensor *q4_or_5_k(const layout *f, wk_tensor *x)
{
    const encoded e = with_offset(f, x);
    wk_tensor *scales = wk_flatten(e.number, 1), *offsets = wk_flatten(e.offset_number, 1);
    wk_tensor *rest = wk_bitwise_or(wk__encode_bits(wk_narrow(scales, 1, 4, 4), 0, 4),
                                    wk_bitwise_left_shift(wk__encode_bits(wk_narrow(offsets, 1, 4, 4), 0, 4), 4));
    wk_tensor *head = wk_cat(
        (wk__encode_half(e.scale), wk__encode_half(e.offset), first_numbers(scales), first_numbers(offsets), rest), 1);
    wk_tensor *low = wk__encode_fields(wk__encode_bits(e.code, 0, 4), 4, 2, 32, 4);
    return f == &q4 ? wk_cat((head, low), 1) : wk_cat((head, single_bits(wk__encode_bits(e.code, 4, 1)), low), 1);
}

static wk_tensor *q6_k(wk_tensor *x)
{
    const encoded e = with_scale(&q6, x);
    wk_tensor *low = wk__encode_fields(wk__encode_bits(e.code, 0, 4), 2, 2, 64, 4);
    wk_tensor *number = wk_bitwise_xor(wk_flatten(e.number, 1), 128); /* i8 */
    return wk_cat((low, pairs(wk__encode_bits(e.code, 4, 2)), number, wk__encode_half(e.scale)), 1);
}

static wk_tensor *in_parts(const layout *f, wk_tensor *x)
{
    return wk_reshape_at((wk_site){0}, x, (const int64_t[]){-1, f->parts, WK__BLOCK_ELEMENTS / f->parts}, 3);
}

wk_tensor *wk__encode_256(wk_tensor *x, wk_block_format format)
{
    switch (format) {
    case WK_BLOCKS_Q2_K: return q2_k(in_parts(&q2, x));
    case WK_BLOCKS_Q3_K: return q3_k(in_parts(&q3, x));
    case WK_BLOCKS_Q4_K: return q4_or_5_k(&q4, in_parts(&q4, x));
    case WK_BLOCKS_Q5_K: return q4_or_5_k(&q5, in_parts(&q5, x));
    default: return q6_k(in_parts(&q6, x));
    }
}
