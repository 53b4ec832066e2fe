/* SPDX-License-Identifier: Apache-2.0 */
/* Tests events (wick/event.h) on each kind of device: order with recorded work, elapsed time, ownership.
 * engine_events_refused tests failures. */
#include "support/devices.h"

#include "backend/device.h"
#include "backend/event.h"
#include "backend/null/null.h"
#include "backend/opencl/device.h"

#include <math.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

/* ---- recorded work and time -------------------------------------------------------------------------------------- */

static double host_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* Sleeps 20 ms between two events. The elapsed time must be at least that, and at most the time measured on the host
 * around both. */
static void milliseconds(void **state)
{
    (void)state;
    enum { SLEEP = 20 };
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_tensor *x = wk_retain(wk_exp(wk_rand((300, 300), .device = device)));
        assert_int_equal(wk_sync(), WK_OK);
        const double begin = host_now();
        wk_event *start = wk_event_record(device);
        assert_int_equal(wk_event_synchronize(start), WK_OK);
        usleep(1000 * SLEEP);
        wk_event *end = wk_event_record(device);
        assert_int_equal(wk_event_synchronize(end), WK_OK);
        const double most = host_now() - begin, took = wk_event_elapsed_time(start, end);
        if (!(took >= SLEEP - 1e-3 && took <= most + 1e-3))
            fail_msg("%s: %g ms, between %d and %g", wk_device_str(device), took, SLEEP, most);
        assert_true(wk_event_elapsed_time(end, start) == -took);
        assert_true(wk_event_elapsed_time(end, end) == 0);
        assert_true(wk_event_query(start) && wk_event_query(end));
        expect_ok();
        wk_free(x);
    }
}

/* A device whose backend is a table of this test. */
static wk__backend table;
static const wk__backend *usual;
static int64_t work_before;

static wk__device *null_device(void)
{
    wk__fail fail;
    wk__device *device = wk__device_get(test_null(), &fail);
    assert_non_null(device);
    return device;
}

static void change_table(void)
{
    usual = null_device()->backend;
    table = *usual;
    null_device()->backend = &table;
}

static wk_code record_and_note(void *device, void **event, wk__fail *fail)
{
    work_before = wk__null_log_work_count();
    return wk__event_record_completed(device, event, fail);
}

/* Recording an event runs the work that this thread has recorded, on any device; the event follows it. */
static void events_follow_recorded_work(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_retain(wk_ones((4), .device = test_null())), *near = wk_retain(wk_ones((4)));
    wk_sync();
    change_table();
    table.event_record = record_and_note;
    wk__null_log_clear();
    wk_tensor *y = wk_retain(wk_exp(x)), *z = wk_retain(wk_exp(near));
    assert_int_equal(wk__null_log_work_count(), 0);
    wk_event_record(test_null());
    null_device()->backend = usual;
    assert_int_equal(work_before, 1);
    wk_tensor *far = wk_retain(wk_exp(y));
    wk_event_record(wk_cpu());
    assert_int_equal(wk__null_log_work_count(), 2);
    expect_ok();
    wk_free(x), wk_free(near), wk_free(y), wk_free(z), wk_free(far);
}

/* An error of that work is known after the call; the event is recorded nevertheless. */
static void events_after_failed_work(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_retain(wk_ones((4), .device = test_null()));
    wk_sync();
    wk__null_fail_submit(1);
    const int line = __LINE__ + 1;
    wk_tensor *y = wk_retain(wk_exp(x));
    wk_event *event = wk_event_record(test_null());
    char place[64];
    snprintf(place, sizeof place, "engine/events.c:%d: exp: ", line);
    expect_error(place, NULL);
    assert_int_equal(wk_event_synchronize(event), WK_OK);
    wk__null_clear_faults();
    wk_free(x), wk_free(y);
    wk_clear_error();
}

/* ---- before the event is reached --------------------------------------------------------------------------------- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static wk_code pass_gate(wk__cl_device *device, wk__cl_command *command, wk__fail *fail)
{
    (void)device, (void)command, (void)fail;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return WK_OK;
}

/* The device executes nothing submitted from now on until it is released. The stand-in for CUDA executes only on
 * request, and reports unfinished work. */
