/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets reached by contractions, validation, and conversion of matrix products; see contraction.h. */
#include "contraction.h"
#include <string.h>

/* The sum of two offsets below this fits int64. */
static const int64_t MAX_REACH = (int64_t)1 << 62;

/* ---- contractions ------------------------------------------------------------------------------------------------ */

/* No overflow: wk__contraction_check() bounds the total below 2^62. */
static void reach(int64_t steps, int64_t stride, int64_t *low, int64_t *high)
{
    *(stride < 0 ? low : high) += steps * stride;
}

void wk__contraction_reach(const wk__contraction *sum, int factor, int64_t *low, int64_t *high)
{
    *low = *high = 0;
    for (int i = 0; i < sum->nsummed; i++) reach(sum->extent[i] - 1, sum->stride[factor][i], low, high);
    for (int k = 0; k < sum->naffine[factor]; k++) {
        const wk__affine_index *q = &sum->affine[factor][k];
        if (q->extent > 0) reach(q->extent - 1, q->stride, low, high);
    }
}

int64_t wk__gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

void wk__affine_range(const wk__affine_index *q, int ndim, const int64_t *shape, const wk__contraction *sum,
                      int64_t *low, int64_t *high)
{
    *low = *high = q->offset;
    for (int i = 0; i < ndim + sum->nsummed; i++) {
        const int64_t extent = wk__contraction_extent(sum, ndim, shape, i);
        if (extent > 1) reach(extent - 1, q->coefficient[i], low, high);
    }
}

static int64_t magnitude(int64_t number)
{
    return number < 0 ? -number : number;
}

/* Numerators stay below 2^40 and divisors below 2^20, so that the index arithmetic of up to three coordinates fits;
 * extent x divisor stays below 2^62, so that comparing a numerator with it does not overflow. */
static const char *check_coordinate(const wk__affine_index *q, int ndim, const int64_t *shape,
                                    const wk__contraction *sum)
{
    const int64_t most = (int64_t)1 << 40, most_divided = (int64_t)1 << 20;
    int64_t limit, sizes = 0;
    if (q->divisor < 1) return "a coordinate with a divisor below 1";
    if (q->extent < 0) return "a coordinate with negative extent";
    bool fits = q->divisor < most_divided && !__builtin_mul_overflow(q->extent, q->divisor, &limit) &&
                limit < MAX_REACH && q->offset > -most && q->offset < most;
    for (int i = 0; fits && i < ndim + sum->nsummed; i++) {
        int64_t way = q->coefficient[i];
        const int64_t extent = wk__contraction_extent(sum, ndim, shape, i);
        fits = way > -most && way < most && !__builtin_mul_overflow(magnitude(way), extent, &way) &&
               !__builtin_add_overflow(sizes, way, &sizes) && sizes < most;
    }
    return fits ? NULL : "a coordinate that overflows";
}

/* Adds `steps` x |stride| to *far; returns false if that exceeds the bound. */
static bool add_reach(int64_t steps, int64_t stride, int64_t *far)
{
    int64_t way;
    return stride > -MAX_REACH && stride < MAX_REACH && !__builtin_mul_overflow(steps, magnitude(stride), &way) &&
           !__builtin_add_overflow(*far, way, far) && *far < MAX_REACH;
}

/* Requires checked coordinates. Offsets out of range are not accessed, but they are computed and must not overflow. */
static const char *check_reach(const wk__contraction *sum, int factor, int ndim, const int64_t *shape)
{
    int64_t far = 0;
    bool fits = true;
    for (int i = 0; i < sum->nsummed; i++)
        fits = fits && add_reach(sum->extent[i] > 0 ? sum->extent[i] - 1 : 0, sum->stride[factor][i], &far);
    for (int k = 0; k < sum->naffine[factor]; k++) {
        const wk__affine_index *q = &sum->affine[factor][k];
        int64_t steps = magnitude(q->offset);
        for (int i = 0; i < ndim + sum->nsummed; i++)
            steps += magnitude(q->coefficient[i]) * wk__contraction_extent(sum, ndim, shape, i);
        fits = fits && add_reach(steps > q->extent ? steps : q->extent, q->stride, &far);
    }
    return fits ? NULL : "a factor that spans 2^62 elements or more";
}

