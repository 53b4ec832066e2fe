/* SPDX-License-Identifier: Apache-2.0 */
/* wick/shape.h: views, splitting, joining, indexing.
 *
 * A dimension may be negative: it counts from the end. One out of range is WK_ERR_INDEX, sizes that do not fit
 * WK_ERR_SHAPE. */
/* Written by scripts/generate_ops.py from src/ops/specs/shape: edit those. */
#ifndef WICK_SHAPE_H
#define WICK_SHAPE_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "shape_calls.h"

/* ---- views: the same numbers seen otherwise; nothing is copied unless said so ------------------------------------ */

#ifndef __cplusplus
/* wk_reshape(x, (shape)): another shape over the same elements in row-major order: a view when possible, else a
 * copy; one size may be -1
 *
 *     wk_reshape(x, (2, -1)) is {{1, 2}, {3, 4}} for x = {1, 2, 3, 4} */
#define wk_reshape(x, ...) WK_NEW_TENSOR_(WK_VIEW_(wk_reshape, #__VA_ARGS__, x, __VA_ARGS__))

#endif

/* wk_view_as(x, other): in the shape of another tensor.
 * As reshape.
 *
 *     wk_view_as(x, y) is {{1, 2}, {3, 4}} for x = {1, 2, 3, 4}, y = {{0, 0}, {0, 0}} */
#define wk_view_as(...) WK_EXACT_NEW_(2, wk_view_as, "x, other", __VA_ARGS__)

#ifndef __cplusplus
/* wk_flatten(x, start, end): several dimensions as one.
 * wk_flatten(x), wk_flatten(x, start) or wk_flatten(x, start, end): a tensor without dimensions gets one.
 *
 *     wk_flatten(x) is {1, 2, 3, 4} for x = {{1, 2}, {3, 4}} */
#define wk_flatten(...)        WK_NEW_TENSOR_(WK_JOIN_(WK_FLATTEN_, WK_COUNT_4_(__VA_ARGS__))(__VA_ARGS__))
#define WK_FLATTEN_1(x)        WK_FLATTEN_3(x, 0, -1)
#define WK_FLATTEN_2(x, start) WK_FLATTEN_3(x, start, -1)
#define WK_FLATTEN_3(...)      WK_PLAIN_(wk_flatten, __VA_ARGS__)
#define WK_FLATTEN_WK4_        WK_FLATTEN_3

/* wk_unflatten(x, dim, (sizes)): one dimension as several.
 * The sizes multiply to that of the dimension; one may be -1.
 *
 *     wk_unflatten(x, 0, (2, 2)) is {{1, 2}, {3, 4}} for x = {1, 2, 3, 4} */
#define wk_unflatten(x, dim, sizes) WK_NEW_TENSOR_(WK_UNFLATTEN_(WK_INTS_NAME_, x, dim, sizes))
#define WK_UNFLATTEN_(wk_s_, x, dim, sizes)                                                                            \
    WK_SIZED_(wk_tensor *, wk_s_, sizes, "wk_unflatten: sizes stand in parentheses: wk_unflatten(x, dim, (2, 3))",     \
              WK_GIVE_(wk_tensor *, wk_unflatten_at(WK_HERE, x, dim, wk_s_.at, wk_s_.count)))

/* wk_expand(x, (shape)): dimensions of size 1 seen as larger ones, without copying; -1 keeps a size.
 * New dimensions in front.
 *
 *     wk_expand(x, (2, 2)) is {{1, 1}, {2, 2}} for x = {{1}, {2}} */
#define wk_expand(x, ...) WK_NEW_TENSOR_(WK_VIEW_(wk_expand, #__VA_ARGS__, x, __VA_ARGS__))

#endif

/* wk_expand_as(x, other): expanded to the shape of another tensor
 *
 *     wk_expand_as(x, y) is {{1, 1}, {2, 2}} for x = {{1}, {2}}, y = {{0, 0}, {0, 0}} */
#define wk_expand_as(...) WK_EXACT_NEW_(2, wk_expand_as, "x, other", __VA_ARGS__)

#ifndef __cplusplus
/* wk_squeeze(x, (dims)): without the dimensions of size 1, or those of the named ones.
 * wk_squeeze(x), wk_squeeze(x, dim) or wk_squeeze(x, (dims...)): of an empty list none.
 *
 *     wk_squeeze(x) is {1, 2} for x = {{1, 2}} */
