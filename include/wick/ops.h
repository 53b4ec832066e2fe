/* wick/ops.h: what can be computed with tensors. Names, arguments and results are those of torch.* and torch.nn.functional.*.
 *
 * Of every op: NULL in gives NULL out; operands must be on one device; results belong to the innermost scope; floats keep their
 * dtype, mixed dtypes meet as PyTorch's do; gradients flow where the op has one (wk_op_info says so).
 *
 * Errors are recorded, never printed: wrong shapes WK_ERR_SHAPE, dtypes WK_ERR_DTYPE, devices WK_ERR_DEVICE, all at the call. */
#ifndef WICK_OPS_H
#define WICK_OPS_H

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

/* ---- reductions: over all dimensions, or those in parentheses: wk_sum(x), wk_sum(x, (0, 1)), wk_sum(x, (1), .keepdim = true) */
typedef struct wk_reduce_options {
    size_t size;
    bool keepdim;   /* reduced dimensions stay, with size 1 */
    wk_dtype dtype; /* of the result; default as PyTorch: sums of integers and bool are i64 */
} wk_reduce_options;
#define WK_REDUCE_DECL_(name)                                                                                            \
    WK_API wk_tensor *name##_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)

WK_REDUCE_DECL_(wk_sum); /* sum of the elements */

/* ---- views: the same numbers seen otherwise; nothing is copied unless said so -------------------------------------- */
/* Another shape over the same elements in row-major order; one size may be -1. A view when possible, else a copy. */
WK_API wk_tensor *wk_reshape_at(wk_site site, wk_tensor *x, const int64_t *shape, int ndim);
/* Dimensions of size 1 seen as larger ones, new ones in front; -1 keeps a size. */
WK_API wk_tensor *wk_expand_at(wk_site site, wk_tensor *x, const int64_t *shape, int ndim);

/* Any shape and strides over the elements of x from storage offset x's + offset on; must stay within its storage. */
WK_API wk_tensor *wk_as_strided_at(wk_site site, wk_tensor *x, const int64_t *shape, const int64_t *stride, int ndim, int64_t offset);

#ifndef __cplusplus
#define wk_reshape(x, shape) wk_reshape_at(WK_HERE, x, WK_DIMS_(shape))
#define wk_expand(x, shape)  wk_expand_at(WK_HERE, x, WK_DIMS_(shape))

#define wk_add(a, b)  WK_ARITH_(wk_add, a, b)
#define wk_sub(a, b)  WK_ARITH_(wk_sub, a, b)
#define wk_mul(a, b)  WK_ARITH_(wk_mul, a, b)
#define wk_add_(a, b) WK_ARITH_1_(wk_add_, a, b)
#define wk_sub_(a, b) WK_ARITH_1_(wk_sub_, a, b)
#define wk_mul_(a, b) WK_ARITH_1_(wk_mul_, a, b)

#define wk_exp(...)   wk_exp_at(WK_HERE, __VA_ARGS__)
#define wk_exp_(...)  wk_exp__at(WK_HERE, __VA_ARGS__)

#define wk_sum(...)   WK_REDUCE_(wk_sum_at, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
