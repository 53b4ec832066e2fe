/* Elements on the host; see number.h. */
#include "number.h"
#include <math.h>
#include <string.h>

float wk__f16_to_f32(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 0) {
        float tiny = (float)fraction * 0x1p-24f; /* denormals are whole multiples of 2^-24 */
        return sign ? -tiny : tiny;
    }
    uint32_t word = sign | (exponent == 31 ? 255u : exponent + 112) << 23 | fraction << 13;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* Scales so that one unit in the last place of the f16 result is 1, then lets the hardware round to a whole number. */
uint16_t wk__f16_from_f64(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double size = fabs(value);
    if (isnan(value)) return (uint16_t)(sign | 0x7e00);
    if (size >= 65520) return (uint16_t)(sign | 0x7c00);
    int exponent = size < 0x1p-14 ? -14 : ilogb(size);
    double units = nearbyint(ldexp(size, 10 - exponent)); /* 0..2048 */
    return (uint16_t)(sign | ((units < 1024 ? 0 : (exponent + 14) << 10) + (int)units));
}

static uint16_t bf16_from_f64(double value)
{
    float narrow = (float)value;
    if (isnan(value)) return 0x7fc0;
    if ((double)narrow != value) { /* round to odd first, so that rounding twice is rounding once */
        uint32_t word;
        if (fabs((double)narrow) > fabs(value)) narrow = nextafterf(narrow, 0);
        memcpy(&word, &narrow, sizeof word);
        word |= 1;
        memcpy(&narrow, &word, sizeof word);
    }
    uint32_t word;
    memcpy(&word, &narrow, sizeof word);
    return (uint16_t)((word + 0x7fff + (word >> 16 & 1)) >> 16);
}

static float bf16_to_f32(uint16_t bits)
{
    uint32_t word = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

int64_t wk__number_as_i64(const void *element, wk_dtype dtype)
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
    default: return (int64_t)wk__number_as_double(element, dtype);
    }
}

double wk__number_as_double(const void *element, wk_dtype dtype)
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
    case WK_F16: return (double)wk__f16_to_f32(n.half);
    case WK_BF16: return (double)bf16_to_f32(n.half);
    default: return (double)wk__number_as_i64(element, dtype);
    }
}

void wk__number_store(void *element, wk_dtype dtype, double value)
{
    union {
        float f32;
        double f64;
        uint16_t half;
        int64_t whole;
        uint8_t flag;
    } n;
    switch (dtype) {
    case WK_F32: n.f32 = (float)value; break;
    case WK_F64: n.f64 = value; break;
    case WK_F16: n.half = wk__f16_from_f64(value); break;
    case WK_BF16: n.half = bf16_from_f64(value); break;
    case WK_BOOL: n.flag = value != 0; break;
    default: n.whole = (int64_t)value; break; /* little end first: narrower integers are its first bytes */
    }
    memcpy(element, &n, wk_dtype_size(dtype));
}
