/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of class f32. */
#include "math_f32.h"
#include "math_wide.h"
#include "block_io.h"

#define F(name)    f32_##name
#define SCALAR     float
#define VECTOR     f32v
#define MASK       i32v
#define LANE_COUNT LANES4
#include "vm_float.inc"
#undef F

#define CLASS f32
#define WIDE  0
#define UNARY(X)                                                                                                       \
    X(NEG, f32_neg)                                                                                                    \
    X(ABS, f32_abs)                                                                                                    \
    X(SIGN, f32_sign)                                                                                                  \
    X(FLOOR, f32_floor)                                                                                                \
    X(CEIL, f32_ceil)                                                                                                  \
    X(ROUND, f32_round)                                                                                                \
    X(TRUNC, f32_trunc)                                                                                                \
    X(SQRT, f32_sqrt)                                                                                                  \
    X(RSQRT, f32_rsqrt)                                                                                                \
    X(RECIPROCAL, f32_reciprocal)                                                                                      \
    X(EXP, f32_exp)
#define LONG_UNARY(X)                                                                                                  \
    X(EXPM1, f32_expm1)                                                                                                \
    X(LOG, f32_log)                                                                                                    \
    X(LOG1P, f32_log1p)                                                                                                \
    X(LOG2, f32_log2)                                                                                                  \
    X(LOG10, f32_log10)                                                                                                \
    X(SIN, f32_sin)                                                                                                    \
    X(COS, f32_cos)                                                                                                    \
    X(TAN, f32_tan)                                                                                                    \
    X(ASIN, f32_asin)                                                                                                  \
    X(ACOS, f32_acos)                                                                                                  \
    X(ATAN, f32_atan)                                                                                                  \
    X(SINH, f32_sinh)                                                                                                  \
    X(COSH, f32_cosh)                                                                                                  \
    X(TANH, f32_tanh)                                                                                                  \
    X(SIGMOID, f32_sigmoid)                                                                                            \
    X(ERF, f32_erf)
#define BINARY(X)                                                                                                      \
    X(ADD, f32_add)                                                                                                    \
    X(MUL, f32_mul)
#define REVERSIBLE(X)                                                                                                  \
    X(SUB, f32_sub)                                                                                                    \
    X(DIV, f32_div)                                                                                                    \
    X(MAX, f32_max)                                                                                                    \
    X(MIN, f32_min)
#define LONG_BINARY(X)                                                                                                 \
    X(FLOORDIV, f32_floordiv)                                                                                          \
    X(REM, f32_rem)                                                                                                    \
    X(FMOD, f32_fmod)                                                                                                  \
    X(POW, f32_pow)                                                                                                    \
    X(ATAN2, f32_atan2)
#define GREATEST f32_greatest
#define LEAST    f32_least
#define LOWEST   -INFINITY
#define HIGHEST  INFINITY
#include "vm_class.inc"
