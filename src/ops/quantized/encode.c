/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the encoders of quantised blocks; see encode.h. */
#include "encode.h"

wk_tensor *wk__encode_to(wk_tensor *x, wk_dtype dtype)
{
    return wk_to_dtype_at((wk_site){0}, x, dtype);
}

/* Returns 1, 2, 4 and so on, `count` numbers of i32. */
static wk_tensor *powers(wk_device device, int count)
{
    const wk_tensor_options like = {.size = sizeof like, .dtype = WK_I32, .device = device};
    return wk_bitwise_left_shift(1, wk_arange_from_at((wk_site){0}, 0, count, 1, &like));
}

/* The exponent is the number of powers of 2 from 2^-14 to 2^16 that |x| reaches. */
wk_tensor *wk__encode_half(wk_tensor *x)
{
    enum { EXPONENTS = 31, QUIET = 512 };
    wk_tensor *half = wk__encode_to(wk__encode_to(x, WK_F16), WK_F32), *size = wk_abs(half), *is_nan = wk_isnan(half);
    wk_tensor *power = wk__encode_to(powers(wk_device_of(x), EXPONENTS), WK_F32);
    wk_tensor *reached = wk_ge(size, wk_mul(power, 0x1p-14));
    wk_tensor *exponent = wk__encode_to(wk_sum(reached, (-1), .keepdim = true), WK_I32);
    wk_tensor *unit = wk_bitwise_left_shift(1, wk_sub(wk_maximum(exponent, 1), 1)); /* of the last bit, 2^24 times */
    wk_tensor *fraction = wk_div(wk_mul(size, 0x1p24), wk__encode_to(unit, WK_F32));
    wk_tensor *is_special = wk_logical_or(is_nan, wk_ge(exponent, EXPONENTS));
    fraction = wk_bitwise_and(wk__encode_to(wk_where(is_special, 0, fraction), WK_I32), 1023);
    fraction = wk_where(is_nan, QUIET, fraction);
    exponent = wk_where(is_nan, EXPONENTS, exponent);
    wk_tensor *sign = wk_mul(wk__encode_to(wk_lt(wk_copysign(1, half), 0), WK_I32), 128);
    wk_tensor *high = wk_bitwise_or(wk_bitwise_right_shift(fraction, 8), wk_bitwise_left_shift(exponent, 2));
    return wk__encode_to(wk_cat((wk_bitwise_and(fraction, 255), wk_bitwise_or(high, sign)), -1), WK_U8);
}

/* Divides by no number whose inverse overflows: anomaly mode would report the infinity. */
wk_tensor *wk__encode_inverse(wk_tensor *x)
{
    wk_tensor *is_tiny = wk_le(wk_abs(x), 0x1p-128);
    return wk_where(is_tiny, 0, wk_div(1, wk_where(is_tiny, 1, x)));
}

wk_tensor *wk__encode_largest(wk_tensor *x, int64_t dim)
{
    return wk_gather(x, dim, wk_argmax(wk_abs(x), dim, .keepdim = true));
}

wk_tensor *wk__encode_bits(wk_tensor *code, int first, int count)
{
    return wk_bitwise_and(wk_bitwise_right_shift(code, first), (1 << count) - 1);
}

wk_tensor *wk__encode_fields(wk_tensor *code, int64_t groups, int64_t fields, int64_t n, int width)
{
    wk_tensor *apart = wk_reshape_at((wk_site){0}, code, (const int64_t[]){-1, groups, fields, n}, 4);
    wk_tensor *byte = wk_select(apart, 2, 0);
    for (int64_t f = 1; f < fields; f++)
        byte = wk_bitwise_or(byte, wk_bitwise_left_shift(wk_select(apart, 2, f), f * width));
    return wk_flatten(byte, 1);
}
