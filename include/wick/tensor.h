/* SPDX-License-Identifier: Apache-2.0 */
/* wick/tensor.h: tensors: scopes, tensors of memory and numbers in C, what they are, reading them.
 *
 * A tensor is an array of up to 8 dimensions on one device. Calls on it return at once; the numbers are
 * computed when the host needs them (reading, printing, saving), in as few passes over memory as possible.
 * Order of the program is the meaning.
 *
 * Ownership: what a call makes belongs to the innermost WK_SCOPE of the thread and dies with it. Without a scope it
 * belongs to the caller, who frees it with wk_free.
 *
 * Threads: each has its own scopes, error and random numbers. A tensor or network that several threads only read needs
 * wk_retain before it is handed over and nothing else. Where one of them writes it in place, asks for its address
 * (wk_data), trains it or moves it, the program's own lock must keep the others out meanwhile, or writes get lost and
 * the process may crash. A thread needs a stack of 128 KB (the usual one with glibc is 8 MB).
 *
 * fork(): a child computes on the CPU. Where that can't be, since the parent has used another device, or other threads
 * of it have used the library, each call is WK_ERR_STATE and says so. */
#ifndef WICK_TENSOR_H
#define WICK_TENSOR_H

/* The type of what goes in comes out. Before the lines below: of a system header's macro gcc does not tell that nobody
 * uses the result, nor does any compiler of a block's. */
#ifndef __cplusplus
#define wk_retain(x) ((__typeof__(x))wk_retain_at(WK_HERE, (void *)(x)))
#endif

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "core.h"
#include "device.h"
#include "macros.h"
#include "creation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- scopes ------------------------------------------------------------------------------------------------------ */

/* What a guard statement leaves in a variable; see WK_SCOPE. */
typedef struct wk_guard {
    uint64_t token;
} wk_guard;
/* The functions behind WK_SCOPE and WK_DEVICE, for bindings. */
WK_API wk_guard wk_scope_open(wk_site site);
WK_API wk_guard wk_device_guard_open(wk_site site, wk_device device);
/* Closes it and everything opened after it; nothing if it is closed already. */
WK_API void wk_guard_close(wk_guard *guard);

#ifndef __cplusplus
/* Opens a scope until the end of the enclosing block, by any way out of it. Guards are declarations, so they stand in a
 * block of their own, { WK_SCOPE; ... }: alone behind an `if` or `else` they are an error of the compiler. Neither a
 * goto nor a case of a switch may jump over one into its block, as the end of the block would close a guard that nobody
 * opened: clang refuses that, gcc does not see it. */
#define WK_SCOPE WK_GUARD_(wk_scope_open(WK_HERE))
#else
#define WK_SCOPE static_assert(false, "WK_SCOPE is C only; in C++ use wk_scope_open(WK_HERE) and wk_guard_close")
#endif

/* Any object of the library may be given to these three; NULL does nothing. */
/* Moves x one scope out, if the innermost scope owns it. Returns x. */
WK_API void *wk_keep_at(wk_site site, void *x);
/* x is the caller's until wk_free(x), beside whatever else owns it. Needed before a tensor goes to another thread. */
WK_API void *wk_retain_at(wk_site site, void *x) __attribute__((warn_unused_result));
/* Ends a retain, if there is one: then x lives on while a scope owns it, and a second wk_free ends that. Else ends an
 * object of an open scope early. */
WK_API void wk_free_at(wk_site site, void *x);
/* Keeps x and frees what *variable held: for values carried round a loop. */
WK_API void wk_carry_at(wk_site site, wk_tensor **variable, wk_tensor *x);

/* ---- making tensors ---------------------------------------------------------------------------------------------- */
/* Of memory and numbers in C. wk_zeros, wk_rand, wk_arange, ... are in creation.h, and so are copies: wk_to, wk_clone,
 * wk_copy_, ... */

