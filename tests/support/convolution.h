/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of one to three dimensions as contractions, and their products by plain loops:
 *
 *     y[n, g, o, t] = sum over c, k of w[g, o, c, k] x[n, g, c, stride t + dilation k - padding]
 *
 * with one to three components of t and k. */
#ifndef TESTS_SUPPORT_CONVOLUTION_H
#define TESTS_SUPPORT_CONVOLUTION_H

#include "backend/cpu/kernels_case.h"
#include "support/turns.h"

enum { CONVOLUTION_DIMS = 3 };

typedef enum direction {
    FORWARD,     /* y from w, x */
    GRAD_INPUT,  /* the gradient for x, from w, y; also a transposed convolution */
    GRAD_WEIGHT, /* the gradient for w, from y, x */
    DIRECTIONS
} direction;

typedef struct convolution {
    int dims;
    int64_t n, groups, in, out; /* channels per group */
    int64_t size[CONVOLUTION_DIMS], kernel[CONVOLUTION_DIMS];
    int64_t stride[CONVOLUTION_DIMS], padding[CONVOLUTION_DIMS], dilation[CONVOLUTION_DIMS];
} convolution;

static inline int64_t convolution_out(const convolution *c, int d)
{
    return (c->size[d] + 2 * c->padding[d] - c->dilation[d] * (c->kernel[d] - 1) - 1) / c->stride[d] + 1;
}

/* Sizes and arrays: x (n, g, c, size..), w (g, o, c, kernel..), y (n, g, o, size..). */
typedef struct convolution_case {
    convolution of;
    array x, w, y;
} convolution_case;

static inline void convolution_shapes(const convolution *c, int64_t x[], int64_t w[], int64_t y[])
{
    x[0] = y[0] = c->n;
    x[1] = y[1] = w[0] = c->groups;
    x[2] = w[2] = c->in;
    y[2] = w[1] = c->out;
    for (int d = 0; d < c->dims; d++) {
        x[3 + d] = c->size[d];
        w[3 + d] = c->kernel[d];
        y[3 + d] = convolution_out(c, d);
    }
}

static inline void convolution_new(convolution_case *t, const convolution *of, wk_dtype dtype, layout layout)
{
    int64_t x[WK__MAX_DIMS], w[WK__MAX_DIMS], y[WK__MAX_DIMS];
    t->of = *of;
    convolution_shapes(of, x, w, y);
    array_new(&t->x, dtype, 3 + of->dims, x, layout);
    array_new(&t->w, dtype, 3 + of->dims, w, ROWS);
    array_new(&t->y, dtype, 3 + of->dims, y, layout == BACKWARDS ? GAPS : ROWS);
}

static inline void convolution_free(convolution_case *t)
{
    free(t->x.data);
    free(t->w.data);
    free(t->y.data);
}

/* Sets the stride of operand a along an index; the result has no strides along summed indices. */
static inline void take_stride(wk__work_args *kernel, wk__contraction *sum, int operand, int index, int64_t stride)
{
    if (index < kernel->ndim)
        kernel->operand[operand].stride[index] = stride;
    else if (operand > 0)
        sum->stride[operand - 1][index - kernel->ndim] = stride;
}

/* Describes array as an operand: its dimension d is index map[d]; -1: a computed coordinate. */
static inline void take_operand(wk__work_args *kernel, wk__contraction *sum, int operand, const array *array, int ndim,
                                const int map[])
{
    wk__operand *to = &kernel->operand[operand];
    *to = (wk__operand){.memory = (wk__memory *)(uintptr_t)&array->memory,
                        .offset = array->operand.offset,
                        .dtype = array->operand.dtype,
                        .stored = operand == 0};
    for (int d = 0; d < ndim; d++)
        if (map[d] >= 0) take_stride(kernel, sum, operand, map[d], array->operand.stride[d]);
}

/* Lists the indices of each direction in order, and the operands' dimensions among them:
 *     FORWARD      n g o t.. | c k..      w: g o c k    x: n g c -    y: n g o t
 *     GRAD_INPUT   n g c p.. | o k..      w: g o c k    y: n g o -    x: n g c p
 *     GRAD_WEIGHT  g o c k.. | n t..      y: n g o t    x: n g c -    w: g o c k
 * The computed coordinate is p = stride t + dilation k - padding, or t = (p + padding - dilation k) / stride. */
