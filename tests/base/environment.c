/* SPDX-License-Identifier: Apache-2.0 */
/* Tests environment variables: valid values, their effects, and messages about invalid ones. */
#include "support/wick.h"

#include "base/environment.h"
#include <sys/wait.h>
#include <unistd.h>
#include <wick/log.h>

static const struct {
    wk__optim_option which;
    const char *text;
    bool off, wrong;
} cases[] = {
    {WK__SETTING_EAGER, "1", false, false},
    {WK__SETTING_EAGER, "0", true, false},
    {WK__SETTING_EAGER, "", true, false},
    {WK__SETTING_EAGER, "no", true, false},
    {WK__SETTING_EAGER, "On", false, false},
    {WK__SETTING_EAGER, "yes", false, false},
    {WK__SETTING_EAGER, "true", false, false},
    {WK__SETTING_EAGER, "maybe", false, true},
    {WK__SETTING_EAGER, "yes please", false, true},
    {WK__SETTING_THREADS, "1024", false, false},
    {WK__SETTING_THREADS, "1025", false, true},
    {WK__SETTING_THREADS, "0", false, true},
    {WK__SETTING_THREADS, "", true, false},
    {WK__SETTING_THREADS, "two", false, true},
    {WK__SETTING_CACHE_MB, "0", false, false},
    {WK__SETTING_CACHE_MB, "-1", false, true},
    {WK__SETTING_CACHE_MB, "99999999999999999999", false, true},
    {WK__SETTING_PLACEMENT, "soft", false, false},
    {WK__SETTING_PLACEMENT, "strict", false, false},
    {WK__SETTING_PLACEMENT, "so", false, true},
    {WK__SETTING_PLACEMENT, "softer", false, true},
    {WK__SETTING_GPU, "opencl", false, false},
    {WK__SETTING_GPU, "cpu", false, true},
    {WK__SETTING_LOG, "sync, kernel", false, false},
    {WK__SETTING_LOG, "sync,kern", false, true},
    {WK__SETTING_CACHE_DIR, "anything", false, false},
    {WK__SETTING_COMM, "tcp", false, false},
    {WK__SETTING_COMM, "udp", false, true},
    {WK__SETTING_RANK, "0", false, false},
    {WK__SETTING_RANK, "-1", false, true},
    {WK__SETTING_WORLD_SIZE, "1025", false, true},
    {WK__SETTING_TIMEOUT, "0", false, true},
    {WK__SETTING_SECRET, "", true, false},
};

static void values_are_classified(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        wk_setting is = {.size = sizeof is};
        assert_int_equal(wk_setting_info((int)cases[k].which, &is), WK_OK);
        const char *kept = is.value;
        char *before = kept ? strdup(kept) : NULL;
        setenv(is.name, cases[k].text, 1);
        assert_int_equal(wk_setting_info((int)cases[k].which, &is), WK_OK);
        assert_string_equal(is.value, cases[k].text);
        if (!is.off != !cases[k].off || !is.invalid != !cases[k].wrong)
            fail_msg("%s=%s: off %d, wrong %d", is.name, is.value, (int)is.off, (int)is.invalid);
        if (before)
            setenv(is.name, before, 1);
        else
            unsetenv(is.name);
        free(before);
    }
}

static void numbers_are_limited(void **state)
{
    (void)state;
    setenv("WICK_THREADS", "5000", 1);
    assert_int_equal(wk__setting_number(WK__SETTING_THREADS, 7), 1024);
    setenv("WICK_THREADS", "3x", 1);
    assert_int_equal(wk__setting_number(WK__SETTING_THREADS, 7), 7);
    setenv("WICK_THREADS", "3", 1);
    assert_int_equal(wk__setting_number(WK__SETTING_THREADS, 7), 3);
    unsetenv("WICK_THREADS");
    assert_int_equal(wk__setting_number(WK__SETTING_THREADS, 7), 7);
    wk_setting is = {.size = sizeof is};
    assert_int_equal(wk_setting_info(WK__SETTING_THREADS, &is), WK_OK);
    assert_true(!is.value && !is.off && !is.invalid);
    assert_string_equal(is.name, "WICK_THREADS");
    assert_int_equal(wk_setting_info(wk_setting_count(), &is), WK_ERR_ARGUMENT);
    expect_error("setting_info: the index is out of range", NULL);
}

