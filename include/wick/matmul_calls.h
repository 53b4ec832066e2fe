/* SPDX-License-Identifier: Apache-2.0 */
/* wick/matmul_calls.h: the functions behind wick/matmul.h.
 *
 * The exported functions behind the macros, for bindings and C++: wk_NAME_at takes the call site first; wk_NAME,
 * where there is one, takes none and serves as a pointer to a function. The macros' comments describe them. A suffix
 * names the type of a scalar operand: _scalar_f64 and _scalar_i64 take a tensor and a double or int64_t,
 * _rscalar_f64 and _rscalar_i64 the scalar first; _f64 and _i64 take the scalar in its usual position. Options may
 * be NULL. A list of dimensions is followed by its length; NULL with length -1 means all dimensions. */
/* Written by scripts/generate_ops.py from src/ops/specs/matmul: edit those. */
#ifndef WICK_MATMUL_CALLS_H
#define WICK_MATMUL_CALLS_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "call.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wk_block_format {
    WK_BLOCKS_Q8_0, /* 32 elements in 34 bytes: a scale, codes of 8 bits; the default */
    WK_BLOCKS_Q4_0, /* 32 in 18: a scale, codes of 4 bits */
    WK_BLOCKS_Q4_1, /* 32 in 20: a scale, a minimum, codes of 4 bits */
    WK_BLOCKS_Q5_0, /* 32 in 22: a scale, codes of 5 bits */
    WK_BLOCKS_Q5_1, /* 32 in 24: a scale, a minimum, codes of 5 bits */
    WK_BLOCKS_Q2_K, /* 256 in 84: codes of 2 bits; scales and offsets of 16 elements have 4 bits */
    WK_BLOCKS_Q3_K, /* 256 in 110: codes of 3 bits; scales of 16 elements have 6 bits */
    WK_BLOCKS_Q4_K, /* 256 in 144: codes of 4 bits; scales and offsets of 32 elements have 6 bits */
    WK_BLOCKS_Q5_K, /* 256 in 176: codes of 5 bits; scales and offsets of 32 elements have 6 bits */
    WK_BLOCKS_Q6_K, /* 256 in 210: codes of 6 bits; scales of 16 elements have 8 bits */
} wk_block_format;

/* ---- products ---------------------------------------------------------------------------------------------------- */

/* matmul: Multiplies vectors, matrices, or stacks of matrices. */
WK_RESULT_API wk_tensor *wk_matmul_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_matmul(wk_tensor *a, wk_tensor *b);

/* mm: Multiplies two matrices. */
WK_RESULT_API wk_tensor *wk_mm_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_mm(wk_tensor *a, wk_tensor *b);

/* bmm: Multiplies two stacks of matrices. */
WK_RESULT_API wk_tensor *wk_bmm_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_bmm(wk_tensor *a, wk_tensor *b);

/* mv: Multiplies a matrix by a vector. */
WK_RESULT_API wk_tensor *wk_mv_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_mv(wk_tensor *a, wk_tensor *b);

/* dot: Computes the dot product of two vectors. */
WK_RESULT_API wk_tensor *wk_dot_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_dot(wk_tensor *a, wk_tensor *b);

/* outer: Computes the outer product of two vectors. */
WK_RESULT_API wk_tensor *wk_outer_at(wk_site site, wk_tensor *a, wk_tensor *b);
WK_RESULT_API wk_tensor *wk_outer(wk_tensor *a, wk_tensor *b);

/* addmm: Adds a multiple of x to a multiple of the product of a and b. */
typedef struct wk_addmm_options {
    size_t size;
    wk_by_name by_name;
    double beta;  /* default 1 */
    double alpha; /* default 1 */
} wk_addmm_options;
#ifndef __cplusplus
#define wk_addmm_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, beta) wk_do_(wk_o_, alpha)
#endif
WK_RESULT_API wk_tensor *wk_addmm_at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b,
                                     const wk_addmm_options *options);

/* baddbmm: Adds a multiple of x to a multiple of the products of two stacks of matrices. */
WK_RESULT_API wk_tensor *wk_baddbmm_at(wk_site site, wk_tensor *x, wk_tensor *a, wk_tensor *b,
                                       const wk_addmm_options *options);

