/* SPDX-License-Identifier: Apache-2.0 */
/* wick/matmul.h: products of matrices and vectors, attention, quantised weights.
 *
 * Operands have one dtype, any but bool, and so has the result. Products of f16 and bf16 accumulate in f32. Integers
 * wrap; i8 accumulates in i8, so convert first, wk_to_dtype(x, WK_I32), to keep products beyond 127. */
/* Written by scripts/generate_ops.py from src/ops/specs/matmul: edit those. */
#ifndef WICK_MATMUL_H
#define WICK_MATMUL_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "matmul_calls.h"

/* ---- products ---------------------------------------------------------------------------------------------------- */

/* wk_matmul(a, b): Multiplies vectors, matrices, or stacks of matrices. A vector on the left is one row, on the
 * right one column; that dimension is then removed.
 * Shapes:    (k) (k) -> (); (m, k) (k, n) -> (m, n); with more dimensions the last two are matrices and the others
 *            broadcast
 * Dtypes:    any but bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if inner sizes differ, an operand has no dimension or the others do not broadcast;
 *            WK_ERR_DTYPE if the dtypes differ
 * Example:   wk_matmul(x, y) is {3, 7} for x = {{1, 2}, {3, 4}}, y = {1, 1}
 * PyTorch:   torch.matmul */
#define wk_matmul(...) WK_EXACT_NEW_(2, wk_matmul, "a, b", __VA_ARGS__)

/* wk_mm(a, b): Multiplies two matrices.
 * Shapes:    (m, k) (k, n) -> (m, n)
 * Dtypes:    any but bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if an operand is not a matrix or inner sizes differ; WK_ERR_DTYPE if the dtypes differ
 * Example:   wk_mm(x, y) is {{2, 1}, {4, 3}} for x = {{1, 2}, {3, 4}}, y = {{0, 1}, {1, 0}}
 * PyTorch:   torch.mm */
#define wk_mm(...) WK_EXACT_NEW_(2, wk_mm, "a, b", __VA_ARGS__)

/* wk_bmm(a, b): Multiplies two stacks of matrices.
 * Shapes:    (b, m, k) (b, k, n) -> (b, m, n)
 * Dtypes:    any but bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the sizes do not match so; WK_ERR_DTYPE if the dtypes differ
 * Example:   wk_bmm(x, y) is {{{3}}, {{14}}} for x = {{{1, 2}}, {{3, 4}}}, y = {{{1}, {1}}, {{2}, {2}}}
 * PyTorch:   torch.bmm */
#define wk_bmm(...) WK_EXACT_NEW_(2, wk_bmm, "a, b", __VA_ARGS__)

/* wk_mv(a, b): Multiplies a matrix by a vector.
 * Shapes:    (m, k) (k) -> (m)
 * Dtypes:    any but bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the sizes do not match so; WK_ERR_DTYPE if the dtypes differ
 * Example:   wk_mv(x, y) is {3, 7} for x = {{1, 2}, {3, 4}}, y = {1, 1}
 * PyTorch:   torch.mv */
#define wk_mv(...) WK_EXACT_NEW_(2, wk_mv, "a, b", __VA_ARGS__)

/* wk_dot(a, b): Computes the dot product of two vectors.
 * Shapes:    (k) (k) -> ()
 * Dtypes:    any but bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if the sizes do not match so; WK_ERR_DTYPE if the dtypes differ
 * Example:   wk_dot(x, y) is 11 for x = {1, 2}, y = {3, 4}
 * PyTorch:   torch.dot */
#define wk_dot(...) WK_EXACT_NEW_(2, wk_dot, "a, b", __VA_ARGS__)

/* wk_outer(a, b): Computes the outer product of two vectors.
 *     out[i][j] = a[i] b[j]
 * Shapes:    (m) (n) -> (m, n)
 * Dtypes:    any
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if an operand is not a vector
 * Example:   wk_outer(x, y) is {{3, 4}, {6, 8}} for x = {1, 2}, y = {3, 4}
 * PyTorch:   torch.outer */
