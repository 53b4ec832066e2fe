/* SPDX-License-Identifier: Apache-2.0 */
/* wick/shape.h: views, splitting, joining, indexing.
 *
 * A negative dimension or index counts from the end. A new tensor belongs to the innermost scope. */
/* Written by scripts/generate_ops.py from src/ops/specs/shape: edit those. */
#ifndef WICK_SHAPE_H
#define WICK_SHAPE_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "shape_calls.h"

/* ---- views ------------------------------------------------------------------------------------------------------- */

#ifndef __cplusplus
/* wk_reshape(x, (shape)): Changes the shape of x, keeping the elements in row-major order. At most one size may be
 * -1; it follows from the others.
 * Dtypes:    any
 * Returns:   a view of x if its strides allow one, else a copy; owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the number of elements differs
 * Example:   wk_reshape(x, (2, -1)) is {{1, 2}, {3, 4}} for x = {1, 2, 3, 4}
 * PyTorch:   torch.reshape */
#define wk_reshape(x, ...) WK_NEW_TENSOR_(WK_VIEW_(wk_reshape, #__VA_ARGS__, x, __VA_ARGS__))

#endif

/* wk_view_as(x, other): Reshapes x to the shape of other.
 * Dtypes:    any
 * Returns:   as wk_reshape
 * Errors:    as wk_reshape
 * Example:   wk_view_as(x, y) is {{1, 2}, {3, 4}} for x = {1, 2, 3, 4}, y = {{0, 0}, {0, 0}}
 * PyTorch:   x.view_as(other) */
#define wk_view_as(...) WK_EXACT_NEW_(2, wk_view_as, "x, other", __VA_ARGS__)

#ifndef __cplusplus
/* wk_flatten(x, start, end): Merges dimensions start to end of x into one. The forms are wk_flatten(x),
 * wk_flatten(x, start) and wk_flatten(x, start, end); start defaults to 0, end to -1. A tensor without dimensions
 * gets one.
 * Dtypes:    any
 * Returns:   as wk_reshape
 * Errors:    WK_ERR_INDEX if a dimension is out of range; WK_ERR_ARGUMENT if start comes after end
 * Example:   wk_flatten(x) is {1, 2, 3, 4} for x = {{1, 2}, {3, 4}}
 * PyTorch:   torch.flatten */
#define wk_flatten(...)        WK_NEW_TENSOR_(WK_JOIN_(WK_FLATTEN_, WK_COUNT_4_(__VA_ARGS__))(__VA_ARGS__))
#define WK_FLATTEN_1(x)        WK_FLATTEN_3(x, 0, -1)
#define WK_FLATTEN_2(x, start) WK_FLATTEN_3(x, start, -1)
#define WK_FLATTEN_3(...)      WK_PLAIN_(wk_flatten, __VA_ARGS__)
#define WK_FLATTEN_WK4_        WK_FLATTEN_3

/* wk_unflatten(x, dim, (sizes)): Splits dimension dim of x into several. At most one size may be -1; it follows from
 * the others.
 * Dtypes:    any
 * Returns:   a view that shares x's memory, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim is out of range; WK_ERR_SHAPE if the product of sizes is not the size of dim
 * Example:   wk_unflatten(x, 0, (2, 2)) is {{1, 2}, {3, 4}} for x = {1, 2, 3, 4}
 * PyTorch:   torch.unflatten */
#define wk_unflatten(x, dim, sizes) WK_NEW_TENSOR_(WK_UNFLATTEN_(WK_INTS_NAME_, x, dim, sizes))
#define WK_UNFLATTEN_(wk_s_, x, dim, sizes)                                                                            \
    WK_SIZED_(wk_tensor *, wk_s_, sizes, "wk_unflatten: write sizes in parentheses: wk_unflatten(x, dim, (2, 3))",     \
              WK_GIVE_(wk_tensor *, wk_unflatten_at(WK_HERE, x, dim, wk_s_.at, wk_s_.count)))

/* wk_expand(x, (shape)): Repeats dimensions of size 1 without copying. A size of -1 keeps the size of x. New
 * dimensions come first.
 * Shapes:    each size of shape equals that of x, or x's is 1
 * Dtypes:    any
 * Returns:   a view that shares x's memory, owned by the innermost scope; NULL on error; its elements share memory,
 *            so it cannot be written in place
 * Errors:    WK_ERR_SHAPE if x does not expand to shape
 * Example:   wk_expand(x, (2, 2)) is {{1, 1}, {2, 2}} for x = {{1}, {2}}
 * PyTorch:   x.expand(shape) */
#define wk_expand(x, ...) WK_NEW_TENSOR_(WK_VIEW_(wk_expand, #__VA_ARGS__, x, __VA_ARGS__))

#endif

/* wk_expand_as(x, other): Expands x to the shape of other.
 * Dtypes:    any
 * Returns:   as wk_expand
 * Errors:    WK_ERR_SHAPE if x does not expand to the shape of other
 * Example:   wk_expand_as(x, y) is {{1, 1}, {2, 2}} for x = {{1}, {2}}, y = {{0, 0}, {0, 0}}
 * PyTorch:   x.expand_as(other) */
#define wk_expand_as(...) WK_EXACT_NEW_(2, wk_expand_as, "x, other", __VA_ARGS__)

#ifndef __cplusplus
/* wk_squeeze(x, (dims)): Removes dimensions of size 1. The forms are wk_squeeze(x) for all of them, wk_squeeze(x,
 * dim) and wk_squeeze(x, (dims)); a named dimension of another size stays.
 * Dtypes:    any
 * Returns:   a view that shares x's memory, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if a dimension is out of range; WK_ERR_ARGUMENT if one is named twice
 * Example:   wk_squeeze(x) is {1, 2} for x = {{1, 2}}
 * PyTorch:   torch.squeeze */
#define wk_squeeze(...) WK_NEW_TENSOR_(WK_SQUEEZE_(__VA_ARGS__))

#endif

/* wk_unsqueeze(x, dim): Inserts a dimension of size 1 before dim; -1 appends it.
 * Dtypes:    any
 * Returns:   a view that shares x's memory, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim is out of range
 * Example:   wk_unsqueeze(x, 0) is {{1, 2}} for x = {1, 2}
 * PyTorch:   torch.unsqueeze */
#define wk_unsqueeze(...) WK_EXACT_NEW_(2, wk_unsqueeze, "x, dim", __VA_ARGS__)

/* wk_transpose(x, dim0, dim1): Swaps dimensions dim0 and dim1.
 * Dtypes:    any
 * Returns:   a view that shares x's memory, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if a dimension is out of range
 * Example:   wk_transpose(x, 0, 1) is {{1, 3}, {2, 4}} for x = {{1, 2}, {3, 4}}
 * PyTorch:   torch.transpose */