static inline void describe(const convolution_case *t, direction way, wk__work_args *kernel, wk__contraction *sum)
{
    const convolution *c = &t->of;
    const int dims = c->dims, ndim = 3 + dims, summed = ndim; /* the first summed index */
    int64_t x[WK__MAX_DIMS], w[WK__MAX_DIMS], y[WK__MAX_DIMS];
    convolution_shapes(c, x, w, y);
    *kernel = (wk__work_args){.ndim = ndim, .contraction = sum, .tag = -1};
    *sum = (wk__contraction){.dtype = wk__accumulator_dtype(t->x.operand.dtype), .nsummed = (int8_t)(1 + dims)};
    const int64_t *result = way == FORWARD ? y : way == GRAD_INPUT ? x : w;
    memcpy(kernel->shape, result, sizeof *result * (size_t)ndim);
    sum->extent[0] = way == FORWARD ? c->in : way == GRAD_INPUT ? c->out : c->n;
    for (int d = 0; d < dims; d++) sum->extent[1 + d] = way == GRAD_WEIGHT ? y[3 + d] : w[3 + d];
    int of_result[WK__MAX_DIMS] = {0, 1, 2, 3, 4, 5}, of_first[WK__MAX_DIMS],
        of_second[WK__MAX_DIMS] = {-1, -1, -1, -1, -1, -1};
    if (way == GRAD_WEIGHT) { /* y: n g o t; x: n g c */
        const int first[] = {summed, 0, 1}, second[] = {summed, 0, 2};
        memcpy(of_first, first, sizeof first);
        memcpy(of_second, second, sizeof second);
    } else { /* w: g o c k; x: n g c, or y: n g o */
        const int first[] = {1, way == FORWARD ? 2 : summed, way == FORWARD ? summed : 2}, second[] = {0, 1, summed};
        memcpy(of_first, first, sizeof first);
        memcpy(of_second, second, sizeof second);
    }
    for (int d = 0; d < dims; d++) of_first[3 + d] = summed + 1 + d;
    const array *out = way == FORWARD ? &t->y : way == GRAD_INPUT ? &t->x : &t->w;
    const array *a = way == GRAD_WEIGHT ? &t->y : &t->w, *b = way == GRAD_INPUT ? &t->y : &t->x;
    take_operand(kernel, sum, 0, out, ndim, of_result);
    take_operand(kernel, sum, 1, a, ndim, of_first);
    take_operand(kernel, sum, 2, b, ndim, of_second);
    sum->naffine[1] = (int8_t)dims;
    for (int d = 0; d < dims; d++) {
        wk__affine_index *q = &sum->affine[1][d];
        const int space = 3 + d, inner = summed + 1 + d; /* index numbers */
        q->extent = way == GRAD_INPUT ? y[3 + d] : x[3 + d];
        q->stride = b->operand.stride[3 + d];
        q->offset = way == GRAD_INPUT ? c->padding[d] : -c->padding[d];
        q->divisor = way == GRAD_INPUT ? c->stride[d] : 1;
        q->coefficient[space] = way == FORWARD ? c->stride[d] : way == GRAD_INPUT ? 1 : c->dilation[d];
        q->coefficient[inner] = way == FORWARD ? c->dilation[d] : way == GRAD_INPUT ? -c->dilation[d] : c->stride[d];
    }
}

/* ---- reference --------------------------------------------------------------------------------------------------- */

typedef void visit_product(void *user, const int64_t x[], const int64_t w[], const int64_t y[]);

/* Calls visit once for each product that contributes to each element of y. */
static inline void each_product(const convolution *c, visit_product *visit, void *user)
{
    int64_t shape[2 * WK__MAX_DIMS] = {c->n, c->groups, c->out, c->in}, at[2 * WK__MAX_DIMS] = {0};
    for (int d = 0; d < c->dims; d++) {
        shape[4 + d] = convolution_out(c, d);
        shape[4 + c->dims + d] = c->kernel[d];
    }
    if (is_empty(4 + 2 * c->dims, shape)) return;
    do {
        int64_t x[WK__MAX_DIMS] = {at[0], at[1], at[3]}, w[WK__MAX_DIMS] = {at[1], at[2], at[3]},
                y[WK__MAX_DIMS] = {at[0], at[1], at[2]};
        bool inside = true;
        for (int d = 0; d < c->dims; d++) {
            y[3 + d] = at[4 + d];
            w[3 + d] = at[4 + c->dims + d];
            x[3 + d] = c->stride[d] * y[3 + d] + c->dilation[d] * w[3 + d] - c->padding[d];
            inside = inside && x[3 + d] >= 0 && x[3 + d] < c->size[d];
        }
        if (inside) visit(user, x, w, y);
    } while (advance(4 + 2 * c->dims, shape, at));
}

#endif
