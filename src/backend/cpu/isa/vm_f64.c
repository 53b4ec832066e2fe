/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of class f64. Elementary functions call libm lane by lane: f64 serves checks, which need accuracy more
 * than speed. */
#include "block_io.h"

#define CLASS      f64
#define WIDE       1
#define F(name)    f64_##name
#define SCALAR     double
#define VECTOR     f64v
#define MASK       i64v
#define LANE_COUNT LANES8
#include "vm_float.inc"

#define LIBM_UNARY(X)                                                                                                  \
    X(EXP, exp)                                                                                                        \
    X(EXPM1, expm1)                                                                                                    \
    X(LOG, log)                                                                                                        \
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
    X(COSH, cosh)                                                                                                      \
    X(TANH, tanh)                                                                                                      \
    X(ERF, erf)
#define LIBM_BINARY(X)                                                                                                 \
    X(POW, pow)                                                                                                        \
    X(ATAN2, atan2)

#define DEFINE_LANES1(CODE, function)                                                                                  \
    static f64v f64_##function(f64v x)                                                                                 \
    {                                                                                                                  \
        for (int l = 0; l < LANES8; l++) x[l] = function(x[l]);                                                        \
        return x;                                                                                                      \
    }
#define DEFINE_LANES2(CODE, function)                                                                                  \
    static f64v f64_##function(f64v x, f64v y)                                                                         \
    {                                                                                                                  \
        for (int l = 0; l < LANES8; l++) x[l] = function(x[l], y[l]);                                                  \
        return x;                                                                                                      \
    }
LIBM_UNARY(DEFINE_LANES1)
LIBM_BINARY(DEFINE_LANES2)

/* Uses e^-|x|, so that nothing overflows and small results keep their precision. */
static f64v f64_sigmoid(f64v x)
{
    f64v e = f64_exp(-f64_abs(x));
    return f64_select(x < 0, e, f64_splat(1)) / (1 + e);
}

#define UNARY(X)                                                                                                       \
    X(NEG, f64_neg)                                                                                                    \
    X(ABS, f64_abs)                                                                                                    \
    X(SIGN, f64_sign)                                                                                                  \
    X(FLOOR, f64_floor)                                                                                                \
    X(CEIL, f64_ceil)                                                                                                  \
    X(ROUND, f64_round)                                                                                                \
    X(TRUNC, f64_trunc)                                                                                                \
    X(SQRT, f64_sqrt)                                                                                                  \
    X(RSQRT, f64_rsqrt)                                                                                                \
    X(RECIPROCAL, f64_reciprocal)
#define LONG_UNARY(X)                                                                                                  \
    X(EXP, f64_exp)                                                                                                    \
    X(EXPM1, f64_expm1)                                                                                                \
    X(LOG, f64_log)                                                                                                    \
    X(LOG1P, f64_log1p)                                                                                                \
    X(LOG2, f64_log2)                                                                                                  \
    X(LOG10, f64_log10)                                                                                                \
    X(SIN, f64_sin)                                                                                                    \
    X(COS, f64_cos)                                                                                                    \
    X(TAN, f64_tan)                                                                                                    \
    X(ASIN, f64_asin)                                                                                                  \
    X(ACOS, f64_acos)                                                                                                  \
    X(ATAN, f64_atan)                                                                                                  \
    X(SINH, f64_sinh)                                                                                                  \
    X(COSH, f64_cosh)                                                                                                  \
    X(TANH, f64_tanh)                                                                                                  \
    X(ERF, f64_erf)                                                                                                    \
    X(SIGMOID, f64_sigmoid)
#define BINARY(X)                                                                                                      \
    X(ADD, f64_add)                                                                                                    \
    X(MUL, f64_mul)
#define REVERSIBLE(X)                                                                                                  \
    X(SUB, f64_sub)                                                                                                    \
    X(DIV, f64_div)                                                                                                    \
    X(MAX, f64_max)                                                                                                    \
    X(MIN, f64_min)
#define LONG_BINARY(X)                                                                                                 \
    X(FLOORDIV, f64_floordiv)                                                                                          \
    X(REM, f64_rem)                                                                                                    \
    X(FMOD, f64_fmod)                                                                                                  \
    X(POW, f64_pow)                                                                                                    \
    X(ATAN2, f64_atan2)
#define GREATEST f64_greatest
#define LEAST    f64_least
#define LOWEST   -INFINITY
#define HIGHEST  INFINITY
#include "vm_class.inc"
