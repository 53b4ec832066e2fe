/* SPDX-License-Identifier: Apache-2.0 */
/* The signatures of the ops of wick/shape.h: what their descriptors begin with. The compiler refuses a member that
 * the op's file sets as well. */
/* Written by scripts/generate_ops.py from src/ops/specs/shape: edit those. */
#ifndef WICK_OPS_GENERATED_SHAPE_H
#define WICK_OPS_GENERATED_SHAPE_H

#include "base/options.h"
#include "ops/core/call.h"
#include <wick/call.h>
#include <wick/shape.h>

/* Entries for wk_call of ops that take more than tensors. */
int wk__invoke_reshape(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_view_as(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_flatten(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_unflatten(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_expand(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_expand_as(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_squeeze(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_unsqueeze(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_transpose(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_swapaxes(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_t(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_permute(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_movedim(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_slice(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_narrow(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_select(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_diagonal(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_unfold(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_as_strided(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_chunk(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_split(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_split_with_sizes(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_unbind(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_cat(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_stack(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_repeat(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_tile(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_repeat_interleave(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_flip(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_roll(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_rot90(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_meshgrid(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_pad(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_pixel_shuffle(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_pixel_unshuffle(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_channel_shuffle(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_index_select(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_gather(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_take_along_dim(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_take(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_embedding(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_scatter_add(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_scatter_add_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_scatter(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_index_add(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_index_add_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_masked_select(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_nonzero(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_nonzero_numpy(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_one_hot(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_tril(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_triu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_trace(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_diag_embed(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_index_fill(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_index_fill_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_index_copy(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_index_copy_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_index_put(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_index_put_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_masked_scatter(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_masked_scatter_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_scatter_reduce(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_scatter_reduce_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_embedding_bag(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);

/* Entries defined in the files of the ops. */
int wk__chunk(wk_site site, wk_tensor *x, int64_t n, int64_t dim, wk_tensor **out);

/* Options as read by wk__options, with defaults of omitted numbers and constants. */
static inline bool wk__check_pad_mode(wk_site site, const char *op, const char *option, int *value)
{
    static const char *const names[] = {"WK_PAD_CONSTANT", "WK_PAD_REFLECT", "WK_PAD_REPLICATE", "WK_PAD_CIRCULAR"};
    return wk__option_choice(site, op, option, names, 4, WK_PAD_CONSTANT, value);
}
static inline bool wk__read_pad_options(wk_site site, const char *op, const wk_pad_options *given, wk_pad_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->value = wk__option_or(own->value, 0.0);
    if (!wk__check_pad_mode(site, op, ".mode", &own->mode)) return false;
    return true;
}
static inline bool wk__read_embedding_options(wk_site site, const char *op, const wk_embedding_options *given,
                                              wk_embedding_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->norm_type = wk__option_or(own->norm_type, 2);
    return true;
}
static inline bool wk__read_embedding_bag_options(wk_site site, const char *op, const wk_embedding_bag_options *given,
                                                  wk_embedding_bag_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->norm_type = wk__option_or(own->norm_type, 2);
    return true;
}

extern const wk_parameter wk__parameters_reshape[];
extern const wk_parameter wk__parameters_view_as[];
extern const wk_parameter wk__parameters_flatten[];
extern const wk_parameter wk__parameters_unflatten[];
extern const wk_parameter wk__parameters_expand[];
extern const wk_parameter wk__parameters_squeeze[];
extern const wk_parameter wk__parameters_unsqueeze[];
extern const wk_parameter wk__parameters_transpose[];
extern const wk_parameter wk__parameters_swapaxes[];
extern const wk_parameter wk__parameters_t[];
extern const wk_parameter wk__parameters_permute[];
extern const wk_parameter wk__parameters_movedim[];
extern const wk_parameter wk__parameters_slice[];
extern const wk_parameter wk__parameters_narrow[];
extern const wk_parameter wk__parameters_select[];
extern const wk_parameter wk__parameters_diagonal[];
extern const wk_parameter wk__parameters_unfold[];
extern const wk_parameter wk__parameters_as_strided[];
extern const wk_parameter wk__parameters_chunk[];
extern const wk_parameter wk__parameters_split[];
extern const wk_parameter wk__parameters_split_with_sizes[];
extern const wk_parameter wk__parameters_unbind[];
extern const wk_parameter wk__parameters_cat[];
extern const wk_parameter wk__parameters_repeat[];
extern const wk_parameter wk__parameters_repeat_interleave[];
extern const wk_parameter wk__parameters_roll[];
extern const wk_parameter wk__parameters_rot90[];
extern const wk_parameter wk__parameters_meshgrid[];
extern const wk_parameter wk__parameters_pad[];
extern const wk_parameter wk__parameters_pixel_shuffle[];
extern const wk_parameter wk__parameters_pixel_unshuffle[];
extern const wk_parameter wk__parameters_channel_shuffle[];
extern const wk_parameter wk__parameters_index_select[];
extern const wk_parameter wk__parameters_take_along_dim[];
extern const wk_parameter wk__parameters_take[];
extern const wk_parameter wk__parameters_embedding[];
extern const wk_parameter wk__parameters_scatter_add[];
extern const wk_parameter wk__parameters_scatter[];
extern const wk_parameter wk__parameters_index_add[];
extern const wk_parameter wk__parameters_masked_select[];
extern const wk_parameter wk__parameters_one_hot[];
extern const wk_parameter wk__parameters_tril[];
extern const wk_parameter wk__parameters_diag_embed[];
extern const wk_parameter wk__parameters_index_fill[];
extern const wk_parameter wk__parameters_index_put[];
extern const wk_parameter wk__parameters_masked_scatter[];
extern const wk_parameter wk__parameters_scatter_reduce[];
extern const wk_parameter wk__parameters_embedding_bag[];

#define WK__SIGNATURE_reshape                                                                                          \
    .name = "reshape", .schema = "reshape(Tensor self, int[] shape) -> Tensor", .category = "view",                    \
    .doc = "Changes the shape of x, keeping the elements in row-major order.", .grad_fn_name = "ViewBackward0",        \
    .parameters = wk__parameters_reshape, .parameter_count = 2, .results = 1, .view = true,                            \
    .invoke = wk__invoke_reshape

#define WK__SIGNATURE_view_as                                                                                          \
    .name = "view_as", .schema = "view_as(Tensor self, Tensor other) -> Tensor", .category = "view",                   \
    .doc = "Reshapes x to the shape of other.", .grad_fn_name = "ViewBackward0", .parameters = wk__parameters_view_as, \
    .parameter_count = 2, .results = 1, .view = true, .invoke = wk__invoke_view_as

#define WK__SIGNATURE_flatten                                                                                          \
    .name = "flatten", .schema = "flatten(Tensor self, int start_dim=0, int end_dim=-1) -> Tensor",                    \
    .category = "view", .doc = "Merges dimensions start to end of x into one.", .grad_fn_name = "ViewBackward0",       \
    .parameters = wk__parameters_flatten, .parameter_count = 3, .results = 1, .view = true,                            \
    .invoke = wk__invoke_flatten

#define WK__SIGNATURE_unflatten                                                                                        \
    .name = "unflatten", .schema = "unflatten(Tensor self, int dim, int[] sizes) -> Tensor", .category = "view",       \
    .doc = "Splits dimension dim of x into several.", .grad_fn_name = "ViewBackward0",                                 \
    .parameters = wk__parameters_unflatten, .parameter_count = 3, .results = 1, .view = true,                          \
    .invoke = wk__invoke_unflatten

#define WK__SIGNATURE_expand                                                                                           \
    .name = "expand", .schema = "expand(Tensor self, int[] size) -> Tensor", .category = "view",                       \
    .doc = "Repeats dimensions of size 1 without copying.", .grad_fn_name = "ExpandBackward0",                         \
    .parameters = wk__parameters_expand, .parameter_count = 2, .results = 1, .view = true, .invoke = wk__invoke_expand

#define WK__SIGNATURE_expand_as                                                                                        \
    .name = "expand_as", .schema = "expand_as(Tensor self, Tensor other) -> Tensor", .category = "view",               \
    .doc = "Expands x to the shape of other.", .grad_fn_name = "ExpandBackward0",                                      \
    .parameters = wk__parameters_view_as, .parameter_count = 2, .results = 1, .view = true,                            \
    .invoke = wk__invoke_expand_as

#define WK__SIGNATURE_squeeze                                                                                          \
    .name = "squeeze", .schema = "squeeze(Tensor self, int[]? dim=None) -> Tensor", .category = "view",                \
    .doc = "Removes dimensions of size 1.", .grad_fn_name = "SqueezeBackward0", .parameters = wk__parameters_squeeze,  \
    .parameter_count = 2, .results = 1, .view = true, .invoke = wk__invoke_squeeze

#define WK__SIGNATURE_unsqueeze                                                                                        \
    .name = "unsqueeze", .schema = "unsqueeze(Tensor self, int dim) -> Tensor", .category = "view",                    \
    .doc = "Inserts a dimension of size 1 before dim; -1 appends it.", .grad_fn_name = "UnsqueezeBackward0",           \
    .parameters = wk__parameters_unsqueeze, .parameter_count = 2, .results = 1, .view = true,                          \
    .invoke = wk__invoke_unsqueeze

#define WK__SIGNATURE_transpose                                                                                        \
    .name = "transpose", .schema = "transpose(Tensor self, int dim0, int dim1) -> Tensor", .category = "view",         \
    .doc = "Swaps dimensions dim0 and dim1.", .grad_fn_name = "TransposeBackward0",                                    \
    .parameters = wk__parameters_transpose, .parameter_count = 3, .results = 1, .view = true,                          \
    .invoke = wk__invoke_transpose

#define WK__SIGNATURE_swapaxes                                                                                         \
    .name = "swapaxes", .schema = "swapaxes(Tensor self, int axis0, int axis1) -> Tensor", .category = "view",         \
    .doc = "Swaps dimensions dim0 and dim1, as wk_transpose.", .grad_fn_name = "TransposeBackward0",                   \
    .parameters = wk__parameters_swapaxes, .parameter_count = 3, .results = 1, .view = true,                           \
    .invoke = wk__invoke_swapaxes

#define WK__SIGNATURE_t                                                                                                \
    .name = "t", .schema = "t(Tensor self) -> Tensor", .category = "view", .doc = "Transposes a matrix.",              \
    .grad_fn_name = "TBackward0", .parameters = wk__parameters_t, .parameter_count = 1, .results = 1, .view = true,    \
    .invoke = wk__invoke_t

#define WK__SIGNATURE_permute                                                                                          \
    .name = "permute", .schema = "permute(Tensor self, int[] dims) -> Tensor", .category = "view",                     \
    .doc = "Reorders dimensions: dimension k of out is dimension dims[k] of x.", .grad_fn_name = "PermuteBackward0",   \
    .parameters = wk__parameters_permute, .parameter_count = 2, .results = 1, .view = true,                            \
    .invoke = wk__invoke_permute

#define WK__SIGNATURE_movedim                                                                                          \
    .name = "movedim", .schema = "movedim(Tensor self, int source, int destination) -> Tensor", .category = "view",    \
    .doc = "Moves dimension source to position destination; the others keep their order.",                             \
    .grad_fn_name = "PermuteBackward0", .parameters = wk__parameters_movedim, .parameter_count = 3, .results = 1,      \
    .view = true, .invoke = wk__invoke_movedim

#define WK__SIGNATURE_slice                                                                                            \
    .name = "slice", .schema = "slice(Tensor self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",  \
    .category = "view", .doc = "Selects indices start, start + step, ... before end along dim.",                       \
    .grad_fn_name = "SliceBackward0", .parameters = wk__parameters_slice, .parameter_count = 5, .results = 1,          \
    .view = true, .invoke = wk__invoke_slice

#define WK__SIGNATURE_narrow                                                                                           \
    .name = "narrow", .schema = "narrow(Tensor self, int dim, int start, int length) -> Tensor", .category = "view",   \
    .doc = "Selects length indices from start along dim.", .grad_fn_name = "SliceBackward0",                           \
    .parameters = wk__parameters_narrow, .parameter_count = 4, .results = 1, .view = true, .invoke = wk__invoke_narrow

#define WK__SIGNATURE_select                                                                                           \
    .name = "select", .schema = "select(Tensor self, int dim, int index) -> Tensor", .category = "view",               \
    .doc = "Selects index along dim and removes that dimension.", .grad_fn_name = "SelectBackward0",                   \
    .parameters = wk__parameters_select, .parameter_count = 3, .results = 1, .view = true, .invoke = wk__invoke_select

#define WK__SIGNATURE_diagonal                                                                                         \
    .name = "diagonal", .schema = "diagonal(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",             \
    .category = "view", .doc = "Takes the diagonal of dimensions dim0 and dim1 as a new last dimension.",              \
    .grad_fn_name = "DiagonalBackward0", .parameters = wk__parameters_diagonal, .parameter_count = 4, .results = 1,    \
    .view = true, .invoke = wk__invoke_diagonal

#define WK__SIGNATURE_unfold                                                                                           \
    .name = "unfold", .schema = "unfold(Tensor self, int dimension, int size, int step) -> Tensor",                    \
    .category = "view", .doc = "Takes windows of size elements every step elements along dim.",                        \
    .grad_fn_name = "UnfoldBackward0", .parameters = wk__parameters_unfold, .parameter_count = 4, .results = 1,        \
    .view = true, .invoke = wk__invoke_unfold

#define WK__SIGNATURE_as_strided                                                                                       \
    .name = "as_strided",                                                                                              \
    .schema = "as_strided(Tensor self, int[] size, int[] stride, int storage_offset=0) -> Tensor", .category = "view", \
    .doc = "Views the storage of x with this shape and these strides.", .grad_fn_name = "AsStridedBackward0",          \
    .parameters = wk__parameters_as_strided, .parameter_count = 4, .results = 1, .view = true,                         \
    .invoke = wk__invoke_as_strided

#define WK__SIGNATURE_chunk                                                                                            \
    .name = "chunk", .schema = "chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", .category = "view",            \
    .doc = "Splits dim into at most n views of equal size; the last may be smaller.",                                  \
    .grad_fn_name = "SplitBackward0", .parameters = wk__parameters_chunk, .parameter_count = 3, .results = -1,         \
    .view = true, .invoke = wk__invoke_chunk

#define WK__SIGNATURE_split                                                                                            \
    .name = "split", .schema = "split(Tensor self, int split_size, int dim=0) -> Tensor[]", .category = "view",        \
    .doc = "Splits dim into views of size elements; the last may be smaller.", .grad_fn_name = "SplitBackward0",       \
    .parameters = wk__parameters_split, .parameter_count = 3, .results = -1, .view = true, .invoke = wk__invoke_split

#define WK__SIGNATURE_split_with_sizes                                                                                 \
    .name = "split_with_sizes", .schema = "split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",   \
    .category = "view", .doc = "Splits dim into views of these sizes.", .grad_fn_name = "SplitWithSizesBackward0",     \
    .parameters = wk__parameters_split_with_sizes, .parameter_count = 3, .results = -1, .view = true,                  \
    .invoke = wk__invoke_split_with_sizes

#define WK__SIGNATURE_unbind                                                                                           \
    .name = "unbind", .schema = "unbind(Tensor self, int dim=0) -> Tensor[]", .category = "view",                      \
    .doc = "Splits dim into one view for each index, without that dimension.", .grad_fn_name = "UnbindBackward0",      \
    .parameters = wk__parameters_unbind, .parameter_count = 2, .results = -1, .view = true,                            \
    .invoke = wk__invoke_unbind

#define WK__SIGNATURE_cat                                                                                              \
    .name = "cat", .schema = "cat(Tensor[] tensors, int dim=0) -> Tensor", .category = "joining",                      \
    .doc = "Concatenates tensors along dim.", .grad_fn_name = "CatBackward0", .parameters = wk__parameters_cat,        \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_cat

#define WK__SIGNATURE_stack                                                                                            \
    .name = "stack", .schema = "stack(Tensor[] tensors, int dim=0) -> Tensor", .category = "joining",                  \
    .doc = "Joins tensors of one shape along a new dimension dim.", .grad_fn_name = "StackBackward0",                  \
    .parameters = wk__parameters_cat, .parameter_count = 2, .results = 1, .invoke = wk__invoke_stack

#define WK__SIGNATURE_repeat                                                                                           \
    .name = "repeat", .schema = "repeat(Tensor self, int[] repeats) -> Tensor", .category = "joining",                 \
    .doc = "Repeats x repeats[d] times along each dimension d.", .grad_fn_name = "RepeatBackward0",                    \
    .parameters = wk__parameters_repeat, .parameter_count = 2, .results = 1, .invoke = wk__invoke_repeat

#define WK__SIGNATURE_tile                                                                                             \
    .name = "tile", .schema = "tile(Tensor self, int[] dims) -> Tensor", .category = "joining",                        \
    .doc = "Repeats x as wk_repeat does, with 1 for dimensions that repeats lacks at its front.",                      \
    .grad_fn_name = "RepeatBackward0", .parameters = wk__parameters_permute, .parameter_count = 2, .results = 1,       \
    .invoke = wk__invoke_tile

#define WK__SIGNATURE_repeat_interleave                                                                                \
    .name = "repeat_interleave", .schema = "repeat_interleave(Tensor self, int repeats, int? dim=None) -> Tensor",     \
    .category = "joining", .doc = "Repeats each index of dim n times in a row.", .grad_fn_name = "ViewBackward0",      \
    .parameters = wk__parameters_repeat_interleave, .parameter_count = 3, .results = 1,                                \
    .invoke = wk__invoke_repeat_interleave

#define WK__SIGNATURE_flip                                                                                             \
    .name = "flip", .schema = "flip(Tensor self, int[] dims) -> Tensor", .category = "joining",                        \
    .doc = "Reverses the order along dims.", .grad_fn_name = "FlipBackward0", .parameters = wk__parameters_permute,    \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_flip

#define WK__SIGNATURE_roll                                                                                             \
    .name = "roll", .schema = "roll(Tensor self, int[] shifts, int[] dims=[]) -> Tensor", .category = "joining",       \
    .doc = "Rotates x by shifts[k] indices along dims[k].", .grad_fn_name = "RollBackward0",                           \
    .parameters = wk__parameters_roll, .parameter_count = 3, .results = 1, .invoke = wk__invoke_roll

#define WK__SIGNATURE_rot90                                                                                            \
    .name = "rot90", .schema = "rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor", .category = "joining",      \
    .doc = "Rotates x by k quarter turns in the plane of two dimensions, from the first towards the second.",          \
    .grad_fn_name = "Rot90Backward0", .parameters = wk__parameters_rot90, .parameter_count = 3, .results = 1,          \
    .invoke = wk__invoke_rot90

#define WK__SIGNATURE_meshgrid                                                                                         \
    .name = "meshgrid", .schema = "meshgrid(Tensor[] tensors, *, str indexing=\"ij\") -> Tensor[]",                    \
    .category = "view", .doc = "Expands vectors to grids: grid k has the elements of vector k along dimension k.",     \
    .grad_fn_name = "ExpandBackward0", .parameters = wk__parameters_meshgrid, .parameter_count = 2, .results = -1,     \
    .view = true, .invoke = wk__invoke_meshgrid

#define WK__SIGNATURE_pad                                                                                              \
    .name = "pad", .schema = "pad(Tensor self, int[] pad, str mode=\"constant\", float value=0.0) -> Tensor",          \
    .category = "joining", .doc = "Pads the last dimensions of x.", .grad_fn_name = "ConstantPadNdBackward0",          \
    .parameters = wk__parameters_pad, .parameter_count = 4, .results = 1, .invoke = wk__invoke_pad

#define WK__SIGNATURE_pixel_shuffle                                                                                    \
    .name = "pixel_shuffle", .schema = "pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",                     \
    .category = "joining", .doc = "Moves groups of factor * factor channels into blocks of factor by factor pixels.",  \
    .grad_fn_name = "PixelShuffleBackward0", .parameters = wk__parameters_pixel_shuffle, .parameter_count = 2,         \
    .results = 1, .invoke = wk__invoke_pixel_shuffle

#define WK__SIGNATURE_pixel_unshuffle                                                                                  \
    .name = "pixel_unshuffle", .schema = "pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",               \
    .category = "joining", .doc = "Moves blocks of factor by factor pixels into groups of factor * factor channels.",  \
    .grad_fn_name = "PixelUnshuffleBackward0", .parameters = wk__parameters_pixel_unshuffle, .parameter_count = 2,     \
    .results = 1, .invoke = wk__invoke_pixel_unshuffle

#define WK__SIGNATURE_channel_shuffle                                                                                  \
    .name = "channel_shuffle", .schema = "channel_shuffle(Tensor self, int groups) -> Tensor", .category = "joining",  \
    .doc = "Reorders channels: those of each of the groups become every groups-th channel.",                           \
    .grad_fn_name = "ChannelShuffleBackward0", .parameters = wk__parameters_channel_shuffle, .parameter_count = 2,     \
    .results = 1, .invoke = wk__invoke_channel_shuffle

#define WK__SIGNATURE_index_select                                                                                     \
    .name = "index_select", .schema = "index_select(Tensor self, int dim, Tensor index) -> Tensor",                    \
    .category = "indexing", .doc = "Selects the indices in index along dim.", .grad_fn_name = "IndexSelectBackward0",  \
    .parameters = wk__parameters_index_select, .parameter_count = 3, .results = 1, .invoke = wk__invoke_index_select

#define WK__SIGNATURE_gather                                                                                           \
    .name = "gather", .schema = "gather(Tensor self, int dim, Tensor index) -> Tensor", .category = "indexing",        \
    .doc = "Gathers elements of x along dim.", .grad_fn_name = "GatherBackward0",                                      \
    .parameters = wk__parameters_index_select, .parameter_count = 3, .results = 1, .invoke = wk__invoke_gather

#define WK__SIGNATURE_take_along_dim                                                                                   \
    .name = "take_along_dim", .schema = "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",        \
    .category = "indexing",                                                                                            \
    .doc = "Gathers elements of x along dim, with x and index broadcast in the other dimensions.",                     \
    .grad_fn_name = "GatherBackward0", .parameters = wk__parameters_take_along_dim, .parameter_count = 3,              \
    .results = 1, .invoke = wk__invoke_take_along_dim

#define WK__SIGNATURE_take                                                                                             \
    .name = "take", .schema = "take(Tensor self, Tensor index) -> Tensor", .category = "indexing",                     \
    .doc = "Takes the elements of flattened x at index.", .grad_fn_name = "TakeBackward0",                             \
    .parameters = wk__parameters_take, .parameter_count = 2, .results = 1, .invoke = wk__invoke_take

#define WK__SIGNATURE_embedding                                                                                        \
    .name = "embedding",                                                                                               \
    .schema = "embedding(Tensor input, Tensor weight, int? padding_idx=None, float? max_norm=None, float "             \
              "norm_type=2, bool scale_grad_by_freq=False) -> Tensor",                                                 \
    .category = "indexing", .doc = "Selects the rows of weight at index.", .grad_fn_name = "EmbeddingBackward0",       \
    .parameters = wk__parameters_embedding, .parameter_count = 6, .results = 1, .invoke = wk__invoke_embedding

#define WK__SIGNATURE_scatter_add                                                                                      \
    .name = "scatter_add", .schema = "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",          \
    .category = "indexing", .doc = "Adds the elements of source to x at index along dim, in the order of index.",      \
    .grad_fn_name = "ScatterAddBackward0", .parameters = wk__parameters_scatter_add, .parameter_count = 4,             \
    .results = 1, .invoke = wk__invoke_scatter_add, .invoke_in_place = wk__invoke_scatter_add_

#define WK__SIGNATURE_scatter                                                                                          \
    .name = "scatter", .schema = "scatter(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",                  \
    .category = "indexing", .doc = "Writes the elements of source, or one number, into x at index along dim.",         \
    .grad_fn_name = "ScatterBackward0", .parameters = wk__parameters_scatter, .parameter_count = 4, .results = 1,      \
    .invoke = wk__invoke_scatter

#define WK__SIGNATURE_index_add                                                                                        \
    .name = "index_add", .schema = "index_add(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",           \
    .category = "indexing", .doc = "Adds the slices of source to x at the indices in index along dim.",                \
    .grad_fn_name = "IndexAddBackward0", .parameters = wk__parameters_index_add, .parameter_count = 4, .results = 1,   \
    .invoke = wk__invoke_index_add, .invoke_in_place = wk__invoke_index_add_

#define WK__SIGNATURE_masked_select                                                                                    \
    .name = "masked_select", .schema = "masked_select(Tensor self, Tensor mask) -> Tensor", .category = "indexing",    \
    .doc = "Selects the elements of x where mask is true, as a vector.", .grad_fn_name = "MaskedSelectBackward0",      \
    .parameters = wk__parameters_masked_select, .parameter_count = 2, .results = 1, .data_dependent_shape = true,      \
    .invoke = wk__invoke_masked_select

#define WK__SIGNATURE_nonzero                                                                                          \
    .name = "nonzero", .schema = "nonzero(Tensor self) -> Tensor", .category = "indexing",                             \
    .doc = "Lists the indices of the elements that are not 0, one row each.", .parameters = wk__parameters_t,          \
    .parameter_count = 1, .results = 1, .data_dependent_shape = true, .invoke = wk__invoke_nonzero

#define WK__SIGNATURE_nonzero_numpy                                                                                    \
    .name = "nonzero_numpy", .schema = "nonzero_numpy(Tensor self) -> Tensor[]", .category = "indexing",               \
    .doc = "Lists the indices of the elements that are not 0, one vector for each dimension.",                         \
    .parameters = wk__parameters_t, .parameter_count = 1, .results = -1, .data_dependent_shape = true,                 \
    .invoke = wk__invoke_nonzero_numpy

#define WK__SIGNATURE_one_hot                                                                                          \
    .name = "one_hot", .schema = "one_hot(Tensor self, int num_classes=-1) -> Tensor", .category = "indexing",         \
    .doc = "Creates vectors with 1 at index x and 0 elsewhere.", .dtypes = 1 << WK_I64 | 1 << WK_I32,                  \
    .parameters = wk__parameters_one_hot, .parameter_count = 2, .results = 1, .data_dependent_shape = true,            \
    .invoke = wk__invoke_one_hot

#define WK__SIGNATURE_tril                                                                                             \
    .name = "tril", .schema = "tril(Tensor self, int diagonal=0) -> Tensor", .category = "indexing",                   \
    .doc = "Keeps the elements on and below the diagonal of the last two dimensions and sets the others to 0.",        \
    .grad_fn_name = "TrilBackward0", .parameters = wk__parameters_tril, .parameter_count = 2, .results = 1,            \
    .invoke = wk__invoke_tril

#define WK__SIGNATURE_triu                                                                                             \
    .name = "triu", .schema = "triu(Tensor self, int diagonal=0) -> Tensor", .category = "indexing",                   \
    .doc = "Keeps the elements on and above the diagonal of the last two dimensions and sets the others to 0.",        \
    .grad_fn_name = "TriuBackward0", .parameters = wk__parameters_tril, .parameter_count = 2, .results = 1,            \
    .invoke = wk__invoke_triu

#define WK__SIGNATURE_trace                                                                                            \
    .name = "trace", .schema = "trace(Tensor self) -> Tensor", .category = "reduction",                                \
    .doc = "Sums the diagonal of a matrix.", .grad_fn_name = "TraceBackward0", .parameters = wk__parameters_t,         \
    .parameter_count = 1, .results = 1, .invoke = wk__invoke_trace

#define WK__SIGNATURE_diag_embed                                                                                       \
    .name = "diag_embed", .schema = "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",       \
    .category = "indexing",                                                                                            \
    .doc = "Writes vectors along the last dimension into the diagonals of new matrices, which are 0 elsewhere.",       \
    .grad_fn_name = "DiagEmbedBackward0", .parameters = wk__parameters_diag_embed, .parameter_count = 4, .results = 1, \
    .invoke = wk__invoke_diag_embed

#define WK__SIGNATURE_index_fill                                                                                       \
    .name = "index_fill", .schema = "index_fill(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",          \
    .category = "indexing", .doc = "Replaces the slices at the indices in index along dim by value.",                  \
    .grad_fn_name = "MaskedFillBackward0", .parameters = wk__parameters_index_fill, .parameter_count = 4,              \
    .results = 1, .invoke = wk__invoke_index_fill, .invoke_in_place = wk__invoke_index_fill_

#define WK__SIGNATURE_index_copy                                                                                       \
    .name = "index_copy", .schema = "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",         \
    .category = "indexing", .doc = "Replaces the slices at the indices in index along dim by those of source.",        \
    .grad_fn_name = "IndexCopyBackward0", .parameters = wk__parameters_index_add, .parameter_count = 4, .results = 1,  \
    .invoke = wk__invoke_index_copy, .invoke_in_place = wk__invoke_index_copy_

#define WK__SIGNATURE_index_put                                                                                        \
    .name = "index_put",                                                                                               \
    .schema = "index_put(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) -> Tensor",              \
    .category = "indexing",                                                                                            \
    .doc = "Writes values to the elements that index tensors select, one tensor for each of the first dimensions, or " \
           "adds them.",                                                                                               \
    .grad_fn_name = "IndexPutBackward0", .parameters = wk__parameters_index_put, .parameter_count = 4, .results = 1,   \
    .invoke = wk__invoke_index_put, .invoke_in_place = wk__invoke_index_put_

#define WK__SIGNATURE_masked_scatter                                                                                   \
    .name = "masked_scatter", .schema = "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",           \
    .category = "indexing", .doc = "Replaces the elements of x where mask is true by those of source, in order.",      \
    .grad_fn_name = "MaskedScatterBackward0", .parameters = wk__parameters_masked_scatter, .parameter_count = 3,       \
    .results = 1, .invoke = wk__invoke_masked_scatter, .invoke_in_place = wk__invoke_masked_scatter_

#define WK__SIGNATURE_scatter_reduce                                                                                   \
    .name = "scatter_reduce",                                                                                          \
    .schema = "scatter_reduce(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) " \
              "-> Tensor",                                                                                             \
    .category = "indexing",                                                                                            \
    .doc = "Reduces the elements of source with the same index, together with the element of x at that index, or "     \
           "without it if .exclude_self is set.",                                                                      \
    .grad_fn_name = "ScatterReduceBackward0", .dtypes = WK__NUMBERS, .parameters = wk__parameters_scatter_reduce,      \
    .parameter_count = 6, .results = 1, .invoke = wk__invoke_scatter_reduce,                                           \
    .invoke_in_place = wk__invoke_scatter_reduce_

#define WK__SIGNATURE_embedding_bag                                                                                    \
    .name = "embedding_bag",                                                                                           \
    .schema = "embedding_bag(Tensor input, Tensor weight, Tensor? offsets=None, float? max_norm=None, float "          \
              "norm_type=2, bool scale_grad_by_freq=False, str mode=\"mean\", Tensor? per_sample_weights=None, bool "  \
              "include_last_offset=False, int? padding_idx=None) -> Tensor",                                           \
    .category = "indexing",                                                                                            \
    .doc = "Computes the mean, sum or maximum of the rows of weight that each bag of indices selects.",                \
    .grad_fn_name = "EmbeddingBagBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_embedding_bag,         \
    .parameter_count = 10, .results = 1, .data_dependent_shape = true, .invoke = wk__invoke_embedding_bag

#endif
