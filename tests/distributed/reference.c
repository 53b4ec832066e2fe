/* SPDX-License-Identifier: Apache-2.0 */
/* See reference.h. Linked to every program of tests/distributed. */
#include "reference.h"

#include <math.h>
#include <string.h>

/* A float as a double, exactly; an integer or bool as itself. */
typedef union number {
    double f;
    int64_t i;
} number;

static bool is_float(wk_dtype dtype)
{
    return dtype == WK_F32 || dtype == WK_F64 || dtype == WK_F16 || dtype == WK_BF16;
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

/* A 16-bit format: bits of the fraction, least exponent of a normal value. */
typedef struct half {
    int fraction, least;
} half;
static const half f16 = {10, -14}, bf16 = {7, -126};

static double from_half(half h, uint16_t bits)
{
    const int field = (bits & 0x7fff) >> h.fraction, most = 0x7fff >> h.fraction;
    const double fraction = bits & ((1 << h.fraction) - 1), one = 1 << h.fraction;
    double v = field ? ldexp(one + fraction, field - 1 + h.least - h.fraction) : ldexp(fraction, h.least - h.fraction);
    if (field == most) v = fraction > 0 ? (double)NAN : (double)INFINITY;
    return bits & 0x8000 ? -v : v;
}

/* Rounds to nearest, ties to even. */
static uint16_t to_half(half h, double v)
{
    const int infinite = (0x7fff >> h.fraction) << h.fraction, sign = signbit(v) ? 0x8000 : 0;
    int exponent;
    if (isnan(v)) return (uint16_t)(infinite + 1);
    if (isinf(v)) return (uint16_t)(sign + infinite);
    frexp(v, &exponent);
    exponent = v == 0 || exponent - 1 < h.least ? h.least : exponent - 1;
    if (exponent - h.least >= 0x7fff >> h.fraction) return (uint16_t)(sign + infinite);
    const int bits = ((exponent - h.least) << h.fraction) + (int)nearbyint(ldexp(fabs(v), h.fraction - exponent));
    return (uint16_t)(sign + (bits < infinite ? bits : infinite));
}

static number load(wk_dtype dtype, const void *at, int64_t i)
{
    switch ((int)dtype) {
    case WK_F32: return (number){.f = (double)((const float *)at)[i]};
    case WK_F64: return (number){.f = ((const double *)at)[i]};
    case WK_F16: return (number){.f = from_half(f16, ((const uint16_t *)at)[i])};
    case WK_BF16: return (number){.f = from_half(bf16, ((const uint16_t *)at)[i])};
    case WK_I8: return (number){.i = ((const int8_t *)at)[i]};
    case WK_I16: return (number){.i = ((const int16_t *)at)[i]};
    case WK_I32: return (number){.i = ((const int32_t *)at)[i]};
    case WK_I64: return (number){.i = ((const int64_t *)at)[i]};
    default: return (number){.i = ((const uint8_t *)at)[i]};
    }
}

static void store(wk_dtype dtype, void *at, int64_t i, number v)
{
    switch ((int)dtype) {
    case WK_F32: ((float *)at)[i] = (float)v.f; break;
    case WK_F64: ((double *)at)[i] = v.f; break;
    case WK_F16: ((uint16_t *)at)[i] = to_half(f16, v.f); break;
    case WK_BF16: ((uint16_t *)at)[i] = to_half(bf16, v.f); break;
    case WK_I8: ((int8_t *)at)[i] = (int8_t)v.i; break;
    case WK_I16: ((int16_t *)at)[i] = (int16_t)v.i; break;
    case WK_I32: ((int32_t *)at)[i] = (int32_t)v.i; break;
    case WK_I64: ((int64_t *)at)[i] = v.i; break;
    case WK_BOOL: ((uint8_t *)at)[i] = v.i != 0; break;
    default: ((uint8_t *)at)[i] = (uint8_t)v.i; break;
    }
}

double plain_number(wk_dtype dtype, const void *at, int64_t i)
{
    const number v = load(dtype, at, i);
    return is_float(dtype) ? v.f : (double)v.i;
}

/* ---- reductions -------------------------------------------------------------------------------------------------- */

/* Rounds to the precision of the dtype: for two floats, a sum, product or quotient in double precision rounds to the
 * same float. */
static double rounded(wk_dtype dtype, double v)
{
    return dtype == WK_F64 ? v : (double)(float)v;
}

static double float_of_two(wk_dtype dtype, wk_dist_op op, double a, double b)
{
    switch (op) {
    case WK_DIST_PRODUCT: return rounded(dtype, a * b);
    case WK_DIST_MIN: return isnan(a) || isnan(b) ? (double)NAN : a < b ? a : b;
    case WK_DIST_MAX: return isnan(a) || isnan(b) ? (double)NAN : a > b ? a : b;
    default: return rounded(dtype, a + b);
    }
}

/* Wrapping to 64 bits and then to fewer is the same as wrapping at once; minimum and maximum need no wrapping. */
static int64_t whole_of_two(wk_dtype dtype, wk_dist_op op, int64_t a, int64_t b)
{
    switch (op) {
    case WK_DIST_PRODUCT: return (int64_t)((uint64_t)a * (uint64_t)b);
    case WK_DIST_MIN: return a < b ? a : b;
    case WK_DIST_MAX: return a > b ? a : b;
    default: return dtype == WK_BOOL ? a | b : (int64_t)((uint64_t)a + (uint64_t)b);
    }
}

static number of_two(wk_dtype dtype, wk_dist_op op, number a, number b)
{
    return is_float(dtype) ? (number){.f = float_of_two(dtype, op, a.f, b.f)}
                           : (number){.i = whole_of_two(dtype, op, a.i, b.i)};
}

static int64_t block_of(int64_t i, int64_t count, int n)
{
    const int64_t share = count / n, rest = count % n, longer = rest * (share + 1);
    return i < longer ? i / (share + 1) : rest + (i - longer) / share;
}

/* Folds v[0..n-1] in order, cyclically from v[first]. */
static number in_turn(wk_dtype dtype, wk_dist_op op, const number *v, int n, int64_t first)
{
    number all = v[first % n];
    for (int k = 1; k < n; k++) all = of_two(dtype, op, all, v[(first + k) % n]);
    return all;
}

static number in_pairs(wk_dtype dtype, wk_dist_op op, const number *v, int n)
{
    if (n < 3) return in_turn(dtype, op, v, n, 0);
    if (n == 3) return of_two(dtype, op, of_two(dtype, op, v[0], v[2]), v[1]);
    return of_two(dtype, op, of_two(dtype, op, v[0], v[1]), of_two(dtype, op, v[2], v[3]));
}

void plain_reduce(wk_dtype dtype, wk_dist_op op, plain_order order, int n, const void *const *in, int64_t count,
                  void *out)
{
    for (int64_t i = 0; i < count; i++) {
        number v[4] = {{.i = 0}}, all;
        for (int k = 0; k < n; k++) v[k] = load(dtype, in[k], i);
        if (order == PLAIN_PAIRS)
            all = in_pairs(dtype, op, v, n);
        else
            all = in_turn(dtype, op, v, n, order == PLAIN_RING ? block_of(i, count, n) + 1 : 0);
        if (op == WK_DIST_AVG) all.f = rounded(dtype, all.f / n);
        store(dtype, out, i, all);
    }
}

plain_order plain_order_of(wk_dtype dtype, int n, int64_t count)
{
    const bool wide = n > 2 && (dtype == WK_F16 || dtype == WK_BF16);
    const int64_t bytes = count * (int64_t)(wide ? sizeof(float) : wk_dtype_size(dtype));
    return bytes <= 64 << 10 ? PLAIN_PAIRS : PLAIN_RING;
}

/* ---- random data and comparison ---------------------------------------------------------------------------------- */

static double some_float(rng *d)
{
    static const double scales[] = {1e-3, 1, 1, 50, 3e4};
    static const double special[] = {0, 0, 1, (double)NAN, (double)INFINITY, -(double)INFINITY};
    if (rng_percent(d, 1)) return special[rng_below(d, 6)];
    return (rng_unit(d) - 0.5) * scales[rng_below(d, 5)];
}

void plain_draw(rng *d, wk_dtype dtype, bool whole, int64_t count, void *out)
{
    for (int64_t i = 0; i < count; i++) {
        number v = {.i = whole ? rng_range(d, dtype == WK_U8 ? 0 : -3, 3) : (int64_t)rng_bits(d)};
        if (dtype == WK_BOOL) v.i &= 1;
        if (is_float(dtype)) v.f = whole ? (double)v.i : some_float(d);
        store(dtype, out, i, v);
    }
}

int64_t plain_differs(wk_dtype dtype, const void *a, const void *b, int64_t count)
{
    const size_t size = wk_dtype_size(dtype);
    if (count == 0 || memcmp(a, b, size * (size_t)count) == 0) return -1;
    for (int64_t i = 0; i < count; i++) {
        if (memcmp((const char *)a + size * (size_t)i, (const char *)b + size * (size_t)i, size) == 0) continue;
        const number x = load(dtype, a, i), y = load(dtype, b, i);
        if (!is_float(dtype) || !((isnan(x.f) && isnan(y.f)) || (x.f == 0 && y.f == 0))) return i;
    }
    return -1;
}
