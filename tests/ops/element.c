/* SPDX-License-Identifier: Apache-2.0 */
/* Tests wk_get and wk_set: all forms of indices, gradients, aliasing, messages. */
#include "support/wick.h"
#include <math.h>

static void numbers_and_slices(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = test_matrix(3, 4);
    const int row = 1;
    EXPECT_VALUES(wk_get(x, (row)), 0, 4, 5, 6, 7);
    EXPECT_VALUES(wk_get(x, (-1, 2)), 0, 10);
    EXPECT_VALUES(wk_get(x, (WK_ALL, 0)), 0, 0, 4, 8);
    EXPECT_VALUES(wk_get(x, (WK_SLICE(1, 3), WK_SLICE(0, 2))), 0, 4, 5, 8, 9);
    EXPECT_VALUES(wk_get(x, (0, WK_SLICE(0, WK_END, 2))), 0, 0, 2);
    EXPECT_VALUES(wk_get(x, (0, WK_SLICE(1, -1))), 0, 1, 2);
    EXPECT_VALUES(wk_get(x, (WK_REST, -1)), 0, 3, 7, 11);
    EXPECT_SHAPE(wk_get(x, (WK_NEW, WK_ALL, WK_NEW)), 1, 3, 1, 4);
    EXPECT_SHAPE(wk_get(x, (WK_REST, WK_NEW)), 3, 4, 1);
    EXPECT_SHAPE(wk_get(x, ()), 3, 4);
    assert_true(wk_same_storage(x, wk_get(x, ())) && wk_same_storage(x, wk_get(x, (1, WK_SLICE(0, 2)))));
    const wk_index index[] = {WK_SLICE(0, 2), wk_index_number(3)};
    EXPECT_VALUES(wk_get(x, WK_ARRAY(index, 2)), 0, 3, 7);
    EXPECT_VALUES(wk_get(wk_get(x, (1)), (wk_item_i64(wk_get(wk_arange(3), (2))))), 0, 6);
    expect_ok();
}

static void tensors_and_masks(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = test_matrix(3, 4), *i = wk_of(int64_t, (2), 2, 0), *j = wk_of(int32_t, (2), 1, -1);
    EXPECT_VALUES(wk_get(x, (i)), 0, 8, 9, 10, 11, 0, 1, 2, 3);
    EXPECT_VALUES(wk_get(x, (i, j)), 0, 9, 3);
    EXPECT_VALUES(wk_get(x, (WK_ALL, j)), 0, 1, 3, 5, 7, 9, 11);
    EXPECT_VALUES(wk_get(x, (1, j)), 0, 5, 7);
    EXPECT_VALUES(wk_get(x, (wk_reshape(i, (2, 1)), j)), 0, 9, 11, 1, 3);
    EXPECT_SHAPE(wk_get(x, (wk_zeros((2, 5), .dtype = WK_I64))), 2, 5, 4);
    EXPECT_VALUES(wk_get(x, (wk_gt(x, 8.5))), 0, 9, 10, 11);
    EXPECT_VALUES(wk_get(x, (wk_of(bool, (3), false, true, false))), 0, 4, 5, 6, 7);
    EXPECT_VALUES(wk_get(x, (WK_SLICE(0, 2), wk_of(bool, (4), true, false, false, true))), 0, 0, 3, 4, 7);
    EXPECT_VALUES(wk_get(x, (wk_of(int64_t, (), 1))), 0, 4, 5, 6, 7);
    wk_tensor *cube = wk_reshape(wk_arange(24), (2, 3, 4));
    EXPECT_SHAPE(wk_get(cube, (wk_of(int64_t, (5), 0, 1, 0, 1, 0), WK_ALL, wk_of(int64_t, (5), 0, 1, 2, 3, 0))), 5, 3);
    EXPECT_SHAPE(wk_get(cube, (WK_ALL, i, j)), 2, 2);
    EXPECT_VALUES(wk_get(cube, (WK_ALL, i, j)), 0, 9, 3, 21, 15);
    expect_ok();
}

