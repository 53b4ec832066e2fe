/* SPDX-License-Identifier: Apache-2.0 */
/* Elementary functions of f32 vectors. Each comment gives the method and its error, measured against libm in double
 * over the entire range; tests/backend/cpu/vm_math.c checks the bounds. Coefficients are minimax polynomials for the
 * relative error of the function, computed by the Remez exchange with 40 digits. */
#ifndef WICK_BACKEND_CPU_ISA_MATH_F32_H
#define WICK_BACKEND_CPU_ISA_MATH_F32_H

#include "vector.h"

/* ln 2 as the sum of two parts; the product of the first with an integer below 2^14 is exact. */
#define LN2_HIGH 0.693359375f
#define LN2_LOW  -2.12194440e-4f

/* Reduces x = n ln 2 + r with |r| <= ln 2 / 2; returns r. */
static inline f32v f32_reduce_exp(f32v x, f32v *n)
{
    *n = f32_round(x * 1.44269504f);
    f32v r = f32_fma(*n, f32_splat(-LN2_HIGH), x);
    return f32_fma(*n, f32_splat(-LN2_LOW), r);
}

/* Returns (e^r - 1 - r) / r^2 for the reduced r; error 3e-9 of e^r. */
static inline f32v f32_exp_poly(f32v r)
{
    f32v p = f32_splat(0.001381476654f);
    p = f32_fma(p, r, f32_splat(0.008368737959f));
    p = f32_fma(p, r, f32_splat(0.04166838599f));
    p = f32_fma(p, r, f32_splat(0.1666652048f));
    return f32_fma(p, r, f32_splat(0.4999999346f));
}

/* e^x = 2^n e^r. The result is 0 below -104 and infinite above 89; clamping to that range keeps n small. NaN
 * propagates. */
static inline f32v f32_exp(f32v x)
{
    f32v n;
#if WIDTH == 64
    x = (f32v)_mm512_max_ps((__m512)f32_splat(-104), (__m512)x); /* these two return x if it is a NaN */
    x = (f32v)_mm512_min_ps((__m512)f32_splat(89), (__m512)x);
#else
    x = f32_select(x < -104, f32_splat(-104), x);
    x = f32_select(x > 89, f32_splat(89), x);
#endif
    f32v r = f32_reduce_exp(x, &n);
    f32v e = f32_fma(f32_exp_poly(r) * r, r, r) + 1;
    return f32_scale(e, n);
}

/* e^x - 1 = 2^n (e^r - 1) + (2^n - 1), scaled by one half because 2^128 is not a float. */
static inline f32v f32_expm1(f32v x)
{
    f32v n;
    f32v clamped = f32_select(x < -20, f32_splat(-20), f32_select(x > 89, f32_splat(89), x));
    f32v r = f32_reduce_exp(clamped, &n);
    f32v e = f32_fma(f32_exp_poly(r) * r, r, r);
    f32v half = f32_scale(f32_splat(0.5f), n);
    f32v y = 2 * f32_fma(half, e, half - 0.5f);
    return f32_select(n == 0, f32_select(x == 0, x, e), y);
}

/* Decomposes x = 2^e m with m in [sqrt 1/2, sqrt 2); returns m - 1. Denormals are scaled up first. */
static inline f32v f32_frexp(f32v x, f32v *e)
{
    i32v tiny = x < 0x1p-126f;
    x = f32_select(tiny, x * 0x1p24f, x);
    i32v bits = (i32v)((u32v)x - 0x3f3504f3); /* sqrt 1/2, where the exponent changes */
    *e = __builtin_convertvector((bits >> 23) - (tiny & 24), f32v);
    return (f32v)((bits & 0x7fffff) + 0x3f3504f3) - 1;
}

