/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the log: each subject writes the lines that wick/log.h documents, on every device, once per call site; unknown
 * subjects are refused. */
#include "support/devices.h"

static struct {
    int count;
    char line[64][2000];
} log_lines;

static void count_line(void *user, const char *line)
{
    (void)user;
    if (log_lines.count < 64) snprintf(log_lines.line[log_lines.count++], sizeof log_lines.line[0], "%s", line);
}

static void listen(const char *subjects)
{
    log_lines.count = 0;
    assert_int_equal(wk_set_log(subjects, count_line, NULL), WK_OK);
}

static int lines_with(const char *one, const char *other)
{
    int count = 0;
    for (int k = 0; k < log_lines.count; k++)
        count += strstr(log_lines.line[k], one) && strstr(log_lines.line[k], other);
    return count;
}

static void kernels(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        char where[64];
        wk_tensor *x = wk_of(float, (2, 3), 1, 2, 3, 4, 5, 6), *far = wk_to(x, device),
                  *square = wk_clone(wk_matmul(far, wk_t(far))), *first = wk_to(wk_of(int64_t, (1), 0), device),
                  *row = wk_clone(wk_narrow(far, 0, 0, 1));
        wk_sync();
        listen("kernel");
        for (int k = 0; k < 3; k++) wk_print(wk_exp(far));
        wk_print(wk_sort(far, 0, false, &x, &x) == WK_OK ? x : NULL);
        wk_print(wk_matmul(square, far));
        wk_print(wk_cumsum(far, 1));
        wk_index_add_(far, 0, first, row);
        wk_print(far);
        wk_set_log("", NULL, NULL);
        expect_ok();
        snprintf(where, sizeof where, "one pass on %s:\nspace 6\n", wk_device_str(device));
        assert_int_equal(lines_with(where, " EXP "), 1); /* three passes of one call site */
        static const char *const said[] = {"sort", "a product", "scan", "scatter_add"};
        for (size_t k = 0; k < sizeof said / sizeof *said; k++) {
            snprintf(where, sizeof where, ": %s on %s", said[k], wk_device_str(device));
            assert_int_equal(lines_with(where, "engine/log.c:"), 1);
        }
        const int compiled = lines_with("bytes of source compiled in ", " ms");
        assert_true(device.kind == WK_CPU ? compiled == 0 : compiled > 0);
    }
}

static void waits(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_tensor *x = wk_ones((3), .device = device);
        listen("sync, placement");
        for (int k = 0; k < 3; k++) wk_item(wk_sum(x));
        wk_set_log(NULL, NULL, NULL);
        assert_int_equal(lines_with("host waits for", "engine/log.c:"), device.kind != WK_CPU);
        assert_true(lines_with("sum", wk_device_str(device)) > 0);
        listen("sync");
        wk_set_sync_debug_mode(WK_SYNC_QUIET);
        wk_item(wk_sum(x));
        wk_set_sync_debug_mode(WK_SYNC_LOG);
        wk_set_log(NULL, NULL, NULL);
        assert_int_equal(log_lines.count, 0);
        listen("placement");
        wk_item(wk_sum(wk_to(wk_of(float, (3), 1, 2, 3), device)));
        wk_set_log(NULL, NULL, NULL);
        assert_int_equal(lines_with(": 12 bytes from cpu to ", wk_device_str(device)), device.kind != WK_CPU);
    }
}

static void unknown_subjects(void **state)
{
    (void)state;
    WK_SCOPE;
    listen("placement");
    assert_int_equal(wk_set_log("placement,bogus", NULL, NULL), WK_ERR_ARGUMENT);
    expect_error("set_log: unknown log subject \"bogus\"; expected a comma-separated list of placement, sync, kernel, "
                 "leaks, check, parallel",
                 NULL);
    wk_item(wk_sum(wk_ones((3)))); /* the log is unchanged */
    assert_true(log_lines.count > 0);
    assert_int_equal(wk_set_log("place", NULL, NULL), WK_ERR_ARGUMENT);
    expect_error("\"place\"", NULL);
    assert_int_equal(wk_set_log("", NULL, NULL), WK_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(kernels, test_default_mode, test_restore_mode),
                                       cmocka_unit_test(waits), cmocka_unit_test(unknown_subjects)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
