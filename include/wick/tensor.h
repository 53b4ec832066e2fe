/* SPDX-License-Identifier: Apache-2.0 */
/* wick/tensor.h: scopes, tensors of C memory, properties of tensors, reading.
 *
 * A tensor is an array of up to 8 dimensions on one device. Calls on it return at once; elements are computed when
 * the host needs them (reading, printing, saving), in as few passes over memory as possible. Results are those of
 * the program's order.
 *
 * Ownership: the thread's innermost WK_SCOPE owns every object that a call returns and frees it on close. Without a
 *            scope the caller owns it and frees it with wk_free.
 *
 * Threads:   each thread has its own scopes, error and random stream. wk_retain a tensor or network before handing
 *            it to another thread. That suffices if all threads only read it. If one writes it in place, asks for
 *            its address (wk_data), trains it or moves it, the program must exclude the others with a lock;
 *            otherwise writes are lost and the process may crash. A thread needs a stack of 128 KB (glibc's default
 *            is 8 MB).
 *
 * fork(): a child computes on the CPU. If the parent has used another device, or other threads of it have used the
 * library, every call in the child is WK_ERR_STATE and says so. */
#ifndef WICK_TENSOR_H
#define WICK_TENSOR_H

/* Returns the type of x. Before the pragma, as gcc does not warn of an unused result of a system header's macro. */
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

/* The state of a guard statement; see WK_SCOPE. */
typedef struct wk_guard {
    uint64_t token;
} wk_guard;
/* wk_scope_open(site), wk_device_guard_open(site, device): Open the guards of WK_SCOPE and WK_DEVICE, for bindings
 * and C++. */
WK_API wk_guard wk_scope_open(wk_site site);
WK_API wk_guard wk_device_guard_open(wk_site site, wk_device device);
/* wk_guard_close(guard): Closes the guard and all that were opened after it; does nothing if it is closed. */
WK_API void wk_guard_close(wk_guard *guard);

#ifndef __cplusplus
/* WK_SCOPE: Opens a scope that ends with the enclosing block, however it is left, and then frees the objects that
 * it owns. A guard is a declaration and needs a block of its own, { WK_SCOPE; ... }: directly after if or else it
 * is a compiler error. A goto or case that jumps over a guard into its block would close a guard that was not
 * opened: clang refuses it, gcc does not detect it. */
#define WK_SCOPE WK_GUARD_(wk_scope_open(WK_HERE))
#else
#define WK_SCOPE static_assert(false, "WK_SCOPE is C only; in C++ use wk_scope_open(WK_HERE) and wk_guard_close")
#endif

/* The following three take any object of the library and ignore NULL. */

/* wk_keep(x): Moves x to the next outer scope if the innermost scope owns it. Returns x. */
WK_API void *wk_keep_at(wk_site site, void *x);
/* wk_retain(x): Makes the caller an owner of x until wk_free(x), beside other owners. Required before another
 * thread uses x. Returns x. */
WK_API void *wk_retain_at(wk_site site, void *x) __attribute__((warn_unused_result));
/* wk_free(x): Ends one wk_retain of x. Without one it frees an object of an open scope early; a scope that still
 * owns x keeps it alive until then. */
WK_API void wk_free_at(wk_site site, void *x);
/* wk_carry(variable, x): Keeps x, as wk_keep, and frees the previous value of *variable. For values that a loop
 * carries from one iteration to the next. */
WK_API void wk_carry_at(wk_site site, wk_tensor **variable, wk_tensor *x);

/* ---- creating tensors -------------------------------------------------------------------------------------------- */
/* From C memory. creation.h has wk_zeros, wk_rand, wk_arange, ... and copies: wk_to, wk_clone, wk_copy_, ... */

/* wk_from(data, (shape)), wk_of(type, (shape), elements...): Create a tensor of contiguous row-major elements,
 * which are copied. The device is the default device (WK_DEVICE, else the CPU) or .device; .dtype converts the
 * elements.
 *
 * data points to float, double, bool, int8_t, int16_t, int32_t, int64_t or uint8_t, or to rows, float v[2][3]; of
 * float v[2][3][4] pass &v[0][0][0]. For f16 and bf16 call wk_from_at. wk_from, wk_from_strided, wk_borrow and
 * wk_read_strided refuse an array that is too small where the compiler knows its size.
 *
 * bytes of wk_from_at is the size of data; (size_t)-1 if unknown. options may be NULL.
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if bytes does not match shape and dtype; WK_ERR_ARGUMENT if data is NULL
 * Example:   wk_of(float, (2, 2), 1, 2, 3, 4, .requires_grad = true); wk_from(data, (2, 2), .dtype = WK_F64)
 * PyTorch:   torch.tensor */
