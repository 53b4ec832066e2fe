/* SPDX-License-Identifier: Apache-2.0 */
/* wick/matmul.h: products of matrices and vectors.
 *
 * Operands have one dtype, any but bool, and so has the result; f16 and bf16 add up in f32, integers wrap. Products
 * of i8 add up in i8, too: wk_to_dtype(x, WK_I32) before keeps what is beyond 127. Sizes that do not fit are
 * WK_ERR_SHAPE, different dtypes WK_ERR_DTYPE. */
/* Written by scripts/generate_ops.py from src/ops/specs/matmul: edit those. */
#ifndef WICK_MATMUL_H
#define WICK_MATMUL_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "matmul_calls.h"

/* ---- products ---------------------------------------------------------------------------------------------------- */

/* wk_matmul(a, b): the product of vectors, matrices, or stacks of matrices that broadcast.
 * The product that the dimensions ask for: (k) (k) -> (), (m,k) (k,n) -> (m,n), and with more dimensions the
 * products of the last two, the others broadcast. A vector counts as one row on the left, one column on the right,
 * and leaves no dimension.
 *
 *     wk_matmul(x, y) is {3, 7} for x = {{1, 2}, {3, 4}}, y = {1, 1} */
#define wk_matmul(...) WK_EXACT_NEW_(2, wk_matmul, "a, b", __VA_ARGS__)

/* wk_mm(a, b): the product of two matrices.
 * (m,k) (k,n) -> (m,n) and nothing else.
 *
 *     wk_mm(x, y) is {{2, 1}, {4, 3}} for x = {{1, 2}, {3, 4}}, y = {{0, 1}, {1, 0}} */
#define wk_mm(...) WK_EXACT_NEW_(2, wk_mm, "a, b", __VA_ARGS__)

/* wk_bmm(a, b): the products of two stacks of matrices.
 * (b,m,k) (b,k,n) -> (b,m,n)
 *
 *     wk_bmm(x, y) is {{{3}}, {{14}}} for x = {{{1, 2}}, {{3, 4}}}, y = {{{1}, {1}}, {{2}, {2}}} */
#define wk_bmm(...) WK_EXACT_NEW_(2, wk_bmm, "a, b", __VA_ARGS__)

/* wk_mv(a, b): a matrix times a vector.
 * (m,k) (k) -> (m)
 *
 *     wk_mv(x, y) is {3, 7} for x = {{1, 2}, {3, 4}}, y = {1, 1} */
#define wk_mv(...) WK_EXACT_NEW_(2, wk_mv, "a, b", __VA_ARGS__)

/* wk_dot(a, b): the sum of the products of the elements of two vectors.
 * (k) (k) -> ()
 *
 *     wk_dot(x, y) is 11 for x = {1, 2}, y = {3, 4} */
#define wk_dot(...) WK_EXACT_NEW_(2, wk_dot, "a, b", __VA_ARGS__)

/* wk_outer(a, b): every product of an element of a and one of b.
 * (m) (n) -> (m,n)
 *
 *     wk_outer(x, y) is {{3, 4}, {6, 8}} for x = {1, 2}, y = {3, 4} */
#define wk_outer(...) WK_EXACT_NEW_(2, wk_outer, "a, b", __VA_ARGS__)

#ifndef __cplusplus
/* wk_addmm(x, a, b): beta x + alpha a b.
 * x is broadcast to the product, a and b are as in mm. Of integers alpha and beta must be whole; they are doubles,
 * which are exact up to 2^53 (wk_mul takes any int64_t). With a beta of 0 nothing in x counts, NaN neither.
 * Options: .beta (default 1), .alpha (default 1).
 *
 *     wk_addmm(x, y, y, .beta = 2) is {{3, 4}, {2, 5}} for x = {1, 2}, y = {{1, 0}, {0, 1}} */
#define wk_addmm(x, a, ...)                                                                                            \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_addmm, wk_addmm_options, "x, a, b", x, a, __VA_ARGS__))

/* wk_baddbmm(x, a, b): beta x + alpha a b of stacks of matrices.
 * As addmm, with a and b as in bmm.
 * Options: .beta (default 1), .alpha (default 1).
 *
 *     wk_baddbmm(x, y, y, .alpha = 2) is {{{19}}} for x = {{{1}}}, y = {{{3}}} */
#define wk_baddbmm(x, a, ...)                                                                                          \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_baddbmm, wk_addmm_options, "x, a, b", x, a, __VA_ARGS__))

#endif

/* wk_linear(x, weight, bias): x weight^T + bias.
 * (..,in) (out,in) (out) -> (..,out), or (..,in) (in) () -> (..). bias NULL: none; NULL while an error is pending
 * gives NULL, so that a bias that could not be made is not left out silently.
 *
 *     wk_linear(x, y, NULL) is {{11, 17}} for x = {{1, 2}}, y = {{3, 4}, {5, 6}} */
#define wk_linear(...) WK_EXACT_NEW_(3, wk_linear, "x, weight, bias", __VA_ARGS__)

#endif
