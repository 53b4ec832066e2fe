/* SPDX-License-Identifier: Apache-2.0 */
/* wick/shape_calls.h: the functions behind wick/shape.h.
 *
 * The exported functions behind the macros, for bindings and C++: wk_NAME_at takes the call site first; wk_NAME,
 * where there is one, takes none and serves as a pointer to a function. The macros' comments describe them. A suffix
 * names the type of a scalar operand: _scalar_f64 and _scalar_i64 take a tensor and a double or int64_t,
 * _rscalar_f64 and _rscalar_i64 the scalar first; _f64 and _i64 take the scalar in its usual position. Options may
 * be NULL. A list of dimensions is followed by its length; NULL with length -1 means all dimensions. */
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

/* ---- views ------------------------------------------------------------------------------------------------------- */

/* reshape: Changes the shape of x, keeping the elements in row-major order. */
WK_RESULT_API wk_tensor *wk_reshape_at(wk_site site, wk_tensor *x, const int64_t *shape, int ndim);

/* view_as: Reshapes x to the shape of other. */
WK_RESULT_API wk_tensor *wk_view_as_at(wk_site site, wk_tensor *x, wk_tensor *other);

/* flatten: Merges dimensions start to end of x into one. */
WK_RESULT_API wk_tensor *wk_flatten_at(wk_site site, wk_tensor *x, int64_t start, int64_t end);

/* unflatten: Splits dimension dim of x into several. */
WK_RESULT_API wk_tensor *wk_unflatten_at(wk_site site, wk_tensor *x, int64_t dim, const int64_t *sizes, int count);

/* expand: Repeats dimensions of size 1 without copying. */
WK_RESULT_API wk_tensor *wk_expand_at(wk_site site, wk_tensor *x, const int64_t *shape, int ndim);

/* expand_as: Expands x to the shape of other. */
WK_RESULT_API wk_tensor *wk_expand_as_at(wk_site site, wk_tensor *x, wk_tensor *other);

/* squeeze: Removes dimensions of size 1. */
WK_RESULT_API wk_tensor *wk_squeeze_at(wk_site site, wk_tensor *x, const int64_t *dims, int count);

/* unsqueeze: Inserts a dimension of size 1 before dim; -1 appends it. */
WK_RESULT_API wk_tensor *wk_unsqueeze_at(wk_site site, wk_tensor *x, int64_t dim);

/* transpose: Swaps dimensions dim0 and dim1. */
WK_RESULT_API wk_tensor *wk_transpose_at(wk_site site, wk_tensor *x, int64_t dim0, int64_t dim1);

/* swapaxes: Swaps dimensions dim0 and dim1, as wk_transpose. */
WK_RESULT_API wk_tensor *wk_swapaxes_at(wk_site site, wk_tensor *x, int64_t dim0, int64_t dim1);

/* t: Transposes a matrix. */
WK_RESULT_API wk_tensor *wk_t_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_t(wk_tensor *x);

/* permute: Reorders dimensions: dimension k of out is dimension dims[k] of x. */
WK_RESULT_API wk_tensor *wk_permute_at(wk_site site, wk_tensor *x, const int64_t *dims, int count);

/* movedim: Moves dimension source to position destination; the others keep their order. */
WK_RESULT_API wk_tensor *wk_movedim_at(wk_site site, wk_tensor *x, int64_t source, int64_t destination);

/* slice: Selects indices start, start + step, ... before end along dim. */
WK_RESULT_API wk_tensor *wk_slice_at(wk_site site, wk_tensor *x, int64_t dim, int64_t start, int64_t end, int64_t step);

/* narrow: Selects length indices from start along dim. */
WK_RESULT_API wk_tensor *wk_narrow_at(wk_site site, wk_tensor *x, int64_t dim, int64_t start, int64_t length);

/* select: Selects index along dim and removes that dimension. */
WK_RESULT_API wk_tensor *wk_select_at(wk_site site, wk_tensor *x, int64_t dim, int64_t index);

/* diagonal: Takes the diagonal of dimensions dim0 and dim1 as a new last dimension. */
WK_RESULT_API wk_tensor *wk_diagonal_at(wk_site site, wk_tensor *x, int64_t offset, int64_t dim0, int64_t dim1);