static void hold(wk_device device)
{
    wk__fail fail;
    if (device.kind == WK_CUDA) {
        setenv("STANDIN_ERRORS", "cuEventQuery=600", 1);
        return;
    }
    pthread_mutex_lock(&gate);
    wk__cl_command *command = wk__cl_command_new(sizeof *command, pass_gate, &fail);
    assert_non_null(command);
    command->always = true;
    assert_int_equal(wk__cl_push(wk__device_get(device, &fail)->state, command, &fail), WK_OK);
}

static void release_device(wk_device device)
{
    if (device.kind == WK_CUDA)
        unsetenv("STANDIN_ERRORS");
    else
        pthread_mutex_unlock(&gate);
}

static void events_not_reached(void **state)
{
    (void)state;
    if (test_cpu_alone()) skip();
    for (int k = 0; k < 2; k++) {
        WK_SCOPE;
        const wk_device device = test_gpu(k);
        wk_event *start = wk_event_record(device);
        assert_int_equal(wk_event_synchronize(start), WK_OK);
        hold(device);
        wk_event *end = wk_event_record(device);
        wk_free(wk_event_record(device)); /* freed before it is reached */
        assert_false(wk_event_query(end));
        assert_true(isnan(wk_event_elapsed_time(start, end)));
        const wk_code code = wk_error_code();
        assert_int_equal(code, WK_ERR_STATE);
        expect_error("engine/events.c:", "event_elapsed_time: ", wk_device_str(device), "has not completed",
                     "wk_event_synchronize", NULL);
        assert_true(isnan(wk_event_elapsed_time(end, start)));
        expect_error("has not completed", NULL);
        release_device(device);
        assert_int_equal(wk_event_synchronize(end), WK_OK);
        assert_true(wk_event_query(end) && wk_event_elapsed_time(start, end) >= 0);
        expect_ok();
    }
}

static void *wait_for(void *event)
{
    return wk_event_synchronize(event) == WK_OK && wk_event_query(event) ? event : NULL;
}

/* Several threads wait for one event of a held device. The stand-in is held by its environment, which affects no other
 * thread. */
static void threads_wait(void **state)
{
    (void)state;
    enum { THREADS = 3 };
    pthread_t thread[THREADS];
    const wk_device device = test_some_device();
    wk_event *event;
    {
        WK_SCOPE;
        if (device.kind == WK_OPENCL) hold(device);
        event = wk_retain(wk_event_record(device));
    }
    for (int k = 0; k < THREADS; k++) assert_int_equal(pthread_create(&thread[k], NULL, wait_for, event), 0);
    if (device.kind == WK_OPENCL) release_device(device);
    for (int k = 0; k < THREADS; k++) {
        void *got;
        pthread_join(thread[k], &got);
        assert_ptr_equal(got, event);
    }
    wk_free(event);
    expect_ok();
}

/* ---- the object -------------------------------------------------------------------------------------------------- */

static void events_are_objects(void **state)
{
    (void)state;
    wk_event *dropped, *kept, *retained, *freed;
    {
        WK_SCOPE;
        {
            WK_SCOPE;
            dropped = wk_event_record(wk_cpu());
            kept = wk_keep(wk_event_record(wk_cpu()));
            retained = wk_retain(wk_event_record(wk_cpu()));
            freed = wk_event_record(wk_cpu());
            wk_free(freed);
        }
        assert_true(wk_event_elapsed_time(kept, retained) >= 0);
        expect_ok();
        assert_int_equal(wk_event_synchronize(dropped), WK_ERR_STATE);
        expect_error("event_synchronize: the event is an event whose scope has closed", NULL);
        assert_true(wk_event_query(freed));
        expect_error("event_query: the event is an event that was freed", NULL);
    }
    assert_true(isnan(wk_event_elapsed_time(retained, kept)));
    expect_error("event_elapsed_time: the end is an event whose scope has closed", NULL);
    assert_int_equal(wk_event_synchronize(retained), WK_OK);
    wk_free(retained);
    wk_event *alone = wk_event_record(wk_cpu()); /* without a scope: the caller's */
    assert_int_equal(wk_event_synchronize(alone), WK_OK);
    wk_free(alone);
    expect_ok();
    WK_SCOPE;
    assert_true(isnan(wk_event_elapsed_time((wk_event *)(void *)wk_ones((1)), NULL)));
    expect_error("the start is a tensor, not an event", NULL);
}