#define wk_transpose(...) WK_EXACT_NEW_(3, wk_transpose, "x, dim0, dim1", __VA_ARGS__)

/* wk_swapaxes(x, dim0, dim1): Swaps dimensions dim0 and dim1, as wk_transpose.
 * Dtypes:    any
 * Returns:   a view that shares x's memory, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if a dimension is out of range
 * Example:   wk_swapaxes(x, 0, 1) is {{1, 3}, {2, 4}} for x = {{1, 2}, {3, 4}}
 * PyTorch:   torch.swapaxes */
#define wk_swapaxes(...) WK_EXACT_NEW_(3, wk_swapaxes, "x, dim0, dim1", __VA_ARGS__)

/* wk_t(x): Transposes a matrix. A vector or a tensor without dimensions stays as it is.
 * Dtypes:    any
 * Returns:   a view that shares x's memory, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has more than two dimensions
 * Example:   wk_t(x) is {{1, 3}, {2, 4}} for x = {{1, 2}, {3, 4}}
 * PyTorch:   torch.t */
#define wk_t(...) WK_EXACT_NEW_(1, wk_t, "x", __VA_ARGS__)

#ifndef __cplusplus
/* wk_permute(x, (dims)): Reorders dimensions: dimension k of out is dimension dims[k] of x.
 * Dtypes:    any
 * Returns:   a view that shares x's memory, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if a dimension is out of range; WK_ERR_ARGUMENT if dims does not name each dimension once
 * Example:   wk_permute(x, (1, 0)) is {{1, 3}, {2, 4}} for x = {{1, 2}, {3, 4}}
 * PyTorch:   torch.permute */
#define wk_permute(x, ...) WK_NEW_TENSOR_(WK_VIEW_(wk_permute, #__VA_ARGS__, x, __VA_ARGS__))

#endif

/* wk_movedim(x, source, destination): Moves dimension source to position destination; the others keep their order.
 * Dtypes:    any
 * Returns:   a view that shares x's memory, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if a dimension is out of range
 * Example:   wk_movedim(x, 0, 1) is {{1, 3}, {2, 4}} for x = {{1, 2}, {3, 4}}
 * PyTorch:   torch.movedim */
#define wk_movedim(...) WK_EXACT_NEW_(3, wk_movedim, "x, source, destination", __VA_ARGS__)

#ifndef __cplusplus
/* wk_slice(x, dim, start, end, step): Selects indices start, start + step, ... before end along dim. As
 * x[start:end:step] in Python; step is positive and may be omitted (1). Negative indices count from the end, indices
 * beyond an end are clipped; INT64_MAX is the end.
 * Dtypes:    any
 * Returns:   a view that shares x's memory, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim is out of range; WK_ERR_ARGUMENT if step is less than 1; WK_ERR_SHAPE if x has no
 *            dimensions
 * Example:   wk_slice(x, 0, 1, 4, 2) is {2, 4} for x = {1, 2, 3, 4}
 * PyTorch:   x[..., start:end:step] */
#define wk_slice(x, dim, start, ...)                                                                                   \
    WK_NEW_TENSOR_(WK_JOIN_(WK_SLICE_, WK_COUNT_(__VA_ARGS__))(x, dim, start, __VA_ARGS__))
#define WK_SLICE_1(x, dim, start, end) WK_JOIN_(WK_SLICE_1_, WK_IS_MISSING_(end))(x, dim, start, end)
#define WK_SLICE_1_WK2_(x, dim, start, end)                                                                            \
    WK_REFUSE_(wk_tensor *, "wk_slice: an argument is missing: wk_slice(x, dim, start, end)")
#define WK_SLICE_1_1(x, dim, start, end) WK_SLICE_WK2_(x, dim, start, end, 1)
#define WK_SLICE_WK2_(...)               WK_PLAIN_(wk_slice, __VA_ARGS__)

#endif

/* wk_narrow(x, dim, start, length): Selects length indices from start along dim.
 * Dtypes:    any
 * Returns:   a view that shares x's memory, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim is out of range or the indices do not all exist; WK_ERR_SHAPE if x has no
 *            dimensions
 * Example:   wk_narrow(x, 0, 1, 2) is {2, 3} for x = {1, 2, 3, 4}
 * PyTorch:   torch.narrow */
#define wk_narrow(...) WK_EXACT_NEW_(4, wk_narrow, "x, dim, start, length", __VA_ARGS__)

/* wk_select(x, dim, index): Selects index along dim and removes that dimension.
 *     out = x[..., index, ...]
 * Dtypes:    any
 * Returns:   a view that shares x's memory, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim or index is out of range; WK_ERR_SHAPE if x has no dimensions
 * Example:   wk_select(x, 0, 1) is {3, 4} for x = {{1, 2}, {3, 4}}
 * PyTorch:   torch.select */
#define wk_select(...) WK_EXACT_NEW_(3, wk_select, "x, dim, index", __VA_ARGS__)

#ifndef __cplusplus
/* wk_diagonal(x, offset, dim0, dim1): Takes the diagonal of dimensions dim0 and dim1 as a new last dimension. The
 * forms are wk_diagonal(x), wk_diagonal(x, offset) and wk_diagonal(x, offset, dim0, dim1); offset defaults to 0, the
 * dimensions to 0 and 1. A positive offset is above the main diagonal, a negative one below.
 * Dtypes:    any
 * Returns:   a view that shares x's memory, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if a dimension is out of range; WK_ERR_ARGUMENT if dim0 equals dim1
 * Example:   wk_diagonal(x) is {1, 4} for x = {{1, 2}, {3, 4}}
 * PyTorch:   torch.diagonal */
#define wk_diagonal(...)               WK_NEW_TENSOR_(WK_JOIN_(WK_DIAGONAL_, WK_COUNT_4_(__VA_ARGS__))(__VA_ARGS__))
#define WK_DIAGONAL_1(x)               WK_DIAGONAL_WK4_(x, 0, 0, 1)
#define WK_DIAGONAL_2(x, offset)       WK_DIAGONAL_WK4_(x, offset, 0, 1)
#define WK_DIAGONAL_3(x, offset, dim0) WK_DIAGONAL_WK4_(x, offset, dim0, 1)
#define WK_DIAGONAL_WK4_(...)          WK_PLAIN_(wk_diagonal, __VA_ARGS__)

#endif

