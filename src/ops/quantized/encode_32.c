/* SPDX-License-Identifier: Apache-2.0 */
/* Encoders of blocks of 32 elements. Operations on floats and their order are those of ggml's reference, and so are all
 * bytes of blocks whose scale is finite. Scales and minima are elements or quotients of x (blocks, 32). */
#include "encode.h"

static wk_tensor *q8_0(wk_tensor *x)
{
    wk_tensor *scale = wk_div(wk_amax(wk_abs(x), (-1), .keepdim = true), 127);
    wk_tensor *code = wk_mul(x, wk__encode_inverse(scale)), *size = wk_abs(code), *floor = wk_floor(size);
    wk_tensor *rounded = wk_add(floor, wk_floor(wk_mul(wk_sub(size, floor), 2))); /* half away from 0 */
    code = wk__encode_to(wk__encode_to(wk_mul(wk_sign(code), rounded), WK_I8), WK_U8);
    return wk_cat((wk__encode_half(scale), code), 1);
}

/* Returns floor(x + more), at most `top`; x + more is at least 0. */
static wk_tensor *rounded(wk_tensor *x, double more, int top)
{
    return wk__encode_to(wk_minimum(wk_floor(wk_add(x, more)), top), WK_U8);
}

/* Returns the bytes of codes of 4 bits, or of 5: bits 4, then the others. */
static wk_tensor *packed(wk_tensor *code, int bits)
{
    wk_tensor *low = wk__encode_fields(wk__encode_bits(code, 0, 4), 1, 2, 16, 4);
    return bits == 4 ? low : wk_cat((wk__encode_fields(wk__encode_bits(code, 4, 1), 4, 8, 1, 1), low), 1);
}

/* q4_0, q5_0: codes from 0 for the element of the largest size, whose sign the scale has */
static wk_tensor *with_scale(wk_tensor *x, int bits)
{
    const int half = 1 << (bits - 1);
    wk_tensor *scale = wk_div(wk__encode_largest(x, -1), -half);
    wk_tensor *code = rounded(wk_mul(x, wk__encode_inverse(scale)), half + 0.5, 2 * half - 1);
    return wk_cat((wk__encode_half(scale), packed(code, bits)), 1);
}

/* q4_1, q5_1. The extremes are the first of equal elements, which determines the sign of a minimum of 0. */
static wk_tensor *with_minimum(wk_tensor *x, int bits)
{
    const int top = (1 << bits) - 1;
    wk_tensor *minimum = wk_gather(x, -1, wk_argmin(x, -1, .keepdim = true));
    wk_tensor *maximum = wk_gather(x, -1, wk_argmax(x, -1, .keepdim = true));
    wk_tensor *scale = wk_div(wk_sub(maximum, minimum), top);
    wk_tensor *code = rounded(wk_mul(wk_sub(x, minimum), wk__encode_inverse(scale)), 0.5, top);
    return wk_cat((wk__encode_half(scale), wk__encode_half(minimum), packed(code, bits)), 1);
}

wk_tensor *wk__encode_32(wk_tensor *x, wk_block_format format)
{
    switch (format) {
    case WK_BLOCKS_Q8_0: return q8_0(x);
    case WK_BLOCKS_Q4_0: return with_scale(x, 4);
    case WK_BLOCKS_Q4_1: return with_minimum(x, 4);
    case WK_BLOCKS_Q5_0: return with_scale(x, 5);
    default: return with_minimum(x, 5);
    }
}
