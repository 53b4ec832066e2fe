/* SPDX-License-Identifier: Apache-2.0 */
/* Tests ops that join and rearrange tensors: long lists, mixed dtypes, failed operands, repeated and rolled
 * elements. */
#include "values.h"

static void joined_values(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_of(float, (1, 2), 1, 2), *b = wk_of(float, (2, 2), 3, 4, 5, 6);
    EXPECT(wk_cat((a, b), 0), (3, 2), 1, 2, 3, 4, 5, 6);
    EXPECT(wk_cat((wk_t(a), wk_t(b)), 1), (2, 3), 1, 3, 5, 2, 4, 6);
    EXPECT(wk_cat((wk_zeros((0)), b, wk_zeros((0, 2))), 0), (2, 2), 3, 4, 5, 6);
    EXPECT_EMPTY(wk_cat((wk_zeros((0)), wk_zeros((0))), 0), (0));
    EXPECT(wk_stack((a, wk_add(a, 10)), 0), (2, 1, 2), 1, 2, 11, 12);
    EXPECT(wk_stack((a, wk_add(a, 10)), -1), (1, 2, 2), 1, 11, 2, 12);
    wk_tensor *mixed = wk_cat((wk_of(int64_t, (1), 7), wk_of(float, (1), 0.5f)), 0);
    assert_int_equal(wk_dtype_of(mixed), WK_F32);
    EXPECT(mixed, (2), 7, 0.5);
}

/* 300 operands exceed the limit of one node; their gradients are right nevertheless. */
static void long_lists(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = LEAF((1)), *list[300];
    for (int k = 0; k < 300; k++) list[k] = wk_mul(x, k);
    wk_tensor *all = wk_cat_at(WK_HERE, list, 300, 0), *rows = wk_stack_at(WK_HERE, list, 300, 0);
    assert_int_equal(wk_size(all, 0), 300);
    assert_int_equal(wk_size(rows, 0), 300);
    assert_int_equal(wk_backward(wk_sum(all)), WK_OK);
    EXPECT(wk_grad_of(x), (1), 299 * 300 / 2);
    EXPECT(wk_slice(wk_cat((wk_arange(300.0), all), 0), 0, 299, 301), (2), 299, 0);
}

/* Operands are computed directly into their part of the result: one store each, no temporary. Parts of equal size share
 * one kernel. */
static void parts_are_not_stored_twice(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{500, 500}, {1000, 1000}, {500, 1000}};
    for (int n = 0; n < 3; n++) {
        WK_SCOPE;
        int64_t size = sizes[n][0];
        float ones[1000];
        for (int k = 0; k < 1000; k++) ones[k] = 1;
        wk_tensor *a = wk_from(ones, (1000)), *b = wk_from(ones, (size)), *c = wk_from(ones, (sizes[n][1]));
        wk_sync();
        wk__op_queue *ring = wk__context()->op_queue;
        int64_t stores = ring->stores, copies = ring->copies, groups = ring->groups;
        wk_tensor *y;
        {
            WK_SCOPE;
            y = wk_keep(wk_cat((wk_add(a, 1), wk_mul(b, 3), wk_exp(wk_sub(c, 1))), 0));
        }
        wk_tensor *held = wk_retain(y);
        wk_sync();
        if (!wk__engine_config_get()->sync && !wk__engine_config_get()->nofuse) {
            assert_int_equal(ring->stores - stores, 3);
            assert_int_equal(ring->groups - groups, size == 1000 ? 1 : 2);
        }
        if (!wk__engine_config_get()->sync) assert_int_equal(ring->copies, copies);
        EXPECT(wk_slice(y, 0, 999, 1001), (2), 2, 3);
        EXPECT(wk_slice(y, 0, 999 + size, 1001 + size), (2), 3, 1);
        wk_free(held);
    }
}

/* Parts that interleave, and one that is also read elsewhere. */
static void interleaved_parts(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2, 2), 1, 2, 3, 4), *twice = wk_mul(x, 2), *y;
    EXPECT(wk_cat((wk_add(x, 1), twice, x), 1), (2, 6), 2, 3, 2, 4, 1, 2, 4, 5, 6, 8, 3, 4);
    EXPECT(wk_stack((wk_add(x, 1), twice), -1), (2, 2, 2), 2, 2, 3, 4, 4, 6, 5, 8);
    y = wk_stack((twice, wk_add(twice, 1)), 0);
    EXPECT(wk_add(y, y), (2, 2, 2), 4, 8, 12, 16, 6, 10, 14, 18);
    EXPECT(wk_sum(wk_cat((wk_add(x, 1), wk_mul(x, 3)), 1), (1)), (2), 14, 30);
}