/* unfold: Takes windows of size elements every step elements along dim. */
WK_RESULT_API wk_tensor *wk_unfold_at(wk_site site, wk_tensor *x, int64_t dim, int64_t size, int64_t step);

/* as_strided: Views the storage of x with this shape and these strides. */
WK_RESULT_API wk_tensor *wk_as_strided_at(wk_site site, wk_tensor *x, const int64_t *shape, const int64_t *stride,
                                          int ndim, int64_t offset);

/* ---- splitting: several views of one tensor ---------------------------------------------------------------------- */

/* chunk: Splits dim into at most n views of equal size; the last may be smaller. */
WK_API int wk_chunk_at(wk_site site, wk_tensor *x, int64_t n, int64_t dim, wk_tensor **out);

/* split: Splits dim into views of size elements; the last may be smaller. */
WK_API int wk_split_at(wk_site site, wk_tensor *x, int64_t size, int64_t dim, wk_tensor **out);

/* split_with_sizes: Splits dim into views of these sizes. */
WK_API int wk_split_with_sizes_at(wk_site site, wk_tensor *x, const int64_t *sizes, int count, int64_t dim,
                                  wk_tensor **out);

/* unbind: Splits dim into one view for each index, without that dimension. */
WK_API int wk_unbind_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor **out);

/* ---- joining and repeating: new tensors -------------------------------------------------------------------------- */

/* cat: Concatenates tensors along dim. */
WK_RESULT_API wk_tensor *wk_cat_at(wk_site site, wk_tensor *const *x, int count, int64_t dim);

/* stack: Joins tensors of one shape along a new dimension dim. */
WK_RESULT_API wk_tensor *wk_stack_at(wk_site site, wk_tensor *const *x, int count, int64_t dim);

/* repeat: Repeats x repeats[d] times along each dimension d. */
WK_RESULT_API wk_tensor *wk_repeat_at(wk_site site, wk_tensor *x, const int64_t *repeats, int count);

/* tile: Repeats x as wk_repeat does, with 1 for dimensions that repeats lacks at its front. */
WK_RESULT_API wk_tensor *wk_tile_at(wk_site site, wk_tensor *x, const int64_t *repeats, int count);

/* repeat_interleave: Repeats each index of dim n times in a row. */
WK_RESULT_API wk_tensor *wk_repeat_interleave_at(wk_site site, wk_tensor *x, int64_t n, int64_t dim);
WK_RESULT_API wk_tensor *wk_repeat_interleave_flat_at(wk_site site, wk_tensor *x, int64_t n);

/* flip: Reverses the order along dims. */
WK_RESULT_API wk_tensor *wk_flip_at(wk_site site, wk_tensor *x, const int64_t *dims, int count);

/* roll: Rotates x by shifts[k] indices along dims[k]. */
WK_RESULT_API wk_tensor *wk_roll_at(wk_site site, wk_tensor *x, const int64_t *shifts, int shift_count,
                                    const int64_t *dims, int dim_count);

/* rot90: Rotates x by k quarter turns in the plane of two dimensions, from the first towards the second. */
WK_RESULT_API wk_tensor *wk_rot90_at(wk_site site, wk_tensor *x, int64_t k, const int64_t *dims, int count);

/* meshgrid: Expands vectors to grids: grid k has the elements of vector k along dimension k. */
typedef struct wk_meshgrid_options {
    size_t size;
    wk_by_name by_name;
    const char *indexing; /* "ij" or "xy"; order of the first two dimensions */
} wk_meshgrid_options;
#ifndef __cplusplus
#define wk_meshgrid_options_numbers_(wk_do_, wk_o_)
#endif
WK_API int wk_meshgrid_at(wk_site site, wk_tensor *const *x, int count, wk_tensor **out,
                          const wk_meshgrid_options *options);

/* ---- padding and shuffling: new tensors -------------------------------------------------------------------------- */

/* pad: Pads the last dimensions of x. */
/* For .mode: 0 counts as WK_PAD_CONSTANT; no number is a constant of two options, so others are refused. */
enum { WK_PAD_CONSTANT = 201, WK_PAD_REFLECT = 202, WK_PAD_REPLICATE = 203, WK_PAD_CIRCULAR = 204 };
typedef struct wk_pad_options {
    size_t size;
    wk_by_name by_name;
    int mode;
    double value; /* of the padding in mode constant */
} wk_pad_options;
#ifndef __cplusplus
#define wk_pad_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_pad_at(wk_site site, wk_tensor *x, const int64_t *pad, int count,
                                   const wk_pad_options *options);

