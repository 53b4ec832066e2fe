/* SPDX-License-Identifier: Apache-2.0 */
/* wick/creation.h: creating and copying tensors.
 *
 * A shape is a list: wk_zeros((2, 3)). () creates a tensor without dimensions, of one element; WK_ARRAY(shape, ndim)
 * stands for a list whose length is known at run time. Options follow all other arguments, by name: wk_zeros((2, 3),
 * .dtype = WK_F64). wk_zeros describes the options of all calls.
 *
 * wk_of, wk_from and wk_borrow (tensor.h) create tensors of C memory.
 *
 * Errors: WK_ERR_SHAPE if a shape has more than 8 dimensions, a negative size or 2^63 bytes; WK_ERR_DEVICE if the
 * device does not exist; WK_ERR_DTYPE if .requires_grad is set for a dtype that is not floating. */
/* Written by scripts/generate_ops.py from src/ops/specs/creation: edit those. */
#ifndef WICK_CREATION_H
#define WICK_CREATION_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "creation_calls.h"

/* ---- factories --------------------------------------------------------------------------------------------------- */

#ifndef __cplusplus
/* wk_zeros((shape)): Creates a tensor of zeros.
 * Options:   .dtype: element type; default as stated at the call. .device: default: that of WK_DEVICE, else the CPU.
 *            .requires_grad: a leaf that accumulates gradients, floating dtypes only (else WK_ERR_DTYPE); default
 *            false
 * Dtypes:    default f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_zeros((2, 2), .dtype = WK_F64) is {{0, 0}, {0, 0}}
 * PyTorch:   torch.zeros */
#define wk_zeros(...) WK_NEW_TENSOR_(WK_SHAPED_(wk_tensor *, wk_zeros, wk_tensor_options, #__VA_ARGS__, __VA_ARGS__))

/* wk_ones((shape)): Creates a tensor of ones.
 * Options:   .dtype, .device, .requires_grad: see wk_zeros
 * Dtypes:    default f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_ones((2), .requires_grad = true) is {1, 1}
 * PyTorch:   torch.ones */
#define wk_ones(...) WK_NEW_TENSOR_(WK_SHAPED_(wk_tensor *, wk_ones, wk_tensor_options, #__VA_ARGS__, __VA_ARGS__))

/* wk_empty((shape)): Creates a tensor for a later write. Its contents are unspecified (currently zero).
 * Options:   .dtype, .device, .requires_grad: see wk_zeros
 * Dtypes:    default f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_copy_(wk_empty((2)), x) is {3, 4} for x = {3, 4}
 * PyTorch:   torch.empty */
#define wk_empty(...) WK_NEW_TENSOR_(WK_SHAPED_(wk_tensor *, wk_empty, wk_tensor_options, #__VA_ARGS__, __VA_ARGS__))

/* wk_full((shape), value): Creates a tensor in which every element is value.
 * Options:   .dtype, .device, .requires_grad: see wk_zeros
 * Dtypes:    i64 if value has an integer C type, else f32, unless .dtype is set: wk_full((2), 7) is i64,
 *            wk_full((2), 7.0) is f32; an integer outside the range of an integer .dtype wraps
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_full((2, 2), 0.5) is {{0.5, 0.5}, {0.5, 0.5}}
 * PyTorch:   torch.full, which refuses an integer outside the dtype's range */
#define wk_full(shape, ...) WK_NEW_TENSOR_(WK_SHAPED_NUMBER_(wk_full, wk_tensor_options, shape, __VA_ARGS__))

/* wk_zeros_like(x): Creates a tensor of zeros like x.
 * Options:   .dtype, .device, .requires_grad: see wk_zeros
 * Shapes:    the shape, dtype and device of x, unless the options set another dtype or device
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_zeros_like(x) is {0, 0} for x = {1, 2}
 * PyTorch:   torch.zeros_like */
#define wk_zeros_like(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_zeros_like, wk_tensor_options, __VA_ARGS__))

/* wk_ones_like(x): Creates a tensor of ones like x.
 * Options:   .dtype, .device, .requires_grad: see wk_zeros
 * Shapes:    the shape, dtype and device of x, unless the options set another dtype or device
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_ones_like(x, .dtype = WK_I64) is {1, 1} for x = {1, 2}
 * PyTorch:   torch.ones_like */
#define wk_ones_like(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_ones_like, wk_tensor_options, __VA_ARGS__))

/* wk_empty_like(x): Creates a tensor like x for a later write. Its contents are unspecified (currently zero).
 * Options:   .dtype, .device, .requires_grad: see wk_zeros
 * Shapes:    the shape, dtype and device of x, unless the options set another dtype or device
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_fill_(wk_empty_like(x), 5) is {5, 5} for x = {1, 2}
 * PyTorch:   torch.empty_like */
