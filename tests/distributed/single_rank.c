/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a world of one: every call of dist.h checks its arguments and is a copy, or does nothing. */
#include "support/wick.h"

static wk_tensor *arange(void)
{
    return wk_of(float, (3, 2), 1, 2, 3, 4, 5, 6);
}

static void before_and_after_it_is_joined(void **state)
{
    (void)state;
    assert_int_equal(wk_dist_rank(), 0);
    assert_int_equal(wk_dist_size(), 1);
    assert_int_equal(wk_dist_local_rank(), 0);
    assert_false(wk_dist_is_initialized());
    assert_int_equal(wk_dist_init(), WK_OK);
    assert_true(wk_dist_is_initialized());
    assert_int_equal(wk_dist_size(), 1);
    assert_int_equal(wk_dist_init(), WK_ERR_STATE);
    expect_error("dist_init: already initialised", NULL);
    assert_int_equal(wk_dist_finish(), WK_OK);
    assert_false(wk_dist_is_initialized());
    assert_int_equal(wk_dist_finish(), WK_OK);
    assert_int_equal(wk_dist_init(), WK_OK); /* once more */
    assert_int_equal(wk_dist_finish(), WK_OK);
    expect_ok();
}

static void calls_in_place_change_nothing(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = arange();
    assert_ptr_equal(wk_dist_all_reduce_(x), x);
    assert_ptr_equal(wk_dist_all_reduce_(x, .op = WK_DIST_AVG), x);
    assert_ptr_equal(wk_dist_broadcast_(x, 0), x);
    assert_int_equal(wk_dist_barrier(), WK_OK);
    EXPECT_VALUES(x, 0, 1, 2, 3, 4, 5, 6);
    expect_ok();
}

/* For every layout of x, on x's device. */
static void other_calls_copy(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = arange(), *turned = wk_transpose(x, 0, 1);
    wk_tensor *gathered = wk_dist_all_gather(turned);
    EXPECT_SHAPE(gathered, 2, 3);
    EXPECT_VALUES(gathered, 0, 1, 3, 5, 2, 4, 6);
    wk_tensor *part = wk_dist_reduce_scatter(x, .op = WK_DIST_MAX), *exchanged = wk_dist_all_to_all(x);
    EXPECT_SHAPE(part, 3, 2);
    EXPECT_SHAPE(exchanged, 3, 2);
    wk_fill_(x, 0);
    EXPECT_VALUES(part, 0, 1, 2, 3, 4, 5, 6);
    EXPECT_VALUES(exchanged, 0, 1, 2, 3, 4, 5, 6);
    wk_tensor *number = wk_dist_all_gather(wk_full((), 3));
    EXPECT_SHAPE(number, 1);
    EXPECT_VALUES(number, 0, 3);
    EXPECT_SHAPE(wk_dist_all_gather(wk_zeros((0, 4))), 0, 4);
    wk_tensor *truths = wk_dist_all_gather(wk_gt(part, 2));
    assert_int_equal(wk_dtype_of(truths), WK_BOOL);
    EXPECT_VALUES(truths, 0, 0, 0, 1, 1, 1, 1);
    expect_ok();
}

static void on_other_devices(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *there = wk_to(arange(), wk_try_gpu(0));
    wk_tensor *gathered = wk_dist_all_gather(wk_mul(there, 2));
    assert_true(wk_device_eq(wk_device_of(gathered), wk_device_of(there)));
    EXPECT_VALUES(gathered, 0, 2, 4, 6, 8, 10, 12);
    expect_ok();
}

/* No gradient passes through them, and the graph remains intact. */
static void gradients_do_not_pass(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = wk_of(float, (2), 1, 2, .requires_grad = true);
    assert_false(wk_requires_grad(wk_dist_all_gather(w)));
    wk_tensor *y = wk_mul(w, 3);
    wk_dist_all_reduce_(y);
    wk_backward(wk_sum(y));
    EXPECT_VALUES(wk_grad_of(w), 0, 3, 3);
    expect_ok();
}