#define wk_squeeze(...) WK_NEW_TENSOR_(WK_SQUEEZE_(__VA_ARGS__))

#endif

/* wk_unsqueeze(x, dim): with a new dimension of size 1 at this place.
 * Before dim; -1: at the end.
 *
 *     wk_unsqueeze(x, 0) is {{1, 2}} for x = {1, 2} */
#define wk_unsqueeze(...) WK_EXACT_NEW_(2, wk_unsqueeze, "x, dim", __VA_ARGS__)

/* wk_transpose(x, dim0, dim1): two dimensions change places
 *
 *     wk_transpose(x, 0, 1) is {{1, 3}, {2, 4}} for x = {{1, 2}, {3, 4}} */
#define wk_transpose(...) WK_EXACT_NEW_(3, wk_transpose, "x, dim0, dim1", __VA_ARGS__)

/* wk_swapaxes(x, dim0, dim1): transpose by its other name
 *
 *     wk_swapaxes(x, 0, 1) is {{1, 3}, {2, 4}} for x = {{1, 2}, {3, 4}} */
#define wk_swapaxes(...) WK_EXACT_NEW_(3, wk_swapaxes, "x, dim0, dim1", __VA_ARGS__)

/* wk_t(x): the transpose of a matrix.
 * Fewer dimensions stay as they are.
 *
 *     wk_t(x) is {{1, 3}, {2, 4}} for x = {{1, 2}, {3, 4}} */
#define wk_t(...) WK_EXACT_NEW_(1, wk_t, "x", __VA_ARGS__)

#ifndef __cplusplus
/* wk_permute(x, (dims)): dimensions in another order.
 * Dimension k of the result is dimension dims[k].
 *
 *     wk_permute(x, (1, 0)) is {{1, 3}, {2, 4}} for x = {{1, 2}, {3, 4}} */
#define wk_permute(x, ...) WK_NEW_TENSOR_(WK_VIEW_(wk_permute, #__VA_ARGS__, x, __VA_ARGS__))

#endif

/* wk_movedim(x, source, destination): one dimension moves to another place.
 * The others keep their order.
 *
 *     wk_movedim(x, 0, 1) is {{1, 3}, {2, 4}} for x = {{1, 2}, {3, 4}} */
#define wk_movedim(...) WK_EXACT_NEW_(3, wk_movedim, "x, source, destination", __VA_ARGS__)

#ifndef __cplusplus
/* wk_slice(x, dim, start, end, step): places start, start + step, ... below end of a dimension.
 * Python's x[start:end:step], step > 0, which may be left out. Negative places count from the end, those beyond an
 * end are cut; INT64_MAX is the end.
 *
 *     wk_slice(x, 0, 1, 4, 2) is {2, 4} for x = {1, 2, 3, 4} */
#define wk_slice(x, dim, start, ...)                                                                                   \
    WK_NEW_TENSOR_(WK_JOIN_(WK_SLICE_, WK_COUNT_(__VA_ARGS__))(x, dim, start, __VA_ARGS__))
#define WK_SLICE_1(x, dim, start, end) WK_SLICE_WK2_(x, dim, start, end, 1)
#define WK_SLICE_WK2_(...)             WK_PLAIN_(wk_slice, __VA_ARGS__)

#endif

/* wk_narrow(x, dim, start, length): `length` places of a dimension from start on.
 * All must be there.
 *
 *     wk_narrow(x, 0, 1, 2) is {2, 3} for x = {1, 2, 3, 4} */
#define wk_narrow(...) WK_EXACT_NEW_(4, wk_narrow, "x, dim, start, length", __VA_ARGS__)

/* wk_select(x, dim, index): one place of a dimension, which goes.
 * x[.., index, ..]
 *
 *     wk_select(x, 0, 1) is {3, 4} for x = {{1, 2}, {3, 4}} */
#define wk_select(...) WK_EXACT_NEW_(3, wk_select, "x, dim, index", __VA_ARGS__)