/* From host memory: dense, row-major; the data is copied. `bytes` must be what shape and dtype say, else WK_ERR_SHAPE;
 * (size_t)-1: not known. On the default device (WK_DEVICE, else the CPU), or where the options say, which may be NULL;
 * with a dtype they have the numbers converted to that. wk_of(float, (2, 2), 1, 2, 3, 4, .requires_grad = true),
 * wk_from(data, (2, 2), .dtype = WK_F64). torch.tensor.
 *
 * In C the elements are float, double, bool, int8_t, int16_t, int32_t, int64_t or uint8_t, in an array or in rows,
 * float v[2][3]; of float v[2][3][4] give &v[0][0][0], and for f16 and bf16 call wk_from_at. Where the compiler knows
 * how large an array is, wk_from, wk_from_strided, wk_borrow and wk_read_strided refuse one that is too small. */
WK_RESULT_API wk_tensor *wk_from_at(wk_site site, wk_dtype dtype, const void *data, size_t bytes, const int64_t *shape,
                                    int ndim);
WK_RESULT_API wk_tensor *wk_of_at(wk_site site, wk_dtype dtype, const void *data, size_t bytes, const int64_t *shape,
                                  int ndim);
WK_RESULT_API wk_tensor *wk_from_on_at(wk_site site, wk_dtype dtype, const void *data, size_t bytes,
                                       const int64_t *shape, int ndim, const wk_tensor_options *options);
WK_RESULT_API wk_tensor *wk_of_on_at(wk_site site, wk_dtype dtype, const void *data, size_t bytes, const int64_t *shape,
                                     int ndim, const wk_tensor_options *options);
/* The same with strides, in elements and not negative: wk_from_strided(data, (2, 3), (1, 2)). */
WK_RESULT_API wk_tensor *wk_from_strided_at(wk_site site, wk_dtype dtype, const void *data, const int64_t *shape,
                                            const int64_t *stride, int ndim, const wk_tensor_options *options);
/* The same of an array of `bytes`, (size_t)-1: not known; WK_ERR_SHAPE where an element lies behind its end. */
WK_RESULT_API wk_tensor *wk_from_strided_sized_at(wk_site site, wk_dtype dtype, const void *data, size_t bytes,
                                                  const int64_t *shape, const int64_t *stride, int ndim,
                                                  const wk_tensor_options *options);
/* The caller's memory itself, on the CPU, as torch.from_numpy: nothing is copied; it must stay until `release(user)` is
 * called (may be NULL), which happens when the last user of the memory has let go. It may free other tensors, and so
 * call their release, in a chain of any length. Calls that read or write the memory are run before they return, so that
 * the program may fill it anew at any time. Of bools any byte but 0 is true. */
WK_RESULT_API wk_tensor *wk_borrow_at(wk_site site, wk_dtype dtype, void *data, const int64_t *shape, int ndim,
                                      void (*release)(void *user), void *user);
/* The same of an array of `bytes`, (size_t)-1: not known; WK_ERR_SHAPE where the shape needs more. */
WK_RESULT_API wk_tensor *wk_borrow_sized_at(wk_site site, wk_dtype dtype, void *data, size_t bytes,
                                            const int64_t *shape, int ndim, void (*release)(void *user), void *user);

/* Starts this thread's stream of random numbers anew. The same seed gives the same numbers on every device.
 * Threads are numbered in the order in which they first use the library, the main thread is usually 0, and each
 * has a stream of its own. */
WK_API void wk_seed(uint64_t seed);
/* The same with the number of the stream: a thread's numbers can be had again whatever number it has. */
WK_API void wk_seed_stream(uint64_t seed, uint64_t stream);

/* ---- what a tensor is -------------------------------------------------------------------------------------------- */

