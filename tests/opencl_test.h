/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the OpenCL backend share: the devices, opened once, and cases compiled together. */
#ifndef WICK_TESTS_OPENCL_TEST_H
#define WICK_TESTS_OPENCL_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../src/backend/opencl/backend.h"
#include "../src/backend/opencl/device.h"
#include "support_gpu_cases.h"

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

/* The list that `add` makes, for the smallest work-group of all devices. */
static inline gpu_cases *opencl_cases(gpu_add_cases *add)
{
    int local = 1 << 20;
    for (int d = 0; d < opencl_devices; d++) {
        int of_this = ((const wk__cl_device *)opencl_device[d])->card->target.local;
        if (of_this < local) local = of_this;
    }
    return gpu_cases_of(local, add);
}

/* Runs and checks all cases on every device, with one build for all of them on each. */
static inline void opencl_run_cases(gpu_add_cases *add)
{
    gpu_cases *cases = opencl_cases(add);
    int wrong = 0;
    wk__fail fail;
    for (int d = 0; d < opencl_devices; d++) {
        void *device = opencl_device[d];
        assert_int_equal(opencl->gather(device, true, &fail), WK_OK);
        for (int k = 0; k < cases->count; k++) {
            group_case *c = cases->at[k];
            if (group_case_run(c, opencl, device, &fail) != WK_OK) fail_msg("%s: %s", c->name, fail.text);
        }
        if (opencl->gather(device, false, &fail) != WK_OK) fail_msg("%s", fail.text);
        for (int k = 0; k < cases->count; k++) {
            group_case *c = cases->at[k];
            if (group_case_run(c, opencl, device, &fail) != WK_OK) fail_msg("%s: %s", c->name, fail.text);
            const char *message = group_case_check(c, opencl, device);
            if (message != NULL && ++wrong <= 20) print_error("device %d: %s\n", d, message);
        }
    }
    gpu_cases_free(cases);
    assert_int_equal(wrong, 0);
}

#endif
