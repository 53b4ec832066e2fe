/* SPDX-License-Identifier: Apache-2.0 */
/* Elementary functions of f32 vectors, computed in f64: with twice the precision rounding errors are harmless, so short
 * polynomials and plain formulas are accurate to 0.51 ulp, with or without fma. math_f32.h has faster versions of the
 * functions that dominate in networks. */
#ifndef WICK_BACKEND_CPU_ISA_MATH_WIDE_H
#define WICK_BACKEND_CPU_ISA_MATH_WIDE_H

#include "vector.h"

/* ln 2 and pi / 2 as sums of two parts; the product of the first with an integer below 2^20 is exact. */
#define WIDE_LN2_HIGH  0x1.62e42fefp-1
#define WIDE_LN2_LOW   0x1.473de6af278edp-34
#define WIDE_PI_2_HIGH 0x1.921fb544p+0
#define WIDE_PI_2_LOW  0x1.0b4611a626331p-34
#define WIDE_PI_2      0x1.921fb54442d18p+0
#define WIDE_PI_4      0x1.921fb54442d18p-1

/* ---- exponentials ------------------------------------------------------------------------------------------------ */

/* e^x for |x| <= 200; relative error 5e-11. */
static inline f64v wide_exp(f64v x)
{
    f64v n = f64_round(x * 0x1.71547652b82fep+0);
    f64v r = f64_fma(n, f64_splat(-WIDE_LN2_LOW), f64_fma(n, f64_splat(-WIDE_LN2_HIGH), x));
    f64v p = f64_splat(0.000197903042901270169);
    p = f64_fma(p, r, f64_splat(0.00139447016056221025));
    p = f64_fma(p, r, f64_splat(0.00833349732358871505));
    p = f64_fma(p, r, f64_splat(0.0416662943989754652));
    p = f64_fma(p, r, f64_splat(0.16666665867123509));
    p = f64_fma(p, r, f64_splat(0.500000006782602936));
    return f64_scale(f64_fma(p * r, r, r) + 1, n);
}

static inline f64v wide_clamp(f64v x, double limit)
{
    x = f64_select(x > limit, f64_splat(limit), x);
    return f64_select(x < -limit, f64_splat(-limit), x);
}

/* Uses the series near zero, where e^x - e^-x cancels. Infinite beyond 120. */
static inline f64v wide_sinh(f64v x)
{
    f64v y = x * x;
    f64v near = x * (1 + y * (1.0 / 6 + y * (1.0 / 120 + y * (1.0 / 5040))));
    f64v e = wide_exp(wide_clamp(x, 120));
    return f64_select(f64_abs(x) < 0.3, near, 0.5 * (e - 1 / e));
}

static inline f64v wide_cosh(f64v x)
{
    f64v e = wide_exp(wide_clamp(x, 120));
    return 0.5 * (e + 1 / e);
}

/* ---- logarithms -------------------------------------------------------------------------------------------------- */

/* Decomposes positive x = 2^e m with m in [sqrt 1/2, sqrt 2); returns m - 1. */
static inline f64v wide_frexp(f64v x, f64v *e)
{
    i64v bits = (i64v)((u64v)x - 0x3fe6a09e667f3bcd);          /* sqrt 1/2, where the exponent changes */
    i64v biased = ((bits >> 52) + 0x3ff) | 0x4330000000000000; /* 2^52 + e + 1023, as an f64 */
    *e = (f64v)biased - (0x1p52 + 1023);
    return (f64v)((bits & 0xfffffffffffff) + 0x3fe6a09e667f3bcd) - 1;
}

/* ln(1 + f) for f from wide_frexp(); relative error 4e-14: 2 artanh(f / (2 + f)). */
static inline f64v wide_log1(f64v f)
{
    f64v s = f / (2 + f), z = s * s;
    f64v p = f64_splat(0.0979937617870080835);
    p = f64_fma(p, z, f64_splat(0.110876201891201063));
    p = f64_fma(p, z, f64_splat(0.142860650659172986));
    p = f64_fma(p, z, f64_splat(0.199999977209280995));
    p = f64_fma(p, z, f64_splat(0.333333333381356034));
    s += s;
    return f64_fma(s * z, p, s);
}

/* Handles logarithms of non-positive and special values. */
static inline f64v wide_log_special(f64v x, f64v y)
{
    y = f64_select(x == INFINITY, x, y);
    y = f64_select(x == 0, f64_splat(-INFINITY), y);
    return f64_select((x < 0) | (x != x), f64_splat(NAN), y);
}

static inline f64v wide_log2(f64v x)
{
    f64v e, f = wide_frexp(x, &e);
    return wide_log_special(x, f64_fma(wide_log1(f), f64_splat(0x1.71547652b82fep+0), e));
}

