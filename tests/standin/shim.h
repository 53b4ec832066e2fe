/* SPDX-License-Identifier: Apache-2.0 */
/* Precedes CUDA source that a host compiler turns into a library (C++17: CUDA's mathematical functions are overloaded).
 * Accesses to shared state go through functions that the launcher sets. It includes no headers, because the host's take
 * longer to compile than most kernels. */
typedef __UINT64_TYPE__ uint64_t;
#define memcpy __builtin_memcpy

struct dim3 {
    unsigned x, y, z;
};
#define SHIM_THREE(T, name)                                                                                            \
    struct name##3                                                                                                     \
    {                                                                                                                  \
        T x, y, z;                                                                                                     \
    };
SHIM_THREE(float, float)
SHIM_THREE(double, double)
SHIM_THREE(int, int)
SHIM_THREE(unsigned, uint)
SHIM_THREE(long long, longlong)
SHIM_THREE(unsigned long long, ulonglong)
SHIM_THREE(short, short)
SHIM_THREE(unsigned short, ushort)
SHIM_THREE(signed char, char)
SHIM_THREE(unsigned char, uchar)

/* The launcher looks this up by name, sets the functions, and sets the indices to those of the running fibre. Must be
 * equal to the struct in fibres_state.h. */
struct shim_state {
    unsigned bytes; /* size of this struct */
    dim3 grid, block;
    uint3 group, thread;
    char *dynamic; /* dynamic shared memory */
    void (*barrier)(int site);
    /* Exchanges 8 bytes between the lanes in mask, which wait for each other; returns the values of all 32 lanes. With
     * orders, memory accesses before the exchange are ordered before those after it. */
    const uint64_t *(*exchange)(int site, unsigned mask, uint64_t value, bool orders);
    void (*fail)(const char *why);
    /* kind: 0 read, 1 write, 2 atomic read and write; + 4: volatile. The address must be a multiple of `multiple`. */
    void (*access)(const void *at, int bytes, int kind, int multiple);
    char *shared, *shared_end;
};
#define SHIM_SEEN    __attribute__((visibility("default")))
#define SHIM_INSIDE  __attribute__((visibility("hidden")))
#define SHIM_OUTSIDE __attribute__((no_sanitize("thread"))) /* helpers of the kernel that read host memory */
extern "C" {
SHIM_SEEN shim_state shim = {sizeof(shim_state)};
extern char __start_shim_shared[] __attribute__((weak)) SHIM_INSIDE,
    __stop_shim_shared[] __attribute__((weak)) SHIM_INSIDE;
SHIM_SEEN SHIM_OUTSIDE void shim_sections()
{
    shim.shared = __start_shim_shared;
    shim.shared_end = __stop_shim_shared;
}
}

/* A copy is checked as one access with its alignment, even if the compiler splits it. */
template <class V> SHIM_OUTSIDE static inline void shim_whole(const V *at, int kind)
{
    shim.access(at, sizeof *at, kind, alignof(V));
}
#define SHIM_VECTOR(vector, T, multiple, members, parameters, set, copy)                                               \
    struct alignas(multiple) vector {                                                                                  \
        T members;                                                                                                     \
        vector() = default;                                                                                            \
        vector parameters                                                                                              \
        {                                                                                                              \
            set;                                                                                                       \
        }                                                                                                              \
        vector(const vector &v)                                                                                        \
        {                                                                                                              \
            shim_whole(&v, 0);                                                                                         \
            copy;                                                                                                      \
        }                                                                                                              \
        vector &operator=(const vector &v)                                                                             \
        {                                                                                                              \
            shim_whole(&v, 0);                                                                                         \
            shim_whole(this, 1);                                                                                       \
            copy;                                                                                                      \
            return *this;                                                                                              \
        }                                                                                                              \
    };
