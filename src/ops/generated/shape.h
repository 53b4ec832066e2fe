/* SPDX-License-Identifier: Apache-2.0 */
/* The signatures of the ops of wick/shape.h: what their descriptors begin with. The compiler refuses a member that
 * the op's file sets as well. */
/* Written by scripts/generate_ops.py from src/ops/rows/shape: edit those. */
#ifndef WICK_OPS_GENERATED_SHAPE_H
#define WICK_OPS_GENERATED_SHAPE_H

#include "../../base/options.h"
#include "../call.h"
#include <wick/shape.h>

/* The entries for wk_call of ops that take more than tensors. */
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
int wk__invoke_cat(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_stack(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_repeat(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_tile(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_flip(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_index_select(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_gather(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_take(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_embedding(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_scatter_add(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_scatter_add_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_index_add(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_index_add_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_masked_select(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_nonzero(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_one_hot(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_tril(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_triu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);

#define WK__SIGNATURE_reshape                                                                                          \
    .name = "reshape", .schema = "reshape(Tensor self, int[] shape) -> Tensor", .group = "view",                       \
    .doc = "another shape over the same elements in row-major order: a view when possible, else a copy; one size may " \
           "be -1",                                                                                                    \
    .node = "ViewBackward0",                                                                                           \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "shape", .doc = "", .kind = WK_VALUE_INTS}},     \
    .parameter_count = 2, .results = 1, .view = true, .invoke = wk__invoke_reshape

#define WK__SIGNATURE_view_as                                                                                          \
    .name = "view_as", .schema = "view_as(Tensor self, Tensor other) -> Tensor", .group = "view",                      \
    .doc = "in the shape of another tensor", .node = "ViewBackward0",                                                  \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "other", .doc = "", .kind = WK_VALUE_TENSOR}},   \
    .parameter_count = 2, .results = 1, .view = true, .invoke = wk__invoke_view_as

#define WK__SIGNATURE_flatten                                                                                          \
    .name = "flatten", .schema = "flatten(Tensor self, int start_dim=0, int end_dim=-1) -> Tensor", .group = "view",   \
    .doc = "several dimensions as one", .node = "ViewBackward0",                                                       \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "start_dim",                                                                   \
                                .doc = "",                                                                             \
                                .kind = WK_VALUE_INT,                                                                  \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_INT, .i = 0}},                                      \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "end_dim",                                                                     \
                                .doc = "",                                                                             \
                                .kind = WK_VALUE_INT,                                                                  \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_INT, .i = -1}}},                                    \
    .parameter_count = 3, .results = 1, .view = true, .invoke = wk__invoke_flatten

#define WK__SIGNATURE_unflatten                                                                                        \
    .name = "unflatten", .schema = "unflatten(Tensor self, int dim, int[] sizes) -> Tensor", .group = "view",          \
    .doc = "one dimension as several", .node = "ViewBackward0",                                                        \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT},         \
                               {.size = sizeof(wk_parameter), .name = "sizes", .doc = "", .kind = WK_VALUE_INTS}},     \
    .parameter_count = 3, .results = 1, .view = true, .invoke = wk__invoke_unflatten

#define WK__SIGNATURE_expand                                                                                           \
    .name = "expand", .schema = "expand(Tensor self, int[] size) -> Tensor", .group = "view",                          \
    .doc = "dimensions of size 1 seen as larger ones, without copying; -1 keeps a size", .node = "ExpandBackward0",    \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "size", .doc = "", .kind = WK_VALUE_INTS}},      \
    .parameter_count = 2, .results = 1, .view = true, .invoke = wk__invoke_expand

#define WK__SIGNATURE_expand_as                                                                                        \
    .name = "expand_as", .schema = "expand_as(Tensor self, Tensor other) -> Tensor", .group = "view",                  \
    .doc = "expanded to the shape of another tensor", .node = "ExpandBackward0",                                       \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "other", .doc = "", .kind = WK_VALUE_TENSOR}},   \
    .parameter_count = 2, .results = 1, .view = true, .invoke = wk__invoke_expand_as

