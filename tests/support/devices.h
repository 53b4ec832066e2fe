/* SPDX-License-Identifier: Apache-2.0 */
/* Devices for tests of several devices: the CPU and two GPUs, of the backend that WICK_TEST_GPU names (default
 * OpenCL). */
#ifndef TESTS_SUPPORT_DEVICES_H
#define TESTS_SUPPORT_DEVICES_H

#include "support/gpu/gpu.h"
#include "wick.h"

/* Returns text with OpenCL's names, "opencl:0" and wk_opencl(0), replaced by those of the tested backend. The string is
 * valid for the next seven calls. */
static inline const char *test_backend_text(const char *text)
{
    static _Thread_local char room[8][200];
    static _Thread_local int next;
    char *out = room[next++ % 8], *end = out;
    static const char word[] = "opencl";
    const size_t length = sizeof word - 1;
    assert_true(strlen(text) < sizeof room[0]);
    if (test_gpu_kind() == WK_OPENCL) return strcpy(out, text);
    for (const char *at; (at = strstr(text, word)); text = at + length)
        end += sprintf(end, "%.*scuda", (int)(at - text), text);
    strcpy(end, text);
    return out;
}

/* Returns true if tests must not use GPUs, as on machines without any. */
static inline bool test_cpu_alone(void)
{
    const char *only = getenv("WICK_TEST_DEVICES");
    return only && strcmp(only, "cpu") == 0;
}

/* Fills in the CPU and two GPUs and returns their number. Fails if there is only one GPU, so that tests do not pass
 * without testing anything; the runner provides two, or sets a variable if there are none. */
static inline int test_devices(wk_device devices[3])
{
    devices[0] = wk_cpu();
    if (test_cpu_alone()) return 1;
    assert_true(wk_device_count(test_gpu_kind()) >= 2);
    devices[1] = test_gpu(0);
    devices[2] = test_gpu(1);
    return 3;
}

/* Returns a GPU, or the CPU on machines without GPUs. */
static inline wk_device test_some_device(void)
{
    return test_cpu_alone() ? wk_cpu() : test_gpu(0);
}

#define EACH_DEVICE(device)                                                                                            \
    wk_device devices_[3];                                                                                             \
    int device_count_ = test_devices(devices_);                                                                        \
    for (int k_ = 0; k_ < device_count_; k_++)                                                                         \
        for (wk_device device = devices_[k_], *once_ = &device; once_; once_ = NULL)

#endif