#define wk_outer(...) WK_EXACT_NEW_(2, wk_outer, "a, b", __VA_ARGS__)

#ifndef __cplusplus
/* wk_addmm(x, a, b): Adds a multiple of x to a multiple of the product of a and b. If .beta is 0, x has no effect,
 * not even its NaN.
 *     out = beta x + alpha (a @ b)
 * Options:   .beta: default 1. .alpha: default 1
 * Shapes:    a (m, k), b (k, n); x broadcasts to (m, n)
 * Dtypes:    any but bool, the same for x, a and b; for integers .beta and .alpha must be integers of at most 2^53,
 *            as they are doubles (wk_mul takes any int64_t)
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if sizes do not match; WK_ERR_DTYPE if the dtypes differ; WK_ERR_ARGUMENT if a factor of
 *            integers is fractional
 * Example:   wk_addmm(x, y, y, .beta = 2) is {{3, 4}, {2, 5}} for x = {1, 2}, y = {{1, 0}, {0, 1}}
 * PyTorch:   torch.addmm */
#define wk_addmm(x, a, ...)                                                                                            \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_addmm, wk_addmm_options, "x, a, b", x, a, __VA_ARGS__))

/* wk_baddbmm(x, a, b): Adds a multiple of x to a multiple of the products of two stacks of matrices. If .beta is 0,
 * x has no effect, not even its NaN.
 *     out = beta x + alpha (a @ b)
 * Options:   .beta: default 1. .alpha: default 1
 * Shapes:    a (b, m, k), b (b, k, n); x broadcasts to (b, m, n)
 * Dtypes:    as wk_addmm
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    as wk_addmm
 * Example:   wk_baddbmm(x, y, y, .alpha = 2) is {{{19}}} for x = {{{1}}}, y = {{{3}}}
 * PyTorch:   torch.baddbmm */
#define wk_baddbmm(x, a, ...)                                                                                          \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_baddbmm, wk_addmm_options, "x, a, b", x, a, __VA_ARGS__))

#endif

/* wk_linear(x, weight, bias): Multiplies x by the transpose of weight and adds bias. bias may be NULL. A NULL bias
 * while an error is pending returns NULL, so that a bias whose creation failed is not ignored.
 *     out = x weight^T + bias
 * Shapes:    x (..., in), weight (out, in), bias (out) -> (..., out); or weight (in), bias () -> (...)
 * Dtypes:    any but bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if weight does not have one or two dimensions, or sizes do not match; WK_ERR_DTYPE if the
 *            dtypes differ
 * Example:   wk_linear(x, y, NULL) is {{11, 17}} for x = {{1, 2}}, y = {{3, 4}, {5, 6}}
 * PyTorch:   torch.nn.functional.linear */
#define wk_linear(...) WK_EXACT_NEW_(3, wk_linear, "x, weight, bias", __VA_ARGS__)

#ifndef __cplusplus
/* wk_einsum(equation, (x)): Multiplies tensors element by element and sums over the labels that the result lacks.
 * equation names each dimension of each operand by a letter, operands separated by commas, and after -> those of the
 * result, as in "bij,bjk->bik". Without -> the result has the letters that occur once, in the order of the alphabet,
 * capitals first. ... means further dimensions, which broadcast. A letter that an operand repeats takes the
 * diagonal. Spaces are ignored. Operands are multiplied from left to right.
 * Shapes:    dimensions of one letter have one size, or 1
 * Dtypes:    any but bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if the equation is malformed or does not fit the operands; WK_ERR_SHAPE if sizes differ
 *            or an intermediate result has more than 8 dimensions; WK_ERR_DTYPE if the dtypes differ
 * Example:   wk_einsum("ij,j->i", (x, y)) is {3, 7} for x = {{1, 2}, {3, 4}}, y = {1, 1}
 * PyTorch:   torch.einsum, which returns i64 for sums of other integers */
