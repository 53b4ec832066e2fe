/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of elements on the host; see scalar.h. */
#include "scalar.h"
#include <string.h>

static float f16_to_f32(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 0) {
        float tiny = (float)fraction * 0x1p-24f; /* denormals are multiples of 2^-24 */
        return sign ? -tiny : tiny;
    }
    uint32_t word = sign | (exponent == 31 ? 255u : exponent + 112) << 23 | fraction << 13;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static float bf16_to_f32(uint16_t bits)
{
    uint32_t word = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

int64_t wk__double_to_i64(double number)
{
    return number >= -0x1p63 && number < 0x1p63 ? (int64_t)number : INT64_MIN;
}

int64_t wk__scalar_to_i64(const void *element, wk_dtype dtype)
{
    union {
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
    } n = {0};
    memcpy(&n, element, wk_dtype_size(dtype));
    switch (dtype) {
    case WK_I8: return n.i8;
    case WK_U8: return n.u8;
    case WK_BOOL: return n.u8 != 0;
    case WK_I16: return n.i16;
    case WK_I32: return n.i32;
    case WK_I64: return n.i64;
    default: return wk__double_to_i64(wk__scalar_to_double(element, dtype));
    }
}

double wk__scalar_to_double(const void *element, wk_dtype dtype)
{
    union {
        float f32;
        double f64;
        uint16_t half;
    } n = {.f64 = 0};
    memcpy(&n, element, wk_dtype_size(dtype));
    switch (dtype) {
    case WK_F32: return (double)n.f32;
    case WK_F64: return n.f64;
    case WK_F16: return (double)f16_to_f32(n.half);
    case WK_BF16: return (double)bf16_to_f32(n.half);
    default: return (double)wk__scalar_to_i64(element, dtype);
    }
}