WK_RESULT_API wk_tensor *wk_from_at(wk_site site, wk_dtype dtype, const void *data, size_t bytes, const int64_t *shape,
                                    int ndim);
WK_RESULT_API wk_tensor *wk_of_at(wk_site site, wk_dtype dtype, const void *data, size_t bytes, const int64_t *shape,
                                  int ndim);
WK_RESULT_API wk_tensor *wk_from_on_at(wk_site site, wk_dtype dtype, const void *data, size_t bytes,
                                       const int64_t *shape, int ndim, const wk_tensor_options *options);
WK_RESULT_API wk_tensor *wk_of_on_at(wk_site site, wk_dtype dtype, const void *data, size_t bytes, const int64_t *shape,
                                     int ndim, const wk_tensor_options *options);
/* wk_from_strided(data, (shape), (stride)): Creates a tensor as wk_from does, of elements with these strides, in
 * elements, not negative: wk_from_strided(data, (2, 3), (1, 2)).
 * Errors:    WK_ERR_ARGUMENT if a stride is negative */
WK_RESULT_API wk_tensor *wk_from_strided_at(wk_site site, wk_dtype dtype, const void *data, const int64_t *shape,
                                            const int64_t *stride, int ndim, const wk_tensor_options *options);
/* The same of an array of this many bytes; (size_t)-1 if unknown.
 * Errors:    WK_ERR_SHAPE if an element lies past its end */
WK_RESULT_API wk_tensor *wk_from_strided_sized_at(wk_site site, wk_dtype dtype, const void *data, size_t bytes,
                                                  const int64_t *shape, const int64_t *stride, int ndim,
                                                  const wk_tensor_options *options);
/* wk_borrow(data, (shape), release, user): Creates a tensor on the CPU that uses the caller's memory without
 * copying. The memory must stay valid until release(user) is called (release may be NULL), which happens when the
 * last user of the memory has let go. release may free other tensors, whose release is then called in turn.
 *
 * Calls that read or write the memory run before they return, so the program may overwrite it at any time. Any
 * nonzero byte of a bool is true.
 * Errors:    WK_ERR_ARGUMENT if data is NULL or not aligned for its dtype
 * PyTorch:   torch.from_numpy */
WK_RESULT_API wk_tensor *wk_borrow_at(wk_site site, wk_dtype dtype, void *data, const int64_t *shape, int ndim,
                                      void (*release)(void *user), void *user);
/* The same of an array of this many bytes; (size_t)-1 if unknown.
 * Errors:    WK_ERR_SHAPE if shape needs more */
WK_RESULT_API wk_tensor *wk_borrow_sized_at(wk_site site, wk_dtype dtype, void *data, size_t bytes,
                                            const int64_t *shape, int ndim, void (*release)(void *user), void *user);

/* wk_seed(seed): Restarts the random stream of this thread. The same seed gives the same numbers on every device.
 * Until then the seed is 0. Threads are numbered in the order of their first use of the library (the main thread is
 * usually 0), and each number has a stream of its own.
 * PyTorch:   torch.manual_seed */
WK_API void wk_seed(uint64_t seed);
/* wk_seed_stream(seed, stream): The same with the number of the stream, which makes the numbers independent of the
 * thread's number. */
WK_API void wk_seed_stream(uint64_t seed, uint64_t stream);

/* ---- properties -------------------------------------------------------------------------------------------------- */