WK_RESULT_API int wk_ndim_at(wk_site site, const wk_tensor *x);                /* 0 for NULL */
WK_RESULT_API int64_t wk_size_at(wk_site site, const wk_tensor *x, int dim);   /* dim may be negative; 0 for NULL */
WK_RESULT_API int64_t wk_stride_at(wk_site site, const wk_tensor *x, int dim); /* in elements, likewise */
WK_RESULT_API int64_t wk_numel_at(wk_site site, const wk_tensor *x);           /* 0 for NULL */
WK_RESULT_API wk_dtype wk_dtype_of_at(wk_site site, const wk_tensor *x);       /* 0 for NULL */
WK_RESULT_API wk_device wk_device_of_at(wk_site site, const wk_tensor *x);     /* kind -1 for NULL */
/* Do the elements lie dense in row-major order? */
WK_RESULT_API bool wk_is_contiguous_at(wk_site site, const wk_tensor *x);
/* x if they do, else a copy that does. */
WK_RESULT_API wk_tensor *wk_contiguous_at(wk_site site, wk_tensor *x);
/* Are they views of the same memory? */
WK_RESULT_API bool wk_same_storage_at(wk_site site, const wk_tensor *a, const wk_tensor *b);

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Runs everything this thread has recorded and waits for its devices. WK_OK, or the code of the thread's
 * first error. */
WK_API wk_code wk_sync_at(wk_site site);
/* Runs everything that was recorded without waiting for devices. */
WK_API wk_code wk_flush(void);
/* The number in a tensor of one element; NaN with the error recorded when there are more, or for NULL. As i64,
 * every bit of it: 0 then. */
WK_API double wk_item_at(wk_site site, wk_tensor *x);
WK_API int64_t wk_item_i64_at(wk_site site, wk_tensor *x);
/* Copies the elements into host memory, row-major, as their own dtype: `data` is memory of that C type, float for f32,
 * int64_t for i64; wk_to_dtype converts before. In C wk_read gives WK_ERR_DTYPE when the pointer says that it is memory
 * of another dtype; through void *, unsigned char * and pointers to what no dtype is, bytes come as they are, and the
 * bits of f16 and bf16, which have no C type, through int16_t * as well. `bytes` must be the size of the elements, else
 * WK_ERR_SHAPE. `data` may be NULL where there are none. WK_OK or a code. */
WK_API wk_code wk_read_at(wk_site site, wk_tensor *x, void *data, size_t bytes);
/* The same into memory for elements of `dtype`, as wk_read says it of its pointer; 0 and WK_U8: for bytes.
 * WK_ERR_ARGUMENT when there is no such dtype. */
WK_API wk_code wk_read_as_at(wk_site site, wk_tensor *x, void *data, size_t bytes, wk_dtype dtype);
/* The same with strides (in elements) for the destination, one for each dimension: wk_read_strided(x, data, (1, 2)),
 * where wk_read_strided_n sees that there are as many, and that no element lies behind the `bytes` of data, (size_t)-1:
 * not known. Neither looks at what type `data` points to. */
WK_API wk_code wk_read_strided_at(wk_site site, wk_tensor *x, void *data, const int64_t *stride);
WK_API wk_code wk_read_strided_n_at(wk_site site, wk_tensor *x, void *data, size_t bytes, const int64_t *stride,
                                    int count);
/* The address of the first element of a tensor on the CPU, computed if need be, after everything that was recorded has
 * been run; NULL for other devices. wk_stride says how the elements lie. The address stays until the tensor goes or
 * moves to another device; but calls are run when their numbers are needed, so ask again (or wk_sync) before reading
 * what they wrote there, and before writing what they are not to read. No compiler sees the type: look at wk_dtype_of
 * first where it may be another one than the pointer's; wk_read looks itself. The first call gives x memory of its own,
 * so among threads it counts as a write: no other thread uses x, nor asks for its address, meanwhile. */
WK_API void *wk_data_at(wk_site site, wk_tensor *x);
/* Prints what PyTorch prints, to stdout. Returns x. */
WK_API wk_tensor *wk_print_at(wk_site site, wk_tensor *x);
/* The same text. It belongs to the innermost scope, as a tensor that is made does, and lives until that closes; without
 * a scope as long as x. So any number of them may stand in one printf. */
