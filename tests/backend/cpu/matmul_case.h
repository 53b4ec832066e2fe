/* SPDX-License-Identifier: Apache-2.0 */
/* Test products: operands of every dtype and layout, a reference in double or int64, guard bytes around C. */
#ifndef CPU_MATMUL_CASE_H
#define CPU_MATMUL_CASE_H

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "backend/cpu/contraction/matmul.h"
#include "support/turns.h"

/* Layout of a matrix, or a stack of them, in memory. */
typedef enum layout { ROWS, COLUMNS, GAPS, BACKWARDS, LAYOUTS } layout;

typedef struct product_case {
    wk_dtype dtype;
    int nbatch;
    int64_t batch[3];
    int64_t m, n, k;
    layout a, b, c;
    bool a_shared, b_shared; /* stride 0 over the batches */
} product_case;

static uint64_t random_state = 1;

static inline uint32_t random_bits(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33);
}

static inline int64_t random_below(int64_t count)
{
    return random_bits() % count;
}

static inline bool is_float(wk_dtype dtype)
{
    return dtype == WK_F32 || dtype == WK_F64 || dtype == WK_F16 || dtype == WK_BF16;
}

/* Read and write one element. */
static inline double get_real(wk_dtype dtype, const char *at)
{
    float f;
    double d;
    uint16_t h;
    uint32_t bits;
    switch (dtype) {
    case WK_F32: memcpy(&f, at, 4); return f;
    case WK_F64: memcpy(&d, at, 8); return d;
    case WK_BF16:
        memcpy(&h, at, 2);
        bits = (uint32_t)h << 16;
        memcpy(&f, &bits, 4);
        return f;
    default:
        memcpy(&h, at, 2);
        if ((h >> 10 & 31) == 31) return h & 1023 ? NAN : h & 0x8000 ? -INFINITY : INFINITY;
        d = (h >> 10 & 31) ? ldexp(1024 + (h & 1023), (h >> 10 & 31) - 25) : ldexp(h & 1023, -24);
        return h & 0x8000 ? -d : d;
    }
}

static inline int64_t get_whole(wk_dtype dtype, const char *at)
{
    int64_t value = 0;
    memcpy(&value, at, wk_dtype_size(dtype));
    switch (dtype) {
    case WK_I8: return (int8_t)value;
    case WK_I16: return (int16_t)value;
    case WK_I32: return (int32_t)value;
    default: return value;
    }
}

/* Random contents: multiples of 1/8, which every float dtype represents exactly; any bits for integers. */
static inline void put_random(wk_dtype dtype, char *at)
{
    const double real = (double)(random_below(129) - 64) / 8 * (dtype == WK_F32 || dtype == WK_F64 ? 1.0 / 3 : 1);
    const float single = (float)real;
    uint32_t bits;
    memcpy(&bits, &single, 4);
    uint64_t whole = random_bits();
    whole = whole << 32 ^ random_bits();
    if (dtype == WK_BOOL) whole = whole % 5 == 0;
    uint16_t half = (uint16_t)(bits >> 16);
    switch (dtype) {
    case WK_F32: memcpy(at, &single, 4); return;
    case WK_F64: memcpy(at, &real, 8); return;
    case WK_BF16: memcpy(at, &half, 2); return;
    case WK_F16:
        half = (uint16_t)(single == 0 ? 0 : (bits >> 16 & 0x8000) | ((bits & 0x7fffffff) - (112u << 23)) >> 13);
        memcpy(at, &half, 2);
        return;
    default: memcpy(at, &whole, wk_dtype_size(dtype)); return;
    }
}

/* A stack of matrices in separate memory that ends at the last element, so that sanitizers detect accesses beyond
 * it. */
typedef struct matrix {
    char *data;
    int64_t bytes;
    wk__memory memory;
    wk__operand operand;
} matrix;

static inline matrix matrix_new(const product_case *test, layout layout, bool shared, int64_t rows, int64_t columns)
{
    matrix matrix = {0};
    const int64_t size = (int64_t)wk_dtype_size(test->dtype);
    const int64_t gap = layout == GAPS ? 3 : 1, guard = 5;
    int64_t *stride = matrix.operand.stride;
    const int d = test->nbatch;
    stride[d] = layout == COLUMNS ? 1 : columns * gap + (layout == GAPS ? 1 : 0);
    stride[d + 1] = layout == COLUMNS ? rows : gap;
    int64_t all =
        rows * columns == 0 ? 0 : (layout == COLUMNS ? rows * columns : (rows - 1) * stride[d] + columns * gap);
    const int64_t one = all + (layout == GAPS ? 2 : 0);
    for (int b = d - 1; b >= 0; b--) {
        stride[b] = shared ? 0 : all == 0 ? 0 : b == d - 1 ? one : stride[b + 1] * test->batch[b + 1];
        if (!shared) all = test->batch[b] == 0 ? 0 : all + stride[b] * (test->batch[b] - 1);
    }
    matrix.operand.offset = guard;
    matrix.bytes = (guard + all) * size;
    if (layout == BACKWARDS && all > 0) { /* both directions of the matrix reversed */
        matrix.operand.offset += (rows - 1) * stride[d] + (columns - 1) * stride[d + 1];
        stride[d] = -stride[d];
        stride[d + 1] = -stride[d + 1];
    }
    matrix.data = malloc((size_t)matrix.bytes);
    assert_non_null(matrix.data);
    for (int64_t k = 0; k < matrix.bytes / size; k++) put_random(test->dtype, matrix.data + k * size);
    matrix.operand.dtype = (uint8_t)test->dtype;
    return matrix;
}

