/* SPDX-License-Identifier: Apache-2.0 */
/* wick/creation.h: tensors made of a shape, a range or random numbers, and copies.
 *
 * Shapes are lists: wk_zeros((2, 3)); () makes a tensor without dimensions, of one number, and WK_ARRAY(shape, ndim)
 * stands for one whose length is known at run time. More than 8 dimensions, 2^63 bytes or a negative size are
 * WK_ERR_SHAPE. Options stand behind all else, by name: wk_zeros((2, 3), .dtype = WK_F64); what they are stands at
 * wk_zeros.
 *
 * What C memory holds becomes a tensor by wk_of, wk_from and wk_borrow in tensor.h. */
/* Written by scripts/generate_ops.py from src/ops/specs/creation: edit those. */
#ifndef WICK_CREATION_H
#define WICK_CREATION_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "creation_calls.h"

/* ---- making ------------------------------------------------------------------------------------------------------ */

#ifndef __cplusplus
/* wk_zeros((shape)): all 0.
 * Options: .dtype (default f32, or what the call says), .device (default: that of WK_DEVICE, else the CPU),
 * .requires_grad (a leaf that gathers gradients: of floats only, else WK_ERR_DTYPE).
 *
 *     wk_zeros((2, 2), .dtype = WK_F64) is {{0, 0}, {0, 0}} */
#define wk_zeros(...) WK_NEW_TENSOR_(WK_SHAPED_(wk_tensor *, wk_zeros, wk_tensor_options, #__VA_ARGS__, __VA_ARGS__))

/* wk_ones((shape)): all 1.
 * Options: .dtype, .device, .requires_grad.
 *
 *     wk_ones((2), .requires_grad = true) is {1, 1} */
#define wk_ones(...) WK_NEW_TENSOR_(WK_SHAPED_(wk_tensor *, wk_ones, wk_tensor_options, #__VA_ARGS__, __VA_ARGS__))

/* wk_empty((shape)): memory of this shape; its numbers mean nothing (they are 0).
 * Options: .dtype, .device, .requires_grad.
 *
 *     wk_copy_(wk_empty((2)), x) is {3, 4} for x = {3, 4} */
#define wk_empty(...) WK_NEW_TENSOR_(WK_SHAPED_(wk_tensor *, wk_empty, wk_tensor_options, #__VA_ARGS__, __VA_ARGS__))

/* wk_full((shape), value): all the same number: i64 for a whole one, else f32.
 * By the type that the number has in C: wk_full((2), 7) is i64, wk_full((2), 7.0) is f32. A whole number beyond what
 * an integer .dtype holds wraps, where PyTorch refuses it.
 * Options: .dtype, .device, .requires_grad.
 *
 *     wk_full((2, 2), 0.5) is {{0.5, 0.5}, {0.5, 0.5}} */
#define wk_full(shape, ...) WK_NEW_TENSOR_(WK_SHAPED_NUMBER_(wk_full, wk_tensor_options, shape, __VA_ARGS__))

/* wk_zeros_like(x): all 0, of the shape, dtype and device of self.
 * Unless the options say otherwise.
 * Options: .dtype, .device, .requires_grad.
 *
 *     wk_zeros_like(x) is {0, 0} for x = {1, 2} */
#define wk_zeros_like(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_zeros_like, wk_tensor_options, __VA_ARGS__))

/* wk_ones_like(x): all 1, of the shape, dtype and device of self.
 * Unless the options say otherwise.
 * Options: .dtype, .device, .requires_grad.
 *
 *     wk_ones_like(x, .dtype = WK_I64) is {1, 1} for x = {1, 2} */
#define wk_ones_like(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_ones_like, wk_tensor_options, __VA_ARGS__))

/* wk_empty_like(x): memory whose numbers mean nothing (they are 0), of the shape, dtype and device of self.
 * Unless the options say otherwise.
 * Options: .dtype, .device, .requires_grad.
 *
 *     wk_fill_(wk_empty_like(x), 5) is {5, 5} for x = {1, 2} */
#define wk_empty_like(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_empty_like, wk_tensor_options, __VA_ARGS__))

