/* SPDX-License-Identifier: Apache-2.0 */
/* wick/shape.h: views, joining and splitting, indexing. */
#ifndef WICK_SHAPE_H
#define WICK_SHAPE_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A dimension may be negative: it counts from the end. One out of range is WK_ERR_INDEX, sizes that do not
 * fit WK_ERR_SHAPE. */

/* ---- views: the same numbers seen otherwise; nothing is copied unless said so ------------------------------------ */
/* Another shape over the same elements in row-major order; one size may be -1. A view when possible, else a copy. */
WK_API wk_tensor *wk_reshape_at(wk_site site, wk_tensor *x, const int64_t *shape, int ndim);
/* In the shape of `other`: reshape. */
WK_API wk_tensor *wk_view_as_at(wk_site site, wk_tensor *x, wk_tensor *other);
/* Dimensions start..end (default all) as one; a tensor without dimensions gets one. */
WK_API wk_tensor *wk_flatten_at(wk_site site, wk_tensor *x, int64_t start, int64_t end);
/* Dimension dim as several, whose sizes multiply to its own; one may be -1. */
WK_API wk_tensor *wk_unflatten_at(wk_site site, wk_tensor *x, int64_t dim, const int64_t *sizes, int count);
/* Dimensions of size 1 seen as larger ones, new ones in front; -1 keeps a size. */
WK_API wk_tensor *wk_expand_at(wk_site site, wk_tensor *x, const int64_t *shape, int ndim);
/* Expanded to the shape of `other`. */
WK_API wk_tensor *wk_expand_as_at(wk_site site, wk_tensor *x, wk_tensor *other);
/* Without the dimensions of size 1 (count -1), or those of the named ones that have it: of an empty list none. */
WK_API wk_tensor *wk_squeeze_at(wk_site site, wk_tensor *x, const int64_t *dims, int count);
/* With a new dimension of size 1 before dim; -1: at the end. */
WK_API wk_tensor *wk_unsqueeze_at(wk_site site, wk_tensor *x, int64_t dim);
/* Two dimensions change places; swapaxes is the same. */
WK_API wk_tensor *wk_transpose_at(wk_site site, wk_tensor *x, int64_t dim0, int64_t dim1);
WK_API wk_tensor *wk_swapaxes_at(wk_site site, wk_tensor *x, int64_t dim0, int64_t dim1);
/* The transpose of a matrix; fewer dimensions stay as they are. */
WK_API wk_tensor *wk_t_at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_t(wk_tensor *x);
/* All dimensions in this order: result dimension k is dimension dims[k]. */
WK_API wk_tensor *wk_permute_at(wk_site site, wk_tensor *x, const int64_t *dims, int count);
/* Dimension `source` moves to the place `destination`, the others keep their order. */
WK_API wk_tensor *wk_movedim_at(wk_site site, wk_tensor *x, int64_t source, int64_t destination);

/* Places start, start + step, ... below end of one dimension: Python's x[start:end:step], step > 0. Negative places
 * count from the end, those beyond an end are cut; INT64_MAX is the end. */
WK_API wk_tensor *wk_slice_at(wk_site site, wk_tensor *x, int64_t dim, int64_t start, int64_t end, int64_t step);
/* `length` places from start on; all must be there. */
WK_API wk_tensor *wk_narrow_at(wk_site site, wk_tensor *x, int64_t dim, int64_t start, int64_t length);
/* One place of a dimension, which goes: x[.., index, ..]. */
WK_API wk_tensor *wk_select_at(wk_site site, wk_tensor *x, int64_t dim, int64_t index);
/* The diagonal of two dimensions as a new last one; offset > 0: above it, < 0: below. */
WK_API wk_tensor *wk_diagonal_at(wk_site site, wk_tensor *x, int64_t offset, int64_t dim0, int64_t dim1);
/* Windows of `size` places, each `step` further: the dimension counts windows, a new last one is the place in
 * the window. */
