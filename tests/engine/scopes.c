/* SPDX-License-Identifier: Apache-2.0 */
/* Tests ownership: scopes, keep, carry, retain, free, stale handles, guards, the first error. */
#include "support/wick.h"

static void results_are_freed_with_their_scope(void **state)
{
    (void)state;
    wk_tensor *stale;
    {
        WK_SCOPE;
        stale = wk_ones((2));
    }
    assert_null(wk_add(stale, 1));
    expect_error("add", "scope", "engine/scopes.c", "wk_keep", NULL);
}

static void keep_moves_one_scope_out(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x;
    {
        WK_SCOPE;
        {
            WK_SCOPE;
            x = wk_keep(wk_ones((2)));
        }
        EXPECT_VALUES(x, 0, 1, 1);
    }
    wk_add(x, 1);
    expect_error("scope", NULL);
}

static void retain_lives_until_free(void **state)
{
    (void)state;
    wk_tensor *x;
    {
        WK_SCOPE;
        x = wk_retain(wk_ones((2)));
    }
    EXPECT_VALUES(x, 0, 1, 1);
    wk_free(x);
    wk_add(x, 1);
    expect_error("freed", NULL);
    wk_free((wk_tensor *)NULL);
    expect_ok();
}

static void without_a_scope_the_caller_owns_each_result(void **state)
{
    (void)state;
    wk_tensor *x = wk_ones((2)), *same = wk_to(x, wk_cpu());
    assert_ptr_equal(x, same);
    wk_free(same);
    EXPECT_VALUES(x, 0, 1, 1);
    wk_free(x);
    wk_free(x);
    expect_error("free", NULL);
}

static void carry_keeps_the_newest(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_zeros((1));
    for (int k = 0; k < 10; k++) {
        WK_SCOPE;
        wk_carry(&x, wk_add(x, 1));
    }
    EXPECT_VALUES(x, 0, 10);
}

static wk_tensor *leave_early(int when)
{
    for (int k = 0;; k++) {
        WK_SCOPE;
        wk_tensor *x = wk_full((1), (double)k);
        if (k == 1) continue;
        if (k == when) return wk_keep(x);
    }
}

static void any_way_out_closes_a_scope(void **state)
{
    (void)state;
    WK_SCOPE;
    EXPECT_VALUES(leave_early(3), 0, 3);
}

static void closing_twice_or_out_of_order_is_harmless(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_guard outer = wk_scope_open(WK_HERE), inner = wk_scope_open(WK_HERE), copy = outer;
    wk_guard_close(&outer);
    wk_guard_close(&inner); /* closed with outer */
    wk_guard_close(&copy);
    EXPECT_VALUES(wk_ones((1)), 0, 1);
}

static void null_passes_through(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_null(wk_add((wk_tensor *)NULL, (wk_tensor *)NULL));
    expect_error("add", "first operand", "NULL", NULL);
    wk_tensor *y = wk_exp(wk_add(wk_add(wk_ones((2)), wk_ones((3))), 1));
    assert_null(y);
    expect_error("add", "f32[2]", "f32[3]", NULL); /* the first error is kept */
    assert_int_equal(wk_size(NULL, 0), 0);
    assert_true(wk_item(NULL) != wk_item(NULL));
    wk_clear_error();
}

static void the_default_device_nests(void **state)
{
    (void)state;
    WK_SCOPE;
    WK_DEVICE(test_null());
    assert_string_equal(wk_device_str(wk_device_of(wk_ones((1)))), "null:0");
    {
        WK_DEVICE(wk_cpu());
        assert_string_equal(wk_device_str(wk_device_of(wk_ones((1)))), "cpu");
    }
    assert_string_equal(wk_device_str(wk_device_of(wk_ones((1)))), "null:0");
    {
        WK_DEVICE(wk_opencl(99)); /* no error until it is used */
        expect_ok();
        assert_null(wk_ones((1)));
        expect_error("opencl:99", "cpu", NULL);
    }
}

static int handled;
static void handler(void *user, wk_code code, const char *text)
{
    assert_ptr_equal(user, &handled);
    assert_int_equal(code, WK_ERR_SHAPE);
    assert_non_null(text);
    handled++;
}

static void a_handler_is_called_for_each_first_error(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_set_error_handler(handler, &handled);
    wk_add(wk_ones((2)), wk_ones((3)));
    wk_add(wk_ones((2)), wk_ones((3)));
    wk_set_error_handler(NULL, NULL);
    assert_int_equal(handled, 1);
    wk_clear_error();
}

static void names_and_texts_stay_valid(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *name = wk_device_str(wk_opencl(3));
    wk_tensor *a = wk_ones((2)), *b = wk_ones((3));
    const char *x = wk_describe(a), *y = wk_describe(b);
    assert_string_equal(x, "f32[2] cpu");
    assert_string_equal(y, "f32[3] cpu");
    assert_ptr_equal(name, wk_device_str(wk_opencl(3)));
}

static void devices_parse(void **state)
{
    (void)state;
    const char *const names[][2] = {{"cpu", "cpu"},
                                    {"cuda", "cuda:0"},
                                    {"cuda:1", "cuda:1"},
                                    {"opencl:0", "opencl:0"},
                                    {"gpu:2", "gpu:2"},
                                    {"/GPU:0", "gpu:0"},
                                    {"/job:worker/replica:0/task:1/device:CPU:0", "cpu"}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        assert_string_equal(wk_device_str(wk_device_parse(names[k][0])), names[k][1]);
    const char *const bad[] = {"", "tpu:0", "cuda:", "cuda:x", "cuda:-1", "cpu:1", "opencl:0x", "/job:a", "cuda:99999"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_int_equal(wk_device_parse(bad[k]).kind, -1);
        expect_error("device_parse", "cuda:1", "opencl:0", NULL);
    }
    assert_string_equal(wk_device_full_name(wk_cpu()), "/job:localhost/replica:0/task:0/device:CPU:0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_freed_with_their_scope),
        cmocka_unit_test(keep_moves_one_scope_out),
        cmocka_unit_test(retain_lives_until_free),
        cmocka_unit_test(without_a_scope_the_caller_owns_each_result),
        cmocka_unit_test(carry_keeps_the_newest),
        cmocka_unit_test(any_way_out_closes_a_scope),
        cmocka_unit_test(closing_twice_or_out_of_order_is_harmless),
        cmocka_unit_test(null_passes_through),
        cmocka_unit_test(the_default_device_nests),
        cmocka_unit_test(a_handler_is_called_for_each_first_error),
        cmocka_unit_test(names_and_texts_stay_valid),
        cmocka_unit_test(devices_parse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