static void writes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = test_matrix(2, 3), *same = x;
    assert_ptr_equal(wk_set(x, (0, 1), 9), same);
    wk_set(x, (1, WK_SLICE(1, 3)), wk_of(float, (2), -1, -2));
    EXPECT_VALUES(x, 0, 0, 9, 2, 3, -1, -2);
    wk_set(x, (WK_ALL, 0), wk_of(int64_t, (1, 1), 7));
    EXPECT_VALUES(x, 0, 7, 9, 2, 7, -1, -2);
    wk_set(x, (), 0.5);
    EXPECT_VALUES(x, 0, .5, .5, .5, .5, .5, .5);
    wk_set(x, (wk_of(int64_t, (2), 1, 1), wk_of(int64_t, (2), 0, 0)), wk_of(float, (2), 3, 4));
    EXPECT_VALUES(x, 0, .5, .5, .5, 4, .5, .5);
    wk_set(x, (wk_gt(x, 1)), -1);
    EXPECT_VALUES(x, 0, .5, .5, .5, -1, .5, .5);
    wk_set(x, (wk_lt(x, 0)), wk_of(float, (1), 6));
    EXPECT_VALUES(x, 0, .5, .5, .5, 6, .5, .5);
    wk_set(x, (wk_of(bool, (2), false, true)), 1);
    EXPECT_VALUES(x, 0, .5, .5, .5, 1, 1, 1);
    wk_set(x, (WK_ALL, wk_of(bool, (3), false, true, true)), 2);
    EXPECT_VALUES(x, 0, .5, 2, 2, 1, 2, 2);
    wk_set(x, (0, wk_of(int64_t, (2), 0, 2)), 8);
    EXPECT_VALUES(x, 0, 8, 2, 8, 1, 2, 2);
    wk_set(wk_get(x, (1)), (WK_SLICE(0, 2)), wk_get(x, (0, WK_SLICE(1, 3))));
    EXPECT_VALUES(x, 0, 8, 2, 8, 2, 8, 2);
    expect_ok();
}

/* x[i, j] = ... inside a graph: the old element has no gradient, the value has. */
static void gradients(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *leaf = wk_requires_grad_(test_matrix(2, 3), true),
              *value = wk_of(float, (2), 5, 6, .requires_grad = true);
    wk_tensor *x = wk_mul(leaf, 3);
    wk_set(x, (0, WK_SLICE(0, 2)), value);
    wk_set(x, (wk_of(int64_t, (1), 1), wk_of(int64_t, (1), 2)), wk_get(value, (0)));
    wk_set(x, (wk_eq(x, 9)), 0);
    EXPECT_VALUES(x, 0, 5, 6, 6, 0, 12, 5);
    wk_backward(wk_sum(wk_mul(x, test_matrix(2, 3))));
    EXPECT_VALUES(wk_grad_of(leaf), 0, 0, 0, 6, 0, 12, 0);
    EXPECT_VALUES(wk_grad_of(value), 0, 5, 1);
    leaf = wk_requires_grad_(test_matrix(2, 3), true);
    wk_tensor *twice = wk_get(leaf, (wk_of(int64_t, (2), 1, 1), WK_SLICE(0, 2)));
    wk_backward(wk_add(wk_sum(twice), wk_sum(wk_get(leaf, (0, WK_NEW)))));
    EXPECT_VALUES(wk_grad_of(leaf), 0, 1, 1, 1, 2, 2, 0);
    expect_ok();
    expect_failure(wk_set(wk_ones((2, 3), .requires_grad = true), (0), 1), "leaf");
}

