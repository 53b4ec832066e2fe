/* SPDX-License-Identifier: Apache-2.0 */
/* What the environment may say, and what the library makes of it. */
#include "support_wick.h"

#include "../src/base/environment.h"
#include <wick/log.h>

static const struct {
    wk__setting which;
    const char *text;
    bool off, wrong;
} cases[] = {
    {WK__SET_SYNC, "1", false, false},
    {WK__SET_SYNC, "0", true, false},
    {WK__SET_SYNC, "", true, false},
    {WK__SET_SYNC, "no", true, false},
    {WK__SET_SYNC, "maybe", false, true},
    {WK__SET_THREADS, "1024", false, false},
    {WK__SET_THREADS, "1025", false, true},
    {WK__SET_THREADS, "0", false, true},
    {WK__SET_THREADS, "", true, false},
    {WK__SET_THREADS, "two", false, true},
    {WK__SET_CACHE_MB, "0", false, false},
    {WK__SET_CACHE_MB, "-1", false, true},
    {WK__SET_CACHE_MB, "99999999999999999999", false, true},
    {WK__SET_PLACEMENT, "soft", false, false},
    {WK__SET_PLACEMENT, "strict", false, false},
    {WK__SET_PLACEMENT, "so", false, true},
    {WK__SET_PLACEMENT, "softer", false, true},
    {WK__SET_GPU, "opencl", false, false},
    {WK__SET_GPU, "cpu", false, true},
    {WK__SET_LOG, "sync, kernel", false, false},
    {WK__SET_LOG, "sync,kern", false, true},
    {WK__SET_CACHE_DIR, "anything", false, false},
    {WK__SET_COMM, "tcp", false, false},
    {WK__SET_COMM, "udp", false, true},
    {WK__SET_RANK, "0", false, false},
    {WK__SET_RANK, "-1", false, true},
    {WK__SET_WORLD, "1025", false, true},
    {WK__SET_TIMEOUT, "0", false, true},
    {WK__SET_SECRET, "", true, false},
};

static void what_a_value_is(void **state)
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
        if (!is.off != !cases[k].off || !is.wrong != !cases[k].wrong)
            fail_msg("%s=%s: off %d, wrong %d", is.name, is.value, (int)is.off, (int)is.wrong);
        if (before)
            setenv(is.name, before, 1);
        else
            unsetenv(is.name);
        free(before);
    }
}

static void what_readers_make_of_it(void **state)
{
    (void)state;
    setenv("WICK_THREADS", "5000", 1);
    assert_int_equal(wk__setting_number(WK__SET_THREADS, 7), 1024);
    setenv("WICK_THREADS", "3x", 1);
    assert_int_equal(wk__setting_number(WK__SET_THREADS, 7), 7);
    setenv("WICK_THREADS", "3", 1);
    assert_int_equal(wk__setting_number(WK__SET_THREADS, 7), 3);
    unsetenv("WICK_THREADS");
    assert_int_equal(wk__setting_number(WK__SET_THREADS, 7), 7);
    wk_setting is = {.size = sizeof is};
    assert_int_equal(wk_setting_info(WK__SET_THREADS, &is), WK_OK);
    assert_true(!is.value && !is.off && !is.wrong);
    assert_string_equal(is.name, "WICK_THREADS");
    assert_int_equal(wk_setting_info(wk_setting_count(), &is), WK_ERR_ARGUMENT);
    expect_error("setting_info: the index is out of range", NULL);
}

static void secrets_are_not_shown(void **state)
{
    (void)state;
    wk_setting is = {.size = sizeof is};
    setenv("WICK_SECRET", "between us", 1);
    assert_int_equal(wk_setting_info(WK__SET_SECRET, &is), WK_OK);
    assert_string_equal(is.value, "(not shown)");
    assert_false(is.off || is.wrong);
    unsetenv("WICK_SECRET");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_a_value_is), cmocka_unit_test(what_readers_make_of_it),
                                       cmocka_unit_test(secrets_are_not_shown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