#define wk_empty_like(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_empty_like, wk_tensor_options, __VA_ARGS__))

/* wk_full_like(x, value): Creates a tensor like x in which every element is value.
 * Options:   .dtype, .device, .requires_grad: see wk_zeros
 * Shapes:    the shape, dtype and device of x, unless the options set another dtype or device
 * Dtypes:    a fraction is truncated for an integer dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_full_like(x, 0.5) is {0.5, 0.5} for x = {1, 2}
 * PyTorch:   torch.full_like */
#define wk_full_like(x, ...)                                                                                           \
    WK_NEW_TENSOR_(WK_OPT2_NUMBER_(wk_full_like, wk_tensor_options, "x, value", x, __VA_ARGS__))

/* wk_arange(end): Creates the vector start, start + step, ... that ends before end. The forms are wk_arange(end),
 * wk_arange(start, end) and wk_arange(start, end, step); start defaults to 0, step to 1. wk_arange_from(start, end,
 * step) is always f32.
 * Options:   .dtype, .device, .requires_grad: see wk_zeros
 * Shapes:    (ceil((end - start) / step)); empty if start equals end
 * Dtypes:    i64 if the first number has an integer C type and the others have integer values, as 10.0 has; else f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if step is 0, if it leads away from end, if a number is not finite, or if a single end
 *            is negative
 * Example:   wk_arange(1, 8, 3) is {1, 4, 7}
 * PyTorch:   torch.arange */
#define wk_arange(...) WK_NEW_TENSOR_(WK_ARANGE_(__VA_ARGS__))
#define wk_arange_from(start, end, ...)                                                                                \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_OPT3_(wk_tensor *, wk_arange_from, wk_tensor_options, "start, end, step", start, end, __VA_ARGS__))

/* wk_linspace(start, end, count): Creates a vector of count evenly spaced numbers from start to end, both included.
 *     out[k] = start + k (end - start) / (count - 1)
 * Options:   .dtype, .device, .requires_grad: see wk_zeros
 * Dtypes:    default f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if count is negative
 * Example:   wk_linspace(0, 1, 5) is {0, 0.25, 0.5, 0.75, 1}
 * PyTorch:   torch.linspace */
#define wk_linspace(start, end, ...)                                                                                   \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_linspace, wk_tensor_options, "start, end, count", start, end, __VA_ARGS__))

/* wk_eye(n): Creates the identity matrix of n rows and n columns.
 * Options:   .dtype, .device, .requires_grad: see wk_zeros
 * Dtypes:    default f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_eye(2) is {{1, 0}, {0, 1}}
 * PyTorch:   torch.eye */
#define wk_eye(...)      WK_NEW_TENSOR_(WK_JOIN_(WK_EYE_, WK_IS_PAIR_(__VA_ARGS__, ))(__VA_ARGS__))
#define WK_EYE_1(...)    WK_OPT_(wk_tensor *, wk_eye, wk_tensor_options, __VA_ARGS__)
#define WK_EYE_WK2_(...) WK_REFUSE_(wk_tensor *, "wk_eye: the matrix is square; pass one size: wk_eye(3)")

/* ---- random factories -------------------------------------------------------------------------------------------- */
/* Draw from the thread's random stream: see random.h and wk_seed. */

/* wk_rand((shape)): Draws from the uniform distribution over [0, 1).
 * Options:   .dtype, .device, .requires_grad: see wk_zeros
 * Dtypes:    floating, default f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_DTYPE if the dtype is not floating
 * Example:   wk_floor(wk_rand((2, 2))) is {{0, 0}, {0, 0}}
 * PyTorch:   torch.rand */
#define wk_rand(...) WK_NEW_TENSOR_(WK_SHAPED_(wk_tensor *, wk_rand, wk_tensor_options, #__VA_ARGS__, __VA_ARGS__))

/* wk_rand_like(x): Draws from the uniform distribution over [0, 1) into a tensor like x.
 * Options:   .dtype, .device, .requires_grad: see wk_zeros
 * Shapes:    the shape, dtype and device of x, unless the options set another dtype or device
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_DTYPE if the dtype is not floating
 * Example:   wk_floor(wk_rand_like(x)) is {0, 0} for x = {1, 2}
 * PyTorch:   torch.rand_like */
#define wk_rand_like(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_rand_like, wk_tensor_options, __VA_ARGS__))

/* wk_randn((shape)): Draws from the standard normal distribution.
 * Options:   .dtype, .device, .requires_grad: see wk_zeros
 * Dtypes:    floating, default f32
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_DTYPE if the dtype is not floating
 * Example:   wk_isfinite(wk_randn((3))) is {true, true, true}
 * PyTorch:   torch.randn */
#define wk_randn(...) WK_NEW_TENSOR_(WK_SHAPED_(wk_tensor *, wk_randn, wk_tensor_options, #__VA_ARGS__, __VA_ARGS__))

