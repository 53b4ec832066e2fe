/* SPDX-License-Identifier: Apache-2.0 */
/* Macros and types for the differences between OpenCL C and CUDA C, in terms of which all other device code is written:
 *
 *    KERNEL, FN        a kernel with this work-group size; a function that kernels call
 *    KERNEL_AT_ONCE    a kernel with a minimum number of work-groups per compute unit, which limits its registers
 *    GM, CONSTANT      qualifier of pointers to device memory; of a constant table
 *    LM                qualifier of pointers to local memory
 *    UNROLL            unrolls the following loop, so that arrays indexed by its counter are in registers
 *    ROLLED            prevents unrolling of the following loop
 *    SHARED, BARRIER   array in local memory; barrier of a work-group
 *    ITEM, GROUP       global index of the item, index of its work-group
 *    LOCAL, LOCALS     index of the item in its work-group, size of the work-group
 *    TRY_LOCK, UNLOCK  try to acquire a word as a lock; release it
 *    COUNT_UP          atomic increment of an unsigned word in SHARED memory
 *    FENCE             orders the item's earlier writes before its later ones, for other items
 *    VECTOR            vector of values, accessible as .at[]; .all loads or stores it at once
 *    LOAD_FOUR         loads `count` elements with stride `apart` into `to`, a VECTOR of four; as a vector if they
 *                      are contiguous and aligned
 *    STORE_FOUR        stores likewise
 *    COMBINE_GROUP     reduces one value per item of a work-group with `combine`, in a fixed order, and declares
 *                      `result` in all items
 *    COMBINE_STRIP     the same for the items of each row of a strip
 *    COMBINE_WARP      the same for a warp
 *    WARP_WAIT         barrier of a warp
 *
 * The prelude of a dialect contains only its own spelling. */
#include "prelude.h"

static const char opencl[] =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "#define KERNEL(local) __kernel __attribute__((reqd_work_group_size(local, 1, 1))) void\n"
    "#define KERNEL_AT_ONCE(local, groups) KERNEL(local)\n"
    "#define GM __global\n"
    "#define LM __local\n"
    "#define CONSTANT __constant\n"
    "#define FN static inline\n"
    "#define SHARED(T, name, count) __local T name[count]\n"
    "#define BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)\n"
    "#define ITEM ((i64)get_global_id(0))\n"
    "#define GROUP ((i64)get_group_id(0))\n"
    "#define LOCAL ((int)get_local_id(0))\n"
    "#define TRY_LOCK(word) (atomic_cmpxchg((volatile __global int *)(word), 0, 1) == 0)\n"
    "#define UNLOCK(word) atomic_xchg((volatile __global int *)(word), 0)\n"
    "#define COUNT_UP(word) atomic_inc((volatile __local uint *)(word))\n"
    "#define FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)\n"
    "typedef char i8; typedef uchar u8; typedef short i16; typedef ushort u16; typedef int i32; typedef uint u32;\n"
    "typedef long i64; typedef ulong u64;\n"
    "#define wk_as_f32(bits) as_float(bits)\n"
    "#define wk_bits_f32(value) as_uint(value)\n"
    "#define wk_as_f64(bits) as_double(bits)\n"
    "#define wk_bits_f64(value) as_ulong(value)\n";

/* A separate type for each T, of vectors of 2, 4 and 8, so that compilers see one load or store. */
static const char opencl_vectors[] =
    "#define VECTOR(T, N) WK_VECTOR(T, N)\n"
    "#define WK_VECTOR(T, N) wk_##T##_##N\n"
    "#define WK_VECTORS(T, V) typedef union { V##2 all; T at[2]; } wk_##T##_2; "
    "typedef union { V##4 all; T at[4]; } wk_##T##_4; typedef union { V##8 all; T at[8]; } wk_##T##_8;\n"
    "WK_VECTORS(float, float) WK_VECTORS(i8, char) WK_VECTORS(u8, uchar) WK_VECTORS(i16, short)\n"
    "WK_VECTORS(u16, ushort) WK_VECTORS(i32, int) WK_VECTORS(i64, long)\n";
static const char opencl_double_vectors[] = "WK_VECTORS(double, double)\n";

/* Suppresses warning 177, unused declarations: a module calls few of the prelude's functions, and a body declares the
 * offsets of all operands even if a pass does not need them. */
static const char cuda[] =
    "#pragma nv_diag_suppress 177\n"
    "#define KERNEL(local) extern \"C\" __global__ void __launch_bounds__(local)\n"
    "#define KERNEL_AT_ONCE(local, groups) extern \"C\" __global__ void __launch_bounds__(local, groups)\n"
    "#define GM\n"
    "#define LM\n"
    "#define CONSTANT static __device__ const\n"
    "#define FN static __device__ __forceinline__\n"
    "#define SHARED(T, name, count) __shared__ T name[count]\n"
    "#define BARRIER __syncthreads()\n"
    "#define ITEM ((i64)blockIdx.x * blockDim.x + threadIdx.x)\n"
    "#define GROUP ((i64)blockIdx.x)\n"
    "#define LOCAL ((int)threadIdx.x)\n"
    "#define TRY_LOCK(word) (atomicCAS((word), 0, 1) == 0)\n"
    "#define UNLOCK(word) atomicExch((word), 0)\n"
    "#define COUNT_UP(word) atomicAdd((word), 1u)\n"
    "#define FENCE __threadfence()\n"
    "#define WARP 32\n"
    "#define WARP_WAIT __syncwarp()\n"
    "typedef signed char i8; typedef unsigned char u8; typedef short i16; typedef unsigned short u16; typedef int "
    "i32;\n"
    "typedef unsigned u32; typedef long long i64; typedef unsigned long long u64;\n"
    "#define wk_as_f32(bits) __uint_as_float(bits)\n"
    "#define wk_bits_f32(value) __float_as_uint(value)\n"
    "#define wk_as_f64(bits) __longlong_as_double((i64)(bits))\n"
    "#define wk_bits_f64(value) ((u64)__double_as_longlong(value))\n"
    "#define INFINITY wk_as_f32(0x7f800000u)\n";