#define WK__SIGNATURE_squeeze                                                                                          \
    .name = "squeeze", .schema = "squeeze(Tensor self, int[]? dim=None) -> Tensor", .group = "view",                   \
    .doc = "without the dimensions of size 1, or those of the named ones", .node = "SqueezeBackward0",                 \
    .parameters =                                                                                                      \
        (const wk_parameter[]){                                                                                        \
            {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},                        \
            {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INTS, .optional = true}},        \
    .parameter_count = 2, .results = 1, .view = true, .invoke = wk__invoke_squeeze

#define WK__SIGNATURE_unsqueeze                                                                                        \
    .name = "unsqueeze", .schema = "unsqueeze(Tensor self, int dim) -> Tensor", .group = "view",                       \
    .doc = "with a new dimension of size 1 at this place", .node = "UnsqueezeBackward0",                               \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT}},        \
    .parameter_count = 2, .results = 1, .view = true, .invoke = wk__invoke_unsqueeze

#define WK__SIGNATURE_transpose                                                                                        \
    .name = "transpose", .schema = "transpose(Tensor self, int dim0, int dim1) -> Tensor", .group = "view",            \
    .doc = "two dimensions change places", .node = "TransposeBackward0",                                               \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "dim0", .doc = "", .kind = WK_VALUE_INT},        \
                               {.size = sizeof(wk_parameter), .name = "dim1", .doc = "", .kind = WK_VALUE_INT}},       \
    .parameter_count = 3, .results = 1, .view = true, .invoke = wk__invoke_transpose

#define WK__SIGNATURE_swapaxes                                                                                         \
    .name = "swapaxes", .schema = "swapaxes(Tensor self, int axis0, int axis1) -> Tensor", .group = "view",            \
    .doc = "transpose by its other name", .node = "TransposeBackward0",                                                \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "axis0", .doc = "", .kind = WK_VALUE_INT},       \
                               {.size = sizeof(wk_parameter), .name = "axis1", .doc = "", .kind = WK_VALUE_INT}},      \
    .parameter_count = 3, .results = 1, .view = true, .invoke = wk__invoke_swapaxes

#define WK__SIGNATURE_t                                                                                                \
    .name = "t", .schema = "t(Tensor self) -> Tensor", .group = "view", .doc = "the transpose of a matrix",            \
    .node = "TBackward0",                                                                                              \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR}},    \
    .parameter_count = 1, .results = 1, .view = true, .invoke = wk__invoke_t

#define WK__SIGNATURE_permute                                                                                          \
    .name = "permute", .schema = "permute(Tensor self, int[] dims) -> Tensor", .group = "view",                        \
    .doc = "dimensions in another order", .node = "PermuteBackward0",                                                  \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "dims", .doc = "", .kind = WK_VALUE_INTS}},      \
    .parameter_count = 2, .results = 1, .view = true, .invoke = wk__invoke_permute

#define WK__SIGNATURE_movedim                                                                                          \
    .name = "movedim", .schema = "movedim(Tensor self, int source, int destination) -> Tensor", .group = "view",       \
    .doc = "one dimension moves to another place", .node = "PermuteBackward0",                                         \
    .parameters =                                                                                                      \
        (const wk_parameter[]){                                                                                        \
            {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},                        \
            {.size = sizeof(wk_parameter), .name = "source", .doc = "", .kind = WK_VALUE_INT},                         \
            {.size = sizeof(wk_parameter), .name = "destination", .doc = "", .kind = WK_VALUE_INT}},                   \
    .parameter_count = 3, .results = 1, .view = true, .invoke = wk__invoke_movedim

#define WK__SIGNATURE_slice                                                                                            \
    .name = "slice", .schema = "slice(Tensor self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",  \
    .group = "view", .doc = "places start, start + step, ... below end of a dimension", .node = "SliceBackward0",      \
    .parameters =                                                                                                      \
        (const wk_parameter[]){                                                                                        \
            {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},                        \
            {.size = sizeof(wk_parameter),                                                                             \
             .name = "dim",                                                                                            \
             .doc = "",                                                                                                \
             .kind = WK_VALUE_INT,                                                                                     \
             .optional = true,                                                                                         \
             .default_value = {.kind = WK_VALUE_INT, .i = 0}},                                                         \
            {.size = sizeof(wk_parameter), .name = "start", .doc = "", .kind = WK_VALUE_INT, .optional = true},        \
            {.size = sizeof(wk_parameter), .name = "end", .doc = "", .kind = WK_VALUE_INT, .optional = true},          \
            {.size = sizeof(wk_parameter),                                                                             \
             .name = "step",                                                                                           \
             .doc = "",                                                                                                \
             .kind = WK_VALUE_INT,                                                                                     \
             .optional = true,                                                                                         \
             .default_value = {.kind = WK_VALUE_INT, .i = 1}}},                                                        \
    .parameter_count = 5, .results = 1, .view = true, .invoke = wk__invoke_slice