/* wk_unfold(x, dim, size, step): Takes windows of size elements every step elements along dim.
 * Shapes:    dim counts the windows; a new last dimension has size
 * Dtypes:    any
 * Returns:   a view that shares x's memory, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim is out of range; WK_ERR_ARGUMENT if size or step does not fit
 * Example:   wk_unfold(x, 0, 2, 2) is {{1, 2}, {3, 4}} for x = {1, 2, 3, 4}
 * PyTorch:   x.unfold(dim, size, step) */
#define wk_unfold(...) WK_EXACT_NEW_(4, wk_unfold, "x, dim, size, step", __VA_ARGS__)

#ifndef __cplusplus
/* wk_as_strided(x, (shape), (stride), offset): Views the storage of x with this shape and these strides. The forms
 * are wk_as_strided(x, shape, stride) and wk_as_strided(x, shape, stride, offset). Strides and offset are in
 * elements; offset counts from x's first element and defaults to 0.
 * Shapes:    x must be contiguous; all elements must be in its storage
 * Dtypes:    any
 * Returns:   a view that shares x's memory, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the result reaches past the storage, or a size or stride is negative
 * Example:   wk_as_strided(x, (2, 2), (2, 1)) is {{1, 2}, {3, 4}} for x = {1, 2, 3, 4}
 * PyTorch:   torch.as_strided */
#define wk_as_strided(x, shape, ...)                                                                                   \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_JOIN_(WK_AS_STRIDED_, WK_COUNT_(__VA_ARGS__))(WK_INTS_NAME_, WK_INTS_NAME_, x, shape, __VA_ARGS__))
#define WK_AS_STRIDED_1(wk_s_, wk_t_, x, shape, stride)                                                                \
    WK_JOIN_(WK_AS_STRIDED_1_, WK_IS_MISSING_(stride))(wk_s_, wk_t_, x, shape, stride)
#define WK_AS_STRIDED_1_WK2_(wk_s_, wk_t_, x, shape, stride)                                                           \
    WK_REFUSE_(wk_tensor *, "wk_as_strided: an argument is missing: wk_as_strided(x, (2, 3), (1, 2))")
#define WK_AS_STRIDED_1_1(wk_s_, wk_t_, x, shape, stride) WK_AS_STRIDED_WK2_(wk_s_, wk_t_, x, shape, stride, 0)
#define WK_AS_STRIDED_WK2_(wk_s_, wk_t_, x, shape, stride, offset)                                                     \
    WK_SIZED_(wk_tensor *, wk_s_, shape,                                                                               \
              "wk_as_strided: write lists in parentheses: wk_as_strided(x, (2, 3), (1, 2))",                           \
              WK_SIZED_(wk_tensor *, wk_t_, stride,                                                                    \
                        "wk_as_strided: write lists in parentheses: wk_as_strided(x, (2, 3), (1, 2))",                 \
                        WK_GIVE_(wk_tensor *, wk_as_strided_at(WK_HERE, x, wk_s_.at, wk_t_.at,                         \
                                                               wk_as_many_(wk_s_, wk_t_), offset))))

#endif

/* ---- splitting: several views of one tensor ---------------------------------------------------------------------- */

/* wk_chunk(x, n, dim, out): Splits dim into at most n views of equal size; the last may be smaller. out must have
 * room for n. Each view shares x's memory and belongs to the innermost scope.
 * Dtypes:    any
 * Returns:   the number of views; -1 on error, with out[] all NULL
 * Errors:    WK_ERR_INDEX if dim is out of range; WK_ERR_ARGUMENT if n is less than 1; WK_ERR_SHAPE if x has no
 *            dimensions
 * Example:   wk_chunk(x, 2, 0, out) sets out to {{1, 2}, {3, 4}} for x = {1, 2, 3, 4}
 * PyTorch:   torch.chunk */
#define wk_chunk(...) WK_EXACT_(int, 4, wk_chunk, "x, n, dim, out", __VA_ARGS__)

/* wk_split(x, size, dim, out): Splits dim into views of size elements; the last may be smaller. out must have room
 * for ceil(size of dim / size), at least 1. Each view shares x's memory and belongs to the innermost scope.
 * Dtypes:    any
 * Returns:   the number of views; -1 on error, with out[] all NULL
 * Errors:    WK_ERR_INDEX if dim is out of range; WK_ERR_ARGUMENT if size is less than 1; WK_ERR_SHAPE if x has no
 *            dimensions
 * Example:   wk_split(x, 2, 0, out) sets out to {{1, 2}, {3, 4}} for x = {1, 2, 3, 4}
 * PyTorch:   torch.split */
#define wk_split(...) WK_EXACT_(int, 4, wk_split, "x, size, dim, out", __VA_ARGS__)

#ifndef __cplusplus
/* wk_split_with_sizes(x, (sizes), dim, out): Splits dim into views of these sizes. out must have room for as many as
 * sizes has. Each view shares x's memory and belongs to the innermost scope.
 * Dtypes:    any
 * Returns:   the number of views; -1 on error, with out[] all NULL
 * Errors:    WK_ERR_INDEX if dim is out of range; WK_ERR_SHAPE if sizes do not add up to the size of dim, or x has
 *            no dimensions
 * Example:   wk_split_with_sizes(x, (1, 3), 0, out) sets out to {{1}, {2, 3, 4}} for x = {1, 2, 3, 4}
 * PyTorch:   torch.split with a list */
#define wk_split_with_sizes(x, sizes, dim, out) WK_SPLIT_WITH_SIZES_(WK_INTS_NAME_, x, sizes, dim, out)
#define WK_SPLIT_WITH_SIZES_(wk_s_, x, sizes, dim, out)                                                                \
    WK_SIZED_(int, wk_s_, sizes,                                                                                       \
              "wk_split_with_sizes: write sizes in parentheses: wk_split_with_sizes(x, (1, 2), dim, out)",             \
              WK_GIVE_(int, wk_split_with_sizes_at(WK_HERE, x, wk_s_.at, wk_s_.count, dim, out)))

#endif

/* wk_unbind(x, dim, out): Splits dim into one view for each index, without that dimension. out must have room for
 * the size of dim. Each view shares x's memory and belongs to the innermost scope.
 * Dtypes:    any
 * Returns:   the number of views; -1 on error, with out[] all NULL
 * Errors:    WK_ERR_INDEX if dim is out of range; WK_ERR_SHAPE if x has no dimensions
 * Example:   wk_unbind(x, 0, out) sets out to {{1, 2}, {3, 4}} for x = {{1, 2}, {3, 4}}
 * PyTorch:   torch.unbind */
#define wk_unbind(...) WK_EXACT_(int, 3, wk_unbind, "x, dim, out", __VA_ARGS__)

/* ---- joining and repeating: new tensors -------------------------------------------------------------------------- */

