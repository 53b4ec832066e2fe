/* SPDX-License-Identifier: Apache-2.0 */
/* wick/shape_calls.h: the functions behind wick/shape.h.
 *
 * The exported functions behind the macros, for bindings and C++: wk_NAME_at takes the call site first; wk_NAME,
 * where there is one, takes none and serves as a pointer to a function. The macros' comments describe them. A suffix
 * tells the type of a scalar operand: _scalar_f64 and _scalar_i64 take a tensor and a double or int64_t,
 * _rscalar_f64 and _rscalar_i64 the scalar first; _f64 and _i64 take the scalar in its usual position. Options may
 * be NULL. A list of dimensions is followed by its length; NULL with length -1 stands for all dimensions. */
/* Written by scripts/generate_ops.py from src/ops/specs/shape: edit those. */
#ifndef WICK_SHAPE_CALLS_H
#define WICK_SHAPE_CALLS_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "call.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- views: the same numbers seen otherwise; nothing is copied unless said so ------------------------------------ */

/* reshape: another shape over the same elements in row-major order: a view when possible, else a copy; one size may
 * be -1 */
WK_RESULT_API wk_tensor *wk_reshape_at(wk_site site, wk_tensor *x, const int64_t *shape, int ndim);

/* view_as: in the shape of another tensor */
WK_RESULT_API wk_tensor *wk_view_as_at(wk_site site, wk_tensor *x, wk_tensor *other);

/* flatten: several dimensions as one */
WK_RESULT_API wk_tensor *wk_flatten_at(wk_site site, wk_tensor *x, int64_t start, int64_t end);

/* unflatten: one dimension as several */
WK_RESULT_API wk_tensor *wk_unflatten_at(wk_site site, wk_tensor *x, int64_t dim, const int64_t *sizes, int count);

/* expand: dimensions of size 1 seen as larger ones, without copying; -1 keeps a size */
WK_RESULT_API wk_tensor *wk_expand_at(wk_site site, wk_tensor *x, const int64_t *shape, int ndim);

/* expand_as: expanded to the shape of another tensor */
WK_RESULT_API wk_tensor *wk_expand_as_at(wk_site site, wk_tensor *x, wk_tensor *other);

/* squeeze: without the dimensions of size 1, or those of the named ones */
WK_RESULT_API wk_tensor *wk_squeeze_at(wk_site site, wk_tensor *x, const int64_t *dims, int count);

/* unsqueeze: with a new dimension of size 1 at this place */
WK_RESULT_API wk_tensor *wk_unsqueeze_at(wk_site site, wk_tensor *x, int64_t dim);

/* transpose: two dimensions change places */
WK_RESULT_API wk_tensor *wk_transpose_at(wk_site site, wk_tensor *x, int64_t dim0, int64_t dim1);

/* swapaxes: transpose by its other name */
WK_RESULT_API wk_tensor *wk_swapaxes_at(wk_site site, wk_tensor *x, int64_t dim0, int64_t dim1);

/* t: the transpose of a matrix */
WK_RESULT_API wk_tensor *wk_t_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_t(wk_tensor *x);

/* permute: dimensions in another order */
WK_RESULT_API wk_tensor *wk_permute_at(wk_site site, wk_tensor *x, const int64_t *dims, int count);

/* movedim: one dimension moves to another place */
WK_RESULT_API wk_tensor *wk_movedim_at(wk_site site, wk_tensor *x, int64_t source, int64_t destination);

/* slice: places start, start + step, ... below end of a dimension */
WK_RESULT_API wk_tensor *wk_slice_at(wk_site site, wk_tensor *x, int64_t dim, int64_t start, int64_t end, int64_t step);

/* narrow: `length` places of a dimension from start on */
WK_RESULT_API wk_tensor *wk_narrow_at(wk_site site, wk_tensor *x, int64_t dim, int64_t start, int64_t length);

/* select: one place of a dimension, which goes */
WK_RESULT_API wk_tensor *wk_select_at(wk_site site, wk_tensor *x, int64_t dim, int64_t index);

/* diagonal: the diagonal of two dimensions as a new last one */
WK_RESULT_API wk_tensor *wk_diagonal_at(wk_site site, wk_tensor *x, int64_t offset, int64_t dim0, int64_t dim1);

/* unfold: windows of a dimension, each `step` further, as a new last dimension */
WK_RESULT_API wk_tensor *wk_unfold_at(wk_site site, wk_tensor *x, int64_t dim, int64_t size, int64_t step);

/* as_strided: any shape and strides over the elements of self, which must be dense */
WK_RESULT_API wk_tensor *wk_as_strided_at(wk_site site, wk_tensor *x, const int64_t *shape, const int64_t *stride,
                                          int ndim, int64_t offset);

/* ---- splitting: views in out[], which must have room; they return how many there are, or -1 with out[] NULL ------ */

/* chunk: at most `chunks` pieces of equal size, the last perhaps smaller */
WK_API int wk_chunk_at(wk_site site, wk_tensor *x, int64_t n, int64_t dim, wk_tensor **out);