WK_RESULT_API const char *wk_tensor_str_at(wk_site site, wk_tensor *x);
/* "f32[1,32] cpu requires_grad". Lives as that does. */
WK_RESULT_API const char *wk_describe_at(wk_site site, const wk_tensor *x);

#define wk_free(x)            wk_free_at(WK_HERE, (x))
#define wk_carry(variable, x) wk_carry_at(WK_HERE, variable, x)
#define wk_item(...)          wk_item_at(WK_HERE, __VA_ARGS__)
#define wk_item_i64(...)      wk_item_i64_at(WK_HERE, __VA_ARGS__)
#define wk_data(x)            wk_data_at(WK_HERE, x)
#define wk_print(...)         wk_print_at(WK_HERE, __VA_ARGS__)
#define wk_tensor_str(...)    wk_tensor_str_at(WK_HERE, __VA_ARGS__)
#define wk_contiguous(...)    WK_NEW_TENSOR_(wk_contiguous_at(WK_HERE, __VA_ARGS__))
#define wk_ndim(...)          wk_ndim_at(WK_HERE, __VA_ARGS__)
#define wk_size(...)          wk_size_at(WK_HERE, __VA_ARGS__)
#define wk_stride(...)        wk_stride_at(WK_HERE, __VA_ARGS__)
#define wk_numel(...)         wk_numel_at(WK_HERE, __VA_ARGS__)
#define wk_dtype_of(...)      wk_dtype_of_at(WK_HERE, __VA_ARGS__)
#define wk_device_of(...)     wk_device_of_at(WK_HERE, __VA_ARGS__)
#define wk_is_contiguous(...) wk_is_contiguous_at(WK_HERE, __VA_ARGS__)
#define wk_same_storage(...)  wk_same_storage_at(WK_HERE, __VA_ARGS__)
#define wk_sync()             wk_sync_at(WK_HERE)
#define wk_describe(...)      wk_describe_at(WK_HERE, __VA_ARGS__)

#ifdef __cplusplus
#define wk_read(x, data, bytes) wk_read_at(WK_HERE, x, data, bytes)
#else
#define wk_read(x, data, bytes) WK_READ_(WK_JOIN_(wk_data_, __COUNTER__), x, data, bytes)
#define WK_READ_(wk_p_, x, data, bytes)                                                                                \
    WK_ONCE_(float *, wk_p_, 1 ? (data) : (void *)0, /* 0 is a pointer here as well */                                 \
             WK_GIVE_(wk_code, wk_read_as_at(WK_HERE, x, wk_p_, bytes, WK_DTYPE_(wk_p_))))
/* The type of what goes in comes out. */
#define wk_keep(x) WK_KEEP_(x, WK_JOIN_(wk_kept_, __COUNTER__))
#define WK_KEEP_(x, wk_x_)                                                                                             \
    WK_ONCE_(wk_tensor *, wk_x_, x, WK_GIVE_(__typeof__(wk_x_), wk_keep_at(WK_HERE, (void *)wk_x_)))

/* wk_of(float, (2, 2), 1, 2, 3, 4): a tensor of a C type from its elements; options stand behind them */
#define wk_of(type, shape, ...)                                                                                        \
    WK_NEW_TENSOR_(WK_OF_(type, WK_INTS_NAME_, WK_JOIN_(wk_elements_, __COUNTER__),                                    \
                          WK_JOIN_(wk_options_, __COUNTER__), shape, WK_TEXTS_(__VA_ARGS__), __VA_ARGS__))