#ifndef __cplusplus
/* wk_cat((x), dim): Concatenates tensors along dim. A tensor of shape (0) is skipped.
 * Shapes:    all sizes but that of dim are equal
 * Dtypes:    any; mixed dtypes are promoted as in wk_add
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim is out of range; WK_ERR_SHAPE if sizes differ or there is no dimension;
 *            WK_ERR_ARGUMENT if the list is empty
 * Example:   wk_cat((x, y), 0) is {1, 2, 3} for x = {1, 2}, y = {3}
 * PyTorch:   torch.cat */
#define wk_cat(...) WK_NEW_TENSOR_(WK_CAT_(wk_cat, #__VA_ARGS__, __VA_ARGS__))

/* wk_stack((x), dim): Joins tensors of one shape along a new dimension dim.
 * Dtypes:    any; mixed dtypes are promoted as in wk_add
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim is out of range; WK_ERR_SHAPE if shapes differ; WK_ERR_ARGUMENT if the list is
 *            empty
 * Example:   wk_stack((x, y), 0) is {{1, 2}, {3, 4}} for x = {1, 2}, y = {3, 4}
 * PyTorch:   torch.stack */
#define wk_stack(...) WK_NEW_TENSOR_(WK_CAT_(wk_stack, #__VA_ARGS__, __VA_ARGS__))

/* wk_repeat(x, (repeats)): Repeats x repeats[d] times along each dimension d. New dimensions come first.
 * Dtypes:    any
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if repeats has fewer numbers than x has dimensions, or a negative one; WK_ERR_SHAPE if
 *            the result is too large
 * Example:   wk_repeat(x, (2)) is {1, 2, 1, 2} for x = {1, 2}
 * PyTorch:   x.repeat(repeats) */
#define wk_repeat(x, ...) WK_NEW_TENSOR_(WK_VIEW_(wk_repeat, #__VA_ARGS__, x, __VA_ARGS__))

/* wk_tile(x, (repeats)): Repeats x as wk_repeat does, with 1 for dimensions that repeats lacks at its front.
 * Dtypes:    any
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    as wk_repeat
 * Example:   wk_tile(x, (2)) is {{1, 2, 1, 2}} for x = {{1, 2}}
 * PyTorch:   torch.tile */
#define wk_tile(x, ...) WK_NEW_TENSOR_(WK_VIEW_(wk_tile, #__VA_ARGS__, x, __VA_ARGS__))

#endif

/* wk_repeat_interleave(x, n, dim): Repeats each index of dim n times in a row. wk_repeat_interleave(x, n) repeats
 * each element of the flattened x.
 * Dtypes:    any
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim is out of range; WK_ERR_ARGUMENT if n is negative; WK_ERR_SHAPE if the result is
 *            too large
 * Example:   wk_repeat_interleave(x, 2) is {1, 1, 2, 2} for x = {1, 2}
 * PyTorch:   torch.repeat_interleave */
#ifdef __cplusplus
#define wk_repeat_interleave(...) WK_EXACT_NEW_(3, wk_repeat_interleave, "x, n, dim", __VA_ARGS__)
#else
#define wk_repeat_interleave(x, ...)                                                                                   \
    WK_NEW_TENSOR_(WK_SHORTER_(wk_repeat_interleave_flat, wk_repeat_interleave, x, __VA_ARGS__))
#endif

#ifndef __cplusplus
/* wk_flip(x, (dims)): Reverses the order along dims.
 * Dtypes:    any
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if a dimension is out of range; WK_ERR_ARGUMENT if one is named twice
 * Example:   wk_flip(x, (0)) is {3, 2, 1} for x = {1, 2, 3}
 * PyTorch:   torch.flip */
#define wk_flip(x, ...) WK_NEW_TENSOR_(WK_VIEW_(wk_flip, #__VA_ARGS__, x, __VA_ARGS__))

/* wk_roll(x, (shifts), (dims)): Rotates x by shifts[k] indices along dims[k]. Elements that leave at one end enter
 * at the other. Without dims, x is rotated as a flattened tensor.
 * Dtypes:    any
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if a dimension is out of range; WK_ERR_ARGUMENT if shifts and dims differ in number
 * Example:   wk_roll(x, (1), (0)) is {3, 1, 2} for x = {1, 2, 3}
 * PyTorch:   torch.roll */
#define wk_roll(x, shifts, dims) WK_NEW_TENSOR_(WK_ROLL_(WK_INTS_NAME_, WK_INTS_NAME_, x, shifts, dims))
#define WK_ROLL_(wk_s_, wk_t_, x, shifts, dims)                                                                        \
    WK_SIZED_(wk_tensor *, wk_s_, shifts, "wk_roll: write lists in parentheses: wk_roll(x, (1), (0))",                 \
              WK_SIZED_(wk_tensor *, wk_t_, dims, "wk_roll: write lists in parentheses: wk_roll(x, (1), (0))",         \
                        WK_GIVE_(wk_tensor *, wk_roll_at(WK_HERE, x, wk_s_.at, wk_s_.count, wk_t_.at, wk_t_.count))))

/* wk_rot90(x, k, (dims)): Rotates x by k quarter turns in the plane of two dimensions, from the first towards the
 * second.
 * Dtypes:    any
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if a dimension is out of range; WK_ERR_ARGUMENT unless dims are two different dimensions
 * Example:   wk_rot90(x, 1, (0, 1)) is {{2, 4}, {1, 3}} for x = {{1, 2}, {3, 4}}
 * PyTorch:   torch.rot90 */
#define wk_rot90(x, k, dims) WK_NEW_TENSOR_(WK_ROT90_(WK_INTS_NAME_, x, k, dims))
#define WK_ROT90_(wk_s_, x, k, dims)                                                                                   \
    WK_SIZED_(wk_tensor *, wk_s_, dims, "wk_rot90: write sizes in parentheses: wk_rot90(x, k, (0, 1))",                \
              WK_GIVE_(wk_tensor *, wk_rot90_at(WK_HERE, x, k, wk_s_.at, wk_s_.count)))

/* wk_meshgrid((x), out): Expands vectors to grids: grid k has the elements of vector k along dimension k. With
 * .indexing = "xy" the first two dimensions are exchanged. out must have room for as many tensors as the list; each
 * is a view that shares the memory of its vector and belongs to the innermost scope.
 * Options:   .indexing: order of the first two dimensions; "ij" or "xy"
 * Shapes:    vectors or tensors without dimensions; each grid has as many dimensions as the list tensors
 * Dtypes:    any
 * Returns:   the number of grids; -1 on error, with out[] all NULL
 * Errors:    WK_ERR_SHAPE if a tensor has more than one dimension; WK_ERR_ARGUMENT if the list is empty or longer
 *            than 8, or .indexing is unknown
 * Example:   wk_meshgrid((x, y), out) sets out to {{{1, 1}, {2, 2}}, {{3, 4}, {3, 4}}} for x = {1, 2}, y = {3, 4}
 * PyTorch:   torch.meshgrid */
