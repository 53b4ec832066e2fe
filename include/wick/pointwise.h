/* wick/pointwise.h: arithmetic, comparison and functions element by element. */
#ifndef WICK_POINTWISE_H
#define WICK_POINTWISE_H

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- arithmetic: a tensor or a number on either side, broadcast ---------------------------------------------------
 * A whole number stays whole (i64 + 1 is i64), a fraction is a float of the tensor's class. In-place forms end in _. */
#define WK_ARITH_DECL_(name)                                                                                             \
    WK_API wk_tensor *name##_at(wk_site site, wk_tensor *a, wk_tensor *b);                                               \
    WK_API wk_tensor *name##_tf_at(wk_site site, wk_tensor *a, double b);                                                \
    WK_API wk_tensor *name##_ti_at(wk_site site, wk_tensor *a, int64_t b);                                               \
    WK_API wk_tensor *name##_ft_at(wk_site site, double a, wk_tensor *b);                                                \
    WK_API wk_tensor *name##_it_at(wk_site site, int64_t a, wk_tensor *b);                                               \
    WK_API wk_tensor *name(wk_tensor *a, wk_tensor *b)
#define WK_ARITH_IN_PLACE_DECL_(name)                                                                                    \
    WK_API wk_tensor *name##_at(wk_site site, wk_tensor *a, wk_tensor *b);                                               \
    WK_API wk_tensor *name##_tf_at(wk_site site, wk_tensor *a, double b);                                                \
    WK_API wk_tensor *name##_ti_at(wk_site site, wk_tensor *a, int64_t b)

WK_ARITH_DECL_(wk_add); /* a + b */
WK_ARITH_DECL_(wk_sub); /* a - b */
WK_ARITH_DECL_(wk_mul); /* a b */
WK_ARITH_IN_PLACE_DECL_(wk_add_);
WK_ARITH_IN_PLACE_DECL_(wk_sub_);
WK_ARITH_IN_PLACE_DECL_(wk_mul_);

/* ---- elementwise functions: wk_NAME(x), and in place wk_NAME_(x) --------------------------------------------------- */
#define WK_UNARY_DECL_(name)                                                                                             \
    WK_API wk_tensor *name##_at(wk_site site, wk_tensor *x);                                                             \
    WK_API wk_tensor *name(wk_tensor *x);                                                                                \
    WK_API wk_tensor *name##__at(wk_site site, wk_tensor *x);                                                            \
    WK_API wk_tensor *name##_(wk_tensor *x)

WK_UNARY_DECL_(wk_exp); /* e^x */

#ifndef __cplusplus
#define wk_add(a, b)  WK_ARITH_(wk_add, a, b)
#define wk_sub(a, b)  WK_ARITH_(wk_sub, a, b)
#define wk_mul(a, b)  WK_ARITH_(wk_mul, a, b)
#define wk_add_(a, b) WK_ARITH_1_(wk_add_, a, b)
#define wk_sub_(a, b) WK_ARITH_1_(wk_sub_, a, b)
#define wk_mul_(a, b) WK_ARITH_1_(wk_mul_, a, b)

#define wk_exp(...)   wk_exp_at(WK_HERE, __VA_ARGS__)
#define wk_exp_(...)  wk_exp__at(WK_HERE, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