WK_RESULT_API int wk_ndim_at(wk_site site, const wk_tensor *x);                /* 0 for NULL */
WK_RESULT_API int64_t wk_size_at(wk_site site, const wk_tensor *x, int dim);   /* dim may be negative; 0 for NULL */
WK_RESULT_API int64_t wk_stride_at(wk_site site, const wk_tensor *x, int dim); /* in elements, as wk_size */
WK_RESULT_API int64_t wk_numel_at(wk_site site, const wk_tensor *x);           /* 0 for NULL */
WK_RESULT_API wk_dtype wk_dtype_of_at(wk_site site, const wk_tensor *x);       /* 0 for NULL */
WK_RESULT_API wk_device wk_device_of_at(wk_site site, const wk_tensor *x);     /* kind -1 for NULL */
/* wk_is_contiguous(x): Returns true if the elements are dense in row-major order. */
WK_RESULT_API bool wk_is_contiguous_at(wk_site site, const wk_tensor *x);
/* wk_contiguous(x): Returns x if it is contiguous, else a contiguous copy. */
WK_RESULT_API wk_tensor *wk_contiguous_at(wk_site site, wk_tensor *x);
/* wk_same_storage(a, b): Returns true if a and b are views of the same memory. */
WK_RESULT_API bool wk_same_storage_at(wk_site site, const wk_tensor *a, const wk_tensor *b);

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* wk_sync(): Runs everything that this thread has recorded and waits for its devices. Returns WK_OK or the code of
 * the thread's first error. */
WK_API wk_code wk_sync_at(wk_site site);
/* wk_flush(): Runs everything that this thread has recorded without waiting for devices. Returns WK_OK or an error
 * code. */
WK_API wk_code wk_flush(void);
/* wk_item(x), wk_item_i64(x): Return the element of a tensor that has one; wk_item_i64 keeps all bits of an i64.
 * Wait for the device.
 * Returns:   the element; NaN or 0 on error
 * Errors:    WK_ERR_SHAPE if x does not have exactly one element; WK_ERR_ARGUMENT if x is NULL */
WK_API double wk_item_at(wk_site site, wk_tensor *x);
WK_API int64_t wk_item_i64_at(wk_site site, wk_tensor *x);
/* wk_read(x, data, bytes): Copies the elements to host memory in row-major order, in x's dtype: data points to the
 * C type of that dtype, float for f32, int64_t for i64 (wk_to_dtype converts first). Through void *, unsigned char
 * * and pointers to types that are no dtype the bytes are copied as they are; int16_t * also receives the bits of
 * f16 and bf16. data may be NULL if there are no elements.
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_SHAPE if bytes is not the size of the elements; WK_ERR_DTYPE if data points to the C type of
 *            another dtype */
WK_API wk_code wk_read_at(wk_site site, wk_tensor *x, void *data, size_t bytes);
/* The same with the dtype that the macro takes from the pointer; 0 and WK_U8 copy bytes.
 * Errors:    WK_ERR_ARGUMENT if dtype is no dtype */
WK_API wk_code wk_read_as_at(wk_site site, wk_tensor *x, void *data, size_t bytes, wk_dtype dtype);
/* wk_read_strided(x, data, (stride)): Copies the elements to host memory with these strides, in elements, one for
 * each dimension. The type of data is not checked. wk_read_strided_n_at checks the number of strides, and that no
 * element lies past the bytes of data; (size_t)-1 if unknown.
 * Returns:   WK_OK or an error code */
WK_API wk_code wk_read_strided_at(wk_site site, wk_tensor *x, void *data, const int64_t *stride);
WK_API wk_code wk_read_strided_n_at(wk_site site, wk_tensor *x, void *data, size_t bytes, const int64_t *stride,
                                    int count);
/* wk_data(x): Returns the address of the first element of a tensor on the CPU, after everything recorded has run;
 * wk_stride tells the layout.
 *
 * The address is valid until x is freed or moved to another device. Later calls run when their results are needed:
 * call wk_data or wk_sync again before reading what they wrote, and before writing what they read. The compiler
 * does not check the element type: use wk_dtype_of, or wk_read. The first call gives x memory of its own, so among
 * threads it counts as a write of x.
 * Returns:   the address; NULL on error
 * Errors:    WK_ERR_DEVICE if x is on another device */
WK_API void *wk_data_at(wk_site site, wk_tensor *x);
/* wk_equal(a, b): Returns true if a and b have one shape and equal elements, also in different dtypes; NaN equals
 * nothing. Waits for the device. False on error. */
WK_RESULT_API bool wk_equal_at(wk_site site, wk_tensor *a, wk_tensor *b);
/* wk_allclose(a, b): Returns true if wk_isclose(a, b) is true for all elements; has its options. Waits for the device.
 * False on error.
 *
 *     if (!wk_allclose(x, y, .rtol = 1e-4)) puts("different");
 */