WK_API wk_tensor *wk_unfold_at(wk_site site, wk_tensor *x, int64_t dim, int64_t size, int64_t step);
/* Any shape and strides over the elements of x from storage offset x's + offset on; must stay within its storage. */
WK_API wk_tensor *wk_as_strided_at(wk_site site, wk_tensor *x, const int64_t *shape, const int64_t *stride, int ndim,
                                   int64_t offset);

/* ---- splitting: views in out[], which must have room; they return how many there are, or -1 with out[] NULL ------ */

/* At most n pieces of equal size (the last may be smaller, and there may be fewer). out has room for n. */
WK_API int wk_chunk_at(wk_site site, wk_tensor *x, int64_t n, int64_t dim, wk_tensor **out);
/* Pieces of `size` places, the last perhaps smaller. out has room for ceil(places / size), 1 at least. */
WK_API int wk_split_at(wk_site site, wk_tensor *x, int64_t size, int64_t dim, wk_tensor **out);
/* Pieces of these sizes, which must add up. */
WK_API int wk_split_with_sizes_at(wk_site site, wk_tensor *x, const int64_t *sizes, int count, int64_t dim,
                                  wk_tensor **out);
/* Each place of a dimension by itself, without that dimension. out has room for as many as the dimension has places. */
WK_API int wk_unbind_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor **out);

/* ---- joining and repeating: new tensors -------------------------------------------------------------------------- */

/* One behind the other along a dimension; all other sizes must be equal. Dtypes meet as in arithmetic; tensors of
 * shape (0) are passed over. */
WK_API wk_tensor *wk_cat_at(wk_site site, wk_tensor *const *x, int count, int64_t dim);
/* Tensors of one shape along a new dimension. */
WK_API wk_tensor *wk_stack_at(wk_site site, wk_tensor *const *x, int count, int64_t dim);
/* repeats[d] copies one behind the other along each dimension, new ones in front; tile: missing numbers in
 * front are 1. */
WK_API wk_tensor *wk_repeat_at(wk_site site, wk_tensor *x, const int64_t *repeats, int count);
WK_API wk_tensor *wk_tile_at(wk_site site, wk_tensor *x, const int64_t *repeats, int count);
/* Each place of a dimension n times in a row; flat, as without a dimension: each element, row-major, in a vector. */
WK_API wk_tensor *wk_repeat_interleave_at(wk_site site, wk_tensor *x, int64_t n, int64_t dim);
WK_API wk_tensor *wk_repeat_interleave_flat_at(wk_site site, wk_tensor *x, int64_t n);
/* The named dimensions backwards; a copy, as PyTorch's. */
WK_API wk_tensor *wk_flip_at(wk_site site, wk_tensor *x, const int64_t *dims, int count);
/* Shifted round by shifts[k] places along dims[k]; no dims: along all elements in row-major order. */
WK_API wk_tensor *wk_roll_at(wk_site site, wk_tensor *x, const int64_t *shifts, int shift_count, const int64_t *dims,
                             int dim_count);

/* ---- indexing: places that are numbers in a tensor (i64 or i32), negative ones from the end ---------------------- */
/* An index out of range is WK_ERR_INDEX: at the call if its values are in host memory, else when they are computed. */

/* x[.., index[k], ..] for each k of a vector (or one number). */
WK_API wk_tensor *wk_index_select_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index);
/* x at index along dim, the other places those of the index: out[i,j] = x[index[i,j], j] for dim 0. The result has the
 * shape of the index, which must not exceed x in other dimensions. take_along_dim broadcasts both; flat, as without a
 * dimension, it takes both as vectors of their elements. An index without elements fits any x and may be of any dtype
 * (of gather and scatter). */
WK_API wk_tensor *wk_gather_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index);
WK_API wk_tensor *wk_take_along_dim_at(wk_site site, wk_tensor *x, wk_tensor *index, int64_t dim);
WK_API wk_tensor *wk_take_along_dim_flat_at(wk_site site, wk_tensor *x, wk_tensor *index);
/* x as one row of elements (row-major), at index; in the shape of the index. */
WK_API wk_tensor *wk_take_at(wk_site site, wk_tensor *x, wk_tensor *index);
/* Rows of a table: (..) (rows, width) -> (.., width). */
WK_API wk_tensor *wk_embedding_at(wk_site site, wk_tensor *index, wk_tensor *weight);
/* x with source added at index along dim: out[index[i,j], j] += source[i,j] for dim 0, in the order of the indices. The
 * index must not exceed source, nor x in other dimensions. */
