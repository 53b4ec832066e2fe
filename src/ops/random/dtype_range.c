/* SPDX-License-Identifier: Apache-2.0 */
/* Representable values of dtypes (dtype_range.h). */
#include "dtype_range.h"
#include "tensor/tensor.h"
#include <math.h>

/* ---- floats ------------------------------------------------------------------------------------------------------ */

/* Bits of the significand, including the leading one; exponents of the smallest and the largest normal values. */
typedef struct float_format {
    int digits, least_exponent, greatest_exponent;
} float_format;

static float_format format_of(wk_dtype dtype)
{
    switch (dtype) {
    case WK_F16: return (float_format){11, -14, 15};
    case WK_BF16: return (float_format){8, -126, 127};
    case WK_F32: return (float_format){24, -126, 127};
    default: return (float_format){53, -1022, 1023};
    }
}

/* Returns the distance between neighbouring values of the format at x. */
static double spacing_at(double x, const float_format *f)
{
    const int exponent = x == 0 || ilogb(x) < f->least_exponent ? f->least_exponent : ilogb(x);
    return ldexp(1, exponent - (f->digits - 1));
}

double wk__float_nearest(double x, wk_dtype dtype)
{
    const float_format f = format_of(dtype);
    if (dtype == WK_F64 || !isfinite(x)) return x;
    if (dtype != WK_F32) x = wk__float_nearest(x, WK_F32); /* conversions to f16 and bf16 go through f32 */
    if (!isfinite(x)) return x;
    const double spacing = spacing_at(x, &f), nearest = nearbyint(x / spacing) * spacing;
    return fabs(nearest) < ldexp(1, f.greatest_exponent + 1) ? nearest : copysign(INFINITY, x);
}

double wk__float_below(double x, wk_dtype dtype)
{
    const float_format f = format_of(dtype);
    if (dtype == WK_F64) return nextafter(x, -INFINITY);
    const double spacing = spacing_at(x, &f);
    const bool power = x > 0 && ilogb(x) > f.least_exponent && ldexp(1, ilogb(x)) == x; /* half as far below */
    return x - (power ? spacing / 2 : spacing);
}

/* ---- integers ---------------------------------------------------------------------------------------------------- */

wk__integer_range wk__integer_limits(wk_dtype dtype)
{
    switch (dtype) {
    case WK_BOOL: return (wk__integer_range){0, 1};
    case WK_U8: return (wk__integer_range){0, UINT8_MAX};
    case WK_I8: return (wk__integer_range){INT8_MIN, INT8_MAX};
    case WK_I16: return (wk__integer_range){INT16_MIN, INT16_MAX};
    case WK_I32: return (wk__integer_range){INT32_MIN, INT32_MAX};
    case WK_F16: return (wk__integer_range){-65504, 65504};
    default: return (wk__integer_range){INT64_MIN, INT64_MAX};
    }
}

int64_t wk__largest_exact_integer(wk_dtype dtype)
{
    return wk__is_float(dtype) ? (int64_t)1 << format_of(dtype).digits : wk__integer_limits(dtype).greatest;
}

static uint64_t magnitude_of(int64_t x)
{
    return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

/* Rounds a magnitude of at most 2^63 to a multiple of the spacing of its values with `digits` bits, away from zero or
 * towards it. */
static uint64_t round_magnitude(uint64_t x, int digits, bool away)
{
    const int bits = x ? 64 - __builtin_clzll(x) : 0;
    if (bits <= digits) return x;
    const uint64_t spacing = (uint64_t)1 << (bits - digits), towards = x & ~(spacing - 1);
    return away && towards != x ? towards + spacing : towards;
}

bool wk__integer_range_narrow(wk__integer_range *range, wk_dtype dtype)
{
    if (!wk__is_float(dtype)) return true;
    const int digits = format_of(dtype).digits;
    const uint64_t least = round_magnitude(magnitude_of(range->least), digits, range->least > 0);
    const uint64_t greatest = round_magnitude(magnitude_of(range->greatest), digits, range->greatest < 0);
    if (range->least > 0 && least > INT64_MAX) return false;
    range->least = (int64_t)(range->least < 0 ? -least : least);
    range->greatest = (int64_t)(range->greatest < 0 ? -greatest : greatest);
    return range->least <= range->greatest;
}
