/* SPDX-License-Identifier: Apache-2.0 */
/* The signatures of the ops of wick/matmul.h: what their descriptors begin with. The compiler refuses a member that
 * the op's file sets as well. */
/* Written by scripts/generate_ops.py from src/ops/specs/matmul: edit those. */
#ifndef WICK_OPS_GENERATED_MATMUL_H
#define WICK_OPS_GENERATED_MATMUL_H

#include "base/options.h"
#include "ops/core/call.h"
#include <wick/call.h>
#include <wick/matmul.h>

/* Entries for wk_call of ops that take more than tensors. */
int wk__invoke_matmul(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_mm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_bmm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_mv(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_dot(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_outer(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_addmm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_baddbmm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_linear(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_einsum(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_tensordot(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_kron(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_cross(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_rotary(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_scaled_dot_product_attention(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_dequantize(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_quantize(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_quantized_linear(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);

/* Options as read by wk__options, with defaults of omitted numbers and constants. */
static inline bool wk__read_addmm_options(wk_site site, const char *op, const wk_addmm_options *given,
                                          wk_addmm_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->beta = wk__option_or(own->beta, 1);
    own->alpha = wk__option_or(own->alpha, 1);
    return true;
}
static inline bool wk__read_rotary_options(wk_site site, const char *op, const wk_rotary_options *given,
                                           wk_rotary_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->base = wk__option_or(own->base, 10000.0);
    return true;
}
static inline bool wk__read_attention_options(wk_site site, const char *op, const wk_attention_options *given,
                                              wk_attention_options *own)
{
    if (!wk__options(site, op, given, own)) return false;
    own->dropout_p = wk__option_or(own->dropout_p, 0);
    return true;
}

extern const wk_parameter wk__parameters_matmul[];
extern const wk_parameter wk__parameters_mm[];
extern const wk_parameter wk__parameters_mv[];
extern const wk_parameter wk__parameters_dot[];
extern const wk_parameter wk__parameters_outer[];
extern const wk_parameter wk__parameters_addmm[];
extern const wk_parameter wk__parameters_baddbmm[];
extern const wk_parameter wk__parameters_linear[];
extern const wk_parameter wk__parameters_einsum[];
extern const wk_parameter wk__parameters_tensordot[];
extern const wk_parameter wk__parameters_cross[];
extern const wk_parameter wk__parameters_rotary[];
extern const wk_parameter wk__parameters_scaled_dot_product_attention[];
extern const wk_parameter wk__parameters_dequantize[];
extern const wk_parameter wk__parameters_quantize[];
extern const wk_parameter wk__parameters_quantized_linear[];

#define WK__SIGNATURE_matmul                                                                                           \
    .name = "matmul", .schema = "matmul(Tensor self, Tensor other) -> Tensor", .category = "matmul",                   \
    .doc = "Multiplies vectors, matrices, or stacks of matrices.", .grad_fn_name = "UnsafeViewBackward0",              \
    .dtypes = WK__NUMBERS, .parameters = wk__parameters_matmul, .parameter_count = 2, .results = 1,                    \
    .invoke = wk__invoke_matmul

#define WK__SIGNATURE_mm                                                                                               \
    .name = "mm", .schema = "mm(Tensor self, Tensor mat2) -> Tensor", .category = "matmul",                            \
    .doc = "Multiplies two matrices.", .grad_fn_name = "MmBackward0", .dtypes = WK__NUMBERS,                           \
    .parameters = wk__parameters_mm, .parameter_count = 2, .results = 1, .invoke = wk__invoke_mm

#define WK__SIGNATURE_bmm                                                                                              \
    .name = "bmm", .schema = "bmm(Tensor self, Tensor mat2) -> Tensor", .category = "matmul",                          \
    .doc = "Multiplies two stacks of matrices.", .grad_fn_name = "BmmBackward0", .dtypes = WK__NUMBERS,                \
    .parameters = wk__parameters_mm, .parameter_count = 2, .results = 1, .invoke = wk__invoke_bmm

#define WK__SIGNATURE_mv                                                                                               \
    .name = "mv", .schema = "mv(Tensor self, Tensor vec) -> Tensor", .category = "matmul",                             \
    .doc = "Multiplies a matrix by a vector.", .grad_fn_name = "MvBackward0", .dtypes = WK__NUMBERS,                   \
    .parameters = wk__parameters_mv, .parameter_count = 2, .results = 1, .invoke = wk__invoke_mv

#define WK__SIGNATURE_dot                                                                                              \
    .name = "dot", .schema = "dot(Tensor self, Tensor tensor) -> Tensor", .category = "matmul",                        \
    .doc = "Computes the dot product of two vectors.", .grad_fn_name = "DotBackward0", .dtypes = WK__NUMBERS,          \
    .parameters = wk__parameters_dot, .parameter_count = 2, .results = 1, .invoke = wk__invoke_dot

#define WK__SIGNATURE_outer                                                                                            \
    .name = "outer", .schema = "outer(Tensor self, Tensor vec2) -> Tensor", .category = "matmul",                      \
    .doc = "Computes the outer product of two vectors.", .grad_fn_name = "MulBackward0",                               \
    .parameters = wk__parameters_outer, .parameter_count = 2, .results = 1, .invoke = wk__invoke_outer

#define WK__SIGNATURE_addmm                                                                                            \
    .name = "addmm",                                                                                                   \
    .schema = "addmm(Tensor self, Tensor mat1, Tensor mat2, Scalar beta=1, Scalar alpha=1) -> Tensor",                 \
    .category = "matmul", .doc = "Adds a multiple of x to a multiple of the product of a and b.",                      \
    .grad_fn_name = "AddmmBackward0", .dtypes = WK__NUMBERS, .parameters = wk__parameters_addmm, .parameter_count = 5, \
    .results = 1, .invoke = wk__invoke_addmm

#define WK__SIGNATURE_baddbmm                                                                                          \
    .name = "baddbmm",                                                                                                 \
    .schema = "baddbmm(Tensor self, Tensor batch1, Tensor batch2, Scalar beta=1, Scalar alpha=1) -> Tensor",           \
    .category = "matmul", .doc = "Adds a multiple of x to a multiple of the products of two stacks of matrices.",      \
    .grad_fn_name = "BaddbmmBackward0", .dtypes = WK__NUMBERS, .parameters = wk__parameters_baddbmm,                   \
    .parameter_count = 5, .results = 1, .invoke = wk__invoke_baddbmm

#define WK__SIGNATURE_linear                                                                                           \
    .name = "linear", .schema = "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",                    \
    .category = "matmul", .doc = "Multiplies x by the transpose of weight and adds bias.",                             \
    .grad_fn_name = "AddmmBackward0", .dtypes = WK__NUMBERS, .parameters = wk__parameters_linear,                      \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_linear

#define WK__SIGNATURE_einsum                                                                                           \
    .name = "einsum", .schema = "einsum(str equation, Tensor[] tensors) -> Tensor", .category = "matmul",              \
    .doc = "Multiplies tensors element by element and sums over the labels that the result lacks.",                    \
    .grad_fn_name = "ViewBackward0", .dtypes = WK__NUMBERS, .parameters = wk__parameters_einsum, .parameter_count = 2, \
    .results = 1, .invoke = wk__invoke_einsum

#define WK__SIGNATURE_tensordot                                                                                        \
    .name = "tensordot",                                                                                               \
    .schema = "tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",                     \
    .category = "matmul", .doc = "Multiplies a and b and sums over dimensions dims_a of a and dims_b of b, in pairs.", \
    .grad_fn_name = "ViewBackward0", .dtypes = WK__NUMBERS, .parameters = wk__parameters_tensordot,                    \
    .parameter_count = 4, .results = 1, .invoke = wk__invoke_tensordot

#define WK__SIGNATURE_kron                                                                                             \
    .name = "kron", .schema = "kron(Tensor self, Tensor other) -> Tensor", .category = "matmul",                       \
    .doc = "Computes the Kronecker product: replaces each element of a by its product with b.",                        \
    .grad_fn_name = "ViewBackward0", .parameters = wk__parameters_matmul, .parameter_count = 2, .results = 1,          \
    .invoke = wk__invoke_kron

#define WK__SIGNATURE_cross                                                                                            \
    .name = "cross", .schema = "cross(Tensor self, Tensor other, int? dim=None) -> Tensor", .category = "matmul",      \
    .doc = "Computes the cross products of vectors of three elements along dim.",                                      \
    .grad_fn_name = "LinalgCrossBackward0", .dtypes = WK__NUMBERS, .parameters = wk__parameters_cross,                 \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_cross

#define WK__SIGNATURE_rotary                                                                                           \
    .name = "rotary",                                                                                                  \
    .schema = "rotary(Tensor x, Tensor positions, float base=10000.0, bool interleaved=False) -> Tensor",              \
    .category = "attention",                                                                                           \
    .doc = "Rotates pairs of elements of vectors by angles that grow with the position (rotary position embedding).",  \
    .grad_fn_name = "ToCopyBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_rotary,                      \
    .parameter_count = 4, .results = 1, .invoke = wk__invoke_rotary

#define WK__SIGNATURE_scaled_dot_product_attention                                                                     \
    .name = "scaled_dot_product_attention",                                                                            \
    .schema = "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float "    \
              "dropout_p=0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",             \
    .category = "attention",                                                                                           \
    .doc = "Averages the rows of value for each row of query, weighted by the softmax of its products with the rows "  \
           "of key.",                                                                                                  \
    .grad_fn_name = "ScaledDotProductFlashAttentionForCpuBackward0", .dtypes = WK__FLOATS,                             \
    .parameters = wk__parameters_scaled_dot_product_attention, .parameter_count = 8, .results = 1,                     \
    .invoke = wk__invoke_scaled_dot_product_attention

#define WK__SIGNATURE_dequantize                                                                                       \
    .name = "dequantize", .schema = "dequantize(Tensor blocks, str format=\"q8_0\") -> Tensor",                        \
    .category = "quantised", .doc = "Computes the elements of quantised blocks.", .dtypes = 1 << WK_U8,                \
    .parameters = wk__parameters_dequantize, .parameter_count = 2, .results = 1, .invoke = wk__invoke_dequantize

#define WK__SIGNATURE_quantize                                                                                         \
    .name = "quantize", .schema = "quantize(Tensor self, str format=\"q8_0\") -> Tensor", .category = "quantised",     \
    .doc = "Rounds the elements of x to quantised blocks.", .dtypes = WK__FLOATS,                                      \
    .parameters = wk__parameters_quantize, .parameter_count = 2, .results = 1, .invoke = wk__invoke_quantize

#define WK__SIGNATURE_quantized_linear                                                                                 \
    .name = "quantized_linear",                                                                                        \
    .schema = "quantized_linear(Tensor input, Tensor blocks, Tensor? bias=None, str format=\"q8_0\") -> Tensor",       \
    .category = "quantised", .doc = "Multiplies x by the transpose of a weight of quantised blocks and adds bias.",    \
    .grad_fn_name = "AddmmBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_quantized_linear,             \
    .parameter_count = 4, .results = 1, .invoke = wk__invoke_quantized_linear

#endif