WK_API wk_tensor *wk_scatter_add_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source);
WK_API wk_tensor *wk_scatter_add__at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source);
/* The same with source, or a number (wk_scatter(x, dim, index, 0.5)), put there instead of added; of several
 * the last stays. */
WK_API wk_tensor *wk_scatter_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source);
WK_API wk_tensor *wk_scatter_f_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, double value);
/* x with the slices of source added at the places of dim that a vector names. */
WK_API wk_tensor *wk_index_add_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source);
WK_API wk_tensor *wk_index_add__at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source);

/* The elements where mask (bool, broadcast) is true, as a vector. Waits for the device: the shape depends on data. */
WK_API wk_tensor *wk_masked_select_at(wk_site site, wk_tensor *x, wk_tensor *mask);
/* The places of the elements that are not 0, one a row: (n, ndim), i64. Waits for the device. */
WK_API wk_tensor *wk_nonzero_at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_nonzero(wk_tensor *x);
/* The same as a vector for each dimension: torch.nonzero(x, as_tuple=True), and torch.where with one
 * argument. They come into out[], which has room for one per dimension (a number counts as a vector of one);
 * how many, or -1 with out[] NULL. */
WK_API int wk_nonzero_numpy_at(wk_site site, wk_tensor *x, wk_tensor **out);
/* (..) -> (.., n), i64: 1 where the number is the place, else 0. n = -1: one more than the largest number, for which
 * the call waits for the device. */
WK_API wk_tensor *wk_one_hot_at(wk_site site, wk_tensor *x, int64_t n);
/* The part of the last two dimensions on and below (tril) or above (triu) the diagonal, which may be moved
 * up; elsewhere 0. */
WK_API wk_tensor *wk_tril_at(wk_site site, wk_tensor *x, int64_t diagonal);
WK_API wk_tensor *wk_triu_at(wk_site site, wk_tensor *x, int64_t diagonal);

#define wk_view_as(...)       wk_view_as_at(WK_HERE, __VA_ARGS__)
#define wk_expand_as(...)     wk_expand_as_at(WK_HERE, __VA_ARGS__)
#define wk_unsqueeze(...)     wk_unsqueeze_at(WK_HERE, __VA_ARGS__)
#define wk_transpose(...)     wk_transpose_at(WK_HERE, __VA_ARGS__)
#define wk_swapaxes(...)      wk_swapaxes_at(WK_HERE, __VA_ARGS__)
#define wk_t(...)             wk_t_at(WK_HERE, __VA_ARGS__)
#define wk_movedim(...)       wk_movedim_at(WK_HERE, __VA_ARGS__)
#define wk_narrow(...)        wk_narrow_at(WK_HERE, __VA_ARGS__)
#define wk_select(...)        wk_select_at(WK_HERE, __VA_ARGS__)
#define wk_unfold(...)        wk_unfold_at(WK_HERE, __VA_ARGS__)
#define wk_chunk(...)         wk_chunk_at(WK_HERE, __VA_ARGS__)
#define wk_split(...)         wk_split_at(WK_HERE, __VA_ARGS__)
#define wk_unbind(...)        wk_unbind_at(WK_HERE, __VA_ARGS__)
#define wk_index_select(...)  wk_index_select_at(WK_HERE, __VA_ARGS__)
#define wk_gather(...)        wk_gather_at(WK_HERE, __VA_ARGS__)
#define wk_take(...)          wk_take_at(WK_HERE, __VA_ARGS__)
#define wk_embedding(...)     wk_embedding_at(WK_HERE, __VA_ARGS__)
#define wk_scatter_add(...)   wk_scatter_add_at(WK_HERE, __VA_ARGS__)
#define wk_scatter_add_(...)  wk_scatter_add__at(WK_HERE, __VA_ARGS__)
#define wk_index_add(...)     wk_index_add_at(WK_HERE, __VA_ARGS__)
#define wk_index_add_(...)    wk_index_add__at(WK_HERE, __VA_ARGS__)
#define wk_masked_select(...) wk_masked_select_at(WK_HERE, __VA_ARGS__)
#define wk_nonzero(...)       wk_nonzero_at(WK_HERE, __VA_ARGS__)
#define wk_nonzero_numpy(...) wk_nonzero_numpy_at(WK_HERE, __VA_ARGS__)
#define wk_one_hot(...)       wk_one_hot_at(WK_HERE, __VA_ARGS__)