/* split: pieces of split_size places, the last perhaps smaller */
WK_API int wk_split_at(wk_site site, wk_tensor *x, int64_t size, int64_t dim, wk_tensor **out);

/* split_with_sizes: pieces of these sizes */
WK_API int wk_split_with_sizes_at(wk_site site, wk_tensor *x, const int64_t *sizes, int count, int64_t dim,
                                  wk_tensor **out);

/* unbind: each place of a dimension by itself, without that dimension */
WK_API int wk_unbind_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor **out);

/* ---- joining and repeating: new tensors -------------------------------------------------------------------------- */

/* cat: one behind the other along a dimension */
WK_RESULT_API wk_tensor *wk_cat_at(wk_site site, wk_tensor *const *x, int count, int64_t dim);

/* stack: along a new dimension */
WK_RESULT_API wk_tensor *wk_stack_at(wk_site site, wk_tensor *const *x, int count, int64_t dim);

/* repeat: copies one behind the other along each dimension */
WK_RESULT_API wk_tensor *wk_repeat_at(wk_site site, wk_tensor *x, const int64_t *repeats, int count);

/* tile: repeat, with 1 for the numbers that are missing in front */
WK_RESULT_API wk_tensor *wk_tile_at(wk_site site, wk_tensor *x, const int64_t *repeats, int count);

/* repeat_interleave: each place of a dimension, or each element, several times in a row */
WK_RESULT_API wk_tensor *wk_repeat_interleave_at(wk_site site, wk_tensor *x, int64_t n, int64_t dim);
WK_RESULT_API wk_tensor *wk_repeat_interleave_flat_at(wk_site site, wk_tensor *x, int64_t n);

/* flip: the named dimensions backwards */
WK_RESULT_API wk_tensor *wk_flip_at(wk_site site, wk_tensor *x, const int64_t *dims, int count);

/* roll: shifted round; what leaves at one end comes in at the other */
WK_RESULT_API wk_tensor *wk_roll_at(wk_site site, wk_tensor *x, const int64_t *shifts, int shift_count,
                                    const int64_t *dims, int dim_count);

/* ---- indexing: places that are numbers in a tensor (i64 or i32), negative ones from the end ---------------------- */

/* index_select: the places of a dimension that a vector names */
WK_RESULT_API wk_tensor *wk_index_select_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index);

/* gather: for each place of the index, the element at that place of a dimension */
WK_RESULT_API wk_tensor *wk_gather_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index);

/* take_along_dim: gather with both operands broadcast, or, without a dimension, as rows of elements */
WK_RESULT_API wk_tensor *wk_take_along_dim_at(wk_site site, wk_tensor *x, wk_tensor *index, int64_t dim);
WK_RESULT_API wk_tensor *wk_take_along_dim_flat_at(wk_site site, wk_tensor *x, wk_tensor *index);

/* take: self as one row of elements, at the places of the index */
WK_RESULT_API wk_tensor *wk_take_at(wk_site site, wk_tensor *x, wk_tensor *index);

/* embedding: the rows of the weight that the input names */
WK_RESULT_API wk_tensor *wk_embedding_at(wk_site site, wk_tensor *index, wk_tensor *weight);

/* scatter_add: self with src added at the places of the index, in their order */
WK_RESULT_API wk_tensor *wk_scatter_add_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index,
                                           wk_tensor *source);
WK_API wk_tensor *wk_scatter_add__at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source);

/* scatter: self with src, or a number, put at the places of the index; of several the last stays */
WK_RESULT_API wk_tensor *wk_scatter_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source);
WK_RESULT_API wk_tensor *wk_scatter_f64_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, double value);
WK_RESULT_API wk_tensor *wk_scatter_i64_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, int64_t value);

/* index_add: self with the slices of source added at the places that a vector names */
WK_RESULT_API wk_tensor *wk_index_add_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source);
WK_API wk_tensor *wk_index_add__at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source);

/* masked_select: the elements where the mask is true, as a vector */
WK_RESULT_API wk_tensor *wk_masked_select_at(wk_site site, wk_tensor *x, wk_tensor *mask);

/* nonzero: the places of the elements that are not 0, one a row */
WK_RESULT_API wk_tensor *wk_nonzero_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_nonzero(wk_tensor *x);

/* nonzero_numpy: the places of the elements that are not 0, a vector for each dimension: where with one argument */
WK_API int wk_nonzero_numpy_at(wk_site site, wk_tensor *x, wk_tensor **out);

/* one_hot: 1 where the number is the place in the new last dimension, else 0; -1 classes: one more than the largest
 * number, which is waited for */
WK_RESULT_API wk_tensor *wk_one_hot_at(wk_site site, wk_tensor *x, int64_t n);

/* tril: what lies on and below the diagonal, elsewhere 0 */
WK_RESULT_API wk_tensor *wk_tril_at(wk_site site, wk_tensor *x, int64_t diagonal);

/* triu: what lies on and above the diagonal, elsewhere 0 */
WK_RESULT_API wk_tensor *wk_triu_at(wk_site site, wk_tensor *x, int64_t diagonal);

#ifdef __cplusplus
}
#endif
#endif
