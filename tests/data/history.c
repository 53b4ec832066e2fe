/* SPDX-License-Identifier: Apache-2.0 */
/* Tests histories: adding does not wait, and the values are fetched together on the first read. */
#include "support/wick.h"

#include <math.h>

#include <backend/null/null.h>
#include <base/alloc.h>

static void values_and_mean(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_history *h = wk_history_new();
    assert_int_equal(wk_history_count(h), 0);
    assert_true(isnan(wk_history_mean(h)));
    assert_null(wk_history_values(h));
    expect_ok();
    assert_int_equal(wk_history_add(h, wk_full((), 1.5)), WK_OK);
    assert_int_equal(wk_history_add(h, wk_full((1, 1), 2), .weight = 3), WK_OK);
    assert_int_equal(wk_history_add(h, wk_of(bool, (1), true), .weight = WK_EXPLICIT_ZERO), WK_OK);
    assert_int_equal(wk_history_count(h), 3);
    assert_float_equal(wk_history_mean(h), (1.5 + 6) / 4, 1e-12);
    assert_int_equal(wk_history_add(h, wk_full((), -4.0)), WK_OK);
    const double *values = wk_history_values(h);
    assert_true(values[0] == 1.5 && values[1] == 2 && values[2] == 1 && values[3] == -4);
    assert_float_equal(wk_history_mean(h), 3.5 / 5, 1e-12);
    assert_int_equal(wk_history_add(h, wk_ones((2))), WK_ERR_SHAPE);
    expect_error("history_add", "f32[2]", "wk_mean", NULL);
    assert_int_equal(wk_history_add(h, NULL), WK_ERR_ARGUMENT);
    expect_error("history_add", "NULL", NULL);
    assert_true(isnan(wk_history_mean(NULL)));
    expect_error("history_mean", "NULL", NULL);
    assert_int_equal(wk_history_count(NULL), 0);
}

/* Many values, in chunks, with reads in between; added tensors may change or be freed afterwards. */
static void many_values(void **state)
{
    (void)state;
    enum { N = 70000 };
    WK_SCOPE;
    wk_history *h = wk_history_new();
    wk_tensor *x = wk_zeros((), .dtype = WK_F64, .requires_grad = true);
    double sum = 0;
    for (int k = 0; k < N; k++) {
        WK_SCOPE;
        {
            WK_NO_GRAD;
            wk_add_(x, 1.0);
        }
        wk_history_add(h, k % 2 ? x : wk_mul(x, 0.5));
        sum += k % 2 ? k + 1 : 0.5 * (k + 1);
        if (k == 300 || k == 301) assert_true(wk_history_values(h)[k] == (k % 2 ? k + 1 : 0.5 * (k + 1)));
    }
    expect_ok();
    assert_int_equal(wk_history_count(h), N);
    const double *values = wk_history_values(h);
    for (int k = 0; k < N; k++)
        if (values[k] != (k % 2 ? k + 1 : 0.5 * (k + 1))) fail_msg("value %d is %g", k, values[k]);
    assert_true(fabs(wk_history_mean(h) - sum / N) < 1e-9 * sum / N);
}

static void adding_does_not_wait(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_history *h = wk_history_new();
    wk_tensor *x = wk_ones((4), .device = test_null());
    wk_sync();
    wk__null_log_clear();
    for (int k = 0; k < 2000; k++) {
        WK_SCOPE;
        wk_history_add(h, wk_mean(wk_mul(x, (double)k)));
    }
    assert_int_equal(wk__null_log_count(WK__NULL_DOWNLOAD), 0);
    assert_int_equal(wk__null_log_count(WK__NULL_SYNC), 0);
    wk_history_mean(h);
    assert_int_equal(wk__null_log_count(WK__NULL_DOWNLOAD), 1);
    wk_history_mean(h);
    assert_int_equal(wk__null_log_count(WK__NULL_DOWNLOAD), 1);
    wk_history_add(h, wk_sum(x));
    wk_history_values(h);
    assert_int_equal(wk__null_log_count(WK__NULL_DOWNLOAD), 2);
    wk_history_add(h, wk_ones(())); /* on another device: it is copied */
    assert_int_equal(wk_history_count(h), 2002);
    wk_history_mean(h);
    expect_ok();
}

/* A value that is a view of a large tensor does not keep that alive. */
static void values_do_not_keep_large_tensors(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_memory_stats before = {.size = sizeof before}, after = before;
    wk_history *h = wk_history_new();
    wk_sync();
    wk_memory_stats_of(wk_cpu(), &before);
    for (int k = 0; k < 8; k++) {
        WK_SCOPE;
        wk_history_add(h, wk_narrow(wk_rand((1 << 20)), 0, 5, 1));
        wk_sync();
    }
    wk_memory_stats_of(wk_cpu(), &after);
    assert_true(after.live - before.live < 1 << 20);
    assert_in_range((int)(100 * wk_history_mean(h)), 0, 99);
}

/* After any failure the values remain and can be read again. */
static void without_memory(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 30; n++) {
        WK_SCOPE;
        wk_history *h = wk_history_new();
        wk_tensor *x = wk_ones(());
        for (int k = 0; k < 600; k++) wk_history_add(h, x);
        expect_ok();
        wk__alloc_fail_at(n);
        wk_history_add(h, x);
        double mean = wk_history_mean(h);
        wk__alloc_fail_at(0);
        assert_true(mean == 1 || wk_error());
        wk_clear_error();
        assert_true(wk_history_count(h) >= 600);
        assert_true(wk_history_mean(h) == 1);
        expect_ok();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_mean),      cmocka_unit_test(many_values),
        cmocka_unit_test(adding_does_not_wait), cmocka_unit_test(values_do_not_keep_large_tensors),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