/* wk_repeat_interleave(x, n), wk_take_along_dim(x, index): of all elements; with a dimension behind it along that */
#ifdef __cplusplus
#define wk_repeat_interleave(...) wk_repeat_interleave_at(WK_HERE, __VA_ARGS__)
#define wk_take_along_dim(...)    wk_take_along_dim_at(WK_HERE, __VA_ARGS__)
#else
#define wk_repeat_interleave(x, ...)  WK_JOIN_(WK_INTERLEAVE_, WK_COUNT_(__VA_ARGS__))(x, __VA_ARGS__)
#define WK_INTERLEAVE_1(x, n)         wk_repeat_interleave_flat_at(WK_HERE, x, n)
#define WK_INTERLEAVE_WK2_(x, n, dim) wk_repeat_interleave_at(WK_HERE, x, n, dim)
#define wk_take_along_dim(x, ...)     WK_JOIN_(WK_ALONG_, WK_COUNT_(__VA_ARGS__))(x, __VA_ARGS__)
#define WK_ALONG_1(x, index)          wk_take_along_dim_flat_at(WK_HERE, x, index)
#define WK_ALONG_WK2_(x, index, dim)  wk_take_along_dim_at(WK_HERE, x, index, dim)
#endif

#ifndef __cplusplus
#define wk_reshape(x, ...) WK_VIEW_(wk_reshape, #__VA_ARGS__, x, __VA_ARGS__)
/* wk_flatten(x), wk_flatten(x, start), wk_flatten(x, start, end) */

#define wk_flatten(...) WK_JOIN_(WK_FLATTEN_, WK_JOIN_(WK_COUNT_(__VA_ARGS__), WK_COUNT_3_(__VA_ARGS__)))(__VA_ARGS__)

#define WK_FLATTEN_1(x)                    wk_flatten_at(WK_HERE, x, 0, -1)
#define WK_FLATTEN_WK2_(x, start)          wk_flatten_at(WK_HERE, x, start, -1)
#define WK_FLATTEN_WK2_WK3_(x, start, end) wk_flatten_at(WK_HERE, x, start, end)
#define wk_unflatten(x, dim, sizes)        WK_UNFLATTEN_(WK_INTS_NAME_, x, dim, sizes)
#define WK_UNFLATTEN_(wk_s_, x, dim, sizes)                                                                            \
    WK_SIZED_(wk_tensor *, wk_s_, sizes, "wk_unflatten: sizes stand in parentheses: wk_unflatten(x, dim, (2, 3))",     \
              WK_GIVE_(wk_tensor *, wk_unflatten_at(WK_HERE, x, dim, wk_s_.at, wk_s_.count)))
#define wk_expand(x, ...)       WK_VIEW_(wk_expand, #__VA_ARGS__, x, __VA_ARGS__)
/* wk_squeeze(x), wk_squeeze(x, dim), wk_squeeze(x, (dims...)) */
#define wk_squeeze(...)         WK_JOIN_(WK_SQUEEZE_, WK_COUNT_(__VA_ARGS__))(__VA_ARGS__)
#define WK_SQUEEZE_1(x)         wk_squeeze_at(WK_HERE, x, NULL, -1)
#define WK_SQUEEZE_WK2_(x, ...) WK_JOIN_(WK_SQUEEZE_BY_, WK_COUNT_(__VA_ARGS__))(x, #__VA_ARGS__, __VA_ARGS__)
#define WK_SQUEEZE_BY_WK2_(x, said, ...)                                                                               \
    WK_REFUSE_(wk_tensor *, "wk_squeeze: dimensions stand in parentheses: wk_squeeze(x, (" said "))")