#define SHIM_AND ,
#define SHIM_VECTORS(T, name)                                                                                          \
    SHIM_VECTOR(name##2, T, 2 * sizeof(T), x SHIM_AND y, (T a, T b = 0), (x = a, y = b), (x = v.x, y = v.y))           \
    SHIM_VECTOR(name##4, T, (4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)), x SHIM_AND y SHIM_AND z SHIM_AND w,             \
                (T a, T b = 0, T c = 0, T d = 0), (x = a, y = b, z = c, w = d), (x = v.x, y = v.y, z = v.z, w = v.w))  \
    static inline name##2 make_##name##2(T x, T y)                                                                     \
    {                                                                                                                  \
        return {x, y};                                                                                                 \
    }                                                                                                                  \
    static inline name##3 make_##name##3(T x, T y, T z)                                                                \
    {                                                                                                                  \
        return {x, y, z};                                                                                              \
    }                                                                                                                  \
    static inline name##4 make_##name##4(T x, T y, T z, T w)                                                           \
    {                                                                                                                  \
        return {x, y, z, w};                                                                                           \
    }
SHIM_VECTORS(float, float)
SHIM_VECTORS(double, double)
SHIM_VECTORS(int, int)
SHIM_VECTORS(unsigned, uint)
SHIM_VECTORS(long long, longlong)
SHIM_VECTORS(unsigned long long, ulonglong)
SHIM_VECTORS(short, short)
SHIM_VECTORS(unsigned short, ushort)
SHIM_VECTORS(signed char, char)
SHIM_VECTORS(unsigned char, uchar)

#define gridDim        shim.grid
#define blockDim       shim.block
#define blockIdx       shim.group
#define threadIdx      shim.thread
#define warpSize       32
#define __CUDA_ARCH__  900
#define __CUDACC__     1
#define __CUDACC_RTC__ 1
#define __global__     __attribute__((visibility("hidden"), used, noinline))
#define __device__
#define __host__
#define __constant__    static const
#define __forceinline__ inline
#define __noinline__    __attribute__((noinline))
#define __restrict__ __restrict
#define __align__(n) alignas(n)
#define __launch_bounds__(...)
/* Blocks run one at a time, so a static is sufficient; the section locates the memory to poison. */
#define __shared__            static __attribute__((section("shim_shared")))
/* `extern __shared__ T name[];` cannot be a macro; compile.c rewrites it to this. */
#define SHIM_DYNAMIC(T, name) T *const name = (T *)shim.dynamic

#define __syncthreads()        shim.barrier(__COUNTER__)
#define __syncwarp(...)        ((void)shim.exchange(__COUNTER__, shim_mask(__VA_ARGS__), 0, true))
#define __threadfence()        __asm__ volatile("" ::: "memory")
#define __threadfence_block()  __asm__ volatile("" ::: "memory")
#define __threadfence_system() __asm__ volatile("" ::: "memory")
#define __trap()               shim.fail("__trap")
#define __ldg(p)               (*(p))

static inline unsigned shim_mask(unsigned mask = 0xffffffffu)
{
    return mask;
}
static inline unsigned shim_lane()
{
    return (shim.thread.x + shim.block.x * (shim.thread.y + shim.block.y * shim.thread.z)) & 31;
}
template <class T> static inline T shim_shuffle(int site, unsigned mask, T value, unsigned from)
{
    uint64_t bits = 0, out;
    memcpy(&bits, &value, sizeof value);
    const uint64_t *all = shim.exchange(site, mask, bits, false);
    if (!(mask >> from & 1)) shim.fail("a shuffle reads a lane that is not in its mask");
    out = all[from];
    memcpy(&value, &out, sizeof value);
    return value;
}
static inline unsigned shim_down(unsigned by, unsigned width)
{
    unsigned l = shim_lane();
    return (l % width) + by < width ? l + by : l;
}
static inline unsigned shim_up(unsigned by, unsigned width)
{
    unsigned l = shim_lane();
    return l % width >= by ? l - by : l;
}
static inline unsigned shim_xor(unsigned with, unsigned width)
{
    unsigned l = shim_lane(), to = l ^ with;
    return to / width <= l / width ? to : l;
}
static inline unsigned shim_at(unsigned lane, unsigned width)
{
    return shim_lane() / width * width + lane % width;
}
static inline unsigned shim_ballot(int site, unsigned mask, int yes)
{
    const uint64_t *all = shim.exchange(site, mask, yes != 0, false);
    unsigned out = 0;
    for (int k = 0; k < 32; k++) out |= (mask >> k & 1 && all[k]) ? 1u << k : 0;
    return out;
}
#define SHIM_WIDTH(a, width, ...)      width
#define __shfl_sync(m, v, l, ...)      shim_shuffle(__COUNTER__, m, v, shim_at(l, SHIM_WIDTH(0, ##__VA_ARGS__, 32)))
#define __shfl_down_sync(m, v, n, ...) shim_shuffle(__COUNTER__, m, v, shim_down(n, SHIM_WIDTH(0, ##__VA_ARGS__, 32)))
#define __shfl_up_sync(m, v, n, ...)   shim_shuffle(__COUNTER__, m, v, shim_up(n, SHIM_WIDTH(0, ##__VA_ARGS__, 32)))
#define __shfl_xor_sync(m, v, n, ...)  shim_shuffle(__COUNTER__, m, v, shim_xor(n, SHIM_WIDTH(0, ##__VA_ARGS__, 32)))
#define __ballot_sync(m, yes)          shim_ballot(__COUNTER__, m, yes)
#define __any_sync(m, yes)             (shim_ballot(__COUNTER__, m, yes) != 0)
#define __all_sync(m, yes)             (shim_ballot(__COUNTER__, m, yes) == (m))

/* Fibres switch only where they wait, so a read followed by a write is atomic. It is checked as one access. */
#define SHIM_ATOMIC(name, ...)                                                                                         \
    template <class T, class U> __attribute__((noinline)) SHIM_OUTSIDE static T name(T *p, U v)                        \
    {                                                                                                                  \
        shim.access((const void *)p, sizeof *p, 2, sizeof *p);                                                         \
        T old = *p;                                                                                                    \
        __VA_ARGS__;                                                                                                   \
        return old;                                                                                                    \
    }
SHIM_ATOMIC(atomicAdd, *p = old + (T)v)
SHIM_ATOMIC(atomicSub, *p = old - (T)v)
SHIM_ATOMIC(atomicMax, if ((T)v > old) *p = (T)v)
SHIM_ATOMIC(atomicMin, if ((T)v < old) *p = (T)v)
SHIM_ATOMIC(atomicExch, *p = (T)v)
SHIM_ATOMIC(atomicOr, *p = old | (T)v)
SHIM_ATOMIC(atomicAnd, *p = old & (T)v)
SHIM_ATOMIC(atomicXor, *p = old ^ (T)v)
template <class T, class U, class V> __attribute__((noinline)) SHIM_OUTSIDE static T atomicCAS(T *p, U is, V becomes)
{
    shim.access((const void *)p, sizeof *p, 2, sizeof *p);
    T old = *p;
    if (old == (T)is) *p = (T)becomes;
    return old;
}

template <class To, class From> static inline To shim_bits(From from)
{
    To to;
    static_assert(sizeof to == sizeof from, "");
    memcpy(&to, &from, sizeof to);
    return to;
}
#define __uint_as_float(x)      shim_bits<float>((unsigned)(x))
#define __int_as_float(x)       shim_bits<float>((int)(x))
#define __float_as_uint(x)      shim_bits<unsigned>((float)(x))
#define __float_as_int(x)       shim_bits<int>((float)(x))
#define __longlong_as_double(x) shim_bits<double>((long long)(x))
#define __double_as_longlong(x) shim_bits<long long>((double)(x))
#define __popc(x)               __builtin_popcount(x)
#define __popcll(x)             __builtin_popcountll(x)
#define __clz(x)                ((x) == 0 ? 32 : __builtin_clz(x))
#define __clzll(x)              ((x) == 0 ? 64 : __builtin_clzll(x))
#define __ffs(x)                __builtin_ffs(x)
static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((uint64_t)a * b >> 32);
}
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
template <class T> static inline T min(T a, T b)
{
    return b < a ? b : a;
}
template <class T> static inline T max(T a, T b)
{
    return a < b ? b : a;
}

