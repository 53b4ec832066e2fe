/* SPDX-License-Identifier: Apache-2.0 */
/* Events on each backend that has them: their order, the time between them, and events that fail. */
#include "test.h"

#include "backend/cpu/cpu.h"
#include "backend/event.h"
#include "backend/null/null.h"
#include "support/driver_faults.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void good(wk_code code, const wk__fail *fail)
{
    if (code != WK_OK) fail_msg("%s", fail->text);
}

static void *record(const wk__backend *backend, void *device)
{
    void *event;
    wk__fail fail;
    good(backend->event_record(device, &event, &fail), &fail);
    return event;
}

/* Returns the seconds that a copy of 16 MB takes, by two events; a third one is destroyed before it can have
 * completed. */
static double time_of_copy(const wk__backend *backend, void *device)
{
    enum { BYTES = 16 << 20 };
    wk__fail fail;
    wk__memory from, to;
    good(backend->block_alloc(device, BYTES, &from, &fail), &fail);
    good(backend->block_alloc(device, BYTES, &to, &fail), &fail);
    void *begin = record(backend, device);
    good(backend->copy(device, &to, 0, &from, 0, BYTES, &fail), &fail);
    backend->event_destroy(device, record(backend, device));
    void *end = record(backend, device);
    good(backend->event_wait(device, end, &fail), &fail);
    good(backend->event_wait(device, begin, &fail), &fail);
    assert_true(backend->event_query(device, begin) && backend->event_query(device, end));
    double seconds = -1, back = -1;
    good(backend->event_elapsed(device, begin, end, &seconds, &fail), &fail);
    good(backend->event_elapsed(device, end, begin, &back, &fail), &fail);
    assert_true(seconds == -back);
    backend->event_destroy(device, begin);
    backend->event_destroy(device, end);
    backend->block_free(device, &from);
    backend->block_free(device, &to);
    return seconds;
}

static void in_order(void **state)
{
    (void)state;
    static const wk__backend *const others[] = {&wk__cpu_backend, &wk__null_backend};
    for (int k = 0; k < 2; k++) {
        void *device;
        wk__fail fail;
        good(others[k]->open(0, &device, &fail), &fail);
        double seconds = time_of_copy(others[k], device);
        assert_true(seconds >= (k == 0 ? 1e-5 : 0) && seconds < 60);
        others[k]->close(device);
    }
    for (int d = 0; d < gpu_devices; d++) {
        double seconds = time_of_copy(gpu, gpu_device[d]);
        assert_true(seconds > 1e-5 && seconds < 60);
    }
}

/* The time of a pending event is unknown. */
static void pending_events(void **state)
{
    (void)state;
    wk__fail fail;
    double seconds;
    wk__event *event = wk__event_new(&fail);
    assert_false(wk__event_query(NULL, event));
    assert_int_equal(wk__event_elapsed(NULL, event, event, &seconds, &fail), WK_ERR_STATE);
    wk__fail_set(&fail, WK_ERR_DEVICE_LOST, "gone");
    wk__event_complete(event, &fail);
    wk__fail why;
    assert_true(wk__event_query(NULL, event)); /* completed */
    assert_int_equal(wk__event_wait(NULL, event, &why), WK_ERR_DEVICE_LOST);
    assert_string_equal(why.text, "gone");
    assert_int_equal(wk__event_elapsed(NULL, event, event, &seconds, &why), WK_ERR_DEVICE_LOST);
    wk__event_destroy(NULL, event);
}

static void on_a_lost_device(void **state)
{
    (void)state;
    wk__fail fail;
    void *device, *event;
    good(wk__null_backend.open(0, &device, &fail), &fail);
    wk__null_lose_device(0);
    assert_int_equal(wk__null_backend.event_record(device, &event, &fail), WK_ERR_DEVICE_LOST);
    wk__null_clear_faults();
    wk__null_backend.close(device);
}

/* The event fails; the device continues. */
static void rejected_by_the_driver(void **state)
{
    (void)state;
    wk__fail fail;
    void *device = gpu_device[0];
    good(gpu->sync(device, &fail), &fail);
    driver_inject(DRIVER_MARKER, -1, DRIVER_NO_MEMORY);
    void *event;
    wk_code code = gpu->event_record(device, &event, &fail);
    if (code == WK_OK) { /* OpenCL's driver is called later */
        code = gpu->event_wait(device, event, &fail);
        gpu->event_destroy(device, event);
    }
    assert_int_equal(code, WK_ERR_MEMORY);
    assert_non_null(strstr(fail.text, "recording an event"));
    driver_clear();
    good(gpu->sync(device, &fail), &fail);
    time_of_copy(gpu, device);
}

static void in_a_child(void **state)
{
    (void)state;
    wk__fail fail;
    void *device = gpu_device[0], *event = record(gpu, device);
    pid_t child = fork();
    if (child == 0) _exit(gpu->event_wait(device, event, &fail) == WK_ERR_STATE ? 0 : 1);
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    good(gpu->event_wait(device, event, &fail), &fail);
    gpu->event_destroy(device, event);
}

static int set_up(void **state)
{
    gpu_open(state);
    driver_install_hooks(gpu->kind);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_order),         cmocka_unit_test(pending_events),
        cmocka_unit_test(on_a_lost_device), cmocka_unit_test(rejected_by_the_driver),
        cmocka_unit_test(in_a_child),
    };
    return cmocka_run_group_tests(tests, set_up, gpu_close);
}