#define WK_SQUEEZE_BY_1(x, said, dim) WK_JOIN_(WK_SQUEEZE_DIM_, WK_IS_LIST_(dim, ))(x, dim)
#define WK_SQUEEZE_DIM_1(x, dim)      wk_squeeze_at(WK_HERE, x, (const int64_t[]){dim}, 1)
#define WK_SQUEEZE_DIM_WK2_(x, dims)  WK_SQUEEZE_DIMS_(WK_INTS_NAME_, x, dims)
#define WK_SQUEEZE_DIMS_(wk_s_, x, dims)                                                                               \
    WK_SIZED_(wk_tensor *, wk_s_, dims, "", WK_GIVE_(wk_tensor *, wk_squeeze_at(WK_HERE, x, wk_s_.at, wk_s_.count)))
#define wk_permute(x, ...)                      WK_VIEW_(wk_permute, #__VA_ARGS__, x, __VA_ARGS__)
/* wk_slice(x, dim, start, end), wk_slice(x, dim, start, end, step) */
#define wk_slice(x, dim, start, ...)            WK_JOIN_(WK_SLICE_, WK_COUNT_(__VA_ARGS__))(x, dim, start, __VA_ARGS__)
#define WK_SLICE_1(x, dim, start, end)          wk_slice_at(WK_HERE, x, dim, start, end, 1)
#define WK_SLICE_WK2_(x, dim, start, end, step) wk_slice_at(WK_HERE, x, dim, start, end, step)
/* wk_diagonal(x): of the first two dimensions; wk_diagonal(x, offset, dim0, dim1) */
#define wk_diagonal(...)                        WK_JOIN_(WK_DIAGONAL_, WK_COUNT_(__VA_ARGS__))(__VA_ARGS__)
#define WK_DIAGONAL_1(x)                        wk_diagonal_at(WK_HERE, x, 0, 0, 1)
#define WK_DIAGONAL_WK2_(x, ...)                wk_diagonal_at(WK_HERE, x, __VA_ARGS__)
#define wk_split_with_sizes(x, sizes, dim, out) WK_SPLIT_(WK_INTS_NAME_, x, sizes, dim, out)
#define WK_SPLIT_(wk_s_, x, sizes, dim, out)                                                                           \
    WK_SIZED_(int, wk_s_, sizes,                                                                                       \
              "wk_split_with_sizes: sizes stand in parentheses: wk_split_with_sizes(x, (1, 2), dim, out)",             \
              WK_GIVE_(int, wk_split_with_sizes_at(WK_HERE, x, wk_s_.at, wk_s_.count, dim, out)))
