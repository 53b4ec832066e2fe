/* SPDX-License-Identifier: Apache-2.0 */
/* An epilogue that runs on C piece by piece yields the same bits as on all of C afterwards. */
#include "matmul_case.h"
#include "ir/build.h"

#include "backend/cpu/isa.h"
#include "backend/cpu/vm/program.h"
#include "base/pool.h"

static const product_case cases[] = {
    {.dtype = WK_F32, .m = 2, .n = 3, .k = 4},
    {.dtype = WK_F32, .m = 230, .n = 550, .k = 600},
    {.dtype = WK_F32, .m = 64, .n = 256, .k = 784, .b = COLUMNS},
    {.dtype = WK_F32, .m = 200, .n = 130, .k = 20, .c = COLUMNS},
    {.dtype = WK_F32, .m = 1, .n = 2000, .k = 300},
    {.dtype = WK_F32, .m = 3000, .n = 1, .k = 300},
    {.dtype = WK_F32, .m = 40, .n = 50, .k = 0},
    {.dtype = WK_F32, .m = 40, .n = 0, .k = 3},
    {.dtype = WK_F32, .nbatch = 2, .batch = {3, 5}, .m = 20, .n = 30, .k = 40},
    {.dtype = WK_F32, .nbatch = 2, .batch = {3, 5}, .m = 20, .n = 30, .k = 40, .b_shared = true},
    {.dtype = WK_F32, .nbatch = 3, .batch = {3, 1, 50}, .m = 7, .n = 30, .k = 40, .b_shared = true},
    {.dtype = WK_F32, .nbatch = 2, .batch = {3, 5}, .m = 20, .n = 30, .k = 40, .a_shared = true, .c = COLUMNS},
    {.dtype = WK_F32, .nbatch = 1, .batch = {300}, .m = 1, .n = 30, .k = 40, .b_shared = true},
    /* batches are merged into rows, and these into columns */
    {.dtype = WK_F32, .nbatch = 1, .batch = {4}, .m = 3, .n = 1, .k = 8, .b_shared = true},
    {.dtype = WK_F32, .nbatch = 1, .batch = {5}, .m = 1, .n = 1, .k = 1, .b_shared = true},
    {.dtype = WK_F32, .nbatch = 2, .batch = {7, 90}, .m = 11, .n = 1, .k = 30, .b_shared = true},
    {.dtype = WK_F32, .nbatch = 3, .batch = {6, 1, 5}, .m = 1, .n = 9, .k = 4, .a_shared = true},
    {.dtype = WK_F32, .nbatch = 2, .batch = {70, 40}, .m = 3, .n = 5, .k = 4, .b_shared = true, .c = COLUMNS},
    {.dtype = WK_F64, .nbatch = 1, .batch = {3}, .m = 100, .n = 70, .k = 90, .b = GAPS, .c = GAPS},
    {.dtype = WK_BF16, .m = 100, .n = 500, .k = 600, .c = GAPS},
    {.dtype = WK_F16, .nbatch = 1, .batch = {2}, .m = 100, .n = 50, .k = 60},
    {.dtype = WK_I32, .m = 100, .n = 200, .k = 100},
};
enum { CASES = sizeof cases / sizeof *cases };

/* c = max(c + bias[column] x mask[column, row, batch], 0), each step rounded to the dtype. The mask has the reverse
 * order of dimensions in memory, so that no two dimensions of the epilogue can be merged. */
typedef struct tail {
    wk__program group;
    char *bias, *mask;
    wk__memory bias_memory, mask_memory;
} tail;

static char *random_memory(wk_dtype dtype, int64_t count, wk__memory *memory)
{
    const int64_t size = (int64_t)wk_dtype_size(dtype);
    char *data = malloc((size_t)(count * size + 1));
    for (int64_t k = 0; k < count; k++) put_random(dtype, data + k * size);
    *memory = (wk__memory){.block = data, .host = data, .bytes = count * size};
    return data;
}

static int rounded(wk__program *g, wk_dtype dtype, int r)
{
    return dtype == WK_BF16 || dtype == WK_F16 ? ir_ins(g, WK__CAST, dtype, r, 0, 0) : r;
}

static void tail_new(tail *tail, product *product)
{
    const product_case *t = &product->test;
    wk__program *g = &tail->group;
    int64_t shape[WK__MAX_DIMS], bias_stride[WK__MAX_DIMS] = {0};
    memcpy(shape, t->batch, sizeof t->batch);
    shape[t->nbatch] = t->m;
    shape[t->nbatch + 1] = t->n;
    bias_stride[t->nbatch + 1] = 1;
    tail->bias = random_memory(t->dtype, t->n, &tail->bias_memory);
    tail->mask = random_memory(t->dtype, batches_of(t) * t->m * t->n, &tail->mask_memory);
    ir_space(g, t->nbatch + 2, shape, 0);
    const int c = ir_operand(g, t->dtype, &product->c.memory, product->c.operand.offset, product->c.operand.stride);
    const int bias = ir_operand(g, t->dtype, &tail->bias_memory, 0, bias_stride);
    int64_t mask_stride[WK__MAX_DIMS] = {1};
    for (int d = 1; d < t->nbatch + 2; d++) mask_stride[d] = mask_stride[d - 1] * shape[d - 1];
    const int mask = ir_operand(g, t->dtype, &tail->mask_memory, 0, mask_stride);
    const int value = ir_load(g, c);
    const int product_of = rounded(g, t->dtype, ir_binary(g, WK__MUL, ir_load(g, bias), ir_load(g, mask)));
    const int sum = rounded(g, t->dtype, ir_binary(g, WK__ADD, value, product_of));
    const int zero = ir_imm(g, wk__compute_class(t->dtype), (wk__imm){0});
    ir_store(g, c, rounded(g, t->dtype, ir_binary(g, WK__MAX, sum, zero)));
    assert_null(wk__program_verify(g));
}