/* State of one case. It must not be copied, because operands point into it. */
typedef struct product {
    product_case test;
    matrix a, b, c;
    wk__matmul matmul;
} product;

static inline void product_new(product *product, const product_case *test)
{
    product->test = *test;
    product->a = matrix_new(test, test->a, test->a_shared, test->m, test->k);
    product->b = matrix_new(test, test->b, test->b_shared, test->k, test->n);
    product->c = matrix_new(test, test->c, false, test->m, test->n);
    matrix *all[] = {&product->a, &product->b, &product->c};
    for (int i = 0; i < 3; i++) {
        all[i]->memory = (wk__memory){.block = all[i]->data, .host = all[i]->data, .bytes = all[i]->bytes};
        all[i]->operand.memory = &all[i]->memory;
    }
    product->matmul = (wk__matmul){.nbatch = test->nbatch, .m = test->m, .n = test->n, .k = test->k};
    memcpy(product->matmul.batch, test->batch, sizeof test->batch);
    product->matmul.a = product->a.operand;
    product->matmul.b = product->b.operand;
    product->matmul.c = product->c.operand;
}

static inline void product_free(product *product)
{
    free(product->a.data);
    free(product->b.data);
    free(product->c.data);
}

/* Returns the address of an element (batch index, row, column) of a matrix. */
static inline char *element(const product *product, const matrix *matrix, int64_t batch, int64_t row, int64_t column)
{
    const int d = product->test.nbatch;
    int64_t at = matrix->operand.offset + row * matrix->operand.stride[d] + column * matrix->operand.stride[d + 1];
    for (int b = d - 1; b >= 0; b--) {
        at += batch % product->test.batch[b] * matrix->operand.stride[b];
        batch /= product->test.batch[b];
    }
    return matrix->data + at * (int64_t)wk_dtype_size(product->test.dtype);
}

static inline int64_t batches_of(const product_case *test)
{
    int64_t count = 1;
    for (int d = 0; d < test->nbatch; d++) count *= test->batch[d];
    return count;
}

static inline void fail_at(const product_case *t, int64_t batch, int64_t row, int64_t column, double got, double want)
{
    fail_msg("%s %lldx%lldx%lld, %d batch dimensions, layouts %d %d %d: C[%lld, %lld, %lld] is %.17g instead of %.17g",
             wk_dtype_str(t->dtype), (long long)t->m, (long long)t->n, (long long)t->k, t->nbatch, (int)t->a, (int)t->b,
             (int)t->c, (long long)batch, (long long)row, (long long)column, got, want);
}

/* Compares C with the reference, element by element; before is the content of C's memory before the product. */
static inline void product_check(const product *product, const char *before)
{
    const product_case *t = &product->test;
    const int64_t size = (int64_t)wk_dtype_size(t->dtype);
    char *expected = malloc((size_t)product->c.bytes);
    memcpy(expected, before, (size_t)product->c.bytes);
    /* one rounding at the end, and a few per step of the sum */
    const double last = t->dtype == WK_BF16 ? 0x1p-8 : t->dtype == WK_F16 ? 0x1p-10 : 0;
    const double step = t->dtype == WK_F64 ? 0x1p-52 : 0x1p-23;
    for (int64_t q = 0; q < batches_of(t); q++)
        for (int64_t i = 0; i < t->m; i++)
            for (int64_t j = 0; j < t->n; j++) {
                char *c = element(product, &product->c, q, i, j);
                memcpy(expected + (c - product->c.data), c, (size_t)size);
                double sum = 0, magnitude = 0;
                uint64_t whole = 0;
                bool any = false;
                for (int64_t l = 0; l < t->k; l++) {
                    const char *a = element(product, &product->a, q, i, l), *b = element(product, &product->b, q, l, j);
                    if (is_float(t->dtype)) {
                        const double term = get_real(t->dtype, a) * get_real(t->dtype, b);
                        sum += term;
                        magnitude += fabs(term);
                    } else {
                        const int64_t x = get_whole(t->dtype, a), y = get_whole(t->dtype, b);
                        whole += (uint64_t)x * (uint64_t)y;
                        any |= x && y;
                    }
                }
                if (is_float(t->dtype)) {
                    const double got = get_real(t->dtype, c);
                    const double room = step * (double)(t->k + 2) * magnitude + last * fabs(sum) + 0x1p-25 * (last > 0);
                    if (!(fabs(got - sum) <= room)) fail_at(t, q, i, j, got, sum);
                } else {
                    char bytes[8];
                    if (t->dtype == WK_BOOL) whole = any;
                    memcpy(bytes, &whole, 8);
                    if (memcmp(bytes, c, (size_t)size) != 0)
                        fail_at(t, q, i, j, (double)get_whole(t->dtype, c), (double)get_whole(t->dtype, bytes));
                }
            }
    /* memory around C's elements is unchanged */
    assert_memory_equal(expected, product->c.data, (size_t)product->c.bytes);
    free(expected);
}

static inline void product_run(product *product)
{
    wk__fail fail = {0};
    assert_int_equal(wk__cpu_matmul(&product->matmul, &fail), WK_OK);
}

static inline void case_check(const product_case *test)
{
    if (!test_takes_case(4)) return;
    product product;
    product_new(&product, test);
    char *before = malloc((size_t)product.c.bytes);
    memcpy(before, product.c.data, (size_t)product.c.bytes);
    product_run(&product);
    product_check(&product, before);
    free(before);
    product_free(&product);
}

#endif
