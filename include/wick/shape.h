/* wick/shape.h: views, joining and splitting, indexing. */
#ifndef WICK_SHAPE_H
#define WICK_SHAPE_H

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

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
#endif

#ifdef __cplusplus
}
#endif
#endif