/* 16 partial results, each of every sixteenth value, then their combination, identically in all items. Three barriers,
 * none in a loop or condition: compilers for CPUs, which convert work-groups to loops, are slow otherwise. */
static const char opencl_combine[] =
    "#define COMBINE_GROUP(T, combine, first, shared, value, result) BARRIER; shared[LOCAL] = value; BARRIER; "
    "T result = first; for (int j = LOCAL % 16; j < LOCALS; j += 16) result = combine(result, shared[j]); "
    "BARRIER; shared[LOCAL] = result; BARRIER; "
    "result = first; for (int j = 0; j < 16; j++) result = combine(result, shared[j]);\n";

/* The first item's result is broadcast, so that all have the same zero or NaN. */
static const char cuda_combine[] =
    "template <int BYTES> struct wk_whole { typedef uint4 type; };\n"
    "template <> struct wk_whole<2> { typedef u16 type; };\n"
    "template <> struct wk_whole<4> { typedef u32 type; };\n"
    "template <> struct wk_whole<8> { typedef uint2 type; };\n"
    "template <> struct wk_whole<32> { struct type { uint4 first; uint4 second; }; };\n"
    "template <class T, int N> union __align__(N * sizeof(T)) wk_vector\n"
    "{\n"
    "    typename wk_whole<N * sizeof(T)>::type all;\n"
    "    T at[N];\n"
    "};\n"
    "#define VECTOR(T, N) wk_vector<T, N>\n"
    "template <class T, T (*combine)(T, T)> static __device__ __forceinline__ T wk_combine_warp(T x)\n"
    "{\n"
    "    UNROLL for (int by = WARP / 2; by > 0; by /= 2) x = combine(x, __shfl_down_sync(0xffffffffu, x, by));\n"
    "    return __shfl_sync(0xffffffffu, x, 0);\n"
    "}\n"
    "template <class T, T (*combine)(T, T)> static __device__ __forceinline__ T wk_combine_group(T x, T *shared)\n"
    "{\n"
    "    x = wk_combine_warp<T, combine>(x);\n"
    "    BARRIER;\n"
    "    if (LOCAL % WARP == 0) shared[LOCAL / WARP] = x;\n"
    "    BARRIER;\n"
    "    x = shared[0];\n"
    "    UNROLL for (int k = 1; k < LOCALS / WARP; k++) x = combine(x, shared[k]);\n"
    "    return x;\n"
    "}\n"
    "#define COMBINE_WARP(T, combine, value, result) T result = wk_combine_warp<T, combine>(value);\n"
    "#define COMBINE_GROUP(T, combine, first, shared, value, result) "
    "T result = wk_combine_group<T, combine>(value, shared);\n";

static const char common_combine[] =
    "#define COMBINE_STRIP(T, combine, first, shared, value, result) BARRIER; shared[LOCAL] = value; BARRIER; "
    "T result = first; for (int j = LOCAL % STRIP; j < LOCALS; j += STRIP) result = combine(result, shared[j]);\n";

static const char common[] =
    "#define UNROLL _Pragma(\"unroll\")\n"
    "#define ROLLED _Pragma(\"unroll 1\")\n"
    "#define IS_VECTOR(place, vector, apart, count) "
    "((count) == 4 && (apart) == 1 && (u64)(place) % sizeof(vector) == 0)\n"
    "#define LOAD_FOUR(T, to, from, apart, count) if (IS_VECTOR(from, to, apart, count)) "
    "to.all = ((GM const VECTOR(T, 4) *)(from))->all; else { UNROLL for (int e = 0; e < 4; e++) "
    "to.at[e] = e < (count) ? (from)[e * (apart)] : (T)0; }\n"
    "#define STORE_FOUR(T, to, from, apart, count) if (IS_VECTOR(to, from, apart, count)) "
    "((GM VECTOR(T, 4) *)(to))->all = from.all; else { UNROLL for (int e = 0; e < 4; e++) "
    "if (e < (count)) (to)[e * (apart)] = from.at[e]; }\n"
    "#define WK_I32_MAX 0x7fffffff\n"
    "#define WK_I32_MIN (-WK_I32_MAX - 1)\n"
    "#define WK_I64_MAX 0x7fffffffffffffffL\n"
    "#define WK_I64_MIN (-WK_I64_MAX - 1)\n";

void wk__gpu_prelude_dialect(wk__text *text, const wk__gpu_target *target, bool doubles)
{
    if (doubles && target->dialect == WK__GPU_OPENCL)
        wk__text_add(text, "#ifdef cl_khr_fp64\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#endif\n");
    wk__text_add(text, target->dialect == WK__GPU_OPENCL ? opencl : cuda);
    if (target->dialect == WK__GPU_OPENCL) wk__text_add(text, opencl_vectors);
    if (target->dialect == WK__GPU_OPENCL && doubles) wk__text_add(text, opencl_double_vectors);
    wk__text_add(text, common);
    wk__text_format(text, "#define LOCALS %d\n#define STRIP %d\n", target->group_size, WK__GPU_STRIP);
    wk__text_add(text, target->dialect == WK__GPU_OPENCL ? opencl_combine : cuda_combine);
    wk__text_add(text, common_combine);
}