static void messages(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = test_matrix(2, 3), *bad = wk_of(int64_t, (1), 3);
    expect_failure(wk_get(x, (2)), "get: index 2 is out of range");
    expect_failure(wk_get(x, (0, 0, 0)), "get: indices for 3 dimensions, but f32[2,3] has 2");
    expect_failure(wk_get(x, (WK_REST, WK_REST)), "get: more than one WK_REST");
    expect_failure(wk_get(x, (WK_SLICE(0, 2, 0))), "step");
    expect_failure(wk_get(x, (bad)), "get: index 3 is out of range for dimension 0 of f32[2,3] (size 2)");
    expect_failure(wk_get(x, (x)), "get: index must be i64 or i32, got f32");
    expect_failure(wk_get(x, (wk_of(bool, (3), true, true, true))), "mask bool[3] does not have the sizes of f32[2,3]");
    expect_failure(wk_get(x, (wk_zeros((2), .dtype = WK_I64), wk_zeros((3), .dtype = WK_I64))), "do not broadcast");
    expect_failure(wk_get(NULL, (0)), "get: input is NULL");
    expect_failure(wk_get(x, ((wk_tensor *)NULL)), "get: index is NULL");
    expect_failure(wk_set(x, (0), wk_ones((2))), "set: ");
    expect_failure(wk_set(x, (wk_of(int64_t, (2), 0, 1)), wk_ones((4))), "values f32[4] do not broadcast");
    expect_failure(wk_set(x, (0), NULL == x ? x : (wk_tensor *)NULL), "set: second operand is NULL");
    expect_failure(wk_set(wk_expand(wk_ones((1)), (3)), (WK_ALL), 1), "set: cannot write");
}

/* Messages name the tensor of the call and its dimensions, not the views that earlier indices made. */
static void messages_name_the_tensor(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((5, 3, 8)), *bad = wk_of(int64_t, (2), 0, -4), *mask = wk_ones((3, 2), .dtype = WK_BOOL);
    expect_failure(wk_get(x, (0, WK_ALL, 9)), "get: index 9 is out of range for dimension 2 of f32[5,3,8] (size 8)");
    expect_failure(wk_get(x, (WK_NEW, 0, 0, -9)), "get: index -9 is out of range for dimension 2 of f32[5,3,8]");
    expect_failure(wk_get(x, (0, WK_REST, 8)), "get: index 8 is out of range for dimension 2 of f32[5,3,8]");
    expect_failure(wk_get(x, (0, bad)), "get: index -4 is out of range for dimension 1 of f32[5,3,8] (size 3)");
    expect_failure(wk_get(x, (WK_REST, mask)), "mask bool[3,2] does not have the sizes of f32[5,3,8] from dimension 1");
    expect_failure(wk_set(x, (0, mask), 1), "mask bool[3,2] does not have the sizes of f32[5,3,8] from dimension 1");
    expect_failure(wk_get(x, (wk_ones((5, 3, 8, 1), .dtype = WK_BOOL))),
                   "indices for 4 dimensions, but f32[5,3,8] has 3");
    expect_failure(wk_get(x, (wk_ones((), .dtype = WK_BOOL))), "mask bool[] does not have the sizes of f32[5,3,8]");
    expect_failure(wk_get(x, (0, WK_SLICE(0, 2, 0))), "step must be at least 1, got 0 for dimension 1 of f32[5,3,8]");
    expect_failure(wk_set(x, (0, wk_zeros((2), .dtype = WK_I64)), wk_ones((4))),
                   "values f32[4] do not broadcast to the selected elements of f32[5,3,8], [2,8]");
    const wk_index unknown[] = {wk_index_number(0), {.kind = (wk_index_kind)9}};
    expect_failure(wk_get(x, WK_ARRAY(unknown, 2)), "get: index 1 has the unknown kind 9");
    expect_failure(wk_set(x, WK_ARRAY(unknown, 2), 1), "set: index 1 has the unknown kind 9");
}

/* The elements of one row of an expanded dimension do not share memory; a write changes all rows, as in PyTorch. */
static void writes_to_an_expanded_tensor(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_expand(wk_zeros((1, 3)), (2, 3));
    assert_ptr_equal(wk_set(x, (0), wk_of(float, (3), 1, 2, 3)), x);
    EXPECT_VALUES(x, 0, 1, 2, 3, 1, 2, 3);
    wk_set(x, (1, 1), 5);
    EXPECT_VALUES(x, 0, 1, 5, 3, 1, 5, 3);
    expect_failure(wk_set(x, (WK_ALL, 0), 1), "set: cannot write in place: elements of the target share memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_and_slices),
                                       cmocka_unit_test(tensors_and_masks),
                                       cmocka_unit_test(writes),
                                       cmocka_unit_test(gradients),
                                       cmocka_unit_test(messages),
                                       cmocka_unit_test(messages_name_the_tensor),
                                       cmocka_unit_test(writes_to_an_expanded_tensor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
