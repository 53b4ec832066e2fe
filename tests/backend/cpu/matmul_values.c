/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products compared with plain sums: every dtype, layout, batch form, and shapes around tile sizes. */
#include "matmul_case.h"

#include "backend/cpu/isa.h"
#include "base/pool.h"

static const int64_t sizes[] = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 47, 48, 49, 63, 64, 65, 100, 129};
enum { SIZES = sizeof sizes / sizeof *sizes };

static int64_t some_size(void)
{
    return sizes[random_below(SIZES)];
}

/* Each size as m, n and k, with the others random; every layout of A. */
static void test_sizes(void **state)
{
    (void)state;
    for (int dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++)
        for (int s = 0; s < SIZES; s++)
            for (int side = 0; side < 3; side++)
                for (layout a = ROWS; a < LAYOUTS; a++) {
                    product_case test = {.dtype = (wk_dtype)dtype, .a = a};
                    test.b = (layout)random_below(LAYOUTS);
                    test.c = (layout)random_below(LAYOUTS);
                    int64_t *size[] = {&test.m, &test.n, &test.k};
                    for (int i = 0; i < 3; i++) *size[i] = i == side ? sizes[s] : some_size() % 50;
                    case_check(&test);
                }
}

static void test_corners(void **state)
{
    (void)state;
    for (int m = 0; m <= 18; m++)
        for (int n = 0; n <= 100; n++) {
            product_case test = {.dtype = n % 2 ? WK_F32 : WK_F64, .m = m, .n = n, .k = 5};
            case_check(&test);
        }
}

static void test_vectors(void **state)
{
    (void)state;
    static const int64_t lengths[] = {1, 2, 5, 31, 64, 511, 512, 513, 600, 1100};
    for (int i = 0; i < 10; i++)
        for (int l = 0; l < 10; l++)
            for (int flip = 0; flip < 2; flip++)
                for (layout b = ROWS; b < LAYOUTS; b++) {
                    product_case test = {.dtype = (l + i) % 2 ? WK_F32 : WK_F64, .k = lengths[l], .b = b};
                    test.a = (layout)random_below(LAYOUTS);
                    test.c = (layout)random_below(LAYOUTS);
                    test.m = flip ? lengths[i] : 1;
                    test.n = flip ? 1 : lengths[i];
                    case_check(&test);
                }
}

static void test_batches(void **state)
{
    (void)state;
    static const int64_t batch[][3] = {{3, 1, 1}, {2, 3, 1}, {2, 1, 3}, {0, 2, 1}, {1, 1, 1}, {4, 2, 2}};
    for (int dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++)
        for (int nbatch = 1; nbatch <= 3; nbatch++)
            for (int k = 0; k < 6; k++)
                for (int shared = 0; shared < 4; shared++)
                    for (layout layout = ROWS; layout < LAYOUTS; layout++) {
                        product_case test = {.dtype = (wk_dtype)dtype, .nbatch = nbatch, .a = layout};
                        test.a_shared = shared & 1;
                        test.b_shared = shared & 2;
                        test.b = (enum layout)random_below(LAYOUTS);
                        test.c = (enum layout)random_below(LAYOUTS);
                        memcpy(test.batch, batch[k], sizeof test.batch);
                        test.m = random_below(3) ? some_size() % 20 : 1;
                        test.n = random_below(3) ? some_size() % 20 : 1;
                        test.k = some_size() % 20;
                        case_check(&test);
                    }
}

/* Large enough for packing, blocks of k, several pieces and threads. */
static void test_large(void **state)
{
    (void)state;
    for (int k = 0; k < 30; k++) {
        product_case test = {.dtype = (wk_dtype)(WK_F32 + k % 10)};
        test.a = (layout)random_below(LAYOUTS);
        test.b = (layout)random_below(LAYOUTS);
        test.c = (layout)random_below(LAYOUTS);
        test.m = 1 + random_below(200);
        test.n = 1 + random_below(k < 20 ? 600 : 60);
        test.k = 1 + random_below(k < 20 ? 100 : 1200);
        case_check(&test);
    }
    product_case tall = {.dtype = WK_F32, .m = 900, .n = 30, .k = 520, .a = COLUMNS};
    case_check(&tall);
    product_case flat = {.dtype = WK_F64, .m = 20, .n = 900, .k = 300, .b = COLUMNS, .c = COLUMNS};
    case_check(&flat);
}