/* Functions of libm, overloaded as in CUDA. */
#define SHIM_F1(name)                                                                                                  \
    extern "C" double name(double) noexcept;                                                                           \
    extern "C" float name##f(float) noexcept;                                                                          \
    static inline float name(float x)                                                                                  \
    {                                                                                                                  \
        return name##f(x);                                                                                             \
    }
#define SHIM_F2(name)                                                                                                  \
    extern "C" double name(double, double) noexcept;                                                                   \
    extern "C" float name##f(float, float) noexcept;                                                                   \
    static inline float name(float x, float y)                                                                         \
    {                                                                                                                  \
        return name##f(x, y);                                                                                          \
    }
SHIM_F1(exp)
SHIM_F1(exp2)
SHIM_F1(expm1)
SHIM_F1(log)
SHIM_F1(log1p)
SHIM_F1(log2)
SHIM_F1(log10)
SHIM_F1(sin)
SHIM_F1(cos)
SHIM_F1(tan)
SHIM_F1(asin)
SHIM_F1(acos)
SHIM_F1(atan)
SHIM_F1(sinh)
SHIM_F1(cosh)
SHIM_F1(tanh)
SHIM_F1(erf)
SHIM_F1(sqrt)
SHIM_F1(fabs)
SHIM_F1(floor)
SHIM_F1(ceil)
SHIM_F1(trunc)
SHIM_F1(rint)
SHIM_F2(pow)
SHIM_F2(fmod)
SHIM_F2(atan2)
SHIM_F2(copysign)
SHIM_F2(fmin)
SHIM_F2(fmax)
extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
static inline float fma(float x, float y, float z)
{
    return fmaf(x, y, z);
}
#define rsqrtf(x)        (1.0f / sqrtf(x))
#define rsqrt(x)         (1 / sqrt(x))
#define __expf(x)        expf(x)
#define __fdividef(a, b) ((a) / (b))
#define isnan(x)         __builtin_isnan(x)
#define isinf(x)         __builtin_isinf(x)