static void tail_free(tail *tail)
{
    free(tail->bias);
    free(tail->mask);
}

static void test_pieces(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++)
        for (int threads = 1; threads <= 4; threads += 3) {
            product product;
            tail tail;
            wk__fail fail = {0};
            wk__set_thread_count(threads);
            product_new(&product, &cases[k]);
            tail_new(&tail, &product);
            char *before = malloc((size_t)product.c.bytes), *apart = malloc((size_t)product.c.bytes);
            memcpy(before, product.c.data, (size_t)product.c.bytes);
            product_run(&product);
            if (cases[k].n > 0) assert_int_equal(wk__cpu_run(&tail.group, &fail), WK_OK);
            memcpy(apart, product.c.data, (size_t)product.c.bytes);
            memcpy(product.c.data, before, (size_t)product.c.bytes);
            product.matmul.epilogue = &tail.group;
            product_run(&product);
            assert_memory_equal(apart, product.c.data, (size_t)product.c.bytes);
            free(before);
            free(apart);
            tail_free(&tail);
            product_free(&product);
        }
    wk__set_thread_count(1);
}

/* An epilogue that reduces runs on complete rows: the sum of each row of C. */
static void test_reduction(void **state)
{
    (void)state;
    product_case test = {.dtype = WK_F32, .m = 150, .n = 600, .k = 50};
    product product;
    product_new(&product, &test);
    wk__memory memory;
    char *sums = random_memory(WK_F32, test.m, &memory), *apart = malloc(150 * 4);
    wk__program g;
    wk__fail fail = {0};
    ir_space(&g, 2, (const int64_t[]){test.m, test.n}, 1);
    const int c = ir_operand(&g, WK_F32, &product.c.memory, product.c.operand.offset, product.c.operand.stride);
    const int out = ir_dense(&g, WK_F32, true);
    g.operand[out].memory = &memory;
    ir_store(&g, out, ir_unary(&g, WK__RSUM, ir_load(&g, c)));
    product_run(&product);
    assert_int_equal(wk__cpu_run(&g, &fail), WK_OK);
    memcpy(apart, sums, 150 * 4);
    memset(sums, 0, 150 * 4);
    product.matmul.epilogue = &g;
    product_run(&product);
    assert_memory_equal(apart, sums, 150 * 4);
    free(apart);
    free(sums);
    product_free(&product);
}

/* An epilogue with an index out of range: the fault is reported, and the rest of C is completed. */
static void test_fault(void **state)
{
    (void)state;
    product_case test = {.dtype = WK_F32, .m = 300, .n = 500, .k = 50};
    product product;
    product_new(&product, &test);
    wk__memory index_memory, table_memory;
    char *indices = random_memory(WK_I64, test.m, &index_memory), *table = random_memory(WK_F32, 7, &table_memory);
    memset(indices, 0, 300 * 8);
    const int64_t bad = 9, none[2] = {0};
    memcpy(indices + 8 * 250, &bad, 8);
    wk__program g;
    ir_space(&g, 2, (const int64_t[]){test.m, test.n}, 0);
    g.tag = 5;
    const int c = ir_operand(&g, WK_F32, &product.c.memory, product.c.operand.offset, product.c.operand.stride);
    const int index = ir_operand(&g, WK_I64, &index_memory, 0, (const int64_t[]){1, 0});
    const int from = ir_operand(&g, WK_F32, &table_memory, 0, none);
    g.imm[g.nimms++].i = 7;
    g.imm[g.nimms++].i = 1;
    const int value = ir_ins(&g, WK__LOADX, WK_F32, ir_load(&g, index), from, 0);
    ir_store(&g, c, ir_binary(&g, WK__ADD, ir_load(&g, c), value));
    assert_null(wk__program_verify(&g));
    for (int threads = 1; threads <= 4; threads += 3) {
        wk__fail fail = {0};
        wk__set_thread_count(threads);
        product_run(&product);
        char *plain = malloc((size_t)product.c.bytes);
        memcpy(plain, product.c.data, (size_t)product.c.bytes);
        product.matmul.epilogue = &g;
        assert_int_equal(wk__cpu_matmul(&product.matmul, &fail), WK_ERR_INDEX);
        product.matmul.epilogue = NULL;
        assert_int_equal(fail.tag, 5);
        assert_int_equal(fail.index, 9);
        assert_int_equal(fail.bound, 7);
        float first;
        memcpy(&first, table, 4);
        for (int64_t i = 0; i < test.m; i++)
            for (int64_t j = 0; j < test.n; j++) {
                const char *at = element(&product, &product.c, 0, i, j);
                const float sum = (float)get_real(WK_F32, plain + (at - product.c.data)) + (i == 250 ? 0 : first);
                assert_true((float)get_real(WK_F32, at) == sum);
            }
        free(plain);
    }
    wk__set_thread_count(1);
    free(indices);
    free(table);
    product_free(&product);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_reduction),
        cmocka_unit_test(test_fault),
    };
    int failed = 0;
    for (int k = 0; wk__cpu_isa_at(k); k++) {
        wk__cpu_isa_use(wk__cpu_isa_at(k));
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    }
    wk__cpu_matmul_trim();
    return failed;
}
