/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the memory that an output may reuse: one test for each condition of src/engine/plan/reuse.c, with values that
 * are wrong without the condition, on every device. */
#include "support/devices.h"
#include "support/wick.h"

static wk_tensor *numbers(wk_device device, int64_t rows, int64_t columns)
{
    wk_tensor_options options = {.size = sizeof options, .device = device, .dtype = WK_F32};
    wk_tensor *x = wk_reshape(wk_arange_i64_at(WK_HERE, rows * columns, &options), (rows, columns));
    x = wk_to_dtype(x, WK_F32);
    wk_sync();
    return x;
}

static double at(int64_t columns, int64_t row, int64_t column)
{
    return (double)(row * columns + column);
}

/* The product still reads rows that its epilogue has overwritten by then. */
static void a_product_keeps_its_factors(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_tensor *x = wk_full((2, 2, 2), 2.0, .device = device);
        wk_sync();
        wk_tensor *y = wk_matmul(x, x);
        wk_add_(wk_transpose(x, 0, 2), 1);
        EXPECT_VALUES(y, 0, 8, 8, 8, 8, 8, 8, 8, 8);
        EXPECT_VALUES(x, 0, 3, 3, 3, 3, 3, 3, 3, 3);

        wk_tensor *a = wk_ones((256, 256), .device = device);
        wk_sync();
        wk_tensor *b = wk_matmul(a, a);
        wk_add_(wk_t(a), 1);
        assert_true(wk_item(wk_amin(b)) == 256 && wk_item(wk_amax(b)) == 256);
        wk_tensor *c = wk_ones((256, 256), .device = device);
        wk_sync();
        wk_tensor *d = wk_matmul(c, c);
        wk_copy_(wk_slice(c, 0, 0, 256), wk_full((256, 256), 3.0, .device = device));
        assert_true(wk_item(wk_amin(d)) == 256 && wk_item(wk_amax(d)) == 256);

        wk_tensor *kept = NULL; /* relu(x @ x) + x, the last use of x */
        {
            WK_SCOPE;
            wk_tensor *last = wk_full((256, 256), 1.0 / 16, .device = device);
            wk_sync();
            kept = wk_keep(wk_add(wk_relu(wk_matmul(last, last)), last));
        }
        assert_true(wk_item(wk_amin(kept)) == 1.0625 && wk_item(wk_amax(kept)) == 1.0625);
        expect_ok();
    }
}

static void memory_with_a_known_address_keeps_a_factor(void **state)
{
    (void)state;
    WK_SCOPE;
    static float memory[64 * 64];
    for (int k = 0; k < 64 * 64; k++) memory[k] = 1;
    wk_tensor *x = wk_borrow(memory, (64, 64), NULL, NULL), *y = wk_matmul(x, x);
    wk_add_(wk_t(x), 1);
    assert_true(wk_item(wk_amin(y)) == 64 && wk_item(wk_amax(y)) == 64);
    wk_sync();
    assert_true(memory[0] == 2 && memory[64 * 64 - 1] == 2);
}

static void memory_read_through_another_view_is_kept(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        enum { SIDE = 70 };
        static double want[SIDE * SIDE];
        for (int64_t r = 0; r < SIDE; r++)
            for (int64_t c = 0; c < SIDE; c++) want[r * SIDE + c] = at(SIDE, r, c) + at(SIDE, c, r);
        wk_tensor *sum = NULL, *m = numbers(device, SIDE, SIDE), *in_place = numbers(device, SIDE, SIDE);
        {
            WK_SCOPE;
            wk_tensor *dying = wk_clone(m);
            wk_sync();
            sum = wk_keep(wk_add(dying, wk_t(dying)));
        }
        expect_values(sum, SIDE * SIDE, want, 0);
        wk_add_(in_place, wk_t(in_place));
        expect_values(in_place, SIDE * SIDE, want, 0);
    }
}

static void memory_of_indirect_reads_is_kept(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_tensor *x = numbers(device, 1, 300), *places = wk_flip(wk_arange_i64_at(WK_HERE, 300, NULL), (0));
        if (device.kind != WK_CPU) places = wk_to(places, device);
        wk_sub_(x, wk_index_select(x, 1, places));
        double want[300];
        for (int k = 0; k < 300; k++) want[k] = k - (299 - k);
        expect_values(x, 300, want, 0);
    }
}

static void a_row_is_read_again_after_its_reduction(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_tensor *x = numbers(device, 3, 200);
        wk_sub_(x, wk_amax(x, (1), .keepdim = true));
        double want[600];
        for (int k = 0; k < 600; k++) want[k] = k % 200 - 199;
        expect_values(x, 600, want, 0);
    }
}

/* A value that is only copied is read at its store. */
static void a_copy_has_the_old_values(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_tensor *x = numbers(device, 2, 3), *old = wk_retain(wk_clone(x));
        wk_add_(x, 1);
        EXPECT_VALUES(old, 0, 0, 1, 2, 3, 4, 5);
        EXPECT_VALUES(x, 0, 1, 2, 3, 4, 5, 6);
        wk_free(old);
    }
}

/* y is parked: it will be computed from x's old values. */
static void memory_of_parked_operands_is_kept(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_tensor *x = numbers(device, 2, 3), *y = wk_mul(x, 10), *z = wk_add(y, 1);
        wk_add_(x, 1);
        EXPECT_VALUES(z, 0, 1, 11, 21, 31, 41, 51);
        EXPECT_VALUES(x, 0, 1, 2, 3, 4, 5, 6);
        EXPECT_VALUES(y, 0, 0, 10, 20, 30, 40, 50);
    }
}

/* A value may reuse memory of a value of another dtype of the same size: each element is written after it was read. */
static void dtypes_of_one_size_share_memory(void **state)
{
    (void)state;
    for (int on_null = 0; on_null < 2; on_null++) {
        WK_SCOPE;
        wk_tensor *z = wk_retain(wk_arange(4, .device = on_null ? test_null() : wk_cpu())), *y = NULL;
        wk_sync();
        y = wk_retain(wk_to_dtype(z, WK_F64));
        wk_free(z);
        wk_sync();
        expect_ok();
        if (!on_null) EXPECT_VALUES(y, 0, 0, 1, 2, 3);
        wk_free(y);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_keeps_its_factors),
        cmocka_unit_test(memory_with_a_known_address_keeps_a_factor),
        cmocka_unit_test(memory_read_through_another_view_is_kept),
        cmocka_unit_test(memory_of_indirect_reads_is_kept),
        cmocka_unit_test(a_row_is_read_again_after_its_reduction),
        cmocka_unit_test(a_copy_has_the_old_values),
        cmocka_unit_test(memory_of_parked_operands_is_kept),
        cmocka_unit_test(dtypes_of_one_size_share_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