/* wk_randn_like(x): Draws from the standard normal distribution into a tensor like x.
 * Options:   .dtype, .device, .requires_grad: see wk_zeros
 * Shapes:    the shape, dtype and device of x, unless the options set another dtype or device
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_DTYPE if the dtype is not floating
 * Example:   wk_isfinite(wk_randn_like(x)) is {true, true} for x = {1, 2}
 * PyTorch:   torch.randn_like */
#define wk_randn_like(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_randn_like, wk_tensor_options, __VA_ARGS__))

/* wk_randint(low, high, (shape)): Draws integers from the uniform distribution over [low, high).
 * Options:   .dtype, .device, .requires_grad: see wk_zeros
 * Dtypes:    default i64
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if high is not greater than low
 * Example:   wk_randint(3, 4, (2)) is {3, 3}
 * PyTorch:   torch.randint */
#define wk_randint(low, high, ...)                                                                                     \
    WK_NEW_TENSOR_(WK_SHAPED_LAST_(wk_randint, wk_tensor_options,                                                      \
                                   "wk_randint: put sizes in parentheses: wk_randint(low, high, (" #__VA_ARGS__ "))",  \
                                   (low, high), __VA_ARGS__))

/* wk_randperm(n): Draws a random permutation of 0, ..., n - 1.
 * Options:   .dtype, .device, .requires_grad: see wk_zeros
 * Shapes:    (n)
 * Dtypes:    default i64
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_sum(wk_randperm(4)) is 6
 * PyTorch:   torch.randperm */
#define wk_randperm(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_randperm, wk_tensor_options, __VA_ARGS__))

#endif

/* ---- moving, converting, copying --------------------------------------------------------------------------------- */

/* wk_to(x, device): Copies x to device.
 * Dtypes:    any
 * Gradient:  flows back to x's device
 * Returns:   x itself if it is on device already, else a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_DEVICE if the device does not exist
 * Example:   wk_to(x, wk_cpu()) is {1, 2} for x = {1, 2}
 * PyTorch:   x.to(device) */
#ifdef __cplusplus
#define wk_to(...) wk_to_at(WK_HERE, __VA_ARGS__)
#else
#define wk_to(...) WK_NEW_TENSOR_(WK_ON_DEVICE_(wk_tensor *, wk_to, __VA_ARGS__))
#endif

/* wk_to_dtype(x, dtype): Converts x to dtype. Floats round to nearest even. Integers wrap. A float becomes an
 * integer by truncation to i64 on every device; NaN, infinities and values outside i64 give -2^63, which a narrower
 * integer holds as 0. The bool of x is x != 0.
 * Dtypes:    any
 * Returns:   x itself if it has this dtype, else a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_to_dtype(x, WK_I32) is {1, -2} for x = {1.5, -2.5}
 * PyTorch:   x.to(dtype) */
#define wk_to_dtype(...) WK_EXACT_NEW_(2, wk_to_dtype, "x, dtype", __VA_ARGS__)

/* wk_clone(x): Copies x into a contiguous tensor with storage of its own. wk_contiguous (tensor.h) copies only if x
 * is not contiguous.
 * Dtypes:    any
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_clone(x) is {1, 2} for x = {1, 2}
 * PyTorch:   torch.clone */
#define wk_clone(...) WK_EXACT_NEW_(1, wk_clone, "x", __VA_ARGS__)

/* wk_copy_(x, y): Writes y into x, broadcast, converted and moved to x's device.
 * Shapes:    y broadcasts to x's shape
 * Dtypes:    any
 * Returns:   x; NULL on error
 * Errors:    WK_ERR_SHAPE if y does not broadcast; WK_ERR_STATE if x is a leaf that requires grad (except under
 *            WK_NO_GRAD) or a view in which elements share memory
 * Example:   wk_copy_(x, y) is {3, 3} for x = {1, 2}, y = {3}
 * PyTorch:   x.copy_(y) */
#define wk_copy_(...) WK_EXACT_(wk_tensor *, 2, wk_copy_, "x, y", __VA_ARGS__)

/* wk_fill_(x, value): Writes value into every element of x. wk_zero_(x) is wk_fill_(x, 0).
 * Dtypes:    any
 * Returns:   x; NULL on error
 * Errors:    WK_ERR_STATE as for wk_copy_
 * Example:   wk_fill_(x, 7) is {7, 7} for x = {1, 2}
 * PyTorch:   x.fill_(value), x.zero_() */
#ifndef __cplusplus
#define wk_fill_(x, value) WK_LAST_NUMBER_(wk_fill_, (x), value)
#endif
#define wk_zero_(...) WK_EXACT_(wk_tensor *, 1, wk_zero_, "x", __VA_ARGS__)

#endif
