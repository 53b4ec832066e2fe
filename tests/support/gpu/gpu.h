/* SPDX-License-Identifier: Apache-2.0 */
/* The GPUs of the backend that WICK_TEST_GPU names (default OpenCL). */
#ifndef TESTS_SUPPORT_GPU_H
#define TESTS_SUPPORT_GPU_H

#include "support/turns.h"

#include <wick.h>

static inline int test_gpu_kind(void)
{
    const char *name = getenv("WICK_TEST_GPU");
    return name && strcmp(name, "cuda") == 0 ? WK_CUDA : WK_OPENCL;
}

static inline wk_device test_gpu(int index)
{
    return test_gpu_kind() == WK_CUDA ? wk_cuda(index) : wk_opencl(index);
}

#endif
