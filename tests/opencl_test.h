/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the OpenCL backend share: the devices, opened once, and cases compiled together. */
#ifndef WICK_TESTS_OPENCL_TEST_H
#define WICK_TESTS_OPENCL_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../src/backend/opencl/backend.h"
#include "support_group_case.h"

static const wk__backend *const opencl = &wk__opencl_backend;
static void *opencl_device[8];
static int opencl_devices;

/* For the group's set-up: opens all devices. There have to be some, or the tests would pass by looking at nothing. */
static int opencl_open(void **state)
{
    (void)state;
    wk__text why = {0};
    if (opencl->presence(&why) != WK__PRESENT) print_error("%s\n", why.data);
    wk__text_end(&why);
    opencl_devices = opencl->count() < 8 ? opencl->count() : 8;
    assert_true(opencl_devices > 0);
    for (int d = 0; d < opencl_devices; d++) {
        wk__fail fail;
        if (opencl->open(d, &opencl_device[d], &fail) != WK_OK) fail_msg("%s", fail.text);
    }
    return 0;
}

static int opencl_close(void **state)
{
    (void)state;
    for (int d = 0; d < opencl_devices; d++) opencl->close(opencl_device[d]);
    return 0;
}

/* Runs and checks all cases on every device, with one build for all of them on each, and frees them. */
static inline void opencl_run_all(group_case **cases, int count)
{
    int wrong = 0;
    wk__fail fail;
    for (int d = 0; d < opencl_devices; d++) {
        void *device = opencl_device[d];
        assert_int_equal(opencl->gather(device, true, &fail), WK_OK);
        for (int k = 0; k < count; k++) {
            if (group_case_run(cases[k], opencl, device, &fail) != WK_OK) fail_msg("%s: %s", cases[k]->name, fail.text);
        }
        if (opencl->gather(device, false, &fail) != WK_OK) fail_msg("%s", fail.text);
        for (int k = 0; k < count; k++) {
            if (group_case_run(cases[k], opencl, device, &fail) != WK_OK) fail_msg("%s: %s", cases[k]->name, fail.text);
            const char *message = group_case_check(cases[k], opencl, device);
            if (message != NULL && ++wrong <= 20) print_error("device %d: %s\n", d, message);
        }
    }
    for (int k = 0; k < count; k++) group_case_free(cases[k]);
    assert_int_equal(wrong, 0);
}

#endif
