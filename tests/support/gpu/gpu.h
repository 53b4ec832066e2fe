/* SPDX-License-Identifier: Apache-2.0 */
/* The GPUs of the backend that WICK_TEST_GPU names, else of OpenCL. */
#ifndef TESTS_SUPPORT_GPU_H
#define TESTS_SUPPORT_GPU_H

#include <wick.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline int test_gpu_kind(void)
{
    const char *name = getenv("WICK_TEST_GPU");
    return name && strcmp(name, "cuda") == 0 ? WK_CUDA : WK_OPENCL;
}

static inline wk_device test_gpu(int index)
{
    return test_gpu_kind() == WK_CUDA ? wk_cuda(index) : wk_opencl(index);
}

/* Of what is drawn: the day, 20260131, unless WICK_RANDOM_SEED says another number. */
static inline uint64_t test_seed(void)
{
    const char *given = getenv("WICK_RANDOM_SEED");
    const time_t now = time(NULL);
    struct tm day;
    if (given) return strtoull(given, NULL, 10);
    gmtime_r(&now, &day);
    return (uint64_t)((day.tm_year + 1900) * 10000 + (day.tm_mon + 1) * 100 + day.tm_mday);
}

#endif