#define wk_meshgrid(...) WK_MESHGRID_(__VA_ARGS__)

/* ---- padding and shuffling: new tensors -------------------------------------------------------------------------- */

/* wk_pad(x, (pad)): Pads the last dimensions of x. pad has two numbers for each of these dimensions, the last one
 * first: (left, right, top, bottom, ...). A negative number crops. The modes are WK_PAD_CONSTANT, which writes
 * .value; WK_PAD_REFLECT, which mirrors x at its first and last element without repeating them; WK_PAD_REPLICATE,
 * which repeats the first and last element; and WK_PAD_CIRCULAR, which repeats x.
 * Options:   .mode: WK_PAD_CONSTANT or WK_PAD_REFLECT or WK_PAD_REPLICATE or WK_PAD_CIRCULAR; default
 *            WK_PAD_CONSTANT. .value: of the padding in mode constant; default 0.0
 * Shapes:    the size of each dimension grows by its two numbers
 * Dtypes:    any; out as x. The value is converted as wk_fill_ converts it
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if pad has an odd number of numbers or more than two for each dimension, if .mode is
 *            unknown, or if .value is given in another mode than constant; WK_ERR_SHAPE if x is cropped by more than
 *            its size, or, in other modes than constant, if a padded dimension of x is empty or too small: reflect
 *            needs more elements than it adds at a side, circular as many
 * Example:   wk_pad(x, (1, 2)) is {0, 1, 2, 0, 0} for x = {1, 2}
 * PyTorch:   torch.nn.functional.pad, which limits the modes other than constant to the last one to three dimensions */
#define wk_pad(...) WK_NEW_TENSOR_(WK_REDUCE_OPT_(wk_pad, wk_pad_options, __VA_ARGS__))

#endif

/* wk_pixel_shuffle(x, factor): Moves groups of factor * factor channels into blocks of factor by factor pixels.
 *     out[..., c, h f + i, w f + j] = x[..., (c f + i) f + j, h, w]        for factor f
 * Shapes:    (..., C f f, H, W) -> (..., C, H f, W f)
 * Dtypes:    any
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has fewer than three dimensions, or its channels are not a multiple of factor *
 *            factor; WK_ERR_ARGUMENT if factor is less than 1
 * Example:   wk_pixel_shuffle(x, 2) is {{{1, 2}, {3, 4}}} for x = {{{1}}, {{2}}, {{3}}, {{4}}}
 * PyTorch:   torch.nn.functional.pixel_shuffle */
#define wk_pixel_shuffle(...) WK_EXACT_NEW_(2, wk_pixel_shuffle, "x, factor", __VA_ARGS__)

/* wk_pixel_unshuffle(x, factor): Moves blocks of factor by factor pixels into groups of factor * factor channels.
 *     out[..., (c f + i) f + j, h, w] = x[..., c, h f + i, w f + j]        for factor f
 * Shapes:    (..., C, H f, W f) -> (..., C f f, H, W)
 * Dtypes:    any
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has fewer than three dimensions, or its height or width is not a multiple of factor;
 *            WK_ERR_ARGUMENT if factor is less than 1
 * Example:   wk_pixel_unshuffle(x, 2) is {{{1}}, {{2}}, {{3}}, {{4}}} for x = {{{1, 2}, {3, 4}}}
 * PyTorch:   torch.nn.functional.pixel_unshuffle */
#define wk_pixel_unshuffle(...) WK_EXACT_NEW_(2, wk_pixel_unshuffle, "x, factor", __VA_ARGS__)

/* wk_channel_shuffle(x, groups): Reorders channels: those of each of the groups become every groups-th channel.
 *     out[b, k groups + g, ...] = x[b, g (C / groups) + k, ...]
 * Shapes:    (B, C, ...)
 * Dtypes:    any
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has fewer than three dimensions, or its channels are not a multiple of groups;
 *            WK_ERR_ARGUMENT if groups is less than 1
 * Example:   wk_channel_shuffle(x, 2) is {{{1}, {3}, {2}, {4}}} for x = {{{1}, {2}, {3}, {4}}}
 * PyTorch:   torch.nn.functional.channel_shuffle */
#define wk_channel_shuffle(...) WK_EXACT_NEW_(2, wk_channel_shuffle, "x, groups", __VA_ARGS__)

/* ---- indexing by tensors ----------------------------------------------------------------------------------------- */
/* Indices are i64 or i32; negative ones count from the end. WK_ERR_INDEX for an index out of range is reported at
 * the call if the index is in host memory, else when the result is computed. */

/* wk_index_select(x, dim, index): Selects the indices in index along dim.
 *     out[..., k, ...] = x[..., index[k], ...]
 * Shapes:    index is a vector, or a single index without dimensions
 * Dtypes:    index i64 or i32; out as x
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim or an index is out of range; WK_ERR_SHAPE if index is not a vector; WK_ERR_DTYPE if
 *            it is not i64 or i32
 * Example:   wk_index_select(x, 0, y) is {3, 1} for x = {1, 2, 3, 4}, y = {2, 0}
 * PyTorch:   torch.index_select */
#define wk_index_select(...) WK_EXACT_NEW_(3, wk_index_select, "x, dim, index", __VA_ARGS__)

/* wk_gather(x, dim, index): Gathers elements of x along dim.
 *     out[i][j] = x[index[i][j]][j]        for dim 0
 * Shapes:    index has as many dimensions as x and, except along dim, no larger sizes; out has index's shape. An
 *            index without elements fits any x.
 * Dtypes:    index i64 or i32 (any if it has no elements); out as x
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim or an index is out of range; WK_ERR_SHAPE if the shapes differ from those above;
 *            WK_ERR_DTYPE if index is not i64 or i32
 * Example:   wk_gather(x, 1, y) is {{2}, {3}} for x = {{1, 2}, {3, 4}}, y = {{1}, {0}}
 * PyTorch:   torch.gather */
#define wk_gather(...) WK_EXACT_NEW_(3, wk_gather, "x, dim, index", __VA_ARGS__)

/* wk_take_along_dim(x, index, dim): Gathers elements of x along dim, with x and index broadcast in the other
 * dimensions. wk_take_along_dim(x, index) flattens both first.
 * Dtypes:    index i64 or i32; out as x
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim or an index is out of range; WK_ERR_SHAPE if x and index do not broadcast;
 *            WK_ERR_DTYPE if index is not i64 or i32
 * Example:   wk_take_along_dim(x, y, 1) is {{2}, {4}} for x = {{1, 2}, {3, 4}}, y = {{1}}
 * PyTorch:   torch.take_along_dim */