#define WK__SIGNATURE_narrow                                                                                           \
    .name = "narrow", .schema = "narrow(Tensor self, int dim, int start, int length) -> Tensor", .group = "view",      \
    .doc = "`length` places of a dimension from start on", .node = "SliceBackward0",                                   \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT},         \
                               {.size = sizeof(wk_parameter), .name = "start", .doc = "", .kind = WK_VALUE_INT},       \
                               {.size = sizeof(wk_parameter), .name = "length", .doc = "", .kind = WK_VALUE_INT}},     \
    .parameter_count = 4, .results = 1, .view = true, .invoke = wk__invoke_narrow

#define WK__SIGNATURE_select                                                                                           \
    .name = "select", .schema = "select(Tensor self, int dim, int index) -> Tensor", .group = "view",                  \
    .doc = "one place of a dimension, which goes", .node = "SelectBackward0",                                          \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT},         \
                               {.size = sizeof(wk_parameter), .name = "index", .doc = "", .kind = WK_VALUE_INT}},      \
    .parameter_count = 3, .results = 1, .view = true, .invoke = wk__invoke_select

#define WK__SIGNATURE_diagonal                                                                                         \
    .name = "diagonal", .schema = "diagonal(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",             \
    .group = "view", .doc = "the diagonal of two dimensions as a new last one", .node = "DiagonalBackward0",           \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "offset",                                                                      \
                                .doc = "",                                                                             \
                                .kind = WK_VALUE_INT,                                                                  \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_INT, .i = 0}},                                      \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "dim1",                                                                        \
                                .doc = "",                                                                             \
                                .kind = WK_VALUE_INT,                                                                  \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_INT, .i = 0}},                                      \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "dim2",                                                                        \
                                .doc = "",                                                                             \
                                .kind = WK_VALUE_INT,                                                                  \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_INT, .i = 1}}},                                     \
    .parameter_count = 4, .results = 1, .view = true, .invoke = wk__invoke_diagonal

#define WK__SIGNATURE_unfold                                                                                           \
    .name = "unfold", .schema = "unfold(Tensor self, int dimension, int size, int step) -> Tensor", .group = "view",   \
    .doc = "windows of a dimension, each `step` further, as a new last dimension", .node = "UnfoldBackward0",          \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "dimension", .doc = "", .kind = WK_VALUE_INT},   \
                               {.size = sizeof(wk_parameter), .name = "size", .doc = "", .kind = WK_VALUE_INT},        \
                               {.size = sizeof(wk_parameter), .name = "step", .doc = "", .kind = WK_VALUE_INT}},       \
    .parameter_count = 4, .results = 1, .view = true, .invoke = wk__invoke_unfold

#define WK__SIGNATURE_as_strided                                                                                       \
    .name = "as_strided",                                                                                              \
    .schema = "as_strided(Tensor self, int[] size, int[] stride, int storage_offset=0) -> Tensor", .group = "view",    \
    .doc = "any shape and strides over the elements of self, which must be dense", .node = "AsStridedBackward0",       \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "size", .doc = "", .kind = WK_VALUE_INTS},       \
                               {.size = sizeof(wk_parameter), .name = "stride", .doc = "", .kind = WK_VALUE_INTS},     \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "storage_offset",                                                              \
                                .doc = "",                                                                             \
                                .kind = WK_VALUE_INT,                                                                  \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_INT, .i = 0}}},                                     \
    .parameter_count = 4, .results = 1, .view = true

#define WK__SIGNATURE_chunk                                                                                            \
    .name = "chunk", .schema = "chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", .group = "view",               \
    .doc = "at most `chunks` pieces of equal size, the last perhaps smaller", .node = "SplitBackward0",                \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "chunks", .doc = "", .kind = WK_VALUE_INT},      \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "dim",                                                                         \
                                .doc = "",                                                                             \
                                .kind = WK_VALUE_INT,                                                                  \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_INT, .i = 0}}},                                     \
    .parameter_count = 3, .results = -1, .view = true