#ifndef __cplusplus
/* wk_diagonal(x, offset, dim0, dim1): the diagonal of two dimensions as a new last one.
 * wk_diagonal(x) and wk_diagonal(x, offset): of the first two dimensions; or wk_diagonal(x, offset, dim0, dim1).
 * offset > 0: above it, < 0: below.
 *
 *     wk_diagonal(x) is {1, 4} for x = {{1, 2}, {3, 4}} */
#define wk_diagonal(...)               WK_NEW_TENSOR_(WK_JOIN_(WK_DIAGONAL_, WK_COUNT_4_(__VA_ARGS__))(__VA_ARGS__))
#define WK_DIAGONAL_1(x)               WK_DIAGONAL_WK4_(x, 0, 0, 1)
#define WK_DIAGONAL_2(x, offset)       WK_DIAGONAL_WK4_(x, offset, 0, 1)
#define WK_DIAGONAL_3(x, offset, dim0) WK_DIAGONAL_WK4_(x, offset, dim0, 1)
#define WK_DIAGONAL_WK4_(...)          WK_PLAIN_(wk_diagonal, __VA_ARGS__)

#endif

/* wk_unfold(x, dim, size, step): windows of a dimension, each `step` further, as a new last dimension.
 * The dimension counts windows, the new one is the place in the window.
 *
 *     wk_unfold(x, 0, 2, 2) is {{1, 2}, {3, 4}} for x = {1, 2, 3, 4} */
#define wk_unfold(...) WK_EXACT_NEW_(4, wk_unfold, "x, dim, size, step", __VA_ARGS__)

#ifndef __cplusplus
/* wk_as_strided(x, (shape), (stride), offset): any shape and strides over the elements of self, which must be dense.
 * wk_as_strided(x, shape, strides) or (x, shape, strides, offset): from the storage offset of x + offset on; within
 * its storage.
 *
 *     wk_as_strided(x, (2, 2), (2, 1)) is {{1, 2}, {3, 4}} for x = {1, 2, 3, 4} */
#define wk_as_strided(x, shape, ...)                                                                                   \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_JOIN_(WK_AS_STRIDED_, WK_COUNT_(__VA_ARGS__))(WK_INTS_NAME_, WK_INTS_NAME_, x, shape, __VA_ARGS__))
#define WK_AS_STRIDED_1(wk_s_, wk_t_, x, shape, stride) WK_AS_STRIDED_WK2_(wk_s_, wk_t_, x, shape, stride, 0)
#define WK_AS_STRIDED_WK2_(wk_s_, wk_t_, x, shape, stride, offset)                                                     \
    WK_SIZED_(wk_tensor *, wk_s_, shape,                                                                               \
              "wk_as_strided: lists stand in parentheses: wk_as_strided(x, (2, 3), (1, 2))",                           \
              WK_SIZED_(wk_tensor *, wk_t_, stride,                                                                    \
                        "wk_as_strided: lists stand in parentheses: wk_as_strided(x, (2, 3), (1, 2))",                 \
                        WK_GIVE_(wk_tensor *, wk_as_strided_at(WK_HERE, x, wk_s_.at, wk_t_.at,                         \
                                                               wk_as_many_(wk_s_, wk_t_), offset))))

#endif

/* ---- splitting: views in out[], which must have room; they return how many there are, or -1 with out[] NULL ------ */

/* wk_chunk(x, n, dim, out): at most `chunks` pieces of equal size, the last perhaps smaller.
 * There may be fewer. out has room for n.
 *
 *     wk_chunk(x, 2, 0, out) sets out to {{1, 2}, {3, 4}} for x = {1, 2, 3, 4} */
#define wk_chunk(...) WK_EXACT_(int, 4, wk_chunk, "x, n, dim, out", __VA_ARGS__)

/* wk_split(x, size, dim, out): pieces of split_size places, the last perhaps smaller.
 * out has room for ceil(places / size), 1 at least.
 *
 *     wk_split(x, 2, 0, out) sets out to {{1, 2}, {3, 4}} for x = {1, 2, 3, 4} */
#define wk_split(...) WK_EXACT_(int, 4, wk_split, "x, size, dim, out", __VA_ARGS__)

#ifndef __cplusplus
/* wk_split_with_sizes(x, (sizes), dim, out): pieces of these sizes.
 * Which must add up.
 *
 *     wk_split_with_sizes(x, (1, 3), 0, out) sets out to {{1}, {2, 3, 4}} for x = {1, 2, 3, 4} */
