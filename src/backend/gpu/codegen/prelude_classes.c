/* SPDX-License-Identifier: Apache-2.0 */
/* Source of the functions that opcodes.def refers to, once per class: T is the type, NAME(x) appends the class's
 * suffix; and vectors of 16 for matrix products. */
#include "prelude.h"
#include "device_source.h"

/* clang-format off */ /* of device code */
static const char signs[] = DEVICE_CODE(
    FN T NAME(wk_abs)(T x)
    {
        return x < 0 ? NAME(wk_minus)(x) : x;
    }
    FN T NAME(wk_sign)(T x)
    {
        return (T)((x > 0) - (x < 0));
    });

static const char integers[] = DEVICE_CODE(
    FN T NAME(wk_plus)(T a, T b)
    {
        return (T)((U)a + (U)b);
    }
    FN T NAME(wk_times)(T a, T b)
    {
        return (T)((U)a * (U)b);
    }
    FN T NAME(wk_add_product)(T sum, T a, T b)
    {
        return (T)((U)sum + (U)a * (U)b);
    }
    FN T NAME(wk_minus)(T a)
    {
        return (T)((U)0 - (U)a);
    }
    FN T NAME(wk_max)(T a, T b)
    {
        return a > b ? a : b;
    }
    FN T NAME(wk_min)(T a, T b)
    {
        return a < b ? a : b;
    }
    FN T NAME(wk_fmod)(T a, T b)
    {
        return b == 0 || b == -1 ? 0 : a % b;
    }
    FN T NAME(wk_rem)(T a, T b)
    {
        const T r = NAME(wk_fmod)(a, b);
        return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    FN T NAME(wk_floordiv)(T a, T b)
    {
        if (b == 0) return 0;
        if (b == -1) return NAME(wk_minus)(a); /* the smallest number has no negative: wraps */
        return a / b - (a % b != 0 && (a < 0) != (b < 0));
    }
    FN T NAME(wk_pow)(T base, T exponent)
    {
        if (exponent < 0) return base == 1 ? 1 : base == -1 ? ((exponent & 1) != 0 ? -1 : 1) : 0;
        U power = 1;
        U square = (U)base;
        for (; exponent != 0; exponent >>= 1) {
            if ((exponent & 1) != 0) power *= square;
            square *= square;
        }
        return (T)power;
    }
    FN T NAME(wk_shl)(T a, T b)
    {
        return b < 0 || b >= BITS ? 0 : (T)((U)a << b);
    }
    FN T NAME(wk_shr)(T a, T b)
    {
        return b < 0 || b >= BITS ? (a < 0 ? -1 : 0) : a >> b;
    });

static const char floats[] = DEVICE_CODE(
    FN T NAME(wk_plus)(T a, T b)
    {
        return a + b;
    }
    FN T NAME(wk_times)(T a, T b)
    {
        return a * b;
    }
    FN T NAME(wk_add_product)(T sum, T a, T b)
    {
        return fma(a, b, sum);
    }
    FN T NAME(wk_max)(T a, T b)
    {
        return a > b || a != a ? a : b;
    }
    FN T NAME(wk_min)(T a, T b)
    {
        return a < b || a != a ? a : b;
    }
    FN T NAME(wk_greatest)(T a, T b) /* of a row, like the CPU's vector.h: NaN wins, and zeros are ordered */
    {
        return a > b || a != a || (a == b && copysign((T)1, b) < 0) ? a : b;
    }
    FN T NAME(wk_least)(T a, T b)
    {
        return a < b || a != a || (a == b && copysign((T)1, a) < 0) ? a : b;
    }
    FN T NAME(wk_abs)(T x)
    {
        return fabs(x);
    }
    FN T NAME(wk_sign)(T x)
    {
        return (T)((x > 0) - (x < 0));
    }
    FN T NAME(wk_fmod)(T a, T b)
    {
        return fmod(a, b);
    }
    FN T NAME(wk_rem)(T a, T b)
    {
        const T r = fmod(a, b);
        return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    FN T NAME(wk_floordiv)(T a, T b)
    {
        const T r = fmod(a, b);
        if (b == 0) return NAME(wk_divide)(a, b);
        T quotient = NAME(wk_divide)(a - r, b);
        if (r != 0 && (r < 0) != (b < 0)) quotient -= 1;
        if (quotient == 0) return copysign((T)0, NAME(wk_divide)(a, b));
        const T whole = floor(quotient);
        return quotient - whole > (T)0.5 ? whole + 1 : whole;
    }
    FN T NAME(wk_pow)(T a, T b)
    {
        return pow(a, b);
    }
    FN T NAME(wk_atan2)(T a, T b)
    {
        return atan2(a, b);
    }
    FN T NAME(wk_floor)(T x)
    {
        return floor(x);
    }
    FN T NAME(wk_ceil)(T x)
    {
        return ceil(x);
    }
    FN T NAME(wk_round)(T x)
    {
        return rint(x);
    }
    FN T NAME(wk_trunc)(T x)
    {
        return trunc(x);
    }
    FN T NAME(wk_rsqrt)(T x)
    {
        return NAME(wk_divide)((T)1, NAME(wk_sqrt)(x));
    }
    FN i64 NAME(wk_truncate)(T x)
    {
        return x > (T)-9223372036854775808.0f && x < (T)9223372036854775808.0f ? (i64)x : WK_I64_MIN;
    });

static const char functions[] = DEVICE_CODE(
    FN T NAME(wk_exp)(T x)
    {
        return exp(x);
    }
    FN T NAME(wk_expm1)(T x)
    {
        return expm1(x);
    }
    FN T NAME(wk_log)(T x)
    {
        return log(x);
    }
    FN T NAME(wk_log1p)(T x)
    {
        return log1p(x);
    }
    FN T NAME(wk_log2)(T x)
    {
        return log2(x);
    }
    FN T NAME(wk_log10)(T x)
    {
        return log10(x);
    }
    FN T NAME(wk_sin)(T x)
    {
        return sin(x);
    }
    FN T NAME(wk_cos)(T x)
    {
        return cos(x);
    }
    FN T NAME(wk_tan)(T x)
    {
        return tan(x);
    }
    FN T NAME(wk_asin)(T x)
    {
        return asin(x);
    }
    FN T NAME(wk_acos)(T x)
    {
        return acos(x);
    }
    FN T NAME(wk_atan)(T x)
    {
        return atan(x);
    }
    FN T NAME(wk_sinh)(T x)
    {
        return sinh(x);
    }
    FN T NAME(wk_cosh)(T x)
    {
        return cosh(x);
    }
    FN T NAME(wk_tanh)(T x)
    {
        return tanh(x);
    }
    FN T NAME(wk_erf)(T x)
    {
        return erf(x);
    }
    FN T NAME(wk_sigmoid)(T x)
    {
        const T e = exp(-fabs(x));
        return NAME(wk_divide)(x < 0 ? e : (T)1, 1 + e);
    });

/* A double has more than twice the bits of a float, so rounding twice is exact. */
static const char exact_division[] = DEVICE_CODE(
    FN T NAME(wk_divide)(T a, T b)
    {
        return a / b;
    }
    FN T NAME(wk_sqrt)(T x)
    {
        return sqrt(x);
    });
static const char division_through_double[] = DEVICE_CODE(
    FN T NAME(wk_divide)(T a, T b)
    {
        return (T)((double)a / (double)b);
    }
    FN T NAME(wk_sqrt)(T x)
    {
        return (T)sqrt((double)x);
    });
/* Vectors of 16; OpenCL only. */
static const char wide_integers[] = DEVICE_CODE(
    typedef int16 wide_i32;
    FN wide_i32 wk_add_products_i32(wide_i32 sum, i32 x, wide_i32 y)
    {
        return as_int16(as_uint16(sum) + (uint16)((u32)x) * as_uint16(y));
    }
    typedef long16 wide_i64;
    FN wide_i64 wk_add_products_i64(wide_i64 sum, i64 x, wide_i64 y)
    {
        return as_long16(as_ulong16(sum) + (ulong16)((u64)x) * as_ulong16(y));
    });
static const char wide_f32[] = DEVICE_CODE(
    typedef float16 wide_f32;
    FN wide_f32 wk_add_products_f32(wide_f32 sum, float x, wide_f32 y)
    {
        return fma((wide_f32)(x), y, sum);
    });
static const char wide_f64[] = DEVICE_CODE(
    typedef double16 wide_f64;
    FN wide_f64 wk_add_products_f64(wide_f64 sum, double x, wide_f64 y)
    {
        return fma((wide_f64)(x), y, sum);
    });
/* clang-format on */

static void add_class(wk__text *text, const char *type, const char *suffix, const char *const pieces[])
{
    wk__text_format(text, "#define T %s\n#define NAME(x) x##_%s\n", type, suffix);
    for (; *pieces != NULL; pieces++) wk__text_add(text, *pieces);
    wk__text_add(text, "#undef T\n#undef NAME\n");
}

static void add_integers(wk__text *text)
{
    static const char *const pieces[] = {integers, signs, NULL};
    wk__text_add(text, "#define U u32\n#define BITS 32\n");
    add_class(text, "i32", "i32", pieces);
    wk__text_add(text, "#undef U\n#undef BITS\n#define U u64\n#define BITS 64\n");
    add_class(text, "i64", "i64", pieces);
    wk__text_add(text, "#undef U\n#undef BITS\n");
}

static void add_wide(wk__text *text, unsigned needs)
{
    wk__text_add(text, wide_integers);
    wk__text_add(text, wide_f32);
    if (needs & WK__GPU_NEEDS_F64) wk__text_add(text, wide_f64);
}

void wk__gpu_prelude_classes(wk__text *text, const wk__gpu_target *target, unsigned needs)
{
    bool through_double = !target->exact_divide && target->has_f64;
    const char *const f32[] = {through_double ? division_through_double : exact_division, floats, functions, NULL};
    static const char *const f64[] = {exact_division, floats, functions, NULL};
    add_integers(text);
    add_class(text, "float", "f32", f32);
    if (needs & WK__GPU_NEEDS_F64) add_class(text, "double", "f64", f64);
    if (needs & WK__GPU_NEEDS_WIDE) add_wide(text, needs);
}