/* A part that cannot be computed fails the complete result. */
static void a_failing_part_fails_the_result(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *place = wk_add(wk_of(int64_t, (1), 3), 6);
    wk_tensor *y = wk_cat((wk_ones((2)), wk_index_select(wk_ones((4)), 0, place)), 0);
    float data[3];
    assert_int_equal(wk_read(y, data, sizeof data), WK_ERR_INDEX);
    wk_clear_error();
    wk_sync(); /* the error is reported again to the recording thread */
    wk_clear_error();
}

static void repeats_are_copies(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((1, 3)), *all[] = {wk_repeat_interleave(x, 2, 0), wk_repeat_interleave(x, 1, 0),
                                              wk_repeat(x, (2, 1)), wk_repeat(x, (1, 1)), wk_tile(x, (2, 1))};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        wk_add_(all[k], 1);
        wk_fill_(wk_select(all[k], 0, 0), 7);
        assert_true(wk_item(wk_sum(all[k])) == (wk_size(all[k], 0) == 2 ? 27 : 21));
    }
    EXPECT(x, (1, 3), 1, 1, 1);
}

static void rearranged_values(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2, 2), 1, 2, 3, 4);
    EXPECT(wk_flip(x, (0)), (2, 2), 3, 4, 1, 2);
    EXPECT(wk_flip(x, (0, 1)), (2, 2), 4, 3, 2, 1);
    EXPECT(wk_flip(wk_add(wk_arange(4.0), 1), (0)), (4), 4, 3, 2, 1);
    EXPECT(wk_roll(x, (1), (1)), (2, 2), 2, 1, 4, 3);
    EXPECT(wk_roll(x, (1), ()), (2, 2), 4, 1, 2, 3);
    EXPECT(wk_repeat(wk_arange(2.0), (2, 2)), (2, 4), 0, 1, 0, 1, 0, 1, 0, 1);
    EXPECT(wk_tile(x, (2)), (2, 4), 1, 2, 1, 2, 3, 4, 3, 4);
    EXPECT(wk_repeat_interleave(x, 2, 0), (4, 2), 1, 2, 1, 2, 3, 4, 3, 4);
    assert_false(wk_same_storage(x, wk_roll(x, (2), (0))));
    assert_false(wk_same_storage(x, wk_repeat(x, (1, 1))));
}

static wk_tensor *flip_of(wk_tensor *const *in, void *context)
{
    (void)context;
    return wk_flip(in[0], (0, 1));
}
static wk_tensor *cat_of(wk_tensor *const *in, void *context)
{
    (void)context;
    return wk_cat((in[0], in[1], in[0]), 1);
}
static wk_tensor *repeat_of(wk_tensor *const *in, void *context)
{
    (void)context;
    return wk_repeat(in[0], (2, 1, 3));
}

static void gradients(void **state)
{
    (void)state;
    WK_SCOPE;
    CHECK_GRADIENTS(flip_of, LEAF((2, 3)));
    CHECK_GRADIENTS(cat_of, LEAF((2, 3)), LEAF((2, 1)));
    CHECK_GRADIENTS(repeat_of, LEAF((2, 2)));
    assert_string_equal(wk__grad_fn_name(wk_cat((LEAF((1)), LEAF((1))), 0)), "CatBackward0");
    assert_string_equal(wk__grad_fn_name(wk_stack((LEAF((1)), LEAF((1))), 0)), "StackBackward0");
}

static void errors(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_ones((2, 3));
    expect_error(wk_cat((a, wk_ones((3, 2))), 0), WK_ERR_SHAPE, "tensor 1 is f32[3,2]");
    expect_error(wk_cat((a, wk_ones((2))), 0), WK_ERR_SHAPE, "tensor 1 is f32[2]");
    expect_error(wk_cat((wk_ones(()), wk_ones(())), 0), WK_ERR_SHAPE, "wk_stack");
    expect_error(wk_stack((a, wk_ones((3, 2))), 0), WK_ERR_SHAPE, "must be equal");
    expect_error(wk_cat_at(WK_HERE, &a, 0, 0), WK_ERR_ARGUMENT, "empty");
    expect_error(wk_cat((a, NULL), 0), WK_ERR_ARGUMENT, "NULL");
    for (int count = 1; count < 1000; count += 998) {
        expect_error(wk_cat_at(WK_HERE, NULL, count, 0), WK_ERR_ARGUMENT, "NULL");
        expect_error(wk_stack_at(WK_HERE, NULL, count, 0), WK_ERR_ARGUMENT, "NULL");
    }
    expect_error(wk_roll(a, (1, 2), (0)), WK_ERR_ARGUMENT, "2 shifts");
    expect_error(wk_repeat(a, (2)), WK_ERR_ARGUMENT, "f32[2,3]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joined_values),
        cmocka_unit_test(long_lists),
        cmocka_unit_test(parts_are_not_stored_twice),
        cmocka_unit_test(interleaved_parts),
        cmocka_unit_test(a_failing_part_fails_the_result),
        cmocka_unit_test(repeats_are_copies),
        cmocka_unit_test(rearranged_values),
        cmocka_unit_test(gradients),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