/* Returns (ln(1 + f) - f) / f^2 for f from f32_frexp(); error 4e-9 of the logarithm. */
static inline f32v f32_log_poly(f32v f)
{
    f32v p = f32_splat(-0.07621748349f);
    p = f32_fma(p, f, f32_splat(0.129044029f));
    p = f32_fma(p, f, f32_splat(-0.1324298438f));
    p = f32_fma(p, f, f32_splat(0.141818299f));
    p = f32_fma(p, f, f32_splat(-0.1660908366f));
    p = f32_fma(p, f, f32_splat(0.2000197371f));
    p = f32_fma(p, f, f32_splat(-0.250015829f));
    p = f32_fma(p, f, f32_splat(0.333333257f));
    return f32_fma(p, f, f32_splat(-0.4999998835f));
}

/* Handles logarithms of non-positive and special values: -inf at 0, NaN below, inf and NaN propagate. */
static inline f32v f32_log_special(f32v x, f32v y)
{
    y = f32_select(x == INFINITY, x, y);
    y = f32_select(x == 0, f32_splat(-INFINITY), y);
    return f32_select((x < 0) | (x != x), f32_splat(NAN), y);
}

static inline f32v f32_log(f32v x)
{
    f32v e;
    f32v f = f32_frexp(x, &e);
    f32v y = f32_fma(e, f32_splat(LN2_LOW), f32_log_poly(f) * (f * f)) + f;
    return f32_log_special(x, f32_fma(e, f32_splat(LN2_HIGH), y));
}

/* x + x^3 P(x^2) near zero; 1 - 2 / (e^2x + 1) above 0.625, where there is no cancellation. */
static inline f32v f32_tanh(f32v x)
{
    f32v a = f32_abs(x), y = x * x;
    f32v p = f32_splat(-0.005648317191f);
    p = f32_fma(p, y, f32_splat(0.02058982714f));
    p = f32_fma(p, y, f32_splat(-0.05372512681f));
    p = f32_fma(p, y, f32_splat(0.1333127444f));
    p = f32_fma(p, y, f32_splat(-0.3333327606f));
    f32v near = f32_fma(p * y, x, x);
    f32v far = 1 - 2 / (f32_exp(2 * a) + 1);
    return f32_copysign(f32_select(a < 0.625f, near, far), x);
}

/* Uses e^-|x|, so that nothing overflows and small results keep their precision. */
static inline f32v f32_sigmoid(f32v x)
{
    f32v e = f32_exp(-f32_abs(x));
    return f32_select(x < 0, e, f32_splat(1)) / (1 + e);
}

/* x + x P(x^2) below 0.925; above, 1 - erfc(x) = 1 - exp(Q(x)). The result is 1 from 4 on. */
static inline f32v f32_erf(f32v x)
{
    f32v a = f32_abs(x), y = x * x;
    f32v p = f32_splat(8.334102334e-5f);
    p = f32_fma(p, y, f32_splat(-0.0008134161266f));
    p = f32_fma(p, y, f32_splat(0.005200276805f));
    p = f32_fma(p, y, f32_splat(-0.0268590926f));
    p = f32_fma(p, y, f32_splat(0.1128368995f));
    p = f32_fma(p, y, f32_splat(-0.3761263337f));
    p = f32_fma(p, y, f32_splat(0.128379167f));
    f32v near = f32_fma(p, x, x);
    a = f32_select(a > 4, f32_splat(4), a);
    f32v q = f32_splat(0.0001959363679f);
    q = f32_fma(q, a, f32_splat(-0.003043209011f));
    q = f32_fma(q, a, f32_splat(0.02222688755f));
    q = f32_fma(q, a, f32_splat(-0.1039315302f));
    q = f32_fma(q, a, f32_splat(-0.6371823216f));
    q = f32_fma(q, a, f32_splat(-1.127675583f));
    q = f32_fma(q, a, f32_splat(-0.000195685798f));
    f32v far = f32_copysign(1 - f32_exp(q), x);
    return f32_select(f32_abs(x) < 0.925f, near, far);
}

#endif