/* wk_full_like(x, value): all the same number, of the shape, dtype and device of self.
 * Unless the options say otherwise: of integers fractions are cut off.
 * Options: .dtype, .device, .requires_grad.
 *
 *     wk_full_like(x, 0.5) is {0.5, 0.5} for x = {1, 2} */
#define wk_full_like(x, ...)                                                                                           \
    WK_NEW_TENSOR_(WK_OPT2_NUMBER_(wk_full_like, wk_tensor_options, "x, value", x, __VA_ARGS__))

/* wk_arange(end): start, start + step, ... short of end; of one number 0, 1, ... short of that.
 * wk_arange(end), wk_arange(start, end) or wk_arange(start, end, step): i64 when all are whole, else f32. The first
 * number is whole by its type, as an int is, the others by their value, as 10.0 is. wk_arange_from(start, end, step)
 * is always f32. A negative step leads down; nothing lies between equal ends.
 * Options: .dtype, .device, .requires_grad.
 * WK_ERR_ARGUMENT for a step of 0, one that leads away from the end, or a single number below 0.
 *
 *     wk_arange(1, 8, 3) is {1, 4, 7} */
#define wk_arange(...) WK_NEW_TENSOR_(WK_ARANGE_(__VA_ARGS__))
#define wk_arange_from(start, end, ...)                                                                                \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_OPT3_(wk_tensor *, wk_arange_from, wk_tensor_options, "start, end, step", start, end, __VA_ARGS__))

/* wk_linspace(start, end, count): evenly spaced, both ends included.
 * `count` numbers, f32.
 * Options: .dtype, .device, .requires_grad.
 *
 *     wk_linspace(0, 1, 5) is {0, 0.25, 0.5, 0.75, 1} */
#define wk_linspace(start, end, ...)                                                                                   \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_linspace, wk_tensor_options, "start, end, count", start, end, __VA_ARGS__))

/* wk_eye(n): the identity matrix.
 * (n, n), f32.
 * Options: .dtype, .device, .requires_grad.
 *
 *     wk_eye(2) is {{1, 0}, {0, 1}} */
#define wk_eye(...)      WK_NEW_TENSOR_(WK_JOIN_(WK_EYE_, WK_IS_PAIR_(__VA_ARGS__, ))(__VA_ARGS__))
#define WK_EYE_1(...)    WK_OPT_(wk_tensor *, wk_eye, wk_tensor_options, __VA_ARGS__)
#define WK_EYE_WK2_(...) WK_REFUSE_(wk_tensor *, "wk_eye: the matrix is square, of one size: wk_eye(3)")

/* ---- drawing random numbers -------------------------------------------------------------------------------------- */
/* From the thread's stream, which wk_seed begins anew: see random.h. */

/* wk_rand((shape)): uniform in [0, 1).
 * Options: .dtype, .device, .requires_grad.
 * WK_ERR_DTYPE for a dtype that is not of floats.
 *
 *     wk_floor(wk_rand((2, 2))) is {{0, 0}, {0, 0}} */
#define wk_rand(...) WK_NEW_TENSOR_(WK_SHAPED_(wk_tensor *, wk_rand, wk_tensor_options, #__VA_ARGS__, __VA_ARGS__))

/* wk_rand_like(x): uniform in [0, 1), shaped like self.
 * With the dtype and device of x, unless the options say otherwise.
 * Options: .dtype, .device, .requires_grad.
 * WK_ERR_DTYPE for a dtype that is not of floats.
 *
 *     wk_floor(wk_rand_like(x)) is {0, 0} for x = {1, 2} */
#define wk_rand_like(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_rand_like, wk_tensor_options, __VA_ARGS__))

/* wk_randn((shape)): standard normal.
 * Options: .dtype, .device, .requires_grad.
 * WK_ERR_DTYPE for a dtype that is not of floats.
 *
 *     wk_isfinite(wk_randn((3))) is {true, true, true} */
#define wk_randn(...) WK_NEW_TENSOR_(WK_SHAPED_(wk_tensor *, wk_randn, wk_tensor_options, #__VA_ARGS__, __VA_ARGS__))