/* pixel_shuffle: Moves groups of factor * factor channels into blocks of factor by factor pixels. */
WK_RESULT_API wk_tensor *wk_pixel_shuffle_at(wk_site site, wk_tensor *x, int64_t factor);

/* pixel_unshuffle: Moves blocks of factor by factor pixels into groups of factor * factor channels. */
WK_RESULT_API wk_tensor *wk_pixel_unshuffle_at(wk_site site, wk_tensor *x, int64_t factor);

/* channel_shuffle: Reorders channels: those of each of the groups become every groups-th channel. */
WK_RESULT_API wk_tensor *wk_channel_shuffle_at(wk_site site, wk_tensor *x, int64_t groups);

/* ---- indexing by tensors ----------------------------------------------------------------------------------------- */

/* index_select: Selects the indices in index along dim. */
WK_RESULT_API wk_tensor *wk_index_select_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index);

/* gather: Gathers elements of x along dim. */
WK_RESULT_API wk_tensor *wk_gather_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index);

/* take_along_dim: Gathers elements of x along dim, with x and index broadcast in the other dimensions. */
WK_RESULT_API wk_tensor *wk_take_along_dim_at(wk_site site, wk_tensor *x, wk_tensor *index, int64_t dim);
WK_RESULT_API wk_tensor *wk_take_along_dim_flat_at(wk_site site, wk_tensor *x, wk_tensor *index);

/* take: Takes the elements of flattened x at index. */
WK_RESULT_API wk_tensor *wk_take_at(wk_site site, wk_tensor *x, wk_tensor *index);

/* embedding: Selects the rows of weight at index. */
typedef struct wk_embedding_options {
    size_t size;
    wk_by_name by_name;
    double padding_idx;      /* row without a gradient, negative from the end; default none */
    double max_norm;         /* largest norm of a row; default none */
    double norm_type;        /* default 2; p of that norm */
    bool scale_grad_by_freq; /* divide the gradient of a row by its count in index; default false */
    char reserved[7];
} wk_embedding_options;
#ifndef __cplusplus
#define wk_embedding_options_numbers_(wk_do_, wk_o_)                                                                   \
    wk_do_(wk_o_, padding_idx) wk_do_(wk_o_, max_norm) wk_do_(wk_o_, norm_type)
#endif
WK_RESULT_API wk_tensor *wk_embedding_at(wk_site site, wk_tensor *index, wk_tensor *weight,
                                         const wk_embedding_options *options);

/* scatter_add: Adds the elements of source to x at index along dim, in the order of index. */
WK_RESULT_API wk_tensor *wk_scatter_add_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index,
                                           wk_tensor *source);
WK_API wk_tensor *wk_scatter_add__at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source);

/* scatter: Writes the elements of source, or one number, into x at index along dim. */
WK_RESULT_API wk_tensor *wk_scatter_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source);
WK_RESULT_API wk_tensor *wk_scatter_f64_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, double value);
WK_RESULT_API wk_tensor *wk_scatter_i64_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, int64_t value);

/* index_add: Adds the slices of source to x at the indices in index along dim. */
WK_RESULT_API wk_tensor *wk_index_add_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source);
WK_API wk_tensor *wk_index_add__at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source);

/* masked_select: Selects the elements of x where mask is true, as a vector. */
WK_RESULT_API wk_tensor *wk_masked_select_at(wk_site site, wk_tensor *x, wk_tensor *mask);

/* nonzero: Lists the indices of the elements that are not 0, one row each. */
WK_RESULT_API wk_tensor *wk_nonzero_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_nonzero(wk_tensor *x);

/* nonzero_numpy: Lists the indices of the elements that are not 0, one vector for each dimension. */
WK_API int wk_nonzero_numpy_at(wk_site site, wk_tensor *x, wk_tensor **out);

/* one_hot: Creates vectors with 1 at index x and 0 elsewhere. */
WK_RESULT_API wk_tensor *wk_one_hot_at(wk_site site, wk_tensor *x, int64_t n);

