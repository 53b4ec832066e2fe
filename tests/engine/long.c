/* SPDX-License-Identifier: Apache-2.0 */
/* Tests long programs: a million chained calls, their gradients and release; graphs with many paths; loops in constant
 * memory. */
#include "support/turns.h"
#include "support/wick.h"

#include "base/alloc.h"
#include "engine/verify/plan_check.h"

static int long_chain(void)
{
    return test_is_quick() ? 100000 : 1000000;
}

static void a_chain_of_a_million_calls(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_zeros((2, 3));
    const int length = long_chain();
    for (int k = 0; k < length; k++) x = wk_add(x, 1);
    EXPECT_VALUES(x, 0, length, length, length, length, length, length);
}

static void gradients_and_release_of_a_long_chain(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = wk_ones((2), .requires_grad = true), *x = w;
    for (int k = 0, length = long_chain(); k < length; k++) x = wk_mul(x, 1.0);
    assert_int_equal(wk_backward(wk_sum(x)), WK_OK);
    EXPECT_VALUES(wk_grad_of(w), 0, 1, 1);
}

static void many_paths_take_linear_work(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((3), .requires_grad = true), *y = x;
    for (int k = 0; k < 20; k++) y = wk_add(y, y); /* 2^20 paths through 20 values */
    assert_int_equal(wk_backward(wk_sum(y)), WK_OK);
    EXPECT_VALUES(wk_grad_of(x), 0, 1 << 20, 1 << 20, 1 << 20);
}

static void a_loop_with_a_scope_needs_constant_memory(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_zeros((64, 64));
    int64_t before = 0;
    for (int k = 0; k < 20000; k++) {
        WK_SCOPE;
        wk_carry(&x, wk_add(wk_mul(x, 0.5), 1));
        if (k == 2000) before = wk__alloc_count();
    }
    assert_true(wk__alloc_count() - before < 200);
    wk_memory_stats stats = {.size = sizeof stats};
    assert_int_equal(wk_memory_stats_of(wk_cpu(), &stats), WK_OK);
    assert_true(stats.live < 4 << 20);
    expect_ok();
}

/* Nodes of writes through views own the previous state of the base: freeing a chain of them must not recurse. */
static void writes_through_views_are_freed_in_constant_depth(void **state)
{
    (void)state;
    enum { WRITES = 100000 };
    wk_tensor *leaf = wk_ones((4), .requires_grad = true), *y = wk_mul(leaf, 1.0), *view = wk_narrow(y, 0, 1, 2);
    for (int k = 0; k < WRITES; k++) assert_non_null(wk_mul_(view, 1.0));
    wk_free(view);
    wk_free(y);
    wk_free(leaf);
    expect_ok();
}

int main(void)
{
    wk__plan_check_every(100); /* millions of calls of a few plans */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_of_a_million_calls),
        cmocka_unit_test(gradients_and_release_of_a_long_chain),
        cmocka_unit_test(many_paths_take_linear_work),
        cmocka_unit_test(a_loop_with_a_scope_needs_constant_memory),
        cmocka_unit_test(writes_through_views_are_freed_in_constant_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