#define wk_split_with_sizes(x, sizes, dim, out) WK_SPLIT_WITH_SIZES_(WK_INTS_NAME_, x, sizes, dim, out)
#define WK_SPLIT_WITH_SIZES_(wk_s_, x, sizes, dim, out)                                                                \
    WK_SIZED_(int, wk_s_, sizes,                                                                                       \
              "wk_split_with_sizes: sizes stand in parentheses: wk_split_with_sizes(x, (1, 2), dim, out)",             \
              WK_GIVE_(int, wk_split_with_sizes_at(WK_HERE, x, wk_s_.at, wk_s_.count, dim, out)))

#endif

/* wk_unbind(x, dim, out): each place of a dimension by itself, without that dimension.
 * out has room for as many as the dimension has places.
 *
 *     wk_unbind(x, 0, out) sets out to {{1, 2}, {3, 4}} for x = {{1, 2}, {3, 4}} */
#define wk_unbind(...) WK_EXACT_(int, 3, wk_unbind, "x, dim, out", __VA_ARGS__)

/* ---- joining and repeating: new tensors -------------------------------------------------------------------------- */

#ifndef __cplusplus
/* wk_cat((x), dim): one behind the other along a dimension.
 * All other sizes must be equal. Dtypes meet as in arithmetic; tensors of shape (0) are passed over.
 *
 *     wk_cat((x, y), 0) is {1, 2, 3} for x = {1, 2}, y = {3} */
#define wk_cat(...) WK_NEW_TENSOR_(WK_CAT_(wk_cat, #__VA_ARGS__, __VA_ARGS__))

/* wk_stack((x), dim): along a new dimension.
 * Of tensors of one shape.
 *
 *     wk_stack((x, y), 0) is {{1, 2}, {3, 4}} for x = {1, 2}, y = {3, 4} */
#define wk_stack(...) WK_NEW_TENSOR_(WK_CAT_(wk_stack, #__VA_ARGS__, __VA_ARGS__))

/* wk_repeat(x, (repeats)): copies one behind the other along each dimension.
 * repeats[d] copies along dimension d, new dimensions in front.
 *
 *     wk_repeat(x, (2)) is {1, 2, 1, 2} for x = {1, 2} */
#define wk_repeat(x, ...) WK_NEW_TENSOR_(WK_VIEW_(wk_repeat, #__VA_ARGS__, x, __VA_ARGS__))

/* wk_tile(x, (repeats)): repeat, with 1 for the numbers that are missing in front
 *
 *     wk_tile(x, (2)) is {{1, 2, 1, 2}} for x = {{1, 2}} */
#define wk_tile(x, ...) WK_NEW_TENSOR_(WK_VIEW_(wk_tile, #__VA_ARGS__, x, __VA_ARGS__))

#endif

/* wk_repeat_interleave(x, n, dim): each place of a dimension, or each element, several times in a row.
 * wk_repeat_interleave(x, n, dim), or without a dimension (x, n): each element, row-major, in a vector.
 *
 *     wk_repeat_interleave(x, 2) is {1, 1, 2, 2} for x = {1, 2} */
#ifdef __cplusplus
#define wk_repeat_interleave(...) WK_EXACT_NEW_(3, wk_repeat_interleave, "x, n, dim", __VA_ARGS__)
#else
#define wk_repeat_interleave(x, ...)                                                                                   \
    WK_NEW_TENSOR_(WK_SHORTER_(wk_repeat_interleave_flat, wk_repeat_interleave, x, __VA_ARGS__))
#endif

#ifndef __cplusplus
/* wk_flip(x, (dims)): the named dimensions backwards.
 * A copy, as PyTorch's.
 *
 *     wk_flip(x, (0)) is {3, 2, 1} for x = {1, 2, 3} */
#define wk_flip(x, ...) WK_NEW_TENSOR_(WK_VIEW_(wk_flip, #__VA_ARGS__, x, __VA_ARGS__))

/* wk_roll(x, (shifts), (dims)): shifted round; what leaves at one end comes in at the other.
 * By shifts[k] places along dims[k]; no dims: along all elements in row-major order.
 *
 *     wk_roll(x, (1), (0)) is {3, 1, 2} for x = {1, 2, 3} */
