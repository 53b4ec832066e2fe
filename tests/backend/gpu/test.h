/* SPDX-License-Identifier: Apache-2.0 */
/* Common parts of tests of GPU backends: the devices of the backend that WICK_TEST_GPU names (default OpenCL), opened
 * once; cases that are compiled together. */
#ifndef WICK_TESTS_GPU_TEST_H
#define WICK_TESTS_GPU_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cuda/device.h"
#include "backend/opencl/backend.h"
#include "backend/opencl/device.h"
#include "support/turns.h"
#include "support/gpu/gpu.h"
#include "support/gpu/gpu_cases.h"

static const wk__backend *gpu;
static void *gpu_device[8];
static int gpu_devices;

/* Opens all devices, or those whose turn it is. There must be one, or the tests would test nothing. */
static void gpu_open_some(int parts)
{
    wk__text why = {0};
    gpu = wk__backend_of(test_gpu_kind());
    if (gpu->status(&why) != WK__BACKEND_AVAILABLE) print_error("%s\n", why.data);
    wk__text_free(&why);
    const int count = gpu->count() < 8 ? gpu->count() : 8;
    for (int d = 0; d < count; d++) {
        wk__fail fail;
        if (!test_has_turn(d, parts < count ? parts : count)) continue;
        if (gpu->open(d, &gpu_device[gpu_devices++], &fail) != WK_OK) fail_msg("%s", fail.text);
    }
    assert_true(gpu_devices > 0);
}

/* Group setup. */
static inline int gpu_open(void **state)
{
    (void)state;
    gpu_open_some(1);
    return 0;
}

/* The same for slow compilers: one of two devices at a time. */
static inline int gpu_open_one(void **state)
{
    (void)state;
    gpu_open_some(2);
    return 0;
}

static int gpu_close(void **state)
{
    (void)state;
    for (int d = 0; d < gpu_devices; d++) gpu->close(gpu_device[d]);
    return 0;
}

/* Returns a device's target, which tests may modify. */
static inline wk__gpu_target *gpu_target(int d)
{
    const wk__gpu_target *target = gpu->kind == WK_CUDA ? &((const wk__cuda_device *)gpu_device[d])->card->gpu.target
                                                        : &((const wk__cl_device *)gpu_device[d])->card->gpu.target;
    return (wk__gpu_target *)target;
}

/* Returns the list that add fills, for the smallest work-group of all devices. */
static inline gpu_cases *gpu_cases_here(gpu_add_cases *add)
{
    int local = 1 << 20;
    for (int d = 0; d < gpu_devices; d++)
        if (gpu_target(d)->group_size < local) local = gpu_target(d)->group_size;
    return gpu_cases_of(local, add);
}

/* Runs and checks all cases on every device, with one build per device. */
static inline void gpu_run_cases(gpu_add_cases *add)
{
    gpu_cases *cases = gpu_cases_here(add);
    int wrong = 0;
    wk__fail fail;
    for (int d = 0; d < gpu_devices; d++) {
        void *device = gpu_device[d];
        assert_int_equal(gpu->compile_only(device, true, &fail), WK_OK);
        for (int k = 0; k < cases->count; k++) {
            group_case *c = cases->at[k];
            if (group_case_run(c, gpu, device, &fail) != WK_OK) fail_msg("%s: %s", c->name, fail.text);
        }
        if (gpu->compile_only(device, false, &fail) != WK_OK) fail_msg("%s", fail.text);
        for (int k = 0; k < cases->count; k++) {
            group_case *c = cases->at[k];
            if (group_case_run(c, gpu, device, &fail) != WK_OK) fail_msg("%s: %s", c->name, fail.text);
            const char *message = group_case_check(c, gpu, device);
            if (message != NULL && ++wrong <= 20) print_error("device %d: %s\n", d, message);
        }
    }
    gpu_cases_free(cases);
    assert_int_equal(wrong, 0);
}

#endif