static inline f64v wide_log10(f64v x)
{
    f64v e, f = wide_frexp(x, &e);
    return wide_log_special(x, f64_fma(e, f64_splat(0x1.34413509f79ffp-2), wide_log1(f) * 0x1.bcb7b1526e50ep-2));
}

/* Near zero 1 + x loses the low bits of x, so x itself is used as f. */
static inline f64v wide_log1p(f64v x)
{
    f64v u = 1 + x, e, f = wide_frexp(u, &e);
    i64v near = f64_abs(x) < 0.25;
    e = f64_select(near, f64_splat(0), e);
    f = f64_select(near, x, f);
    f64v y = f64_fma(e, f64_splat(0x1.62e42fefa39efp-1), wide_log1(f));
    return f64_select(x == 0, x, wide_log_special(u, y));
}

/* ---- powers ------------------------------------------------------------------------------------------------------ */

/* x|^y = 2^(y log2 |x|), followed by the special cases of C99 F.9.4.4. */
static inline f64v wide_pow(f64v x, f64v y)
{
    f64v a = f64_abs(x), e, f = wide_frexp(a, &e);
    f64v log2 = f64_fma(wide_log1(f), f64_splat(0x1.71547652b82fep+0), e);
    log2 = f64_select(a == 0, f64_splat(-INFINITY), f64_select(a == INFINITY, a, log2));
    f64v power = wide_exp(wide_clamp(y * log2, 250) * 0x1.62e42fefa39efp-1);
    power = f64_select(y * log2 > 250, f64_splat(INFINITY), f64_select(y * log2 < -250, f64_splat(0), power));
    i64v whole = (f64_round(y) == y) | (f64_abs(y) == INFINITY);
    i64v odd = whole & (f64_round(y * 0.5) != y * 0.5) & (f64_abs(y) < INFINITY);
    power = f64_select(odd, f64_copysign(power, x), power);
    power = f64_select((x < 0) & (a < INFINITY) & ~whole, f64_splat(NAN), power);
    power = f64_select((x != x) | (y != y), x + y, power);
    return f64_select((y == 0) | (x == 1) | ((x == -1) & (f64_abs(y) == INFINITY)), f64_splat(1), power);
}

/* ---- circular functions ------------------------------------------------------------------------------------------ */

/* Above this the reduction loses precision, and such lanes use libm in f64. */
#define WIDE_SINCOS_LIMIT 0x1p20

/* sin and cos of r for x = n pi/2 + r; errors 5e-12 and 1e-13. Returns n, the quarter turns, modulo 4. */
static inline i64v wide_sincos(f64v x, f64v *sine, f64v *cosine)
{
    f64v n = f64_round(x * 0x1.45f306dc9c883p-1);
    f64v r = f64_fma(n, f64_splat(-WIDE_PI_2_LOW), f64_fma(n, f64_splat(-WIDE_PI_2_HIGH), x)), y = r * r;
    f64v s = f64_splat(2.7183081057381745e-6);
    s = f64_fma(s, y, f64_splat(-0.000198393345752982638));
    s = f64_fma(s, y, f64_splat(0.00833332938552853805));
    s = f64_fma(s, y, f64_splat(-0.166666666416302236));
    *sine = f64_fma(s * y, r, r);
    f64v c = f64_splat(-2.72103234719824782e-7);
    c = f64_fma(c, y, f64_splat(0.0000247995213479828308));
    c = f64_fma(c, y, f64_splat(-0.00138888837600674091));
    c = f64_fma(c, y, f64_splat(0.0416666666229324904));
    *cosine = f64_fma(c * y, y, 1 - 0.5 * y);
    return (i64v)(n + (0x1p52 + 0x1p51)); /* its low bits are n modulo 4 */
}

static inline f64v wide_libm_fallback(f64v x, f64v y, double (*function)(double))
{
    i64v far = ~(f64_abs(x) <= WIDE_SINCOS_LIMIT);
    if (__builtin_expect(i64_any(far), 0)) {
        for (int l = 0; l < LANES8; l++) {
            if (far[l]) y[l] = function(x[l]);
        }
    }
    return y;
}

/* Flips the sign if bit 1 of the quarter turns is set. */
static inline f64v wide_flip(f64v y, i64v turns)
{
    return (f64v)((i64v)y ^ (i64v)((u64v)(turns & 2) << 62));
}

static inline f64v wide_sin(f64v x)
{
    f64v s, c;
    i64v turns = wide_sincos(x, &s, &c);
    f64v y = wide_flip(f64_select((turns & 1) != 0, c, s), turns);
    return wide_libm_fallback(x, f64_select(x == 0, x, y), sin);
}

