/* SPDX-License-Identifier: Apache-2.0 */
/* The convolutions that tests of contractions go through, and how many elements a result has. */
#ifndef TESTS_SUPPORT_CONTRACTION_H
#define TESTS_SUPPORT_CONTRACTION_H

#include "support_convolution.h"

#include "../src/backend/cpu/contraction_plainly.h"
#include "../src/base/pool.h"

static const convolution convolutions[] = {
    {1, 2, 1, 3, 4, {9}, {3}, {1}, {1}, {1}},
    {1, 2, 2, 3, 2, {11}, {4}, {3}, {2}, {1}},
    {1, 1, 1, 1, 1, {30}, {5}, {2}, {4}, {3}},
    {1, 3, 1, 5, 7, {40}, {1}, {1}, {0}, {1}},
    {1, 1, 1, 2, 2, {3}, {7}, {1}, {3}, {1}}, /* a kernel longer than its input */
    {1, 0, 1, 2, 2, {5}, {3}, {1}, {1}, {1}},
    {1, 2, 1, 0, 2, {5}, {3}, {1}, {1}, {1}},
    {2, 2, 1, 3, 5, {8, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 1, 3, 2, 4, {9, 10}, {3, 2}, {2, 3}, {1, 0}, {1, 2}},
    {2, 2, 8, 1, 1, {9, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},   /* depthwise */
    {2, 2, 1, 70, 60, {6, 6}, {1, 1}, {1, 1}, {0, 0}, {1, 1}}, /* 1 x 1: a product of matrices */
    {2, 1, 1, 64, 50, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 1, 1, 60, 40, {15, 16}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
    {3, 2, 1, 3, 4, {5, 6, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {3, 1, 2, 2, 3, {5, 6, 7}, {2, 3, 1}, {2, 1, 3}, {1, 2, 0}, {2, 1, 1}},
    {2, 12, 1, 3, 5, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, /* pieces end within an image */
};
enum { CONVOLUTIONS = sizeof convolutions / sizeof *convolutions };

static inline int64_t elements_of(const wk__kernel *kernel)
{
    int64_t elements = 1;
    for (int d = 0; d < kernel->ndim; d++) elements *= kernel->shape[d];
    return elements;
}

/* Small whole numbers, whose sums each of the dtypes has exactly: any order of them has the same bits. */
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
    return way == FORWARD ? &t->y : way == OF_INPUT ? &t->x : &t->w;
}

/* Exactly what each index by itself gives, and nothing else written; by one thread and by several, bit for bit. */
typedef wk_code run_kernel(const wk__kernel *kernel, wk__fail *fail);
static inline void expect_exactly(const wk__kernel *kernel, const array *out, run_kernel *run, const char *what)
{
    const wk__work work = {.family = WK__CONTRACTION, .kernel = kernel};
    wk__fail fail = {0};
    char *before = array_copy(out);
    assert_int_equal(wk__cpu_contraction_plainly(&work, &fail), WK_OK);
    char *want = array_copy(out);
    for (int threads = 1; threads <= 3; threads++) {
        wk__set_threads(threads);
        memcpy(out->data, before, (size_t)out->bytes);
        assert_int_equal(run(kernel, &fail), WK_OK);
        if (memcmp(want, out->data, (size_t)out->bytes) != 0) fail_msg("%s, %d threads", what, threads);
    }
    wk__set_threads(1);
    memcpy(out->data, before, (size_t)out->bytes);
    free(before);
    free(want);
}

/* For the end of a program: gives back the panels that the CPU's products keep. */
static inline int trim_products(void **state)
{
    (void)state;
    wk__cpu_matmul_trim();
    return 0;
}

#endif