#ifdef __cplusplus
#define wk_take_along_dim(...) WK_EXACT_NEW_(3, wk_take_along_dim, "x, index, dim", __VA_ARGS__)
#else
#define wk_take_along_dim(x, ...) WK_NEW_TENSOR_(WK_SHORTER_(wk_take_along_dim_flat, wk_take_along_dim, x, __VA_ARGS__))
#endif

/* wk_take(x, index): Takes the elements of flattened x at index.
 * Shapes:    out has index's shape
 * Dtypes:    index i64 or i32; out as x
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if an index is out of range; WK_ERR_DTYPE if index is not i64 or i32
 * Example:   wk_take(x, y) is {4, 1} for x = {{1, 2}, {3, 4}}, y = {3, 0}
 * PyTorch:   torch.take */
#define wk_take(...) WK_EXACT_NEW_(2, wk_take, "x, index", __VA_ARGS__)

#ifndef __cplusplus
/* wk_embedding(index, weight): Selects the rows of weight at index. The row .padding_idx gets no gradient. With
 * .max_norm the call first scales down, in weight itself, the selected rows whose p-norm (p = .norm_type) exceeds
 * .max_norm.
 *     out[..., :] = weight[index[...], :]
 * Options:   .padding_idx: row without a gradient, negative from the end; default none. .max_norm: largest norm of a
 *            row; default none. .norm_type: p of that norm; default 2. .scale_grad_by_freq: divide the gradient of a
 *            row by its count in index; default false
 * Shapes:    index (...), weight (rows, width) -> (..., width)
 * Dtypes:    index i64 or i32; out as weight
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if an index is out of range; WK_ERR_SHAPE if weight is not a matrix; WK_ERR_DTYPE if index
 *            is not i64 or i32; WK_ERR_ARGUMENT if .padding_idx is out of range or .max_norm is negative
 * Example:   wk_embedding(y, x) is {{3, 4}, {1, 2}} for x = {{1, 2}, {3, 4}}, y = {1, 0}
 * PyTorch:   torch.nn.functional.embedding */
#define wk_embedding(index, ...)                                                                                       \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_embedding, wk_embedding_options, "index, weight", index, __VA_ARGS__))

#endif

/* wk_scatter_add(x, dim, index, source): Adds the elements of source to x at index along dim, in the order of index.
 *     out[index[i][j]][j] += source[i][j]        for dim 0
 * Shapes:    x, index and source have as many dimensions; index has no larger sizes than source nor, except along
 *            dim, than x; out has x's shape
 * Dtypes:    index i64 or i32; x and source have one dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_scatter_add_ writes the result into x and
 *            returns x
 * Errors:    WK_ERR_INDEX if dim or an index is out of range; WK_ERR_SHAPE if the shapes differ from those above;
 *            WK_ERR_DTYPE if x and source differ or index is not i64 or i32
 * Example:   wk_scatter_add(x, 0, y, z) is {1, 32} for x = {1, 2}, y = {1, 1}, z = {10, 20}
 * PyTorch:   torch.scatter_add */
#define wk_scatter_add(...)  WK_EXACT_NEW_(4, wk_scatter_add, "x, dim, index, source", __VA_ARGS__)
#define wk_scatter_add_(...) WK_EXACT_(wk_tensor *, 4, wk_scatter_add_, "x, dim, index, source", __VA_ARGS__)

#ifndef __cplusplus
/* wk_scatter(x, dim, index, source): Writes the elements of source, or one number, into x at index along dim. Of
 * several elements for one index the last one stays. A number outside the range of x's integer dtype wraps.
 *     out[index[i][j]][j] = source[i][j]        for dim 0
 * Shapes:    as wk_scatter_add
 * Dtypes:    index i64 or i32; x and source have one dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    as wk_scatter_add
 * Example:   wk_scatter(x, 0, y, 9) is {1, 9} for x = {1, 2}, y = {1}
 * PyTorch:   torch.scatter, which refuses a number outside the dtype's range */
#define wk_scatter(x, dim, index, source) WK_NEW_TENSOR_(WK_LAST_EITHER_(wk_scatter, (x, dim, index), source))

#endif

/* wk_index_add(x, dim, index, source): Adds the slices of source to x at the indices in index along dim.
 *     out[..., index[k], ...] += source[..., k, ...]
 * Shapes:    index is a vector of the size of source along dim; other sizes of source are those of x
 * Dtypes:    index i64 or i32; x and source have one dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_index_add_ writes the result into x and
 *            returns x
 * Errors:    WK_ERR_INDEX if dim or an index is out of range; WK_ERR_SHAPE if the shapes differ from those above;
 *            WK_ERR_DTYPE if x and source differ or index is not i64 or i32
 * Example:   wk_index_add(x, 0, y, z) is {1, 32} for x = {1, 2}, y = {1, 1}, z = {10, 20}
 * PyTorch:   torch.index_add */
#define wk_index_add(...)  WK_EXACT_NEW_(4, wk_index_add, "x, dim, index, source", __VA_ARGS__)
#define wk_index_add_(...) WK_EXACT_(wk_tensor *, 4, wk_index_add_, "x, dim, index, source", __VA_ARGS__)

/* wk_masked_select(x, mask): Selects the elements of x where mask is true, as a vector. Waits for the device, as the
 * shape depends on data.
 * Shapes:    x and mask broadcast
 * Dtypes:    mask bool; out as x
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_DTYPE if mask is not bool; WK_ERR_SHAPE if x and mask do not broadcast
 * Example:   wk_masked_select(x, mask) is {2} for x = {1, 2}, mask = {false, true}
 * PyTorch:   torch.masked_select */
#define wk_masked_select(...) WK_EXACT_NEW_(2, wk_masked_select, "x, mask", __VA_ARGS__)

/* wk_nonzero(x): Lists the indices of the elements that are not 0, one row each. Waits for the device, as the shape
 * depends on data.
 * Shapes:    (n, ndim)
 * Dtypes:    any; out i64
 * Gradient:  none
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Example:   wk_nonzero(x) is {{1}, {2}} for x = {0, 2, 3}
 * PyTorch:   torch.nonzero */
#define wk_nonzero(...) WK_EXACT_NEW_(1, wk_nonzero, "x", __VA_ARGS__)