struct wk_isclose_options;
WK_RESULT_API bool wk_allclose_at(wk_site site, wk_tensor *a, wk_tensor *b, const struct wk_isclose_options *options);
/* wk_print(x): Prints x to stdout as PyTorch does. Returns x. */
WK_API wk_tensor *wk_print_at(wk_site site, wk_tensor *x);
/* wk_tensor_str(x): Returns the text that wk_print prints, so several fit into one printf.
 * Lifetime:  the innermost scope owns the string; without a scope it is valid as long as x */
WK_RESULT_API const char *wk_tensor_str_at(wk_site site, wk_tensor *x);
/* wk_describe(x): Returns a short description, "f32[1,32] cpu requires_grad".
 * Lifetime:  as that of wk_tensor_str */
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
#define wk_equal(...)         wk_equal_at(WK_HERE, __VA_ARGS__)

#ifdef __cplusplus
#define wk_read(x, data, bytes) wk_read_at(WK_HERE, x, data, bytes)
#else
#define wk_read(x, data, bytes) WK_READ_(WK_JOIN_(wk_data_, __COUNTER__), x, data, bytes)
#define WK_READ_(wk_p_, x, data, bytes)                                                                                \
    WK_ONCE_(float *, wk_p_, 1 ? (data) : (void *)0, /* 0 is a pointer here as well */                                 \
             WK_GIVE_(wk_code, wk_read_as_at(WK_HERE, x, wk_p_, bytes, WK_DTYPE_(wk_p_))))
#define wk_allclose(a, ...) WK_OPT2_(bool, wk_allclose, wk_isclose_options, "a, b", a, __VA_ARGS__)
/* Returns the type of x. */
#define wk_keep(x)          WK_KEEP_(x, WK_JOIN_(wk_kept_, __COUNTER__))
#define WK_KEEP_(x, wk_x_)                                                                                             \
    WK_ONCE_(wk_tensor *, wk_x_, x, WK_GIVE_(__typeof__(wk_x_), wk_keep_at(WK_HERE, (void *)wk_x_)))

/* wk_of(float, (2, 2), 1, 2, 3, 4): a tensor from elements of a C type; options follow them */
#define wk_of(type, shape, ...)                                                                                        \
    WK_NEW_TENSOR_(WK_OF_(type, WK_INTS_NAME_, WK_JOIN_(wk_elements_, __COUNTER__),                                    \
                          WK_JOIN_(wk_options_, __COUNTER__), shape, WK_TEXTS_(__VA_ARGS__), __VA_ARGS__))
#define WK_OF_(type, wk_s_, wk_d_, wk_o_, shape, text, ...)                                                            \
    WK_SIZED_(wk_tensor *, wk_s_, shape, "wk_of: write sizes in parentheses: wk_of(float, (2, 2), 1, 2, 3, 4)",        \
              __extension__({                                                                                          \
                  /* an element takes two places of the text at least */                                               \
                  WK_ELEMENTS_AND_OPTIONS_(type, sizeof(text) / 2 + 1, wk_d_, wk_o_, __VA_ARGS__)                      \
                  WK_HAS_DTYPE_("wk_of", &wk_d_.element[0]);                                                           \
                  WK_GIVE_(wk_tensor *,                                                                                \
                           wk_of_on_at(WK_HERE, WK_DTYPE_(&wk_d_.element[0]), wk_d_.element,                           \
                                       wk_elements_(text) * sizeof(type), wk_s_.at, wk_s_.count, &wk_o_));             \
              }))
/* Returns room, the bytes of an array, if they are fewer than shape needs; else (size_t)-1, unknown. */
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
/* wk_from(data, shape) or wk_from(data, shape, .requires_grad = true): the dtype is that of the pointer */
#define wk_from(data, ...)                                                                                             \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_JOIN_(WK_FROM_, WK_COUNT_(__VA_ARGS__))(WK_JOIN_(wk_data_, __COUNTER__), WK_INTS_NAME_,                     \
                                                   "wk_from: write sizes in parentheses: wk_from(data, (" #__VA_ARGS__ \
                                                   ")), and an array literal too: wk_from(((float[]){1, 2}), (2))",    \
                                                   data, __VA_ARGS__))