/* wk_cat((x, y), dim) */
#define wk_cat(...)           WK_CAT_(wk_cat, #__VA_ARGS__, __VA_ARGS__)
#define wk_stack(...)         WK_CAT_(wk_stack, #__VA_ARGS__, __VA_ARGS__)
#define WK_CAT_(f, said, ...) WK_JOIN_(WK_CAT_, WK_KIND_1ST_(__VA_ARGS__, ))(f, said, WK_LIST_NAME_, __VA_ARGS__)
#define WK_CAT_NOT_(f, said, wk_l_, ...)                                                                               \
    WK_REFUSE_(wk_tensor *, #f ": tensors stand in parentheses: " #f "((x, y), 0), not " #f "(" said ")")
#define WK_CAT_ARRAY_                     WK_CAT_LIST_
#define WK_CAT_LIST_(f, said, wk_l_, ...) WK_JOIN_(WK_CAT_LIST_, WK_COUNT_(__VA_ARGS__))(f, said, wk_l_, __VA_ARGS__)
#define WK_CAT_LIST_1(f, said, wk_l_, list)                                                                            \
    WK_REFUSE_(wk_tensor *, #f ": the dimension is missing: " #f "(" said ", 0)")
#define WK_CAT_LIST_WK2_(f, said, wk_l_, list, ...)                                                                    \
    WK_JOIN_(WK_CAT_DIM_, WK_COUNT_(__VA_ARGS__))(f, said, wk_l_, list, __VA_ARGS__)
#define WK_CAT_DIM_WK2_(f, said, wk_l_, list, ...)                                                                     \
    WK_REFUSE_(wk_tensor *, #f ": one dimension: " #f "((x, y), 0), not " #f "(" said ")")
#define WK_CAT_DIM_1(f, said, wk_l_, list, dim)                                                                        \
    WK_LISTED_(wk_tensor *, wk_l_, list, "", WK_GIVE_(wk_tensor *, f##_at(WK_HERE, wk_l_.at, wk_l_.count, dim)))
#define wk_repeat(x, ...)        WK_VIEW_(wk_repeat, #__VA_ARGS__, x, __VA_ARGS__)
#define wk_tile(x, ...)          WK_VIEW_(wk_tile, #__VA_ARGS__, x, __VA_ARGS__)
#define wk_flip(x, ...)          WK_VIEW_(wk_flip, #__VA_ARGS__, x, __VA_ARGS__)
#define wk_roll(x, shifts, dims) WK_ROLL_(WK_INTS_NAME_, WK_INTS_NAME_, x, shifts, dims)
#define WK_ROLL_(wk_s_, wk_t_, x, shifts, dims)                                                                        \
    WK_STRIDED_(wk_s_, wk_t_, "wk_roll: shifts and dimensions stand in parentheses: wk_roll(x, (1), (0))", shifts,     \
                dims, WK_GIVE_(wk_tensor *, wk_roll_at(WK_HERE, x, wk_s_.at, wk_s_.count, wk_t_.at, wk_t_.count)))
/* wk_as_strided(x, shape, strides), wk_as_strided(x, shape, strides, offset) */
#define wk_as_strided(x, shape, ...)                                                                                   \
    WK_JOIN_(WK_AS_STRIDED_, WK_COUNT_(__VA_ARGS__))(WK_INTS_NAME_, WK_INTS_NAME_, x, shape, __VA_ARGS__)
#define WK_AS_STRIDED_1(wk_s_, wk_t_, x, shape, stride) WK_AS_STRIDED_WK2_(wk_s_, wk_t_, x, shape, stride, 0)
#define WK_AS_STRIDED_WK2_(wk_s_, wk_t_, x, shape, stride, offset)                                                     \
    WK_STRIDED_(                                                                                                       \
        wk_s_, wk_t_,                                                                                                  \
        "wk_as_strided: sizes and strides stand in parentheses: wk_as_strided(x, (2, 3), (1, 2), offset)", shape,      \
        stride,                                                                                                        \
        WK_GIVE_(wk_tensor *, wk_as_strided_at(WK_HERE, x, wk_s_.at, wk_t_.at, wk_as_many_(wk_s_, wk_t_), offset)))
#define wk_scatter(x, dim, index, source) WK_SCATTER_(x, dim, index, source, WK_JOIN_(wk_source_, __COUNTER__))
#define WK_SCATTER_(x, dim, index, source, wk_s_)                                                                      \
    WK_ONCE_(wk_tensor *, wk_s_, source,                                                                               \
             WK_GIVE_(wk_tensor *, _Generic(wk_s_, wk_tensor *                                                         \
                                            : wk_scatter_at, default                                                   \
                                            : wk_scatter_f_at)(WK_HERE, x, dim, index, wk_s_)))
/* wk_tril(x), wk_tril(x, diagonal) */
#define wk_tril(...)                     WK_JOIN_(WK_TRIANGLE_, WK_COUNT_(__VA_ARGS__))(wk_tril_at, __VA_ARGS__)
#define wk_triu(...)                     WK_JOIN_(WK_TRIANGLE_, WK_COUNT_(__VA_ARGS__))(wk_triu_at, __VA_ARGS__)
#define WK_TRIANGLE_1(f, x)              f(WK_HERE, x, 0)
#define WK_TRIANGLE_WK2_(f, x, diagonal) f(WK_HERE, x, diagonal)
#endif

#ifdef __cplusplus
}
#endif
#endif