#define wk_roll(x, shifts, dims) WK_NEW_TENSOR_(WK_ROLL_(WK_INTS_NAME_, WK_INTS_NAME_, x, shifts, dims))
#define WK_ROLL_(wk_s_, wk_t_, x, shifts, dims)                                                                        \
    WK_SIZED_(wk_tensor *, wk_s_, shifts, "wk_roll: lists stand in parentheses: wk_roll(x, (1), (0))",                 \
              WK_SIZED_(wk_tensor *, wk_t_, dims, "wk_roll: lists stand in parentheses: wk_roll(x, (1), (0))",         \
                        WK_GIVE_(wk_tensor *, wk_roll_at(WK_HERE, x, wk_s_.at, wk_s_.count, wk_t_.at, wk_t_.count))))

#endif

/* ---- indexing: places that are numbers in a tensor (i64 or i32), negative ones from the end ---------------------- */
/* An index out of range is WK_ERR_INDEX: at the call if its values are in host memory, else when they are computed. */

/* wk_index_select(x, dim, index): the places of a dimension that a vector names.
 * x[.., index[k], ..] for each k of a vector (or one number).
 *
 *     wk_index_select(x, 0, y) is {3, 1} for x = {1, 2, 3, 4}, y = {2, 0} */
#define wk_index_select(...) WK_EXACT_NEW_(3, wk_index_select, "x, dim, index", __VA_ARGS__)

/* wk_gather(x, dim, index): for each place of the index, the element at that place of a dimension.
 * out[i,j] = x[index[i,j], j] for dim 0. The result has the shape of the index, which must not exceed x in other
 * dimensions. An index without elements fits any x and may be of any dtype.
 *
 *     wk_gather(x, 1, y) is {{2}, {3}} for x = {{1, 2}, {3, 4}}, y = {{1}, {0}} */
#define wk_gather(...) WK_EXACT_NEW_(3, wk_gather, "x, dim, index", __VA_ARGS__)

/* wk_take_along_dim(x, index, dim): gather with both operands broadcast, or, without a dimension, as rows of
 * elements.
 * wk_take_along_dim(x, index, dim), or without a dimension (x, index): of both as vectors of their elements.
 *
 *     wk_take_along_dim(x, y, 1) is {{2}, {4}} for x = {{1, 2}, {3, 4}}, y = {{1}} */
#ifdef __cplusplus
#define wk_take_along_dim(...) WK_EXACT_NEW_(3, wk_take_along_dim, "x, index, dim", __VA_ARGS__)
#else
#define wk_take_along_dim(x, ...) WK_NEW_TENSOR_(WK_SHORTER_(wk_take_along_dim_flat, wk_take_along_dim, x, __VA_ARGS__))
#endif

/* wk_take(x, index): self as one row of elements, at the places of the index.
 * In the shape of the index.
 *
 *     wk_take(x, y) is {4, 1} for x = {{1, 2}, {3, 4}}, y = {3, 0} */
#define wk_take(...) WK_EXACT_NEW_(2, wk_take, "x, index", __VA_ARGS__)

/* wk_embedding(index, weight): the rows of the weight that the input names.
 * (..) (rows, width) -> (.., width)
 *
 *     wk_embedding(y, x) is {{3, 4}, {1, 2}} for x = {{1, 2}, {3, 4}}, y = {1, 0} */
#define wk_embedding(...) WK_EXACT_NEW_(2, wk_embedding, "index, weight", __VA_ARGS__)

/* wk_scatter_add(x, dim, index, source): self with src added at the places of the index, in their order.
 * out[index[i,j], j] += source[i,j] for dim 0. The index must not exceed source, nor x in other dimensions.
 *
 *     wk_scatter_add(x, 0, y, z) is {1, 32} for x = {1, 2}, y = {1, 1}, z = {10, 20} */
#define wk_scatter_add(...)  WK_EXACT_NEW_(4, wk_scatter_add, "x, dim, index, source", __VA_ARGS__)
#define wk_scatter_add_(...) WK_EXACT_(wk_tensor *, 4, wk_scatter_add_, "x, dim, index, source", __VA_ARGS__)