static void null_passes_through(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_event *none = NULL, *event = wk_event_record(wk_cpu());
    assert_int_equal(wk_event_synchronize(none), WK_ERR_ARGUMENT);
    expect_error("event_synchronize: the event is NULL", NULL);
    assert_true(wk_event_query(none)); /* otherwise a loop of queries would never end */
    expect_error("event_query: the event is NULL", NULL);
    assert_true(isnan(wk_event_elapsed_time(none, event)));
    expect_error("event_elapsed_time: the start is NULL", NULL);
    assert_true(isnan(wk_event_elapsed_time(event, none)));
    expect_error("event_elapsed_time: the end is NULL", NULL);
    wk_event *absent = wk_event_record(wk_opencl(99)); /* the first error is kept */
    assert_null(absent);
    assert_int_equal(wk_event_synchronize(absent), WK_ERR_DEVICE);
    assert_true(isnan(wk_event_elapsed_time(event, absent)));
    assert_null(wk_event_record(wk_device_parse("tpu")));
    expect_error("event_record: opencl:99 does not exist", NULL);
    assert_null(wk_event_record((wk_device){.kind = -1}));
    expect_error("event_record: invalid device", NULL);
}

static void the_default_device(void **state)
{
    (void)state;
    WK_SCOPE;
    const wk_device none = {0};
    wk_event *near = wk_event_record(wk_cpu()), *far = wk_event_record(test_null());
    assert_true(wk_event_elapsed_time(near, wk_event_record(none)) >= 0);
    {
        WK_DEVICE(test_null());
        assert_true(wk_event_elapsed_time(far, wk_event_record(none)) >= 0);
        assert_true(wk_event_elapsed_time(near, wk_event_record(wk_cpu())) >= 0);
    }
    expect_ok();
}

/* Each wait for a device counts as a wait of the host; a query does not. */
static void waits_are_counted(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_transfer_counters before = {.size = sizeof before}, after = before;
    wk_event *near = wk_event_record(wk_cpu()), *far = wk_event_record(test_null());
    wk_transfer_stats(&before);
    wk_event_synchronize(near);
    for (int k = 0; k < 3; k++) wk_event_synchronize(far);
    wk_event_query(far);
    wk_event_elapsed_time(far, far);
    wk_transfer_stats(&after);
    assert_int_equal(after.waits - before.waits, 3);
    expect_ok();
}

/* ---- devices without clocks -------------------------------------------------------------------------------------- */

static void events_of_two_devices(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_event *near = wk_event_record(wk_cpu()), *far = wk_event_record(test_null());
    assert_true(isnan(wk_event_elapsed_time(near, far)));
    assert_int_equal(wk_error_code(), WK_ERR_DEVICE);
    expect_error("event_elapsed_time: the start is on cpu, the end on null:0; record both on one device", NULL);
    if (test_cpu_alone()) return;
    wk_event *first = wk_event_record(test_gpu(0)), *second = wk_event_record(test_gpu(1));
    wk_event_synchronize(first);
    wk_event_synchronize(second);
    assert_true(isnan(wk_event_elapsed_time(first, second)));
    expect_error(test_backend_text("the start is on opencl:0, the end on opencl:1"), NULL);
}

static void backends_without_events(void **state)
{
    (void)state;
    WK_SCOPE;
    change_table();
    table.event_record = NULL;
    assert_null(wk_event_record(test_null()));
    null_device()->backend = usual;
    assert_int_equal(wk_error_code(), WK_ERR_UNSUPPORTED);
    expect_error("event_record: null:0 does not support events; measure time around wk_sync", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(milliseconds),
        cmocka_unit_test_setup_teardown(events_follow_recorded_work, test_default_mode, test_restore_mode),
        cmocka_unit_test_setup_teardown(events_after_failed_work, test_default_mode, test_restore_mode),
        cmocka_unit_test(events_not_reached),
        cmocka_unit_test(threads_wait),
        cmocka_unit_test(events_are_objects),
        cmocka_unit_test(null_passes_through),
        cmocka_unit_test(the_default_device),
        cmocka_unit_test(waits_are_counted),
        cmocka_unit_test(events_of_two_devices),
        cmocka_unit_test(backends_without_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
