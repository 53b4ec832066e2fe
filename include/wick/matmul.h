/* SPDX-License-Identifier: Apache-2.0 */
/* wick/matmul.h: products of matrices and vectors. */
#ifndef WICK_MATMUL_H
#define WICK_MATMUL_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Operands have one dtype, any but bool, and so has the result; f16 and bf16 add up in f32, integers wrap. Sizes that
 * do not fit are WK_ERR_SHAPE, different dtypes WK_ERR_DTYPE. */

/* The product that the dimensions ask for: (k) (k) -> (), (m,k) (k,n) -> (m,n), and with more dimensions the
 * products of the last two, the others broadcast. A vector counts as one row on the left, one column on the right,
 * and leaves no dimension. */
WK_API wk_tensor *wk_matmul_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_matmul(wk_tensor *a, wk_tensor *b);
/* (m,k) (k,n) -> (m,n) and nothing else. */
WK_API wk_tensor *wk_mm_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_mm(wk_tensor *a, wk_tensor *b);
/* (b,m,k) (b,k,n) -> (b,m,n) */
WK_API wk_tensor *wk_bmm_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_bmm(wk_tensor *a, wk_tensor *b);
/* (m,k) (k) -> (m) */
WK_API wk_tensor *wk_mv_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_mv(wk_tensor *a, wk_tensor *b);
/* (k) (k) -> () */
WK_API wk_tensor *wk_dot_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_dot(wk_tensor *a, wk_tensor *b);
/* (m) (n) -> (m,n): every product of two elements */
WK_API wk_tensor *wk_outer_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_API wk_tensor *wk_outer(wk_tensor *a, wk_tensor *b);

typedef struct wk_addmm_options {
    size_t size;
    wk_by_name by_name;
    double beta, alpha; /* default 1; with a beta of 0 nothing in x counts, NaN neither */
} wk_addmm_options;
/* beta x + alpha a b, x broadcast to the product: a, b as in mm; baddbmm: as in bmm. Of integers alpha and
 * beta must be whole. */
WK_API wk_tensor *wk_addmm_at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b, const wk_addmm_options *options);
WK_API wk_tensor *wk_baddbmm_at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b,
                                const wk_addmm_options *options);

/* x weight^T + bias: (..,in) (out,in) (out) -> (..,out), or (..,in) (in) () -> (..). bias NULL: none; NULL while an
 * error is pending gives NULL, so that a bias that could not be made is not left out silently. */
WK_API wk_tensor *wk_linear_at(wk_site site, wk_tensor *x, wk_tensor *weight, wk_tensor *bias);
WK_API wk_tensor *wk_linear(wk_tensor *x, wk_tensor *weight, wk_tensor *bias);

#define wk_matmul(...) wk_matmul_at(WK_HERE, __VA_ARGS__)
#define wk_mm(...)     wk_mm_at(WK_HERE, __VA_ARGS__)
#define wk_bmm(...)    wk_bmm_at(WK_HERE, __VA_ARGS__)
#define wk_mv(...)     wk_mv_at(WK_HERE, __VA_ARGS__)
#define wk_dot(...)    wk_dot_at(WK_HERE, __VA_ARGS__)
#define wk_outer(...)  wk_outer_at(WK_HERE, __VA_ARGS__)
#define wk_linear(...) wk_linear_at(WK_HERE, __VA_ARGS__)

#ifndef __cplusplus
#define wk_addmm(x, a, ...)   WK_OPT3_(wk_tensor *, wk_addmm, wk_addmm_options, "x, a, b", x, a, __VA_ARGS__)
#define wk_baddbmm(x, a, ...) WK_OPT3_(wk_tensor *, wk_baddbmm, wk_addmm_options, "x, a, b", x, a, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
