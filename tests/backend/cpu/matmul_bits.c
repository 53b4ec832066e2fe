/* SPDX-License-Identifier: Apache-2.0 */
/* Changes that must not affect any bit of a product, and products without memory. */
#include "matmul_case.h"

#include "backend/cpu/isa.h"
#include "base/alloc.h"
#include "base/pool.h"

static const product_case cases[] = {
    {.dtype = WK_F32, .m = 130, .n = 150, .k = 700},
    {.dtype = WK_F32, .m = 900, .n = 100, .k = 64, .a = COLUMNS},
    {.dtype = WK_F32, .m = 64, .n = 256, .k = 784, .b = COLUMNS},
    {.dtype = WK_F32, .m = 1, .n = 3000, .k = 600},
    {.dtype = WK_F32, .m = 1, .n = 900, .k = 1025, .b = COLUMNS},
    {.dtype = WK_F32, .m = 3000, .n = 1, .k = 600},
    {.dtype = WK_F64, .m = 130, .n = 150, .k = 300, .c = COLUMNS},
    {.dtype = WK_BF16, .m = 100, .n = 500, .k = 600, .c = GAPS},
    {.dtype = WK_F16, .m = 100, .n = 120, .k = 600, .b = BACKWARDS},
    {.dtype = WK_F32, .nbatch = 2, .batch = {7, 11}, .m = 20, .n = 30, .k = 40},
    {.dtype = WK_F32, .nbatch = 2, .batch = {7, 11}, .m = 20, .n = 30, .k = 40, .b_shared = true},
    {.dtype = WK_F32, .nbatch = 1, .batch = {600}, .m = 1, .n = 30, .k = 40, .b_shared = true},
    {.dtype = WK_I32, .m = 100, .n = 200, .k = 100},
};
enum { CASES = sizeof cases / sizeof *cases };

static void test_threads(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++) {
        if (!test_takes_case(4)) continue;
        product product;
        product_new(&product, &cases[k]);
        char *alone = malloc((size_t)product.c.bytes), *before = malloc((size_t)product.c.bytes);
        memcpy(before, product.c.data, (size_t)product.c.bytes);
        wk__set_thread_count(1);
        product_run(&product);
        memcpy(alone, product.c.data, (size_t)product.c.bytes);
        for (int threads = 2; threads <= 7; threads++) {
            wk__set_thread_count(threads);
            memcpy(product.c.data, before, (size_t)product.c.bytes);
            product_run(&product);
            assert_memory_equal(alone, product.c.data, (size_t)product.c.bytes);
        }
        free(alone);
        free(before);
        product_free(&product);
    }
    wk__set_thread_count(1);
}

/* Compares the product with the same rows in a larger one: a row of C does not depend on the number of others. */
static void compare_rows(const product_case *test)
{
    product whole;
    product_new(&whole, test);
    product_run(&whole);
    char *all = malloc((size_t)whole.c.bytes);
    memcpy(all, whole.c.data, (size_t)whole.c.bytes);
    for (int64_t row = 0; row < 20; row++) {
        wk__matmul part = whole.matmul;
        wk__fail fail;
        part.m = 2 + row % 9;
        part.a.offset += row * part.a.stride[0];
        part.c.offset += row * part.c.stride[0];
        memset(whole.c.data, 1, (size_t)whole.c.bytes);
        assert_int_equal(wk__cpu_matmul(&part, &fail), WK_OK);
        const int64_t size = (int64_t)wk_dtype_size(test->dtype), first = part.c.offset * size;
        assert_memory_equal(all + first, whole.c.data + first, (size_t)(part.m * test->n * size));
    }
    free(all);
    product_free(&whole);
}

static void test_rows(void **state)
{
    (void)state;
    compare_rows(&(product_case){.dtype = WK_F32, .m = 30, .n = 100, .k = 1000});
    compare_rows(&(product_case){.dtype = WK_BF16, .m = 30, .n = 100, .k = 2101});
}

/* Each allocation fails once: an error, C unchanged, and the next product is correct. */
static void test_no_memory(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++)
        for (int nth = 1; nth <= 2; nth++) {
            if (!test_takes_case(4)) continue;
            product product;
            product_new(&product, &cases[k]);
            char *before = malloc((size_t)product.c.bytes);
            memcpy(before, product.c.data, (size_t)product.c.bytes);
            wk__fail fail = {0};
            wk__cpu_matmul_trim();
            wk__set_thread_count(4);
            wk__alloc_fail_at(nth);
            const wk_code code = wk__cpu_matmul(&product.matmul, &fail);
            wk__alloc_fail_at(0);
            if (code) {
                assert_int_equal(code, WK_ERR_MEMORY);
                assert_int_equal(fail.code, WK_ERR_MEMORY);
                assert_memory_equal(before, product.c.data, (size_t)product.c.bytes);
                product_run(&product);
                if (nth == 1) product_check(&product, before);
            }
            free(before);
            product_free(&product);
        }
    wk__cpu_matmul_trim();
    wk__set_thread_count(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_no_memory),
    };
    int failed = 0;
    for (int k = 0; wk__cpu_isa_at(k); k++) {
        wk__cpu_isa_use(wk__cpu_isa_at(k));
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    }
    return failed;
}
