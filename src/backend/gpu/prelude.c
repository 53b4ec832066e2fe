/* The text in front of every program: what OpenCL C and CUDA C spell differently, conversions of the 16-bit floats by
 * integer arithmetic (neither language has them everywhere), and the functions that alu.def names, once per class.
 *
 * A piece of text is written as the code that it is, between the brackets of TEXT; lines that begin with # stand in
 * strings. */
#include "kernel.h"
#include "text.h"

#include "../../ir/random.h"

/* GM memory of the device, LM of a work-group; ITEM, GROUP, LOCAL positions; LOCALS items in a group. */
static const char languages[] =
    "#ifdef __OPENCL_VERSION__\n"
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "#define KERNEL(local) __kernel __attribute__((reqd_work_group_size(local, 1, 1))) void\n"
    "#define GM __global\n"
    "#define LM __local\n"
    "#define CONSTANT __constant\n"
    "#define FN static inline\n"
    "#define SHARED(T, name, count) __local T name[count]\n"
    "#define BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)\n"
    "#define ITEM ((i64)get_global_id(0))\n"
    "#define GROUP ((i64)get_group_id(0))\n"
    "#define LOCAL ((int)get_local_id(0))\n"
    "#define FIRST_TO_RAISE(F) (atomic_cmpxchg((volatile __global int *)(F), 0, 1) == 0)\n"
    "typedef char i8; typedef uchar u8; typedef short i16; typedef ushort u16; typedef int i32; typedef uint u32;\n"
    "typedef long i64; typedef ulong u64;\n"
    "#define wk_as_f32(bits) as_float(bits)\n"
    "#define wk_bits_f32(value) as_uint(value)\n"
    "#define wk_as_f64(bits) as_double(bits)\n"
    "#define wk_bits_f64(value) as_ulong(value)\n"
    "#else\n"
    "#define KERNEL(local) extern \"C\" __global__ void __launch_bounds__(local)\n"
    "#define GM\n"
    "#define LM\n"
    "#define CONSTANT static __device__ const\n"
    "#define FN static __device__ __forceinline__\n"
    "#define SHARED(T, name, count) __shared__ T name[count]\n"
    "#define BARRIER __syncthreads()\n"
    "#define ITEM ((i64)blockIdx.x * blockDim.x + threadIdx.x)\n"
    "#define GROUP ((i64)blockIdx.x)\n"
    "#define LOCAL ((int)threadIdx.x)\n"
    "#define FIRST_TO_RAISE(F) (atomicCAS((F), 0, 1) == 0)\n"
    "typedef signed char i8; typedef unsigned char u8; typedef short i16; typedef unsigned short u16; typedef int "
    "i32;\n"
    "typedef unsigned u32; typedef long long i64; typedef unsigned long long u64;\n"
    "#define wk_as_f32(bits) __uint_as_float(bits)\n"
    "#define wk_bits_f32(value) __float_as_uint(value)\n"
    "#define wk_as_f64(bits) __longlong_as_double((i64)(bits))\n"
    "#define wk_bits_f64(value) ((u64)__double_as_longlong(value))\n"
    "#define INFINITY wk_as_f32(0x7f800000u)\n"
    "#endif\n"
    "#define WK_I32_MAX 0x7fffffff\n"
    "#define WK_I32_MIN (-WK_I32_MAX - 1)\n"
    "#define WK_I64_MAX 0x7fffffffffffffffL\n"
    "#define WK_I64_MIN (-WK_I64_MAX - 1)\n";

/* clang-format off */ /* of device code */
static const char halves[] = TEXT(
    FN float wk_from_bf16(u16 h)
    {
        return wk_as_f32((u32)h << 16);
    }
    FN u16 wk_to_bf16(float x)
    {
        const u32 u = wk_bits_f32(x);
        if ((u & 0x7fffffffu) > 0x7f800000u) return (u16)(u >> 16 | 64u);
        return (u16)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
    }
    FN float wk_from_f16(u16 h)
    {
        const u32 sign = (u32)(h & 0x8000u) << 16;
        const u32 exponent = h >> 10 & 31u;
        const u32 mantissa = h & 0x3ffu;
        const u32 small = wk_bits_f32((float)mantissa * 5.9604644775390625e-8f); /* 2^-24 */
        const u32 usual = (exponent + 112u) << 23 | mantissa << 13;
        const u32 huge = 0x7f800000u | mantissa << 13;
        return wk_as_f32(sign | (exponent == 0u ? small : exponent == 31u ? huge : usual));
    }
    FN u16 wk_to_f16(float x)
    {
        const u32 u = wk_bits_f32(x);
        const u32 a = u & 0x7fffffffu;
        const u32 sign = u >> 16 & 0x8000u;
        const u32 usual = (a + 0xfffu + (a >> 13 & 1u) - 0x38000000u) >> 13;
        if (a > 0x7f800000u) return (u16)(sign | 0x7e00u);
        if (a >= 0x477ff000u) return (u16)(sign | 0x7c00u);                                   /* 65520 and more: infinity */
        if (a < 0x38800000u) return (u16)(sign | (u32)(i32)rint(wk_as_f32(a) * 16777216.0f)); /* below 2^-14 */
        return (u16)(sign | usual);
    }
    FN float wk_round_bf16(float x)
    {
        return wk_from_bf16(wk_to_bf16(x));
    }
    FN float wk_round_f16(float x)
    {
        return wk_from_f16(wk_to_f16(x));
    });