static inline f64v wide_cos(f64v x)
{
    f64v s, c;
    i64v turns = wide_sincos(x, &s, &c);
    return wide_libm_fallback(x, wide_flip(f64_select((turns & 1) != 0, s, c), turns + (turns & 1)), cos);
}

static inline f64v wide_tan(f64v x)
{
    f64v s, c;
    i64v odd = (wide_sincos(x, &s, &c) & 1) != 0;
    f64v y = f64_select(odd, -c, s) / f64_select(odd, s, c);
    return wide_libm_fallback(x, f64_select(x == 0, x, y), tan);
}

/* Angle of (x, y). The smaller over the greater magnitude is at most 1; above tan pi/8 it is rotated by pi/4:
 *     atan t = pi/4 + atan((t - 1) / (t + 1)), and the polynomial below covers |t| <= 0.4143, error 8e-13. */
static inline f64v wide_atan2(f64v y, f64v x)
{
    f64v ax = f64_abs(x), ay = f64_abs(y);
    i64v both = (ax == INFINITY) & (ay == INFINITY); /* treated as if both were 1 */
    ax = f64_select(both, f64_splat(1), ax);
    ay = f64_select(both, f64_splat(1), ay);
    i64v steep = ay > ax;
    f64v less = f64_select(steep, ax, ay), more = f64_select(steep, ay, ax);
    i64v turned = less > 0.4142135623730950 * more;
    f64v t = f64_select(turned, less - more, less) / f64_select(turned, less + more, more);
    t = f64_select(more == 0, f64_splat(0), t);
    f64v z = t * t;
    f64v p = f64_splat(-0.0379650596222929073);
    p = f64_fma(p, z, f64_splat(0.0699367644965081725));
    p = f64_fma(p, z, f64_splat(-0.0899742227655349514));
    p = f64_fma(p, z, f64_splat(0.1110407200202716));
    p = f64_fma(p, z, f64_splat(-0.142854276861359138));
    p = f64_fma(p, z, f64_splat(0.199999944394586223));
    p = f64_fma(p, z, f64_splat(-0.33333333296807384));
    f64v angle = f64_fma(p * z, t, t) + f64_select(turned, f64_splat(WIDE_PI_4), f64_splat(0));
    angle = f64_select(steep, WIDE_PI_2 - angle, angle);
    angle = f64_select((i64v)x < 0, 2 * WIDE_PI_2 - angle, angle);
    return f64_select((x != x) | (y != y), x + y, f64_copysign(angle, y));
}

static inline f64v wide_atan(f64v x)
{
    return wide_atan2(x, f64_splat(1));
}

/* sqrt(1 - x^2); NaN outside -1..1. */
static inline f64v wide_sqrt_1_minus_sq(f64v x)
{
    return f64_sqrt((1 - x) * (1 + x));
}

static inline f64v wide_asin(f64v x)
{
    return wide_atan2(x, wide_sqrt_1_minus_sq(x));
}

static inline f64v wide_acos(f64v x)
{
    return wide_atan2(wide_sqrt_1_minus_sq(x), x);
}

/* ---- f32 versions ------------------------------------------------------------------------------------------------ */

#define WIDE_UNARY(X)                                                                                                  \
    X(LOG1P, log1p)                                                                                                    \
    X(LOG2, log2)                                                                                                      \
    X(LOG10, log10)                                                                                                    \
    X(SIN, sin)                                                                                                        \
    X(COS, cos)                                                                                                        \
    X(TAN, tan)                                                                                                        \
    X(ASIN, asin)                                                                                                      \
    X(ACOS, acos)                                                                                                      \
    X(ATAN, atan)                                                                                                      \
    X(SINH, sinh)                                                                                                      \
    X(COSH, cosh)
#define WIDE_BINARY(X)                                                                                                 \
    X(POW, pow)                                                                                                        \
    X(ATAN2, atan2)

#define DEFINE_FROM_WIDE1(CODE, name)                                                                                  \
    static inline f32v f32_##name(f32v x)                                                                              \
    {                                                                                                                  \
        return f32_narrow(wide_##name(f64_widen(x, 0)), wide_##name(f64_widen(x, 1)));                                 \
    }
#define DEFINE_FROM_WIDE2(CODE, name)                                                                                  \
    static inline f32v f32_##name(f32v x, f32v y)                                                                      \
    {                                                                                                                  \
        return f32_narrow(wide_##name(f64_widen(x, 0), f64_widen(y, 0)),                                               \
                          wide_##name(f64_widen(x, 1), f64_widen(y, 1)));                                              \
    }
WIDE_UNARY(DEFINE_FROM_WIDE1)
WIDE_BINARY(DEFINE_FROM_WIDE2)

#endif
