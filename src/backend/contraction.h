/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions: sums of products of two factors over lists of indices.
 *
 *     C[r] = sum over s of A[a(r, s)] B[b(r, s)]          r: the indices of the result, s: those that are summed
 *
 * A factor is an operand and a map from indices to its elements: a stride for each index, in elements, and up to three
 * coordinates that are computed:
 *
 *     q = (offset + sum over i of coefficient[i] x index i) / divisor       element += q x stride
 *
 * where q is not whole or not in [0, extent), the factor is 0, and so is its product: it is left out, or computed with
 * that 0, which gives NaN where the other factor is an infinity or a NaN. Coordinates are what convolutions need: of
 * conv1d(x, w), stride 2, padding 1, dilation 1, as C[n, o, t] = sum over c, k of w[o, c, k] x[n, c, 2 t + k - 1]
 *
 *     A = w    strides o, c, k                                 no coordinates
 *     B = x    strides n, c     one coordinate: offset -1, coefficients 2 of t and 1 of k, divisor 1, extent length
 *
 * and of its gradient by x, C[n, c, p] = sum over o, k of w[o, c, k] g[n, o, (p + 1 - k) / 2], one of divisor 2.
 *
 * Indices are numbered: those of the result in the order of the space, then the summed ones; the last is the innermost.
 * The products of an element are added up in an order that shape, strides, dtype and the kind of device decide. */
#ifndef WICK_BACKEND_CONTRACTION_H
#define WICK_BACKEND_CONTRACTION_H

#include "work.h"

enum {
    WK__MAX_SUMMED = 4, /* what a 3-d convolution sums */
    WK__MAX_INDICES = WK__MAX_DIMS + WK__MAX_SUMMED,
    WK__MAX_AFFINE = 3
};

typedef struct wk__affine_index {
    int64_t offset, divisor; /* divisor: 1 or more */
    int64_t extent;          /* places of the operand along it */
    int64_t stride;          /* in elements */
    int64_t coefficient[WK__MAX_INDICES];
} wk__affine_index;

/* What a contraction has beside its space and its operands, whose strides are those over the space. */
typedef struct wk__contraction {
    uint8_t dtype; /* in which products are added up: a class. f16 and bf16 add up in f32, integers wrap */
    int8_t nsummed;
    int8_t naffine[WK__FACTORS]; /* of A, of B */
    int64_t extent[WK__MAX_SUMMED];
    int64_t stride[WK__FACTORS][WK__MAX_SUMMED];
    wk__affine_index affine[WK__FACTORS][WK__MAX_AFFINE]; /* only so many are filled in */
} wk__contraction;

/* The class in which products of a dtype add up, unless asked otherwise: bool counts in i64, which no length wraps back
 * to 0. */
static inline uint8_t wk__accumulator_dtype(int dtype)
{
    return (uint8_t)(dtype == WK_BOOL ? WK_I64 : wk__compute_class((wk_dtype)dtype));
}

/* How often index i of a contraction steps; ndim and shape are those of the result. */
static inline int64_t wk__contraction_extent(const wk__contraction *sum, int ndim, const int64_t *shape, int i)
{
    return i < ndim ? shape[i] : sum->extent[i - ndim];
}
static inline int64_t wk__index_extent(const wk__work_args *kernel, int i)
{
    return wk__contraction_extent(kernel->contraction, kernel->ndim, kernel->shape, i);
}
/* Has an index no places? Then there are no products. */
static inline bool wk__contraction_is_empty(const wk__work_args *kernel)
{
    bool empty = false;
    for (int i = 0; i < kernel->ndim + kernel->contraction->nsummed; i++)
        empty = empty || wk__index_extent(kernel, i) == 0;
    return empty;
}
/* How far an operand's element moves with a step of index i, but for coordinates; the result has no summed ones. */
static inline int64_t wk__index_stride(const wk__work_args *kernel, int operand, int i)
{
    if (i < kernel->ndim) return kernel->operand[operand].stride[i];
    return operand == 0 ? 0 : kernel->contraction->stride[operand - 1][i - kernel->ndim];
}
/* Does it ever move so? */
static inline bool wk__index_moves(const wk__work_args *kernel, int operand, int i)
{
    return wk__index_extent(kernel, i) > 1 && wk__index_stride(kernel, operand, i) != 0;
}
/* The greatest common divisor; 0 of 0 and 0. */
int64_t wk__gcd(int64_t a, int64_t b);

/* Products of one element of the result. */
static inline int64_t wk__contraction_k(const wk__contraction *sum)
{
    int64_t length = 1;
    for (int i = 0; i < sum->nsummed; i++) length *= sum->extent[i];
    return length;
}

/* How far factor `factor` reaches from its offset beyond what its strides over the space say: low <= 0 <= high, in
 * elements. Sizes are 1 or more. */
void wk__contraction_reach(const wk__contraction *sum, int factor, int64_t *low, int64_t *high);
/* NULL, or what is wrong with the numbers of a sum; shape is that of the result. What is right can be computed with
 * numbers of 64 bits. */
const char *wk__contraction_check(const wk__contraction *sum, int ndim, const int64_t *shape);
/* The least and the greatest numerator of a coordinate. */
void wk__affine_range(const wk__affine_index *q, int ndim, const int64_t *shape, const wk__contraction *sum,
                      int64_t *low, int64_t *high);

/* The plainest contraction, a product of matrices: C[b.., i, j] = sum over l of A[b.., i, l] B[b.., l, j]. Operands
 * have nbatch + 2 strides in that order (0 where a batch dimension is broadcast). One dtype for all. */
typedef struct wk__matmul {
    int nbatch;
    int64_t batch[WK__MAX_DIMS - 2];
    int64_t m, n, k;
    wk__operand a, b, c;
    const wk__program *prologue[WK__FACTORS]; /* of a, of b; NULL: it is in memory */
    const wk__program *epilogue;
} wk__matmul;

/* Writes the work as such a product; false: it is none. */
bool wk__matmul_from_work(const wk__work *work, wk__matmul *product);
/* And a product as work: fills in the kernel, the sum and the work, which names both. */
void wk__work_from_matmul(const wk__matmul *product, wk__contraction *sum, wk__work_args *kernel, wk__work *work);

#endif