#ifndef __cplusplus
/* wk_scatter(x, dim, index, source): self with src, or a number, put at the places of the index; of several the last
 * stays.
 * As scatter_add, but put there instead of added; source may be a number: one beyond what an integer dtype holds
 * wraps, where PyTorch refuses it.
 *
 *     wk_scatter(x, 0, y, 9) is {1, 9} for x = {1, 2}, y = {1} */
#define wk_scatter(x, dim, index, source) WK_NEW_TENSOR_(WK_LAST_EITHER_(wk_scatter, (x, dim, index), source))

#endif

/* wk_index_add(x, dim, index, source): self with the slices of source added at the places that a vector names
 *
 *     wk_index_add(x, 0, y, z) is {1, 32} for x = {1, 2}, y = {1, 1}, z = {10, 20} */
#define wk_index_add(...)  WK_EXACT_NEW_(4, wk_index_add, "x, dim, index, source", __VA_ARGS__)
#define wk_index_add_(...) WK_EXACT_(wk_tensor *, 4, wk_index_add_, "x, dim, index, source", __VA_ARGS__)

/* wk_masked_select(x, mask): the elements where the mask is true, as a vector.
 * The mask is bool, broadcast. Waits for the device: the shape depends on data.
 *
 *     wk_masked_select(x, mask) is {2} for x = {1, 2}, mask = {false, true} */
#define wk_masked_select(...) WK_EXACT_NEW_(2, wk_masked_select, "x, mask", __VA_ARGS__)

/* wk_nonzero(x): the places of the elements that are not 0, one a row.
 * (n, ndim), i64. Waits for the device.
 *
 *     wk_nonzero(x) is {{1}, {2}} for x = {0, 2, 3} */
#define wk_nonzero(...) WK_EXACT_NEW_(1, wk_nonzero, "x", __VA_ARGS__)

/* wk_nonzero_numpy(x, out): the places of the elements that are not 0, a vector for each dimension: where with one
 * argument.
 * They come into out[], which has room for one per dimension (a number counts as a vector of one); how many, or -1
 * with out[] NULL.
 * In PyTorch: torch.nonzero(x, as_tuple=True), and torch.where with one argument.
 *
 *     wk_nonzero_numpy(x, out) sets out to {{0, 1}, {1, 0}} for x = {{0, 2}, {3, 0}} */
#define wk_nonzero_numpy(...) WK_EXACT_(int, 2, wk_nonzero_numpy, "x, out", __VA_ARGS__)

/* wk_one_hot(x, n): 1 where the number is the place in the new last dimension, else 0; -1 classes: one more than the
 * largest number, which is waited for.
 * (..) -> (.., n), i64.
 *
 *     wk_one_hot(y, 3) is {{0, 0, 1}, {1, 0, 0}} for y = {2, 0} */
#define wk_one_hot(...) WK_EXACT_NEW_(2, wk_one_hot, "x, n", __VA_ARGS__)

#ifndef __cplusplus
/* wk_tril(x, diagonal): what lies on and below the diagonal, elsewhere 0.
 * Of the last two dimensions; the diagonal may be moved up, wk_tril(x, diagonal).
 *
 *     wk_tril(x) is {{1, 0}, {3, 4}} for x = {{1, 2}, {3, 4}} */
#define wk_tril(...)      WK_NEW_TENSOR_(WK_JOIN_(WK_TRIL_, WK_COUNT_(__VA_ARGS__))(__VA_ARGS__))
#define WK_TRIL_1(x)      WK_TRIL_WK2_(x, 0)
#define WK_TRIL_WK2_(...) WK_PLAIN_(wk_tril, __VA_ARGS__)

/* wk_triu(x, diagonal): what lies on and above the diagonal, elsewhere 0.
 * Of the last two dimensions; the diagonal may be moved up, wk_triu(x, diagonal).
 *
 *     wk_triu(x) is {{1, 2}, {0, 4}} for x = {{1, 2}, {3, 4}} */
#define wk_triu(...)      WK_NEW_TENSOR_(WK_JOIN_(WK_TRIU_, WK_COUNT_(__VA_ARGS__))(__VA_ARGS__))
#define WK_TRIU_1(x)      WK_TRIU_WK2_(x, 0)
#define WK_TRIU_WK2_(...) WK_PLAIN_(wk_triu, __VA_ARGS__)

#endif

#endif