/* wk_nonzero_numpy(x, out): Lists the indices of the elements that are not 0, one vector for each dimension. out
 * must have room for the number of dimensions, at least 1: a tensor without dimensions counts as a vector of one.
 * Waits for the device, as the shape depends on data.
 * Dtypes:    any; out i64
 * Gradient:  none
 * Returns:   the number of tensors in out, which the innermost scope owns; -1 on error, with out[] all NULL
 * Example:   wk_nonzero_numpy(x, out) sets out to {{0, 1}, {1, 0}} for x = {{0, 2}, {3, 0}}
 * PyTorch:   torch.nonzero(x, as_tuple=True), torch.where(x) */
#define wk_nonzero_numpy(...) WK_EXACT_(int, 2, wk_nonzero_numpy, "x, out", __VA_ARGS__)

/* wk_one_hot(x, n): Creates vectors with 1 at index x and 0 elsewhere. n is the number of classes; -1 is one more
 * than the largest element, for which the call waits for the device.
 * Shapes:    (...) -> (..., n)
 * Dtypes:    i64 or i32; out i64
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if a class is out of range; WK_ERR_ARGUMENT if n is 0 or less than -1; WK_ERR_SHAPE if x
 *            is empty and n is -1
 * Example:   wk_one_hot(y, 3) is {{0, 0, 1}, {1, 0, 0}} for y = {2, 0}
 * PyTorch:   torch.nn.functional.one_hot */
#define wk_one_hot(...) WK_EXACT_NEW_(2, wk_one_hot, "x, n", __VA_ARGS__)

#ifndef __cplusplus
/* wk_tril(x, diagonal): Keeps the elements on and below the diagonal of the last two dimensions and sets the others
 * to 0. wk_tril(x, diagonal) moves the diagonal up by that many columns.
 * Dtypes:    any
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has fewer than two dimensions
 * Example:   wk_tril(x) is {{1, 0}, {3, 4}} for x = {{1, 2}, {3, 4}}
 * PyTorch:   torch.tril */
#define wk_tril(...)      WK_NEW_TENSOR_(WK_JOIN_(WK_TRIL_, WK_COUNT_(__VA_ARGS__))(__VA_ARGS__))
#define WK_TRIL_1(x)      WK_TRIL_WK2_(x, 0)
#define WK_TRIL_WK2_(...) WK_PLAIN_(wk_tril, __VA_ARGS__)

/* wk_triu(x, diagonal): Keeps the elements on and above the diagonal of the last two dimensions and sets the others
 * to 0. wk_triu(x, diagonal) moves the diagonal up by that many columns.
 * Dtypes:    any
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has fewer than two dimensions
 * Example:   wk_triu(x) is {{1, 2}, {0, 4}} for x = {{1, 2}, {3, 4}}
 * PyTorch:   torch.triu */
#define wk_triu(...)      WK_NEW_TENSOR_(WK_JOIN_(WK_TRIU_, WK_COUNT_(__VA_ARGS__))(__VA_ARGS__))
#define WK_TRIU_1(x)      WK_TRIU_WK2_(x, 0)
#define WK_TRIU_WK2_(...) WK_PLAIN_(wk_triu, __VA_ARGS__)

#endif

/* wk_trace(x): Sums the diagonal of a matrix.
 * Dtypes:    any; out i64 for integers and bool, else as x
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x is not a matrix
 * Example:   wk_trace(x) is 5 for x = {{1, 2}, {3, 4}}
 * PyTorch:   torch.trace */
#define wk_trace(...) WK_EXACT_NEW_(1, wk_trace, "x", __VA_ARGS__)

#ifndef __cplusplus
/* wk_diag_embed(x, offset, dim0, dim1): Writes vectors along the last dimension into the diagonals of new matrices,
 * which are 0 elsewhere. The forms are wk_diag_embed(x), wk_diag_embed(x, offset) and wk_diag_embed(x, offset, dim0,
 * dim1): the diagonal, above the main one if offset is positive, and the dimensions of the matrices in the result,
 * by default 0, -2 and -1.
 * Shapes:    the last dimension, of size n, becomes two of size n + |offset|
 * Dtypes:    any
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if a dimension is out of range; WK_ERR_ARGUMENT if dim0 equals dim1; WK_ERR_SHAPE if x has
 *            no dimensions or already 8
 * Example:   wk_diag_embed(x) is {{1, 0}, {0, 2}} for x = {1, 2}
 * PyTorch:   torch.diag_embed */
#define wk_diag_embed(...)               WK_NEW_TENSOR_(WK_JOIN_(WK_DIAG_EMBED_, WK_COUNT_4_(__VA_ARGS__))(__VA_ARGS__))
#define WK_DIAG_EMBED_1(x)               WK_DIAG_EMBED_WK4_(x, 0, -2, -1)
#define WK_DIAG_EMBED_2(x, offset)       WK_DIAG_EMBED_WK4_(x, offset, -2, -1)
#define WK_DIAG_EMBED_3(x, offset, dim0) WK_DIAG_EMBED_WK4_(x, offset, dim0, -1)
#define WK_DIAG_EMBED_WK4_(...)          WK_PLAIN_(wk_diag_embed, __VA_ARGS__)

/* wk_index_fill(x, dim, index, value): Replaces the slices at the indices in index along dim by value.
 * Shapes:    index is a vector, or a single index without dimensions; value is a number or a tensor without
 *            dimensions
 * Dtypes:    index i64 or i32; value is converted to x's dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_index_fill_ writes the result into x and
 *            returns x
 * Errors:    WK_ERR_INDEX if dim or an index is out of range; WK_ERR_SHAPE if index is not a vector or value has
 *            dimensions; WK_ERR_DTYPE if index is not i64 or i32
 * Example:   wk_index_fill(x, 0, y, 9) is {9, 2, 9} for x = {1, 2, 3}, y = {2, 0}
 * PyTorch:   torch.index_fill */
#define wk_index_fill(x, dim, index, value)  WK_NEW_TENSOR_(wk_index_fill_at(WK_HERE, x, dim, index, WK_VALUE_(value)))
#define wk_index_fill_(x, dim, index, value) wk_index_fill__at(WK_HERE, x, dim, index, WK_VALUE_(value))

#endif

/* wk_index_copy(x, dim, index, source): Replaces the slices at the indices in index along dim by those of source. An
 * index that occurs several times gets the last slice.
 *     out[..., index[k], ...] = source[..., k, ...]
 * Shapes:    index is a vector of the size of source along dim; other sizes of source are those of x
 * Dtypes:    index i64 or i32; x and source have one dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_index_copy_ writes the result into x and
 *            returns x
 * Errors:    WK_ERR_INDEX if dim or an index is out of range; WK_ERR_SHAPE if the shapes differ from those above;
 *            WK_ERR_DTYPE if x and source differ or index is not i64 or i32
 * Example:   wk_index_copy(x, 0, y, z) is {9, 2, 8} for x = {1, 2, 3}, y = {2, 0}, z = {8, 9}
 * PyTorch:   torch.index_copy */