/* linear: Multiplies x by the transpose of weight and adds bias. */
WK_RESULT_API wk_tensor *wk_linear_at(wk_site site, wk_tensor *x, wk_tensor *weight, wk_tensor *bias);
WK_RESULT_API wk_tensor *wk_linear(wk_tensor *x, wk_tensor *weight, wk_tensor *bias);

/* einsum: Multiplies tensors element by element and sums over the labels that the result lacks. */
WK_RESULT_API wk_tensor *wk_einsum_at(wk_site site, const char *equation, wk_tensor *const *x, int count);

/* tensordot: Multiplies a and b and sums over dimensions dims_a of a and dims_b of b, in pairs. */
WK_RESULT_API wk_tensor *wk_tensordot_at(wk_site site, wk_tensor *a, wk_tensor *b, const int64_t *dims_a, int count_a,
                                         const int64_t *dims_b, int count_b);

/* kron: Computes the Kronecker product: replaces each element of a by its product with b. */
WK_RESULT_API wk_tensor *wk_kron_at(wk_site site, wk_tensor *a, wk_tensor *b);

/* cross: Computes the cross products of vectors of three elements along dim. */
WK_RESULT_API wk_tensor *wk_cross_at(wk_site site, wk_tensor *a, wk_tensor *b, int64_t dim);
WK_RESULT_API wk_tensor *wk_cross_first_at(wk_site site, wk_tensor *a, wk_tensor *b);

/* rotary: Rotates pairs of elements of vectors by angles that grow with the position (rotary position embedding). */
typedef struct wk_rotary_options {
    size_t size;
    wk_by_name by_name;
    double base;      /* default 10000.0; ratio of the largest to the smallest frequency, nearly */
    bool interleaved; /* pairs of adjacent elements; default false */
    char reserved[7];
} wk_rotary_options;
#ifndef __cplusplus
#define wk_rotary_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, base)
#endif
WK_RESULT_API wk_tensor *wk_rotary_at(wk_site site, wk_tensor *x, wk_tensor *positions,
                                      const wk_rotary_options *options);

/* ---- attention --------------------------------------------------------------------------------------------------- */

/* scaled_dot_product_attention: Averages the rows of value for each row of query, weighted by the softmax of its
 * products with the rows of key. */
typedef struct wk_attention_options {
    size_t size;
    wk_by_name by_name;
    wk_tensor *attn_mask; /* bool: true where a key takes part; dtype of query: added to the scaled products */
    double dropout_p;     /* probability that a weight is set to 0, in [0, 1] */
    bool is_causal;       /* row i of query sees keys 0 to i */
    double scale;         /* default 1 / sqrt(E) */
    bool enable_gqa; /* the heads (dimension -3) of key and value are each used by H / H_key adjacent heads of query */
    char reserved[7];
} wk_attention_options;
#ifndef __cplusplus
#define wk_attention_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, scale)
#endif
WK_RESULT_API wk_tensor *wk_scaled_dot_product_attention_at(wk_site site, wk_tensor *query, wk_tensor *key,
                                                            wk_tensor *value, const wk_attention_options *options);

/* ---- quantised weights: elements in blocks that share scales, as in GGUF files ----------------------------------- */

/* dequantize: Computes the elements of quantised blocks. */
typedef struct wk_block_options {
    size_t size;
    wk_by_name by_name;
    wk_block_format format;
    char reserved[4];
} wk_block_options;
#ifndef __cplusplus
#define wk_block_options_numbers_(wk_do_, wk_o_)
#endif
WK_RESULT_API wk_tensor *wk_dequantize_at(wk_site site, wk_tensor *blocks, const wk_block_options *options);

/* quantize: Rounds the elements of x to quantised blocks. */
WK_RESULT_API wk_tensor *wk_quantize_at(wk_site site, wk_tensor *x, const wk_block_options *options);

/* quantized_linear: Multiplies x by the transpose of a weight of quantised blocks and adds bias. */
WK_RESULT_API wk_tensor *wk_quantized_linear_at(wk_site site, wk_tensor *x, wk_tensor *blocks, wk_tensor *bias,
                                                const wk_block_options *options);

#ifdef __cplusplus
}
#endif
#endif