/* Calls a kernel with CUDA's array of pointers to arguments. SHIM_ENTRY(name) follows the source, once per kernel. */
template <int... I> struct shim_places {
};
template <int N, int... I> struct shim_upto : shim_upto<N - 1, N - 1, I...> {
};
template <int... I> struct shim_upto<0, I...> {
    typedef shim_places<I...> type;
};
template <class... P, int... I>
SHIM_OUTSIDE static inline void shim_apply(void (*kernel)(P...), void **a, shim_places<I...>)
{
    kernel(*(P *)a[I]...);
}
template <class... P> SHIM_OUTSIDE static inline void shim_call(void (*kernel)(P...), void **a)
{
    shim_apply(kernel, a, typename shim_upto<sizeof...(P)>::type());
}
#define SHIM_ENTRY(name)                                                                                               \
    extern "C" SHIM_OUTSIDE SHIM_SEEN void shim_call_##name(void **a)                                                  \
    {                                                                                                                  \
        shim_call(name, a);                                                                                            \
    }

/* Hooks that -fsanitize=thread calls at each load and store. They only call the launcher; the sanitizer's library is
 * not linked, so any process can load this library. Alignment is checked only where the compiler relies on it. */
#define SHIM_HOOK(name, ...) extern "C" SHIM_INSIDE SHIM_OUTSIDE void __tsan_##name
#define SHIM_HOOKS(n)                                                                                                  \
    SHIM_HOOK(read##n)(void *p)                                                                                        \
    {                                                                                                                  \
        shim.access(p, n, 0, n);                                                                                       \
    }                                                                                                                  \
    SHIM_HOOK(write##n)(void *p)                                                                                       \
    {                                                                                                                  \
        shim.access(p, n, 1, n);                                                                                       \
    }                                                                                                                  \
    SHIM_HOOK(unaligned_read##n)(void *p)                                                                              \
    {                                                                                                                  \
        shim.access(p, n, 0, 1);                                                                                       \
    }                                                                                                                  \
    SHIM_HOOK(unaligned_write##n)(void *p)                                                                             \
    {                                                                                                                  \
        shim.access(p, n, 1, 1);                                                                                       \
    }                                                                                                                  \
    SHIM_HOOK(volatile_read##n)(void *p)                                                                               \
    {                                                                                                                  \
        shim.access(p, n, 4, n);                                                                                       \
    }                                                                                                                  \
    SHIM_HOOK(volatile_write##n)(void *p)                                                                              \
    {                                                                                                                  \
        shim.access(p, n, 5, n);                                                                                       \
    }                                                                                                                  \
    SHIM_HOOK(unaligned_volatile_read##n)(void *p)                                                                     \
    {                                                                                                                  \
        shim.access(p, n, 4, 1);                                                                                       \
    }                                                                                                                  \
    SHIM_HOOK(unaligned_volatile_write##n)(void *p)                                                                    \
    {                                                                                                                  \
        shim.access(p, n, 5, 1);                                                                                       \
    }
SHIM_HOOKS(1)
SHIM_HOOKS(2)
SHIM_HOOKS(4)
SHIM_HOOKS(8)
SHIM_HOOKS(16)
SHIM_HOOK(read_range)(void *p, unsigned long n)
{
    shim.access(p, (int)n, 0, 1);
}
SHIM_HOOK(write_range)(void *p, unsigned long n)
{
    shim.access(p, (int)n, 1, 1);
}
SHIM_HOOK(init)()
{
}
SHIM_HOOK(func_entry)(void *)
{
}
SHIM_HOOK(func_exit)()
{
}