#define wk_index_copy(...)  WK_EXACT_NEW_(4, wk_index_copy, "x, dim, index, source", __VA_ARGS__)
#define wk_index_copy_(...) WK_EXACT_(wk_tensor *, 4, wk_index_copy_, "x, dim, index, source", __VA_ARGS__)

#ifndef __cplusplus
/* wk_index_put(x, (indices), values): Writes values to the elements that index tensors select, one tensor for each
 * of the first dimensions, or adds them. Index tensors broadcast. An element that is selected several times gets the
 * last value; with .accumulate all values are added. A bool tensor selects the elements at which it is true; it
 * replaces as many dimensions of x as it has. The call then waits for the device.
 *     out[i[k], j[k], ...] = values[k, ...]
 * Options:   .accumulate: add to x; default false
 * Shapes:    values broadcasts to the shape of the index tensors, followed by the further dimensions of x
 * Dtypes:    indices i64, i32 or bool; values is converted to x's dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_index_put_ writes the result into x and
 *            returns x
 * Errors:    WK_ERR_INDEX if an index is out of range; WK_ERR_SHAPE if there are more indices than dimensions, or
 *            shapes do not broadcast; WK_ERR_DTYPE if an index has another dtype; WK_ERR_ARGUMENT if the list is
 *            empty
 * Example:   wk_index_put(x, (y), z) is {9, 2, 8} for x = {1, 2, 3}, y = {2, 0}, z = {8, 9}
 * PyTorch:   torch.index_put */
#define wk_index_put(x, indices, ...)  WK_NEW_TENSOR_(WK_INDEX_PUT_(wk_index_put, x, indices, __VA_ARGS__))
#define wk_index_put_(x, indices, ...) WK_INDEX_PUT_(wk_index_put_, x, indices, __VA_ARGS__)

#endif

/* wk_masked_scatter(x, mask, source): Replaces the elements of x where mask is true by those of source, in order.
 * Shapes:    x and mask broadcast; source has at least as many elements as mask has true ones
 * Dtypes:    mask bool; x and source have one dtype
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_masked_scatter_ writes the result into x
 *            and returns x
 * Errors:    WK_ERR_DTYPE if mask is not bool or x and source differ; WK_ERR_SHAPE if x and mask do not broadcast;
 *            WK_ERR_INDEX, possibly reported later, if source has too few elements
 * Example:   wk_masked_scatter(x, mask, y) is {8, 2, 9} for x = {1, 2, 3}, mask = {true, false, true}, y = {8, 9}
 * PyTorch:   x.masked_scatter(mask, source) */
#define wk_masked_scatter(...)  WK_EXACT_NEW_(3, wk_masked_scatter, "x, mask, source", __VA_ARGS__)
#define wk_masked_scatter_(...) WK_EXACT_(wk_tensor *, 3, wk_masked_scatter_, "x, mask, source", __VA_ARGS__)

#ifndef __cplusplus
/* wk_scatter_reduce(x, dim, index, source, reduce): Reduces the elements of source with the same index, together
 * with the element of x at that index, or without it if .exclude_self is set. reduce is "sum", "prod", "mean",
 * "amax" or "amin". Elements of x at no index are unchanged.
 *     out[i][j] = reduce(x[i][j], all source[k][j] with index[k][j] = i)        for dim 0
 * Options:   .exclude_self: leave out the element of x; default false
 * Shapes:    as wk_scatter_add
 * Dtypes:    index i64 or i32; x and source have one dtype, any but bool; a mean of integers is rounded down
 * Gradient:  that of amax and amin is shared equally among the elements equal to the result
 * Returns:   a new tensor, owned by the innermost scope; NULL on error; wk_scatter_reduce_ writes the result into x
 *            and returns x
 * Errors:    as wk_scatter_add; WK_ERR_ARGUMENT if reduce is unknown
 * Example:   wk_scatter_reduce(x, 0, y, z, "amax") is {1, 20} for x = {1, 2}, y = {1, 1}, z = {10, 20}
 * PyTorch:   torch.scatter_reduce */
#define wk_scatter_reduce(x, dim, index, source, ...)                                                                  \
    WK_NEW_TENSOR_(WK_OPT5_(wk_tensor *, wk_scatter_reduce, wk_scatter_reduce_options,                                 \
                            "x, dim, index, source, reduce", x, dim, index, source, __VA_ARGS__))
#define wk_scatter_reduce_(x, dim, index, source, ...)                                                                 \
    WK_OPT5_(wk_tensor *, wk_scatter_reduce_, wk_scatter_reduce_options, "x, dim, index, source, reduce", x, dim,      \
             index, source, __VA_ARGS__)

/* wk_embedding_bag(index, weight): Computes the mean, sum or maximum of the rows of weight that each bag of indices
 * selects. Each row of a matrix index is a bag. A vector index needs .offsets, the first index of each bag. Indices
 * equal to .padding_idx are left out. An empty bag gives 0. Waits for .offsets, to check them.
 * Options:   .offsets: first index of each bag of a vector; default NULL. .max_norm: as for wk_embedding.
 *            .norm_type: p of that norm; default 2. .scale_grad_by_freq: as for wk_embedding. .mode: "mean" or "sum"
 *            or "max". .per_sample_weights: factors of the rows in mode sum, shaped as index; default NULL.
 *            .include_last_offset: the last offset is the end of the last bag; default false. .padding_idx: as for
 *            wk_embedding
 * Shapes:    index (bags, n) or (n), weight (rows, width) -> (bags, width)
 * Dtypes:    index and .offsets i64 or i32; out as weight
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if an index is out of range; WK_ERR_SHAPE if the shapes differ from those above;
 *            WK_ERR_DTYPE if index or .offsets is not i64 or i32; WK_ERR_ARGUMENT if .offsets is missing or given
 *            for a matrix, does not begin with 0 and ascend to at most n, .mode is unknown, or .per_sample_weights
 *            is given in another mode than sum
 * Example:   wk_embedding_bag(y, x, .mode = "sum") is {{4, 6}} for x = {{1, 2}, {3, 4}}, y = {{1, 0}}
 * PyTorch:   torch.nn.functional.embedding_bag */
#define wk_embedding_bag(index, ...)                                                                                   \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_OPT2_(wk_tensor *, wk_embedding_bag, wk_embedding_bag_options, "index, weight", index, __VA_ARGS__))

#endif

#endif
