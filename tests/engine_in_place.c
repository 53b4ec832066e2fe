/* In-place calls, joins and histories that fill the ring: a flush in the midst of them must find every value owned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <wick.h>

enum { MANY = 10000 /* more than a ring holds */ };

static void many_in_place(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_zeros((4)), *one = wk_ones((4));
    for (int k = 0; k < MANY; k++) wk_add_(x, one);
    assert_true(wk_item(wk_sum(x)) == 4.0 * MANY);
    assert_null(wk_error());
}

static void many_copies(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_zeros((4)), *one = wk_ones((4));
    for (int k = 0; k < MANY; k++) wk_copy_(x, wk_mul(one, k));
    assert_true(wk_item(wk_sum(x)) == 4.0 * (MANY - 1));
    assert_null(wk_error());
}

static void many_figures(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((3));
    wk_history *history = wk_history_new();
    for (int k = 0; k < MANY; k++) {
        WK_SCOPE;
        wk_history_add(history, wk_sum(wk_mul(x, k % 2)));
    }
    assert_true(wk_history_mean(history) == 1.5);
    assert_null(wk_error());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_in_place),
        cmocka_unit_test(many_copies),
        cmocka_unit_test(many_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