static void groups(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_dist_group *group = wk_dist_new_group((0));
    assert_int_equal(wk_dist_group_rank(group), 0);
    assert_int_equal(wk_dist_group_size(group), 1);
    assert_int_equal(wk_dist_group_rank(NULL), 0);
    assert_int_equal(wk_dist_group_size(NULL), 1);
    wk_tensor *x = arange();
    assert_ptr_equal(wk_dist_all_reduce_(x, .group = group), x);
    assert_int_equal(wk_dist_barrier(.group = group), WK_OK);
    expect_ok();
    const int64_t twice[] = {0, 0};
    assert_null(wk_dist_new_group((1)));
    expect_error("dist_new_group: rank 1 is out of range [0, 0]", NULL);
    assert_null(wk_dist_new_group((-1)));
    expect_error("rank -1 is out of range [0, 0]", NULL);
    assert_null(wk_dist_new_group(WK_ARRAY(twice, 2)));
    expect_error("duplicate rank 0", NULL);
    assert_null(wk_dist_new_group(()));
    expect_error("the list of ranks is empty", NULL);
    assert_null(wk_dist_new_group_at(WK_HERE, NULL, 1));
    expect_error("the list of ranks is NULL", NULL);
    assert_null(wk_dist_all_reduce_(x, .group = (wk_dist_group *)(void *)x));
    expect_error("dist_all_reduce_: the group", "tensor", NULL);
}

/* The same refusals as in a larger world. */
static void wrong_arguments(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = arange(), *whole = wk_of(int64_t, (2), 1, 2), *spread = wk_expand(wk_ones((1)), (4));
    assert_null(wk_dist_all_reduce_(NULL));
    expect_error("dist_all_reduce_: input is NULL", NULL);
    assert_null(wk_dist_all_reduce_(whole, .op = WK_DIST_AVG));
    expect_error("dist_all_reduce_: i64[2] is not floating-point and has no average", NULL);
    assert_null(wk_dist_all_reduce_(x, .op = (wk_dist_op)7));
    expect_error("unknown .op 7", NULL);
    assert_null(wk_dist_all_reduce_(spread));
    expect_error("dist_all_reduce_: f32[4] has elements that share memory", NULL);
    assert_null(wk_dist_broadcast_(x, 1));
    expect_error("dist_broadcast_: src is rank 1, out of range [0, 0]", NULL);
    assert_int_equal(wk_dist_send(x, 0), WK_ERR_ARGUMENT);
    expect_error("dist_send: dst is rank 0, the calling rank itself", NULL);
    assert_int_equal(wk_dist_send(x, -2), WK_ERR_ARGUMENT);
    expect_error("dist_send: dst is rank -2, out of range [0, 0]", NULL);
    assert_null(wk_dist_recv_(x, 0));
    expect_error("dist_recv_: src is rank 0, the calling rank itself", NULL);
    assert_null(wk_dist_all_to_all_at(WK_HERE, x, &(wk_dist_call_options){.size = 1}));
    assert_int_equal(wk_error_code(), WK_ERR_ARGUMENT);
    wk_clear_error();
    EXPECT_VALUES(x, 0, 1, 2, 3, 4, 5, 6);
}

/* The pending error remains the first; calls with valid tensors work as usual. */
static void while_an_error_is_pending(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = arange(), *bad = wk_matmul(x, x);
    assert_null(wk_dist_all_reduce_(bad));
    assert_ptr_equal(wk_dist_all_reduce_(x), x);
    assert_int_equal(wk_dist_barrier(), WK_OK);
    assert_non_null(wk_dist_all_gather(x));
    expect_error("matmul", NULL);
}

static void the_status_of_a_program(void **state)
{
    (void)state;
    FILE *out = tmpfile();
    assert_non_null(out);
    assert_int_equal(wk_report_error(out), 0);
    wk_dist_send(wk_ones((1)), 0);
    assert_int_equal(wk_report_error(out), 1);
    wk_clear_error();
    fclose(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_and_after_it_is_joined),
        cmocka_unit_test(calls_in_place_change_nothing),
        cmocka_unit_test(other_calls_copy),
        cmocka_unit_test(on_other_devices),
        cmocka_unit_test(gradients_do_not_pass),
        cmocka_unit_test(groups),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(while_an_error_is_pending),
        cmocka_unit_test(the_status_of_a_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