static void secrets_are_not_shown(void **state)
{
    (void)state;
    wk_setting is = {.size = sizeof is};
    setenv("WICK_SECRET", "between us", 1);
    assert_int_equal(wk_setting_info(WK__SETTING_SECRET, &is), WK_OK);
    assert_string_equal(is.value, "(not shown)");
    assert_false(is.off || is.invalid);
    unsetenv("WICK_SECRET");
}

/* ---- errors of the program --------------------------------------------------------------------------------------- */

static bool is_reported(const char *name, const char *value, const char *takes)
{
    char said[300];
    snprintf(said, sizeof said, "ones: invalid environment variable %s=\"%s\"; expected %s", name, value, takes);
    const bool reported = wk_error() && strstr(wk_error(), said) && wk_error_code() == WK_ERR_ARGUMENT;
    if (!reported) fprintf(stderr, "expected \"%s\", got %s\n", said, wk_error() ? wk_error() : "no error");
    wk_clear_error();
    return reported;
}

/* Runs in a child, where no device is open yet: each call reports the variable until it is valid. */
static int refuses(const wk_setting *is, const char *value)
{
    setenv(is->name, value, 1);
    for (int k = 0; k < 2; k++)
        if (wk_ones((2)) || !is_reported(is->name, value, is->expected)) return 1;
    if (wk_ones((2), .device = wk_gpu(0)) || !is_reported(is->name, value, is->expected))
        return 2; /* not a message about missing GPUs */
    unsetenv(is->name);
    if (wk_item(wk_sum(wk_ones((2)))) != 2 || wk_error()) return 3;
    setenv(is->name, value, 1);
    return wk_item(wk_sum(wk_ones((2)))) != 2 || wk_error() ? 4 : 0; /* an open device is not affected */
}

static void invalid_values_are_reported(void **state)
{
    (void)state;
    static const struct {
        wk__optim_option which;
        const char *value;
    } wrong[] = {{WK__SETTING_EAGER, "yes please"}, {WK__SETTING_NOFUSE, "2"},       {WK__SETTING_CHECK, "maybe"},
                 {WK__SETTING_CPU, "avx99"},        {WK__SETTING_THREADS, "many"},   {WK__SETTING_PLACEMENT, "sfot"},
                 {WK__SETTING_GPU, "openlc"},       {WK__SETTING_CACHE_MB, "256MB"}, {WK__SETTING_LOG, "sync,kernle"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        wk_setting is = {.size = sizeof is};
        assert_int_equal(wk_setting_info((int)wrong[k].which, &is), WK_OK);
        int status = 0;
        const pid_t child = fork();
        if (child == 0) {
            for (int other = 0; other < wk_setting_count(); other++) { /* those of the mode that this runs in */
                wk_setting one = {.size = sizeof one};
                wk_setting_info(other, &one);
                unsetenv(one.name);
            }
            setenv("WICK_LOG_FILE", "", 1); /* lines for WICK_LOG are not also written to stderr */
            WK_SCOPE;
            exit(refuses(&is, wrong[k].value));
        }
        assert_true(child > 0 && waitpid(child, &status, 0) == child);
        if (status != 0) fail_msg("%s=%s: exit status %#x", is.name, wrong[k].value, (unsigned)status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_classified),
        cmocka_unit_test(numbers_are_limited),
        cmocka_unit_test(secrets_are_not_shown),
        cmocka_unit_test(invalid_values_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