/* wk_randn_like(x): standard normal, shaped like self.
 * With the dtype and device of x, unless the options say otherwise.
 * Options: .dtype, .device, .requires_grad.
 * WK_ERR_DTYPE for a dtype that is not of floats.
 *
 *     wk_isfinite(wk_randn_like(x)) is {true, true} for x = {1, 2} */
#define wk_randn_like(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_randn_like, wk_tensor_options, __VA_ARGS__))

/* wk_randint(low, high, (shape)): whole numbers in [low, high), i64.
 * Options: .dtype, .device, .requires_grad.
 * WK_ERR_ARGUMENT if there are none.
 *
 *     wk_randint(3, 4, (2)) is {3, 3} */
#define wk_randint(low, high, ...)                                                                                     \
    WK_NEW_TENSOR_(WK_SHAPED_LAST_(wk_randint, wk_tensor_options,                                                      \
                                   "wk_randint: sizes stand in parentheses: wk_randint(low, high, (" #__VA_ARGS__      \
                                   "))",                                                                               \
                                   (low, high), __VA_ARGS__))

/* wk_randperm(n): 0..n-1 in random order, i64.
 * Options: .dtype, .device, .requires_grad.
 *
 *     wk_sum(wk_randperm(4)) is 6 */
#define wk_randperm(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_randperm, wk_tensor_options, __VA_ARGS__))

#endif

/* ---- moving, converting, copying --------------------------------------------------------------------------------- */

/* wk_to(x, device): on another device; the same tensor if it is there already.
 * Gradients flow back through the copy.
 * WK_ERR_DEVICE for a device that is not there.
 * In PyTorch: x.to(device).
 *
 *     wk_to(x, wk_cpu()) is {1, 2} for x = {1, 2} */
#ifdef __cplusplus
#define wk_to(...) wk_to_at(WK_HERE, __VA_ARGS__)
#else
#define wk_to(...) WK_NEW_TENSOR_(WK_ON_DEVICE_(wk_tensor *, wk_to, __VA_ARGS__))
#endif

/* wk_to_dtype(x, dtype): converted: floats round to nearest even, floats to integers truncate, anything to bool is x
 * != 0.
 * x itself if it has the dtype. Integers wrap. Floats become integers by way of i64, on every device: what no i64 is
 * near (NaN, infinity, 1e20) is -2^63 as i64, 0 in a narrower one.
 * In PyTorch: x.to(dtype).
 *
 *     wk_to_dtype(x, WK_I32) is {1, -2} for x = {1.5, -2.5} */
#define wk_to_dtype(...) WK_EXACT_NEW_(2, wk_to_dtype, "x, dtype", __VA_ARGS__)

/* wk_clone(x): a dense copy with its own storage.
 * wk_contiguous, in tensor.h, copies only what does not lie dense in row-major order.
 *
 *     wk_clone(x) is {1, 2} for x = {1, 2} */
#define wk_clone(...) WK_EXACT_NEW_(1, wk_clone, "x", __VA_ARGS__)

/* wk_copy_(x, y): src written over self: broadcast, converted, moved.
 * x is returned.
 * WK_ERR_STATE for a leaf that requires grad (but under WK_NO_GRAD) and for a view in which elements share memory.
 *
 *     wk_copy_(x, y) is {3, 3} for x = {1, 2}, y = {3} */
#define wk_copy_(...) WK_EXACT_(wk_tensor *, 2, wk_copy_, "x, y", __VA_ARGS__)

/* wk_fill_(x, value): every element becomes the number.
 * x is returned. wk_zero_(x) is wk_fill_(x, 0).
 * WK_ERR_STATE as of wk_copy_.
 *
 *     wk_fill_(x, 7) is {7, 7} for x = {1, 2} */
#ifndef __cplusplus
#define wk_fill_(x, value) WK_LAST_NUMBER_(wk_fill_, (x), value)
#endif
#define wk_zero_(...) WK_EXACT_(wk_tensor *, 1, wk_zero_, "x", __VA_ARGS__)

#endif