#define WK__SIGNATURE_split                                                                                            \
    .name = "split", .schema = "split(Tensor self, int split_size, int dim=0) -> Tensor[]", .group = "view",           \
    .doc = "pieces of split_size places, the last perhaps smaller", .node = "SplitBackward0",                          \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "split_size", .doc = "", .kind = WK_VALUE_INT},  \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "dim",                                                                         \
                                .doc = "",                                                                             \
                                .kind = WK_VALUE_INT,                                                                  \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_INT, .i = 0}}},                                     \
    .parameter_count = 3, .results = -1, .view = true

#define WK__SIGNATURE_split_with_sizes                                                                                 \
    .name = "split_with_sizes", .schema = "split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",   \
    .group = "view", .doc = "pieces of these sizes", .node = "SplitWithSizesBackward0",                                \
    .parameters =                                                                                                      \
        (const wk_parameter[]){                                                                                        \
            {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},                        \
            {.size = sizeof(wk_parameter), .name = "split_sizes", .doc = "", .kind = WK_VALUE_INTS},                   \
            {.size = sizeof(wk_parameter),                                                                             \
             .name = "dim",                                                                                            \
             .doc = "",                                                                                                \
             .kind = WK_VALUE_INT,                                                                                     \
             .optional = true,                                                                                         \
             .default_value = {.kind = WK_VALUE_INT, .i = 0}}},                                                        \
    .parameter_count = 3, .results = -1, .view = true

#define WK__SIGNATURE_unbind                                                                                           \
    .name = "unbind", .schema = "unbind(Tensor self, int dim=0) -> Tensor[]", .group = "view",                         \
    .doc = "each place of a dimension by itself, without that dimension", .node = "UnbindBackward0",                   \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "dim",                                                                         \
                                .doc = "",                                                                             \
                                .kind = WK_VALUE_INT,                                                                  \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_INT, .i = 0}}},                                     \
    .parameter_count = 2, .results = -1, .view = true

#define WK__SIGNATURE_cat                                                                                              \
    .name = "cat", .schema = "cat(Tensor[] tensors, int dim=0) -> Tensor", .group = "joining",                         \
    .doc = "one behind the other along a dimension", .node = "CatBackward0",                                           \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "tensors", .doc = "", .kind = WK_VALUE_TENSORS}, \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "dim",                                                                         \
                                .doc = "",                                                                             \
                                .kind = WK_VALUE_INT,                                                                  \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_INT, .i = 0}}},                                     \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_cat

#define WK__SIGNATURE_stack                                                                                            \
    .name = "stack", .schema = "stack(Tensor[] tensors, int dim=0) -> Tensor", .group = "joining",                     \
    .doc = "along a new dimension", .node = "StackBackward0",                                                          \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "tensors", .doc = "", .kind = WK_VALUE_TENSORS}, \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "dim",                                                                         \
                                .doc = "",                                                                             \
                                .kind = WK_VALUE_INT,                                                                  \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_INT, .i = 0}}},                                     \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_stack

#define WK__SIGNATURE_repeat                                                                                           \
    .name = "repeat", .schema = "repeat(Tensor self, int[] repeats) -> Tensor", .group = "joining",                    \
    .doc = "copies one behind the other along each dimension", .node = "RepeatBackward0",                              \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "repeats", .doc = "", .kind = WK_VALUE_INTS}},   \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_repeat

#define WK__SIGNATURE_tile                                                                                             \
    .name = "tile", .schema = "tile(Tensor self, int[] dims) -> Tensor", .group = "joining",                           \
    .doc = "repeat, with 1 for the numbers that are missing in front", .node = "RepeatBackward0",                      \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "dims", .doc = "", .kind = WK_VALUE_INTS}},      \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_tile

#define WK__SIGNATURE_repeat_interleave                                                                                \
    .name = "repeat_interleave", .schema = "repeat_interleave(Tensor self, int repeats, int? dim=None) -> Tensor",     \
    .group = "joining", .doc = "each place of a dimension, or each element, several times in a row",                   \
    .node = "ViewBackward0",                                                                                           \
    .parameters =                                                                                                      \
        (const wk_parameter[]){                                                                                        \
            {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},                        \
            {.size = sizeof(wk_parameter), .name = "repeats", .doc = "", .kind = WK_VALUE_INT},                        \
            {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT, .optional = true}},         \
    .parameter_count = 3, .results = 1