/* k = 0: C becomes 0 whatever it contained. */
static void test_no_sum(void **state)
{
    (void)state;
    for (int dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++)
        for (layout c = ROWS; c < LAYOUTS; c++) {
            product_case test = {.dtype = (wk_dtype)dtype, .m = 5, .n = 70, .c = c};
            case_check(&test);
            test.m = 1;
            case_check(&test);
        }
}

/* Puts NaN and infinity into A and B: in the last step of the sum, which may be half of a pair, and in another one. */
static void put_not_finite(product *product)
{
    static const float f32[] = {NAN, INFINITY};
    static const uint16_t bf16[] = {0x7fc0, 0x7f80};
    const wk_dtype dtype = product->test.dtype;
    const char *from[] = {dtype == WK_F32 ? (const char *)&f32[0] : (const char *)&bf16[0],
                          dtype == WK_F32 ? (const char *)&f32[1] : (const char *)&bf16[1]};
    memcpy(element(product, &product->a, 0, 8, product->test.k - 1), from[0], wk_dtype_size(dtype));
    memcpy(element(product, &product->b, 0, 3, 52), from[1], wk_dtype_size(dtype));
}

/* They propagate to the elements of C that depend on them, and to no others. */
static void test_not_finite(void **state)
{
    (void)state;
    static const wk_dtype dtypes[] = {WK_F32, WK_BF16};
    for (int d = 0; d < 2; d++)
        for (int64_t k = 20; k <= 21; k++) {
            product_case test = {.dtype = dtypes[d], .m = 9, .n = 53, .k = k};
            product product;
            product_new(&product, &test);
            put_not_finite(&product);
            product_run(&product);
            for (int64_t i = 0; i < test.m; i++)
                for (int64_t j = 0; j < test.n; j++) {
                    const double got = get_real(test.dtype, element(&product, &product.c, 0, i, j));
                    assert_int_equal(isfinite(got), i != 8 && j != 52);
                }
            product_free(&product);
        }
}

/* Sums of 2^-130 x 2^20: VDPBF16PS treats values below 2^-126 as 0, unlike kernels that widen bf16 to f32. */
static void test_denormals(void **state)
{
    (void)state;
    product_case test = {.dtype = WK_BF16, .m = 1, .n = 1, .k = 3};
    product product;
    product_new(&product, &test);
    const uint16_t denormal = 0x0008, large = 0x4980;
    for (int64_t l = 0; l < test.k; l++) {
        memcpy(element(&product, &product.a, 0, 0, l), &denormal, 2);
        memcpy(element(&product, &product.b, 0, l, 0), &large, 2);
    }
    assert_true(get_real(WK_BF16, element(&product, &product.a, 0, 0, 0)) == 0x1p-130);
    product_run(&product);
    const bool to_zero = strcmp(wk__cpu_isa_current()->name, "avx512_bf16") == 0;
    assert_true(get_real(WK_BF16, element(&product, &product.c, 0, 0, 0)) == (to_zero ? 0 : 3 * 0x1p-110));
    product_free(&product);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),      cmocka_unit_test(test_corners),   cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_batches),    cmocka_unit_test(test_large),     cmocka_unit_test(test_no_sum),
        cmocka_unit_test(test_not_finite), cmocka_unit_test(test_denormals),
    };
    int failed = 0;
    for (int k = 0; wk__cpu_isa_at(k); k++) {
        wk__cpu_isa_use(wk__cpu_isa_at(k));
        print_message("instruction set %s\n", wk__cpu_isa_current()->name);
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    }
    wk__cpu_matmul_trim();
    return failed;
}