#define wk_einsum(equation, ...) WK_NEW_TENSOR_(WK_EINSUM_(equation, __VA_ARGS__))

/* wk_tensordot(a, b, (dims_a), (dims_b)): Multiplies a and b and sums over dimensions dims_a of a and dims_b of b,
 * in pairs. wk_tensordot(a, b, n) sums over the last n dimensions of a and the first n of b.
 * Shapes:    out has the other dimensions of a, then those of b; the sizes of a pair are equal, or 1
 * Dtypes:    any but bool
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if the lists differ in length or name a dimension twice; WK_ERR_INDEX if a dimension is
 *            out of range; WK_ERR_SHAPE if sizes differ or the result has more than 8 dimensions; WK_ERR_DTYPE if
 *            the dtypes differ
 * Example:   wk_tensordot(x, y, (1), (0)) is {3, 7} for x = {{1, 2}, {3, 4}}, y = {1, 1}
 * PyTorch:   torch.tensordot */
#define wk_tensordot(a, b, ...) WK_NEW_TENSOR_(WK_TENSORDOT_(a, b, __VA_ARGS__))

#endif

/* wk_kron(a, b): Computes the Kronecker product: replaces each element of a by its product with b.
 * Shapes:    each size is the product of the sizes of a and b; missing leading sizes are 1
 * Dtypes:    any
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if a and b together have more than 8 dimensions of sizes other than 1, or a size is too
 *            large
 * Example:   wk_kron(x, y) is {{1, 2}, {3, 6}} for x = {{1, 2}}, y = {{1}, {3}}
 * PyTorch:   torch.kron */
#define wk_kron(...) WK_EXACT_NEW_(2, wk_kron, "a, b", __VA_ARGS__)

/* wk_cross(a, b, dim): Computes the cross products of vectors of three elements along dim. wk_cross(a, b) takes the
 * first dimension of size 3.
 * Shapes:    a and b have the same number of dimensions and broadcast; dim has size 3
 * Dtypes:    any but bool; mixed dtypes are promoted as in wk_add
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_INDEX if dim is out of range; WK_ERR_SHAPE if dim does not have size 3, or a and b do not
 *            broadcast
 * Example:   wk_cross(x, y, 0) is {0, 0, 1} for x = {1, 0, 0}, y = {0, 1, 0}
 * PyTorch:   torch.cross */
#ifdef __cplusplus
#define wk_cross(...) WK_EXACT_NEW_(3, wk_cross, "a, b, dim", __VA_ARGS__)
#else
#define wk_cross(x, ...) WK_NEW_TENSOR_(WK_SHORTER_(wk_cross_first, wk_cross, x, __VA_ARGS__))
#endif

#ifndef __cplusplus
/* wk_rotary(x, positions): Rotates pairs of elements of vectors by angles that grow with the position (rotary
 * position embedding). Element i of the first half and element i of the second are a pair, as in Llama; with
 * .interleaved elements 2 i and 2 i + 1 are, as in GPT-J.
 *     (a cos t - b sin t, b cos t + a sin t) for a pair (a, b), t = position base^(-2 i / D)
 * Options:   .base: ratio of the largest to the smallest frequency, nearly; default 10000.0. .interleaved: pairs of
 *            adjacent elements; default false
 * Shapes:    x (..., T, D) with an even D, positions broadcasts to (..., T); out as x
 * Dtypes:    x floating, positions any; out as x
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has fewer than two dimensions, D is odd or positions does not broadcast;
 *            WK_ERR_ARGUMENT if .base is not greater than 0; WK_ERR_DTYPE if x is not floating
 * Example:   wk_rotary(x, y) is {{1, 0}, {0.540302, 0.841471}} for x = {{1, 0}, {1, 0}}, y = {0, 1}
 * PyTorch:   none; apply_rotary_pos_emb of transformers */