/* The index as a place 0..n-1, or -1 and the fault words {1, tag, index, n}, which keep the first; behind them a mark for each group
 * at fault. A negative index counts from the end for bound = n, and is out of range for bound = -n. */
static const char faults[] = TEXT(
    FN void wk_raise(GM i32 *F, i64 index, i64 bound, i64 tag)
    {
        F[8 + (tag & 1023)] = 1;
        if (!FIRST_TO_RAISE(F)) return;
        ((GM i64 *)F)[1] = tag;
        ((GM i64 *)F)[2] = index;
        ((GM i64 *)F)[3] = bound;
    }
    FN i64 wk_index(GM i32 *F, i64 index, i64 bound, i64 tag)
    {
        const i64 n = bound < 0 ? -bound : bound;
        const i64 place = index < 0 && bound > 0 ? index + n : index;
        if (place >= 0 && place < n) return place;
        wk_raise(F, index, n, tag);
        return -1;
    });

/* random.h says what these are. */
static const char philox[] = TEXT(
    FN i64 wk_philox64(i64 counter, i64 key)
    {
        u32 c0 = (u32)counter;
        u32 c1 = (u32)((u64)counter >> 32);
        u32 c2 = 0;
        u32 c3 = 0;
        u32 k0 = (u32)key;
        u32 k1 = (u32)((u64)key >> 32);
        for (int round = 0; round < 10; round++) {
            const u64 a = (u64)c0 * 0xD2511F53u;
            const u64 b = (u64)c2 * 0xCD9E8D57u;
            c0 = (u32)(b >> 32) ^ c1 ^ k0;
            c1 = (u32)b;
            c2 = (u32)(a >> 32) ^ c3 ^ k1;
            c3 = (u32)a;
            k0 += 0x9E3779B9u;
            k1 += 0xBB67AE85u;
        }
        return (i64)((u64)c1 << 32 | c0);
    }
    FN i64 wk_philox32(i64 counter, i64 key)
    {
        return wk_philox64(counter, key) & 0xffffffffL;
    });

static const char ndtri32[] = TEXT(
    FN float wk_ndtri_f32(i64 word)
    {
        const u32 bits = (u32)word;
        const u32 upper_half = 0u - (bits >> 31);
        const u32 m = bits ^ upper_half;
        const float position = (float)(i32)(m & ~(m >> 8)) + 0.5f;
        const u32 segment = (wk_bits_f32(position) >> 21) - (126u << 2);
        const u32 place = (2u * m + 1u) << (31u - segment / 4u);
        const float t = (float)(i32)((~place & 0x1FFFFFFFu) + 1u) * 1.862645149230957e-9f; /* 2^-29 */
        float value = wk_as_f32(wk_ndtri32_table[5 * 128 + segment]);
        for (int k = 4; k >= 0; k--) value = fma(value, t, wk_as_f32(wk_ndtri32_table[k * 128 + segment]));
        return upper_half != 0u ? value : -value;
    });

static const char ndtri64[] = TEXT(
    FN double wk_ndtri_f64(i64 word)
    {
        const u64 bits = (u64)word;
        const u64 upper_half = (u64)0 - (bits >> 63);
        const u64 m = bits ^ upper_half;
        const double position = (double)(i64)(m & ~(m >> 8)) + 0.5;
        const u64 segment = (wk_bits_f64(position) >> 50) - ((u64)1022 << 2);
        const u64 place = (2 * m + 1) << (63 - segment / 4);
        const double t = (double)(i64)((~place & 0x1FFFFFFFFFFFFFFFL) + 1) * 4.336808689942018e-19; /* 2^-61 */
        double value = wk_as_f64(wk_ndtri64_table[10 * 256 + segment]);
        for (int k = 9; k >= 0; k--) value = fma(value, t, wk_as_f64(wk_ndtri64_table[k * 256 + segment]));
        return upper_half != 0 ? value : -value;
    });