#define WK__SIGNATURE_flip                                                                                             \
    .name = "flip", .schema = "flip(Tensor self, int[] dims) -> Tensor", .group = "joining",                           \
    .doc = "the named dimensions backwards", .node = "FlipBackward0",                                                  \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "dims", .doc = "", .kind = WK_VALUE_INTS}},      \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_flip

#define WK__SIGNATURE_roll                                                                                             \
    .name = "roll", .schema = "roll(Tensor self, int[] shifts, int[] dims=[]) -> Tensor", .group = "joining",          \
    .doc = "shifted round; what leaves at one end comes in at the other", .node = "RollBackward0",                     \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "shifts", .doc = "", .kind = WK_VALUE_INTS},     \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "dims",                                                                        \
                                .doc = "",                                                                             \
                                .kind = WK_VALUE_INTS,                                                                 \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_INTS, .count = 0, .ints = NULL}}},                  \
    .parameter_count = 3, .results = 1

#define WK__SIGNATURE_index_select                                                                                     \
    .name = "index_select", .schema = "index_select(Tensor self, int dim, Tensor index) -> Tensor",                    \
    .group = "indexing", .doc = "the places of a dimension that a vector names", .node = "IndexSelectBackward0",       \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT},         \
                               {.size = sizeof(wk_parameter), .name = "index", .doc = "", .kind = WK_VALUE_TENSOR}},   \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_index_select

#define WK__SIGNATURE_gather                                                                                           \
    .name = "gather", .schema = "gather(Tensor self, int dim, Tensor index) -> Tensor", .group = "indexing",           \
    .doc = "for each place of the index, the element at that place of a dimension", .node = "GatherBackward0",         \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT},         \
                               {.size = sizeof(wk_parameter), .name = "index", .doc = "", .kind = WK_VALUE_TENSOR}},   \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_gather

#define WK__SIGNATURE_take_along_dim                                                                                   \
    .name = "take_along_dim", .schema = "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",        \
    .group = "indexing", .doc = "gather with both operands broadcast, or, without a dimension, as rows of elements",   \
    .node = "GatherBackward0",                                                                                         \
    .parameters =                                                                                                      \
        (const wk_parameter[]){                                                                                        \
            {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},                        \
            {.size = sizeof(wk_parameter), .name = "indices", .doc = "", .kind = WK_VALUE_TENSOR},                     \
            {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT, .optional = true}},         \
    .parameter_count = 3, .results = 1

#define WK__SIGNATURE_take                                                                                             \
    .name = "take", .schema = "take(Tensor self, Tensor index) -> Tensor", .group = "indexing",                        \
    .doc = "self as one row of elements, at the places of the index", .node = "TakeBackward0",                         \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "index", .doc = "", .kind = WK_VALUE_TENSOR}},   \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_take

#define WK__SIGNATURE_embedding                                                                                        \
    .name = "embedding", .schema = "embedding(Tensor input, Tensor weight) -> Tensor", .group = "indexing",            \
    .doc = "the rows of the weight that the input names", .node = "EmbeddingBackward0",                                \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "input", .doc = "", .kind = WK_VALUE_TENSOR},    \
                               {.size = sizeof(wk_parameter), .name = "weight", .doc = "", .kind = WK_VALUE_TENSOR}},  \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_embedding

#define WK__SIGNATURE_scatter_add                                                                                      \
    .name = "scatter_add", .schema = "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",          \
    .group = "indexing", .doc = "self with src added at the places of the index, in their order",                      \
    .node = "ScatterAddBackward0",                                                                                     \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT},         \
                               {.size = sizeof(wk_parameter), .name = "index", .doc = "", .kind = WK_VALUE_TENSOR},    \
                               {.size = sizeof(wk_parameter), .name = "src", .doc = "", .kind = WK_VALUE_TENSOR}},     \
    .parameter_count = 4, .results = 1, .invoke = wk__invoke_scatter_add, .invoke_in_place = wk__invoke_scatter_add_

