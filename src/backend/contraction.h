/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions: sums of products of two factors over a list of indices.
 *
 *     C[r] = sum over s of A[a(r, s)] B[b(r, s)]          r: the indices of the result, s: those that are summed
 *
 * A factor is an operand with a map from indices to its elements: a stride per index, in elements, and up to three
 * affine coordinates:
 *
 *     q = (offset + sum over i of coefficient[i] x index i) / divisor       element += q x stride
 *
 * If q is not an integer or not in [0, extent), the factor is 0. The product may then be skipped or computed with that
 * 0, which yields NaN if the other factor is infinite or NaN. Convolutions need coordinates: conv1d(x, w) with stride
 * 2, padding 1, dilation 1 is C[n, o, t] = sum over c, k of w[o, c, k] x[n, c, 2 t + k - 1] with
 *
 *     A = w    strides o, c, k                                 no coordinates
 *     B = x    strides n, c     one coordinate: offset -1, coefficients 2 of t and 1 of k, divisor 1, extent length
 *
 * and its gradient by x, C[n, c, p] = sum over o, k of w[o, c, k] g[n, o, (p + 1 - k) / 2], has one of divisor 2.
 *
 * Indices are numbered: those of the result in the order of the space, then the summed ones; the last is the innermost.
 * The summation order depends only on shape, strides, dtype and the kind of device. */
#ifndef WICK_BACKEND_CONTRACTION_H
#define WICK_BACKEND_CONTRACTION_H

#include "work.h"

enum {
    WK__MAX_SUMMED = 4, /* enough for a 3-d convolution */
    WK__MAX_INDICES = WK__MAX_DIMS + WK__MAX_SUMMED,
    WK__MAX_AFFINE = 3
};

typedef struct wk__affine_index {
    int64_t offset, divisor; /* divisor >= 1 */
    int64_t extent;          /* size of the operand along this coordinate */
    int64_t stride;          /* in elements */
    int64_t coefficient[WK__MAX_INDICES];
} wk__affine_index;

/* Arguments of a contraction beyond its space and operands, whose strides are those over the result indices. */
typedef struct wk__contraction {
    uint8_t dtype; /* compute class of the accumulator. f16 and bf16 accumulate in f32; integers wrap */
    int8_t nsummed;
    int8_t naffine[WK__FACTORS]; /* number of coordinates of A, of B */
    int64_t extent[WK__MAX_SUMMED];
    int64_t stride[WK__FACTORS][WK__MAX_SUMMED];
    wk__affine_index affine[WK__FACTORS][WK__MAX_AFFINE]; /* naffine[] of them are valid */
} wk__contraction;

/* Returns the default accumulator class of a dtype. bool counts in i64, which no length wraps to 0. */
static inline uint8_t wk__accumulator_dtype(int dtype)
{
    return (uint8_t)(dtype == WK_BOOL ? WK_I64 : wk__compute_class((wk_dtype)dtype));
}

/* Return the extent of index i; ndim and shape are those of the result. */
static inline int64_t wk__contraction_extent(const wk__contraction *sum, int ndim, const int64_t *shape, int i)
{
    return i < ndim ? shape[i] : sum->extent[i - ndim];
}
static inline int64_t wk__index_extent(const wk__work_args *kernel, int i)
{
    return wk__contraction_extent(kernel->contraction, kernel->ndim, kernel->shape, i);
}
/* Returns true if an index has extent 0, so that there are no products. */
static inline bool wk__contraction_is_empty(const wk__work_args *kernel)
{
    bool empty = false;
    for (int i = 0; i < kernel->ndim + kernel->contraction->nsummed; i++)
        empty = empty || wk__index_extent(kernel, i) == 0;
    return empty;
}
/* Returns the stride of an operand along index i, without coordinates; 0 for the result along summed indices. */
static inline int64_t wk__index_stride(const wk__work_args *kernel, int operand, int i)
{
    if (i < kernel->ndim) return kernel->operand[operand].stride[i];
    return operand == 0 ? 0 : kernel->contraction->stride[operand - 1][i - kernel->ndim];
}
/* Returns true if the operand's address changes along index i, without coordinates. */
static inline bool wk__index_moves(const wk__work_args *kernel, int operand, int i)
{
    return wk__index_extent(kernel, i) > 1 && wk__index_stride(kernel, operand, i) != 0;
}
/* Returns the greatest common divisor; 0 for 0 and 0. */
int64_t wk__gcd(int64_t a, int64_t b);

/* Returns the number of products per element of the result. */
static inline int64_t wk__contraction_k(const wk__contraction *sum)
{
    int64_t length = 1;
    for (int i = 0; i < sum->nsummed; i++) length *= sum->extent[i];
    return length;
}

/* Computes the range of offsets that a factor reaches through summed indices and coordinates: low <= 0 <= high, in
 * elements. Extents must be at least 1. */
void wk__contraction_reach(const wk__contraction *sum, int factor, int64_t *low, int64_t *high);
/* Returns NULL, or a description of what is invalid; shape is that of the result. Offsets of a valid contraction fit
 * int64. */
const char *wk__contraction_check(const wk__contraction *sum, int ndim, const int64_t *shape);
/* Computes the minimum and maximum numerator of a coordinate. */
void wk__affine_range(const wk__affine_index *q, int ndim, const int64_t *shape, const wk__contraction *sum,
                      int64_t *low, int64_t *high);

/* Matrix product, the simplest contraction: C[b.., i, j] = sum over l of A[b.., i, l] B[b.., l, j]. Operands have
 * nbatch + 2 strides in that order (0 along broadcast batch dimensions) and one dtype. */
typedef struct wk__matmul {
    int nbatch;
    int64_t batch[WK__MAX_DIMS - 2];
    int64_t m, n, k;
    wk__operand a, b, c;
    const wk__program *prologue[WK__FACTORS]; /* of a, of b; NULL: the factor is in memory */
    const wk__program *epilogue;
} wk__matmul;

/* Expresses the work as a matrix product; returns false if it is not one. */
bool wk__matmul_from_work(const wk__work *work, wk__matmul *product);
/* Expresses a matrix product as work; fills in *sum, *kernel and *work, which points to both. */
void wk__work_from_matmul(const wk__matmul *product, wk__contraction *sum, wk__work_args *kernel, wk__work *work);

#endif