#define WK_FROM_1(wk_p_, wk_s_, text, data, shape)                                                                     \
    WK_SIZED_(wk_tensor *, wk_s_, shape, text,                                                                         \
              WK_ONCE_(float *, wk_p_, data, WK_HAS_DTYPE_("wk_from", wk_p_);                                          \
                       WK_GIVE_(wk_tensor *, wk_from_at(WK_HERE, WK_DTYPE_(wk_p_), wk_p_,                              \
                                                        WK_GIVEN_BYTES_(data, wk_p_, wk_s_), wk_s_.at, wk_s_.count))))
/* The size of an array, or of an object whose creation the compiler sees; else (size_t)-1. */
#define WK_ROOM_(data)                      __builtin_object_size(data, 0)
#define WK_GIVEN_BYTES_(data, wk_p_, wk_s_) wk_given_bytes_(WK_ROOM_(data), WK_DTYPE_(wk_p_), wk_s_)
#define WK_FROM_WK2_(wk_p_, wk_s_, text, data, shape, ...)                                                             \
    WK_JOIN_(WK_FROM_WK2_, WK_KIND_(shape))(wk_p_, wk_s_, text, data, shape, __VA_ARGS__)
#define WK_FROM_WK2_NOT_(wk_p_, wk_s_, text, data, ...)                                                                \
    WK_REFUSE_BEFORE_(wk_tensor *, text,                                                                               \
                      "wk_from: write sizes in parentheses, options after them: wk_from(data, (2, 3), .key = value)",  \
                      __VA_ARGS__)
#define WK_FROM_WK2_ARRAY_ WK_FROM_WK2_LIST_
#define WK_FROM_WK2_LIST_(wk_p_, wk_s_, text, data, shape, ...)                                                        \
    WK_SIZED_(wk_tensor *, wk_s_, shape, text,                                                                         \
              WK_ONCE_(float *, wk_p_, data, WK_HAS_DTYPE_("wk_from", wk_p_); WK_CALL_OF_(                             \
                           wk_tensor *, wk_from_on_at,                                                                 \
                           (WK_DTYPE_(wk_p_), wk_p_, WK_GIVEN_BYTES_(data, wk_p_, wk_s_), wk_s_.at, wk_s_.count),      \
                           wk_tensor_options, "wk_from: " WK_BY_NAME_TEXT_, __VA_ARGS__)))
/* wk_from_strided(data, shape, strides), and options */
#define wk_from_strided(data, shape, ...)                                                                              \
    WK_NEW_TENSOR_(WK_JOIN_(WK_FROM_STRIDED_, WK_COUNT_(__VA_ARGS__))(                                                 \
        WK_JOIN_(wk_data_, __COUNTER__), WK_INTS_NAME_, WK_INTS_NAME_,                                                 \
        "wk_from_strided: write sizes and strides in parentheses: wk_from_strided(data, (2, 3), (1, 2))", data, shape, \
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
/* wk_borrow(data, shape, release, user) */
#define wk_borrow(data, shape, release, user)                                                                          \
    WK_NEW_TENSOR_(WK_BORROW_(WK_JOIN_(wk_data_, __COUNTER__), WK_INTS_NAME_, data, shape, release, user))
#define WK_BORROW_(wk_p_, wk_s_, data, shape, release, user)                                                           \
    WK_SIZED_(wk_tensor *, wk_s_, shape, "wk_borrow: write sizes in parentheses: wk_borrow(data, (2, 3), NULL, NULL)", \
              WK_ONCE_(float *, wk_p_, data, WK_HAS_DTYPE_("wk_borrow", wk_p_);                                        \
                       WK_GIVE_(wk_tensor *, wk_borrow_sized_at(WK_HERE, WK_DTYPE_(wk_p_), wk_p_, WK_ROOM_(data),      \
                                                                wk_s_.at, wk_s_.count, release, user))))
/* wk_read_strided(x, data, strides) */
#define wk_read_strided(x, data, stride) WK_READ_STRIDED_(WK_INTS_NAME_, x, data, stride)
#define WK_READ_STRIDED_(wk_s_, x, data, stride)                                                                       \
    WK_SIZED_(wk_code, wk_s_, stride,                                                                                  \
              "wk_read_strided: write strides in parentheses: wk_read_strided(x, data, (1, 2))",                       \
              WK_GIVE_(wk_code, wk_read_strided_n_at(WK_HERE, x, data, WK_ROOM_(data), wk_s_.at, wk_s_.count)))
#endif

#ifdef __cplusplus
}
#endif
#endif
