/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the ranges, ticks and labels of axes. */
#include "support/wick.h"

#include <math.h>

#include <report/plot_axis.h>

/* Returns the labels of an axis, each followed by a space. */
static const char *labels_of(const wk__plot_axis *axis)
{
    static char all[1024];
    all[0] = '\0';
    for (int k = 0; k < axis->ticks; k++) {
        wk__text label = {0};
        wk__plot_axis_label(axis, k, &label);
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s ", label.data);
        wk__text_free(&label);
    }
    return all;
}

static const char *labels(double low, double high, bool log, int wanted)
{
    const wk__plot_axis axis = wk__plot_axis_make(low, high, log, 0, wanted);
    return labels_of(&axis);
}

static void ticks_of_a_linear_axis(void **state)
{
    (void)state;
    assert_string_equal(labels(0, 1, false, 5), "0 0.2 0.4 0.6 0.8 1.0 ");
    assert_string_equal(labels(0, 10, false, 10), "0 1 2 3 4 5 6 7 8 9 10 ");
    assert_string_equal(labels(1, 141, false, 8), "20 40 60 80 100 120 140 ");
    assert_string_equal(labels(-0.3, 0.3, false, 6), "-0.3 -0.2 -0.1 0 0.1 0.2 0.3 ");
    assert_string_equal(labels(0.93, 0.97, false, 4), "0.93 0.94 0.95 0.96 0.97 ");
    assert_string_equal(labels(0, 999999, false, 4), "0 500000 ");
    assert_string_equal(labels(0, 2e6, false, 4), "0 5e5 1.0e6 1.5e6 2.0e6 ");
    assert_string_equal(labels(0, 3e-5, false, 3), "0 1e-5 2e-5 3e-5 ");
    assert_string_equal(labels(-2e12, 0, false, 2), "-2e12 -1e12 0 ");
    assert_string_equal(labels(1e6, 1e6 + 2, false, 2), "1.000000e6 1.000001e6 1.000002e6 ");
}

static void ticks_of_a_logarithmic_axis(void **state)
{
    (void)state;
    assert_string_equal(labels(0.001, 10, true, 8), "0.001 0.01 0.1 1 10 ");
    assert_string_equal(labels(0.05, 3, true, 8), "0.05 0.1 0.2 0.5 1 2 ");
    assert_string_equal(labels(2, 2.4, true, 4), "2.0 2.1 2.2 2.3 2.4 ");
    assert_string_equal(labels(1e-10, 1e8, true, 4), "1e-10 1e-5 1 100000 ");
    assert_string_equal(labels(1, 1e7, true, 8), "1 10 100 1000 10000 100000 1e6 1e7 ");
}

static void ranges(void **state)
{
    (void)state;
    wk__plot_axis axis = wk__plot_axis_make(0, 10, false, 0.05, 5);
    assert_true(axis.low == -0.5 && axis.high == 10.5);
    assert_true(wk__plot_axis_position(&axis, 5) == 0.5);
    axis = wk__plot_axis_make(1, 10000, true, 0.25, 5);
    assert_float_equal(axis.low, 0.1, 1e-12);
    assert_float_equal(axis.high, 100000, 1e-6);
    assert_float_equal(wk__plot_axis_position(&axis, 100), 0.5, 1e-12);
    axis = wk__plot_axis_make(INFINITY, -INFINITY, false, 0, 5);
    assert_true(axis.low == 0 && axis.high == 1);
    axis = wk__plot_axis_make(INFINITY, -INFINITY, true, 0, 5);
    assert_true(axis.low == 1 && axis.high == 10);
    axis = wk__plot_axis_make(5, 5, false, 0, 5);
    assert_true(axis.low == 4.5 && axis.high == 5.5);
    axis = wk__plot_axis_make(0, 0, false, 0, 5);
    assert_true(axis.low == -1 && axis.high == 1);
}

static void values_that_an_axis_shows(void **state)
{
    (void)state;
    assert_true(wk__plot_axis_shows(0, false) && wk__plot_axis_shows(-1e300, false));
    assert_false(wk__plot_axis_shows((double)NAN, false) || wk__plot_axis_shows(INFINITY, false));
    assert_false(wk__plot_axis_shows(-INFINITY, false) || wk__plot_axis_shows(1.1e300, false));
    assert_true(wk__plot_axis_shows(1e-300, true));
    assert_false(wk__plot_axis_shows(0, true) || wk__plot_axis_shows(-1, true) || wk__plot_axis_shows(1e-301, true));
    assert_false(wk__plot_axis_shows((double)NAN, true));
}

/* Any range gives at least one finite tick, in ascending order, all within the axis. */
static void extreme_ranges(void **state)
{
    (void)state;
    static const double values[] = {-1e300, -1e17, -3, -1e-300,   0, 5e-324, 1e-300,
                                    1e-299, 1e-5,  1,  1 + 1e-15, 7, 1e300};
    enum { COUNT = sizeof values / sizeof *values };
    for (int low = 0; low < COUNT; low++)
        for (int high = low; high < COUNT; high++)
            for (int log = 0; log <= wk__plot_axis_shows(values[low], true); log++) {
                const wk__plot_axis axis = wk__plot_axis_make(values[low], values[high], log, 0.05, 6);
                assert_true(isfinite(axis.low) && isfinite(axis.high) && axis.low < axis.high);
                assert_true(axis.low <= values[low] && axis.high >= values[high]);
                assert_in_range(axis.ticks, 1, 20);
                for (int k = 0; k < axis.ticks; k++) {
                    const double at = wk__plot_axis_position(&axis, axis.tick[k]);
                    assert_true(at >= -1e-6 && at <= 1 + 1e-6);
                    assert_true(k == 0 || axis.tick[k] > axis.tick[k - 1]);
                }
                assert_null(strstr(labels_of(&axis), "n"));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_of_a_linear_axis),
        cmocka_unit_test(ticks_of_a_logarithmic_axis),
        cmocka_unit_test(ranges),
        cmocka_unit_test(values_that_an_axis_shows),
        cmocka_unit_test(extreme_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