/* tril: Keeps the elements on and below the diagonal of the last two dimensions and sets the others to 0. */
WK_RESULT_API wk_tensor *wk_tril_at(wk_site site, wk_tensor *x, int64_t diagonal);

/* triu: Keeps the elements on and above the diagonal of the last two dimensions and sets the others to 0. */
WK_RESULT_API wk_tensor *wk_triu_at(wk_site site, wk_tensor *x, int64_t diagonal);

/* trace: Sums the diagonal of a matrix. */
WK_RESULT_API wk_tensor *wk_trace_at(wk_site site, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_trace(wk_tensor *x);

/* diag_embed: Writes vectors along the last dimension into the diagonals of new matrices, which are 0 elsewhere. */
WK_RESULT_API wk_tensor *wk_diag_embed_at(wk_site site, wk_tensor *x, int64_t offset, int64_t dim0, int64_t dim1);

/* index_fill: Replaces the slices at the indices in index along dim by value. */
WK_RESULT_API wk_tensor *wk_index_fill_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_value value);
WK_API wk_tensor *wk_index_fill__at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_value value);

/* index_copy: Replaces the slices at the indices in index along dim by those of source. */
WK_RESULT_API wk_tensor *wk_index_copy_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source);
WK_API wk_tensor *wk_index_copy__at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source);

/* index_put: Writes values to the elements that index tensors select, one tensor for each of the first dimensions,
 * or adds them. */
typedef struct wk_index_put_options {
    size_t size;
    wk_by_name by_name;
    bool accumulate; /* add to x; default false */
    char reserved[7];
} wk_index_put_options;
#ifndef __cplusplus
#define wk_index_put_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_index_put_at(wk_site site, wk_tensor *x, wk_tensor *const *indices, int count,
                                         wk_tensor *values, const wk_index_put_options *options);
WK_API wk_tensor *wk_index_put__at(wk_site site, wk_tensor *x, wk_tensor *const *indices, int count, wk_tensor *values,
                                   const wk_index_put_options *options);

/* masked_scatter: Replaces the elements of x where mask is true by those of source, in order. */
WK_RESULT_API wk_tensor *wk_masked_scatter_at(wk_site site, wk_tensor *x, wk_tensor *mask, wk_tensor *source);
WK_API wk_tensor *wk_masked_scatter__at(wk_site site, wk_tensor *x, wk_tensor *mask, wk_tensor *source);

/* scatter_reduce: Reduces the elements of source with the same index, together with the element of x at that index,
 * or without it if .exclude_self is set. */
typedef struct wk_scatter_reduce_options {
    size_t size;
    wk_by_name by_name;
    bool exclude_self; /* leave out the element of x; default false */
    char reserved[7];
} wk_scatter_reduce_options;
#ifndef __cplusplus
#define wk_scatter_reduce_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_scatter_reduce_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index,
                                              wk_tensor *source, const char *reduce,
                                              const wk_scatter_reduce_options *options);
WK_API wk_tensor *wk_scatter_reduce__at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source,
                                        const char *reduce, const wk_scatter_reduce_options *options);

/* embedding_bag: Computes the mean, sum or maximum of the rows of weight that each bag of indices selects. */
typedef struct wk_embedding_bag_options {
    size_t size;
    wk_by_name by_name;
    wk_tensor *offsets;            /* first index of each bag of a vector; default NULL */
    double max_norm;               /* as for wk_embedding */
    double norm_type;              /* default 2; p of that norm */
    bool scale_grad_by_freq;       /* as for wk_embedding */
    const char *mode;              /* "mean" or "sum" or "max" */
    wk_tensor *per_sample_weights; /* factors of the rows in mode sum, shaped as index; default NULL */
    bool include_last_offset;      /* the last offset is the end of the last bag; default false */
    double padding_idx;            /* as for wk_embedding */
} wk_embedding_bag_options;
#ifndef __cplusplus
#define wk_embedding_bag_options_numbers_(wk_do_, wk_o_)                                                               \
    wk_do_(wk_o_, max_norm) wk_do_(wk_o_, norm_type) wk_do_(wk_o_, padding_idx)
#endif
WK_RESULT_API wk_tensor *wk_embedding_bag_at(wk_site site, wk_tensor *index, wk_tensor *weight,
                                             const wk_embedding_bag_options *options);

#ifdef __cplusplus
}
#endif
#endif