_Static_assert(WK__NDTRI32_DEGREE == 5 && WK__NDTRI32_SEGMENTS == 128, "the text of wk_ndtri_f32 has these numbers");
_Static_assert(WK__NDTRI64_DEGREE == 10 && WK__NDTRI64_SEGMENTS == 256, "the text of wk_ndtri_f64 has these numbers");

/* Vectors of 16, which OpenCL alone has. */
static const char wide_integers[] = TEXT(
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
static const char wide_f32[] = TEXT(
    typedef float16 wide_f32;
    FN wide_f32 wk_add_products_f32(wide_f32 sum, float x, wide_f32 y)
    {
        return fma((wide_f32)(x), y, sum);
    });
static const char wide_f64[] = TEXT(
    typedef double16 wide_f64;
    FN wide_f64 wk_add_products_f64(wide_f64 sum, double x, wide_f64 y)
    {
        return fma((wide_f64)(x), y, sum);
    });

/* ---- per class: T is the type, NAME(x) adds the class's suffix --------------------------------------------------- */

static const char signs[] = TEXT(
    FN T NAME(wk_abs)(T x)
    {
        return x < 0 ? NAME(wk_minus)(x) : x;
    }
    FN T NAME(wk_sign)(T x)
    {
        return (T)((x > 0) - (x < 0));
    });

static const char integers[] = TEXT(
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
        if (b == -1) return NAME(wk_minus)(a); /* the least number has no negative: wraps */
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

static const char floats[] = TEXT(
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

static const char functions[] = TEXT(
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

/* A double has more than twice the bits of a float, so the second rounding does no harm. */
static const char exact_division[] = TEXT(
    FN T NAME(wk_divide)(T a, T b)
    {
        return a / b;
    }
    FN T NAME(wk_sqrt)(T x)
    {
        return sqrt(x);
    });
static const char division_through_double[] = TEXT(
    FN T NAME(wk_divide)(T a, T b)
    {
        return (T)((double)a / (double)b);
    }
    FN T NAME(wk_sqrt)(T x)
    {
        return (T)sqrt((double)x);
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

static void add_ndtri32(wk__text *text)
{
    wk__text_add(text, "CONSTANT u32 wk_ndtri32_table[6 * 128] = {");
    for (int k = 0; k < (WK__NDTRI32_DEGREE + 1) * WK__NDTRI32_SEGMENTS; k++) {
        uint32_t bits;
        memcpy(&bits, (const float *)wk__ndtri32_table + k, sizeof bits);
        wk__text_format(text, "0x%xu,", bits);
    }
    wk__text_add(text, "};\n");
    wk__text_add(text, ndtri32);
}

static void add_ndtri64(wk__text *text)
{
    wk__text_add(text, "CONSTANT u64 wk_ndtri64_table[11 * 256] = {");
    for (int k = 0; k < (WK__NDTRI64_DEGREE + 1) * WK__NDTRI64_SEGMENTS; k++) {
        uint64_t bits;
        memcpy(&bits, (const double *)wk__ndtri64_table + k, sizeof bits);
        wk__text_format(text, "0x%llxL,", (unsigned long long)bits);
    }
    wk__text_add(text, "};\n");
    wk__text_add(text, ndtri64);
}

static void add_wide(wk__text *text, unsigned needs)
{
    wk__text_add(text, "#ifdef __OPENCL_VERSION__\n");
    wk__text_add(text, wide_integers);
    wk__text_add(text, wide_f32);
    if (needs & WK__GPU_NEEDS_F64) wk__text_add(text, wide_f64);
    wk__text_add(text, "\n#endif\n");
}

void wk__gpu_prelude(wk__text *text, const wk__gpu_target *target, unsigned needs)
{
    bool through_double = !target->exact_divide && target->has_f64;
    const char *const f32[] = {through_double ? division_through_double : exact_division, floats, functions, NULL};
    static const char *const f64[] = {exact_division, floats, functions, NULL};
    bool doubles = through_double || (needs & WK__GPU_NEEDS_F64);
    if (doubles) wk__text_add(text, "#ifdef cl_khr_fp64\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#endif\n");
    wk__text_add(text, languages);
    wk__text_format(text, "#define LOCALS %d\n", target->local);
    wk__text_add(text, halves);
    wk__text_add(text, faults);
    wk__text_add(text, philox);
    add_integers(text);
    add_class(text, "float", "f32", f32);
    if (needs & WK__GPU_NEEDS_F64) add_class(text, "double", "f64", f64);
    if (!target->local_memory) add_wide(text, needs);
    if (needs & WK__GPU_NEEDS_NDTRI32) add_ndtri32(text);
    if (needs & WK__GPU_NEEDS_NDTRI64) add_ndtri64(text);
}
