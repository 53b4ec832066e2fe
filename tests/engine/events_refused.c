/* SPDX-License-Identifier: Apache-2.0 */
/* Tests events (wick/event.h) under failures: a lost device, errors of the driver, allocation failure, a child of
 * fork(), the end of the process. */
#include "support/devices.h"
#include "support/driver_faults.h"

#include "backend/null/null.h"
#include "base/alloc.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- processes: first, because no driver may have been used before ----------------------------------------------- */

static int status_of(pid_t child)
{
    int status = 0;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

/* On the CPU alone everything works, also events of the parent. */
static int use_events(wk_event *before)
{
    WK_SCOPE;
    wk_event *now = wk_event_record(wk_cpu());
    const bool fine =
        wk_event_query(before) && wk_event_synchronize(now) == WK_OK && wk_event_elapsed_time(before, now) >= 0;
    return fine && !wk_error() ? 0 : 1;
}

static void a_child_on_the_cpu(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_event *before = wk_event_record(wk_cpu());
    const pid_t child = fork();
    if (child == 0) _exit(use_events(before));
    assert_int_equal(status_of(child), 0);
}

static wk_event *left[2];

/* Registered before the library is used, so it runs last: the driver has been shut down, as CUDA's reports in each
 * call, and the threads of OpenCL's devices have ended. Nothing may crash or hang; calls that cannot work are
 * refused. */
static void at_the_end(void)
{
    setenv("STANDIN_ERRORS", "cuCtxPushCurrent_v2=4", 1);
    wk_code code = wk_event_synchronize(left[0]);
    bool fine = code == WK_OK || code == WK_ERR_DEVICE_LOST;
    fine = fine && wk_event_query(left[0]) && (wk_event_elapsed_time(left[0], left[1]) >= 0 || wk_error());
    wk_clear_error();
    wk_event *late = wk_event_record(wk_device_parse(getenv("EVENTS_DEVICE")));
    code = wk_error_code();
    fine = fine && (late ? code == WK_OK : code == WK_ERR_STATE);
    for (int k = 0; k < 2; k++) wk_free(left[k]);
    if (late) wk_free(late);
    if (!fine) _exit(1);
}

static void ends_with_events(void)
{
    const wk_device device = test_some_device();
    alarm(120); /* limits a hang */
    setenv("EVENTS_DEVICE", wk_device_str(device), 1);
    atexit(at_the_end);
    left[0] = wk_event_record(device);
    wk_tensor *x = wk_exp(wk_ones((1000), .device = device));
    left[1] = wk_event_record(device);
    exit(x && left[1] ? 0 : 2);
}

static void the_process_ends(void **state)
{
    (void)state;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) ends_with_events();
    assert_int_equal(status_of(child), 0);
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

static void events_of_a_lost_device(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_event *before = wk_event_record(test_null());
    wk__null_lose_device(0);
    assert_null(wk_event_record(test_null()));
    assert_int_equal(wk_error_code(), WK_ERR_DEVICE_LOST);
    expect_error("engine/events_refused.c:", "event_record: null:0: ", NULL);
    wk__null_clear_faults();
    assert_int_equal(wk_event_synchronize(before), WK_OK);
}

/* Refused by the driver at once, or on execution; then each wait reports it. */
static void refused_by_the_driver(void **state)
{
    (void)state;
    if (test_cpu_alone()) skip();
    WK_SCOPE;
    wk_event *start = wk_event_record(test_gpu(0));
    wk_event_synchronize(start);
    driver_install_hooks(test_gpu_kind());
    driver_inject(DRIVER_MARKER, -1, DRIVER_NO_MEMORY);
    wk_event *event = wk_event_record(test_gpu(0));
    for (int k = 0; k < 2; k++) {
        if (event) assert_int_equal(wk_event_synchronize(event), WK_ERR_MEMORY);
        if (event || k == 0) expect_error(event ? "event_synchronize: " : "event_record: ", "recording an event", NULL);
    }
    driver_clear();
    if (event) {
        assert_true(wk_event_query(event));
        assert_true(isnan(wk_event_elapsed_time(start, event)));
        expect_error("event_elapsed_time: ", "recording an event", NULL);
    }
    event = wk_event_record(test_gpu(0));
    assert_int_equal(wk_event_synchronize(event), WK_OK);
    assert_true(wk_event_elapsed_time(start, event) >= 0);
    expect_ok();
}

static void without_memory(void **state)
{
    (void)state;
    bool made = false;
    for (int64_t n = 1; !made; n++) {
        WK_SCOPE;
        wk__alloc_fail_at(n);
        wk_event *event = wk_event_record(wk_cpu());
        wk__alloc_fail_at(0);
        made = event != NULL;
        if (made) expect_ok();
        if (!made) assert_int_equal(wk_error_code(), WK_ERR_MEMORY);
        if (!made) expect_error("event_record: ", "memory", NULL);
        assert_true(n < 10);
    }
}

/* ---- in a child, after a device was used ------------------------------------------------------------------------- */

static bool refused(void)
{
    const bool says_why = wk_error() && strstr(wk_error(), "event_") && strstr(wk_error(), "was forked after");
    wk_clear_error();
    return says_why;
}

static int is_refused(wk_event *event)
{
    alarm(60);
    if (wk_event_record(wk_cpu()) || !refused()) return 1;
    if (!wk_event_query(event) || !refused()) return 2;
    if (wk_event_synchronize(event) != WK_ERR_STATE || !refused()) return 3;
    if (!isnan(wk_event_elapsed_time(event, event)) || !refused()) return 4;
    wk_free(event);
    return wk_error() ? 5 : 0;
}

static void a_child_is_refused(void **state)
{
    (void)state;
    const wk_device device = test_cpu_alone() ? test_null() : test_gpu(0);
    wk_event *event = wk_event_record(device);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) _exit(is_refused(event));
    assert_int_equal(status_of(child), 0);
    assert_int_equal(wk_event_synchronize(event), WK_OK);
    wk_free(event);
    expect_ok();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_on_the_cpu),      cmocka_unit_test(the_process_ends),
        cmocka_unit_test(events_of_a_lost_device), cmocka_unit_test(refused_by_the_driver),
        cmocka_unit_test(without_memory),          cmocka_unit_test(a_child_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