#define WK_OF_(type, wk_s_, wk_d_, wk_o_, shape, text, ...)                                                            \
    WK_SIZED_(wk_tensor *, wk_s_, shape, "wk_of: sizes stand in parentheses: wk_of(float, (2, 2), 1, 2, 3, 4)",        \
              __extension__({                                                                                          \
                  /* an element takes two places of the text at least */                                               \
                  WK_ELEMENTS_AND_OPTIONS_(type, sizeof(text) / 2 + 1, wk_d_, wk_o_, __VA_ARGS__)                      \
                  WK_HAS_DTYPE_("wk_of", &wk_d_.element[0]);                                                           \
                  WK_GIVE_(wk_tensor *,                                                                                \
                           wk_of_on_at(WK_HERE, WK_DTYPE_(&wk_d_.element[0]), wk_d_.element,                           \
                                       wk_elements_(text) * sizeof(type), wk_s_.at, wk_s_.count, &wk_o_));             \
              }))
/* The bytes of an array of `room` bytes, if those are fewer than the shape needs; -1, not known, if they are enough or
 * nobody knows. */
static inline size_t wk_given_bytes_(size_t room, wk_dtype dtype, wk_ints_ shape)
{
    size_t elements = room / wk_dtype_size(dtype);
    bool fewer = false;
    for (int d = 0; shape.at && d < shape.count; d++) {
        if (shape.at[d] <= 0) return (size_t)-1;
        fewer = fewer || (size_t)shape.at[d] > elements;
        elements /= (size_t)shape.at[d];
    }
    return fewer || !elements ? room : (size_t)-1;
}
/* wk_from(pointer, shape): copies what the pointer's type says; wk_from(pointer, shape, .requires_grad = true) */
#define wk_from(data, ...)                                                                                             \
    WK_NEW_TENSOR_(WK_JOIN_(WK_FROM_, WK_COUNT_(__VA_ARGS__))(                                                         \
        WK_JOIN_(wk_data_, __COUNTER__), WK_INTS_NAME_,                                                                \
        "wk_from: sizes stand in parentheses: wk_from(data, (" #__VA_ARGS__                                            \
        ")), and so does an array that is written here: wk_from(((float[]){1, 2}), (2))",                              \
        data, __VA_ARGS__))
#define WK_FROM_1(wk_p_, wk_s_, text, data, shape)                                                                     \
    WK_SIZED_(wk_tensor *, wk_s_, shape, text,                                                                         \
              WK_ONCE_(float *, wk_p_, data, WK_HAS_DTYPE_("wk_from", wk_p_);                                          \
                       WK_GIVE_(wk_tensor *, wk_from_at(WK_HERE, WK_DTYPE_(wk_p_), wk_p_,                              \
                                                        WK_GIVEN_BYTES_(data, wk_p_, wk_s_), wk_s_.at, wk_s_.count))))
/* An array, and a pointer to what the compiler sees being made, have a known size; else -1. */
#define WK_ROOM_(data)                      __builtin_object_size(data, 0)
#define WK_GIVEN_BYTES_(data, wk_p_, wk_s_) wk_given_bytes_(WK_ROOM_(data), WK_DTYPE_(wk_p_), wk_s_)
#define WK_FROM_WK2_(wk_p_, wk_s_, text, data, shape, ...)                                                             \
    WK_JOIN_(WK_FROM_WK2_, WK_KIND_(shape))(wk_p_, wk_s_, text, data, shape, __VA_ARGS__)
#define WK_FROM_WK2_NOT_(wk_p_, wk_s_, text, data, ...)                                                                \
    WK_REFUSE_BEFORE_(wk_tensor *, text,                                                                               \
                      "wk_from: sizes stand in parentheses, options behind them: wk_from(data, (2, 3), .key = value)", \
                      __VA_ARGS__)
#define WK_FROM_WK2_ARRAY_ WK_FROM_WK2_LIST_
#define WK_FROM_WK2_LIST_(wk_p_, wk_s_, text, data, shape, ...)                                                        \
    WK_SIZED_(wk_tensor *, wk_s_, shape, text,                                                                         \
              WK_ONCE_(float *, wk_p_, data, WK_HAS_DTYPE_("wk_from", wk_p_); WK_CALL_OF_(                             \
                           wk_tensor *, wk_from_on_at,                                                                 \
                           (WK_DTYPE_(wk_p_), wk_p_, WK_GIVEN_BYTES_(data, wk_p_, wk_s_), wk_s_.at, wk_s_.count),      \
                           wk_tensor_options, "wk_from: " WK_BY_NAME_TEXT_, __VA_ARGS__)))
