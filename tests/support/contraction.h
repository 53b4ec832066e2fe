/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions for tests of contraction kernels, and a reference that computes a contraction by loops over its
 * indices. */
#ifndef TESTS_SUPPORT_CONTRACTION_H
#define TESTS_SUPPORT_CONTRACTION_H

#include "convolution.h"

#include "base/pool.h"

static const convolution convolutions[] = {
    {1, 2, 1, 3, 4, {9}, {3}, {1}, {1}, {1}},
    {1, 2, 2, 3, 2, {11}, {4}, {3}, {2}, {1}},
    {1, 1, 1, 1, 1, {30}, {5}, {2}, {4}, {3}},
    {1, 3, 1, 5, 7, {40}, {1}, {1}, {0}, {1}},
    {1, 1, 1, 2, 2, {3}, {7}, {1}, {3}, {1}}, /* kernel larger than the input */
    {1, 0, 1, 2, 2, {5}, {3}, {1}, {1}, {1}},
    {1, 2, 1, 0, 2, {5}, {3}, {1}, {1}, {1}},
    {2, 2, 1, 3, 5, {8, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 1, 3, 2, 4, {9, 10}, {3, 2}, {2, 3}, {1, 0}, {1, 2}},
    {2, 2, 8, 1, 1, {9, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},   /* depthwise */
    {2, 2, 1, 70, 60, {6, 6}, {1, 1}, {1, 1}, {0, 0}, {1, 1}}, /* 1 x 1: a matrix product */
    {2, 1, 1, 64, 50, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 1, 1, 60, 40, {15, 16}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
    {3, 2, 1, 3, 4, {5, 6, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {3, 1, 2, 2, 3, {5, 6, 7}, {2, 3, 1}, {2, 1, 3}, {1, 2, 0}, {2, 1, 1}},
    {2, 12, 1, 3, 5, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, /* pieces end inside an image */
};
enum { CONVOLUTIONS = sizeof convolutions / sizeof *convolutions };

static inline int64_t elements_of(const wk__work_args *kernel)
{
    int64_t elements = 1;
    for (int d = 0; d < kernel->ndim; d++) elements *= kernel->shape[d];
    return elements;
}

/* Stores a small integer; the sums of such values are exact in every dtype. */
static inline void put_small(wk_dtype dtype, char *at)
{
    static const int64_t numbers[] = {-1, 1, 2};
    const int64_t number = numbers[random_below(3)];
    put_rounded(dtype, at, (double)number, number);
}

static inline void fill_small(array *array)
{
    const wk_dtype dtype = (wk_dtype)array->operand.dtype;
    const int64_t size = (int64_t)wk_dtype_size(dtype);
    for (int64_t k = 0; k < array->bytes / size; k++) put_small(dtype, array->data + k * size);
}

static inline const array *result_of(const convolution_case *t, direction way)
{
    return way == FORWARD ? &t->y : way == GRAD_INPUT ? &t->x : &t->w;
}

/* ---- reference --------------------------------------------------------------------------------------------------- */

/* Element offsets of C, A and B at the present index values, and the numerators of their computed coordinates. */
typedef struct loop_state {
    int64_t at[1 + WK__FACTORS], numerator[WK__FACTORS][WK__MAX_AFFINE];
} loop_state;

static inline void step_index(const wk__work_args *kernel, loop_state *s, int i)
{
    const wk__contraction *sum = kernel->contraction;
    const int summed = i - kernel->ndim;
    if (summed < 0) s->at[0] += kernel->operand[0].stride[i];
    for (int f = 0; f < WK__FACTORS; f++) {
        s->at[1 + f] += summed < 0 ? kernel->operand[1 + f].stride[i] : sum->stride[f][summed];
        for (int k = 0; k < sum->naffine[f]; k++) s->numerator[f][k] += sum->affine[f][k].coefficient[i];
    }
}

static inline uint64_t number_at(wk_dtype dtype, const char *at)
{
    return (uint64_t)(is_float(dtype) ? (int64_t)get_real(dtype, at) : get_whole(dtype, at));
}

/* Returns the element of factor f; 0 if a computed coordinate is out of range. */
static inline uint64_t factor_at(const wk__work_args *kernel, const loop_state *s, int f)
{
    const wk__operand *operand = &kernel->operand[1 + f];
    const wk_dtype dtype = (wk_dtype)operand->dtype;
    int64_t at = s->at[1 + f];
    for (int k = 0; k < kernel->contraction->naffine[f]; k++) {
        const wk__affine_index *q = &kernel->contraction->affine[f][k];
        const int64_t numerator = s->numerator[f][k], whole = q->divisor == 1 ? numerator : numerator / q->divisor;
        if (numerator < 0 || whole >= q->extent || whole * q->divisor != numerator) return 0;
        at += whole * q->stride;
    }
    return number_at(dtype, operand->memory->host + at * (int64_t)wk_dtype_size(dtype));
}

static inline uint64_t sum_from(const wk__work_args *kernel, int i, loop_state s)
{
    const int last = kernel->ndim + kernel->contraction->nsummed - 1;
    uint64_t total = 0;
    if (i > last) return factor_at(kernel, &s, 1) * factor_at(kernel, &s, 0);
    for (int64_t left = wk__index_extent(kernel, i); left > 0; left--, step_index(kernel, &s, i)) {
        const uint64_t b = i == last ? factor_at(kernel, &s, 1) : 0;
        total += i < last ? sum_from(kernel, i + 1, s) : b != 0 ? b * factor_at(kernel, &s, 0) : 0;
    }
    return total;
}

static inline void results_from(const wk__work_args *kernel, int i, loop_state s)
{
    const wk_dtype dtype = (wk_dtype)kernel->operand[0].dtype;
    if (i == kernel->ndim) {
        const int64_t total = (int64_t)sum_from(kernel, i, s);
        put_rounded(dtype, kernel->operand[0].memory->host + s.at[0] * (int64_t)wk_dtype_size(dtype), (double)total,
                    total);
        return;
    }
    for (int64_t left = kernel->shape[i]; left > 0; left--, step_index(kernel, &s, i)) results_from(kernel, i + 1, s);
}

/* Computes a contraction of small integers. Their sums are exact, so the order of summation does not affect the
 * result. */
static inline void contract_by_loops(const wk__work_args *kernel)
{
    loop_state s = {.at = {kernel->operand[0].offset, kernel->operand[1].offset, kernel->operand[2].offset}};
    for (int f = 0; f < WK__FACTORS; f++)
        for (int k = 0; k < kernel->contraction->naffine[f]; k++)
            s.numerator[f][k] = kernel->contraction->affine[f][k].offset;
    results_from(kernel, 0, s);
}

/* Checks that run writes exactly the reference's bits and nothing else, with one thread and with several. */
typedef wk_code run_kernel(const wk__work_args *kernel, wk__fail *fail);
static inline void expect_exactly(const wk__work_args *kernel, const array *out, run_kernel *run, const char *what)
{
    wk__fail fail = {0};
    char *before = array_copy(out);
    contract_by_loops(kernel);
    char *want = array_copy(out);
    for (int threads = 1; threads <= 3; threads++) {
        wk__set_thread_count(threads);
        memcpy(out->data, before, (size_t)out->bytes);
        assert_int_equal(run(kernel, &fail), WK_OK);
        if (memcmp(want, out->data, (size_t)out->bytes) != 0) fail_msg("%s, %d threads", what, threads);
    }
    wk__set_thread_count(1);
    memcpy(out->data, before, (size_t)out->bytes);
    free(before);
    free(want);
}

/* Exchanges the factors A and B. */
static inline void swap_factors(wk__work_args *kernel, wk__contraction *sum)
{
    const wk__operand a = kernel->operand[1];
    kernel->operand[1] = kernel->operand[2];
    kernel->operand[2] = a;
    for (int s = 0; s < sum->nsummed; s++) {
        const int64_t stride = sum->stride[0][s];
        sum->stride[0][s] = sum->stride[1][s];
        sum->stride[1][s] = stride;
    }
    sum->affine[0][0] = sum->affine[1][0];
    sum->naffine[0] = 1;
    sum->naffine[1] = 0;
}

/* Group teardown: frees the panels that the CPU's products cache. */
static inline int trim_products(void **state)
{
    (void)state;
    wk__cpu_matmul_trim();
    return 0;
}

#endif