const char *wk__contraction_check(const wk__contraction *sum, int ndim, const int64_t *shape)
{
    if (sum->nsummed < 0 || sum->nsummed > WK__MAX_SUMMED || ndim < 0 || ndim > WK__MAX_DIMS)
        return "an invalid number of indices";
    if (sum->dtype >= WK_DTYPE_COUNT || wk__compute_class((wk_dtype)sum->dtype) != sum->dtype)
        return "sums in a dtype other than an arithmetic class";
    int64_t products = 1;
    for (int i = 0; i < sum->nsummed; i++) {
        if (sum->extent[i] < 0) return "a negative number of terms";
        if (__builtin_mul_overflow(products, sum->extent[i] > 0 ? sum->extent[i] : 1, &products))
            return "too many terms";
    }
    for (int factor = 0; factor < WK__FACTORS; factor++) {
        if (sum->naffine[factor] < 0 || sum->naffine[factor] > WK__MAX_AFFINE)
            return "an invalid number of coordinates";
        for (int k = 0; k < sum->naffine[factor]; k++) {
            const char *wrong = check_coordinate(&sum->affine[factor][k], ndim, shape, sum);
            if (wrong) return wrong;
        }
        const char *wrong = check_reach(sum, factor, ndim, shape);
        if (wrong) return wrong;
    }
    return NULL;
}

/* ---- matrix products --------------------------------------------------------------------------------------------- */

static bool is_broadcast(const wk__work_args *kernel, int operand, int d)
{
    return kernel->operand[operand].stride[d] == 0 || kernel->shape[d] == 1;
}

bool wk__matmul_from_work(const wk__work *work, wk__matmul *product)
{
    const wk__work_args *kernel = work->args;
    const wk__contraction *sum = kernel->contraction;
    const int rows = kernel->ndim - 2, columns = rows + 1;
    if (rows < 0 || sum->nsummed != 1 || sum->naffine[0] || sum->naffine[1]) return false;
    if (!is_broadcast(kernel, 1, columns) || !is_broadcast(kernel, 2, rows)) return false;
    const int dtype = kernel->operand[0].dtype;
    if (kernel->operand[1].dtype != dtype || kernel->operand[2].dtype != dtype) return false;
    if (sum->dtype != wk__accumulator_dtype(dtype)) return false;
    product->nbatch = rows;
    memcpy(product->batch, kernel->shape, sizeof *kernel->shape * (size_t)rows);
    product->m = kernel->shape[rows];
    product->n = kernel->shape[columns];
    product->k = sum->extent[0];
    product->c = kernel->operand[0];
    product->a = kernel->operand[1];
    product->b = kernel->operand[2];
    product->a.stride[columns] = sum->stride[0][0];
    product->b.stride[rows] = sum->stride[1][0];
    memcpy(product->prologue, kernel->prologue, sizeof product->prologue);
    product->epilogue = work->program;
    return true;
}

void wk__work_from_matmul(const wk__matmul *product, wk__contraction *sum, wk__work_args *kernel, wk__work *work)
{
    const int rows = product->nbatch, columns = rows + 1;
    sum->dtype = wk__accumulator_dtype(product->c.dtype);
    sum->nsummed = 1;
    sum->naffine[0] = sum->naffine[1] = 0;
    sum->extent[0] = product->k;
    sum->stride[0][0] = product->a.stride[columns];
    sum->stride[1][0] = product->b.stride[rows];
    *kernel = (wk__work_args){
        .ndim = columns + 1, .operand = {product->c, product->a, product->b}, .contraction = sum, .tag = -1};
    memcpy(kernel->shape, product->batch, sizeof *kernel->shape * (size_t)rows);
    kernel->shape[rows] = product->m;
    kernel->shape[columns] = product->n;
    kernel->operand[1].stride[columns] = 0;
    kernel->operand[2].stride[rows] = 0;
    memcpy(kernel->prologue, product->prologue, sizeof kernel->prologue);
    kernel->operand[0].stored = true;
    *work = (wk__work){.family = WK__CONTRACTION, .program = product->epilogue, .args = kernel};
}
