/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a device of the CUDA backend directly, without the engine, and builds units on it. */
#ifndef WICK_TESTS_CUDA_BACKEND_H
#define WICK_TESTS_CUDA_BACKEND_H

#include "child.h"

#include "backend/cuda/device.h"
#include "backend/gpu/cache/kernel_build.h"

typedef struct opened {
    const wk__backend *backend;
    void *device;
} opened;

static inline opened open_first(void)
{
    wk__fail fail;
    opened o = {.backend = wk__backend_of(WK_CUDA)};
    must(o.backend->open(0, &o.device, &fail) == WK_OK);
    return o;
}

static inline wk__gpu_kernel_spec unit_of(const char *name, wk__gpu_template *fixed, const char *const *text)
{
    *fixed = (wk__gpu_template){.name = name, .text = text};
    return (wk__gpu_kernel_spec){.source_template = fixed, .dtype = WK_F32, .nmemory = 1, .narguments = 2};
}

#endif