#define wk_rotary(x, ...)                                                                                              \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_rotary, wk_rotary_options, "x, positions", x, __VA_ARGS__))

/* ---- attention --------------------------------------------------------------------------------------------------- */

/* wk_scaled_dot_product_attention(query, key, value): Averages the rows of value for each row of query, weighted by
 * the softmax of its products with the rows of key. A row of query for which all keys are masked yields 0. Neither
 * this call nor its gradient stores a matrix of (L, S) for each head: memory grows linearly in L and S, unless
 * .attn_mask requires grad.
 *     out = dropout(softmax(scale query key^T + mask)) value
 * Options:   .attn_mask: bool: true where a key takes part; dtype of query: added to the scaled products.
 *            .dropout_p: probability that a weight is set to 0, in [0, 1]; default 0. .is_causal: row i of query
 *            sees keys 0 to i. .scale: default 1 / sqrt(E). .enable_gqa: the heads (dimension -3) of key and value
 *            are each used by H / H_key adjacent heads of query
 * Shapes:    query (..., L, E), key (..., S, E), value (..., S, Ev) -> (..., L, Ev); the leading dimensions
 *            broadcast; attn_mask broadcasts to (..., L, S)
 * Dtypes:    floating
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if shapes do not match; WK_ERR_DTYPE if an operand is not floating or the dtypes differ;
 *            WK_ERR_ARGUMENT if .dropout_p is outside [0, 1], or .attn_mask and .is_causal are both given
 * Example:   wk_scaled_dot_product_attention(x, x, y) is {{2, 4}, {2, 4}} for x = {{0, 0}, {0, 0}}, y = {{1, 2}, {3,
 *            6}}
 * PyTorch:   torch.nn.functional.scaled_dot_product_attention */
#define wk_scaled_dot_product_attention(query, key, ...)                                                               \
    WK_NEW_TENSOR_(WK_OPT3_(wk_tensor *, wk_scaled_dot_product_attention, wk_attention_options, "query, key, value",   \
                            query, key, __VA_ARGS__))

/* ---- quantised weights: elements in blocks that share scales, as in GGUF files ----------------------------------- */
/* A row of blocks is a row of u8: the bytes of its blocks, one after the other. A block has 32 or 256 elements, see
 * wk_block_format, and formats and values are those of ggml. Other elements of GGUF files are read as floats only. */

/* wk_dequantize(blocks): Computes the elements of quantised blocks.
 *     out[i] = scale code[i], plus the minimum or offset of formats that have one
 * Options:   .format: WK_BLOCKS_Q8_0, WK_BLOCKS_Q4_0, WK_BLOCKS_Q4_1, WK_BLOCKS_Q5_0, WK_BLOCKS_Q5_1,
 *            WK_BLOCKS_Q2_K, WK_BLOCKS_Q3_K, WK_BLOCKS_Q4_K, WK_BLOCKS_Q5_K or WK_BLOCKS_Q6_K; default
 *            WK_BLOCKS_Q8_0
 * Shapes:    (..., n bytes per block) -> (..., n elements per block)
 * Dtypes:    u8; out f32, with the bits that ggml computes
 * Gradient:  none
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if blocks has no dimension or its last size is not a multiple of the bytes of a block;
 *            WK_ERR_DTYPE if it is not u8; WK_ERR_ARGUMENT if .format is unknown
 * Example:   wk_mean(wk_dequantize(wk_quantize(wk_full((32), 127.0)))) is 127
 * PyTorch:   none; gguf.quants.dequantize of the package gguf */
#define wk_dequantize(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_dequantize, wk_block_options, __VA_ARGS__))