#define WK__SIGNATURE_scatter                                                                                          \
    .name = "scatter", .schema = "scatter(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",                  \
    .group = "indexing",                                                                                               \
    .doc = "self with src, or a number, put at the places of the index; of several the last stays",                    \
    .node = "ScatterBackward0",                                                                                        \
    .parameters =                                                                                                      \
        (const wk_parameter[]){                                                                                        \
            {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},                        \
            {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT},                            \
            {.size = sizeof(wk_parameter), .name = "index", .doc = "", .kind = WK_VALUE_TENSOR},                       \
            {.size = sizeof(wk_parameter), .name = "src", .doc = "", .kind = WK_VALUE_TENSOR, .takes_number = true}},  \
    .parameter_count = 4, .results = 1

#define WK__SIGNATURE_index_add                                                                                        \
    .name = "index_add", .schema = "index_add(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",           \
    .group = "indexing", .doc = "self with the slices of source added at the places that a vector names",              \
    .node = "IndexAddBackward0",                                                                                       \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT},         \
                               {.size = sizeof(wk_parameter), .name = "index", .doc = "", .kind = WK_VALUE_TENSOR},    \
                               {.size = sizeof(wk_parameter), .name = "source", .doc = "", .kind = WK_VALUE_TENSOR}},  \
    .parameter_count = 4, .results = 1, .invoke = wk__invoke_index_add, .invoke_in_place = wk__invoke_index_add_

#define WK__SIGNATURE_masked_select                                                                                    \
    .name = "masked_select", .schema = "masked_select(Tensor self, Tensor mask) -> Tensor", .group = "indexing",       \
    .doc = "the elements where the mask is true, as a vector", .node = "MaskedSelectBackward0",                        \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "mask", .doc = "", .kind = WK_VALUE_TENSOR}},    \
    .parameter_count = 2, .results = 1, .waits = true, .invoke = wk__invoke_masked_select

#define WK__SIGNATURE_nonzero                                                                                          \
    .name = "nonzero", .schema = "nonzero(Tensor self) -> Tensor", .group = "indexing",                                \
    .doc = "the places of the elements that are not 0, one a row",                                                     \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR}},    \
    .parameter_count = 1, .results = 1, .waits = true, .invoke = wk__invoke_nonzero

#define WK__SIGNATURE_nonzero_numpy                                                                                    \
    .name = "nonzero_numpy", .schema = "nonzero_numpy(Tensor self) -> Tensor[]", .group = "indexing",                  \
    .doc = "the places of the elements that are not 0, a vector for each dimension: where with one argument",          \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR}},    \
    .parameter_count = 1, .results = -1, .waits = true

#define WK__SIGNATURE_one_hot                                                                                          \
    .name = "one_hot", .schema = "one_hot(Tensor self, int num_classes=-1) -> Tensor", .group = "indexing",            \
    .doc = "1 where the number is the place in the new last dimension, else 0; -1 classes: one more than the largest " \
           "number, which is waited for",                                                                              \
    .domain = WK__INTS,                                                                                                \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "num_classes",                                                                 \
                                .doc = "",                                                                             \
                                .kind = WK_VALUE_INT,                                                                  \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_INT, .i = -1}}},                                    \
    .parameter_count = 2, .results = 1, .waits = true, .invoke = wk__invoke_one_hot

#define WK__SIGNATURE_tril                                                                                             \
    .name = "tril", .schema = "tril(Tensor self, int diagonal=0) -> Tensor", .group = "indexing",                      \
    .doc = "what lies on and below the diagonal, elsewhere 0", .node = "TrilBackward0",                                \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "diagonal",                                                                    \
                                .doc = "",                                                                             \
                                .kind = WK_VALUE_INT,                                                                  \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_INT, .i = 0}}},                                     \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_tril

#define WK__SIGNATURE_triu                                                                                             \
    .name = "triu", .schema = "triu(Tensor self, int diagonal=0) -> Tensor", .group = "indexing",                      \
    .doc = "what lies on and above the diagonal, elsewhere 0", .node = "TriuBackward0",                                \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "diagonal",                                                                    \
                                .doc = "",                                                                             \
                                .kind = WK_VALUE_INT,                                                                  \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_INT, .i = 0}}},                                     \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_triu

#endif