/* wk_from_strided(pointer, shape, strides), and options */
#define wk_from_strided(data, shape, ...)                                                                              \
    WK_NEW_TENSOR_(WK_JOIN_(WK_FROM_STRIDED_, WK_COUNT_(__VA_ARGS__))(                                                 \
        WK_JOIN_(wk_data_, __COUNTER__), WK_INTS_NAME_, WK_INTS_NAME_,                                                 \
        "wk_from_strided: sizes and strides stand in parentheses: wk_from_strided(data, (2, 3), (1, 2))", data, shape, \
        __VA_ARGS__))
#define WK_FROM_STRIDED_1(wk_p_, wk_s_, wk_t_, text, data, shape, stride)                                              \
    WK_STRIDED_(wk_s_, wk_t_, text, shape, stride,                                                                     \
                WK_ONCE_(float *, wk_p_, data, WK_HAS_DTYPE_("wk_from_strided", wk_p_);                                \
                         WK_GIVE_(wk_tensor *,                                                                         \
                                  wk_from_strided_sized_at(WK_HERE, WK_DTYPE_(wk_p_), wk_p_, WK_ROOM_(data), wk_s_.at, \
                                                           wk_t_.at, wk_as_many_(wk_s_, wk_t_), NULL))))
#define WK_FROM_STRIDED_WK2_(wk_p_, wk_s_, wk_t_, text, data, shape, stride, ...)                                      \
    WK_STRIDED_(wk_s_, wk_t_, text, shape, stride,                                                                     \
                WK_ONCE_(float *, wk_p_, data, WK_HAS_DTYPE_("wk_from_strided", wk_p_); WK_CALL_OF_(                   \
                             wk_tensor *, wk_from_strided_sized_at,                                                    \
                             (WK_DTYPE_(wk_p_), wk_p_, WK_ROOM_(data), wk_s_.at, wk_t_.at, wk_as_many_(wk_s_, wk_t_)), \
                             wk_tensor_options, "wk_from_strided: " WK_BY_NAME_TEXT_ "; lists in parentheses, (2, 3)", \
                             __VA_ARGS__)))
/* wk_borrow(pointer, shape, release, user) */
#define wk_borrow(data, shape, release, user)                                                                          \
    WK_NEW_TENSOR_(WK_BORROW_(WK_JOIN_(wk_data_, __COUNTER__), WK_INTS_NAME_, data, shape, release, user))
#define WK_BORROW_(wk_p_, wk_s_, data, shape, release, user)                                                           \
    WK_SIZED_(wk_tensor *, wk_s_, shape, "wk_borrow: sizes stand in parentheses: wk_borrow(data, (2, 3), NULL, NULL)", \
              WK_ONCE_(float *, wk_p_, data, WK_HAS_DTYPE_("wk_borrow", wk_p_);                                        \
                       WK_GIVE_(wk_tensor *, wk_borrow_sized_at(WK_HERE, WK_DTYPE_(wk_p_), wk_p_, WK_ROOM_(data),      \
                                                                wk_s_.at, wk_s_.count, release, user))))
/* wk_read_strided(x, data, strides) */
#define wk_read_strided(x, data, stride) WK_READ_STRIDED_(WK_INTS_NAME_, x, data, stride)
#define WK_READ_STRIDED_(wk_s_, x, data, stride)                                                                       \
    WK_SIZED_(wk_code, wk_s_, stride,                                                                                  \
              "wk_read_strided: strides stand in parentheses: wk_read_strided(x, data, (1, 2))",                       \
              WK_GIVE_(wk_code, wk_read_strided_n_at(WK_HERE, x, data, WK_ROOM_(data), wk_s_.at, wk_s_.count)))
#endif

#ifdef __cplusplus
}
#endif
#endif
