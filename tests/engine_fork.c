/* fork(): fine before the first computation; a child forked after it gets one clear error at each call. */
#include "support_wick.h"

#include <sys/wait.h>
#include <unistd.h>

static int in_child(int (*body)(void))
{
    pid_t pid = fork();
    if (pid == 0) _exit(body());
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int computes(void)
{
    WK_SCOPE;
    return wk_item(wk_sum(wk_ones((3)))) == 3 && !wk_error() ? 0 : 1;
}

static int refuses(void)
{
    WK_SCOPE;
    for (int k = 0; k < 2; k++) {
        if (wk_ones((3)) || !wk_error() || !strstr(wk_error(), "forked")) return 1;
        wk_clear_error();
    }
    return 0;
}

static wk_tensor *kept;

/* Neither what was recorded before the fork nor what is in memory can be had, and nothing is written to a file. */
static int gives_nothing(void)
{
    if (!wk_sync() || !wk_error() || !strstr(wk_error(), "forked")) return 1;
    wk_clear_error();
    wk_item(kept);
    if (!wk_error() || !strstr(wk_error(), "forked")) return 2;
    wk_clear_error();
    return 0;
}

static void before_and_after(void **state)
{
    (void)state;
    wk_device_count(WK_CPU); /* counting is no computation */
    assert_int_equal(in_child(computes), 0);
    assert_int_equal(computes(), 0);
    assert_int_equal(in_child(refuses), 0);
    kept = wk_ones((1));
    assert_int_equal(in_child(gives_nothing), 0);
    assert_true(wk_item(kept) == 1);
    assert_int_equal(in_child(gives_nothing), 0);
    wk_free(kept);
    assert_int_equal(computes(), 0); /* the parent goes on */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(before_and_after)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