/* wk_quantize(x): Rounds the elements of x to quantised blocks. x is rounded to f32; scales, minima and offsets to
 * f16, where 2^-25 and less becomes 0; codes are limited to their bits. Blocks of 32 elements have the bytes of
 * ggml's reference. A block of 256 consists of parts, of 32 elements in q4_k and q5_k, else of 16. Scales and
 * offsets of parts are multiples of those of the block: of 9 choices near the values below, the one with the least
 * sum of squared errors. Then each element has the nearest code. If an element is infinite or NaN, or f16 cannot
 * hold a scale, minimum or offset, the elements of the block become infinite or NaN; all NaN in blocks of 256.
 *     q8_0: scale = max |x| / 127, code = x / scale, rounded half away from 0
 *     q4_0, q5_0: scale = m / -h, m the element of the largest |m|, h = 8, 16; code = floor(x / scale + h + 0.5)
 *     q4_1, q5_1: scale = (max x - min x) / t, t = 15, 31; code = floor((x - min x) / scale + 0.5)
 *     q2_k, q4_k, q5_k: offset = max(-min x, 0), scale = (max x + offset) / t, t = 3, 15, 31
 *     q3_k, q6_k: scale = m / -h, h = 4, 32
 * Options:   .format: WK_BLOCKS_Q8_0, WK_BLOCKS_Q4_0, WK_BLOCKS_Q4_1, WK_BLOCKS_Q5_0, WK_BLOCKS_Q5_1,
 *            WK_BLOCKS_Q2_K, WK_BLOCKS_Q3_K, WK_BLOCKS_Q4_K, WK_BLOCKS_Q5_K or WK_BLOCKS_Q6_K; default
 *            WK_BLOCKS_Q8_0
 * Shapes:    (..., n elements per block) -> (..., n bytes per block)
 * Dtypes:    floating; out u8
 * Gradient:  none
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has no dimension or its last size is not a multiple of the elements of a block;
 *            WK_ERR_DTYPE if it is not floating; WK_ERR_ARGUMENT if .format is unknown
 * Example:   wk_select(wk_quantize(wk_full((32), 127.0)), 0, 2) is 127
 * PyTorch:   none; gguf.quants.quantize of the package gguf */
#define wk_quantize(...) WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_quantize, wk_block_options, __VA_ARGS__))

/* wk_quantized_linear(x, blocks, bias): Multiplies x by the transpose of a weight of quantised blocks and adds bias.
 * The product reads the blocks; for f64 and for gradients the weight is expanded in parts. bias may be NULL. A NULL
 * bias while an error is pending returns NULL, so that a bias whose creation failed is not ignored.
 *     out = x dequantize(blocks)^T + bias
 * Options:   .format: WK_BLOCKS_Q8_0, WK_BLOCKS_Q4_0, WK_BLOCKS_Q4_1, WK_BLOCKS_Q5_0, WK_BLOCKS_Q5_1,
 *            WK_BLOCKS_Q2_K, WK_BLOCKS_Q3_K, WK_BLOCKS_Q4_K, WK_BLOCKS_Q5_K or WK_BLOCKS_Q6_K; default
 *            WK_BLOCKS_Q8_0
 * Shapes:    x (..., in), blocks (out, bytes of in elements), bias (out) -> (..., out)
 * Dtypes:    x and bias one floating dtype, blocks u8; out as x
 * Gradient:  none for blocks
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if x has no dimension, blocks is not a matrix or sizes do not match; WK_ERR_DTYPE if
 *            blocks is not u8 or bias differs from x; WK_ERR_ARGUMENT if .format is unknown
 * Example:   wk_quantized_linear(wk_ones((1, 32)), wk_quantize(wk_full((2, 32), 127.0)), NULL) is {{4064, 4064}}
 * PyTorch:   none */
#define wk_quantized_linear(x, blocks, ...)                                                                            \
    WK_NEW_TENSOR_(WK_OPT3_TENSOR_(wk_tensor *, wk_quantized_linear, wk_block_options, "x, blocks, bias", x, blocks,   \
                                   __VA_ARGS__))

#endif

#endif
