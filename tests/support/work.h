/* SPDX-License-Identifier: Apache-2.0 */
/* Submits programs, products and kernels to a backend directly, without the engine. */
#ifndef TESTS_SUPPORT_WORK_H
#define TESTS_SUPPORT_WORK_H

#include "backend/backend.h"

static inline wk_code submit_program(const wk__backend *backend, void *device, const wk__program *group, wk__fail *fail)
{
    return backend->submit(device, &(wk__work){.family = WK__PROGRAM, .program = group}, fail);
}

static inline wk_code submit_product(const wk__backend *backend, void *device, const wk__matmul *product,
                                     wk__fail *fail)
{
    wk__contraction sum;
    wk__work_args kernel;
    wk__work work;
    wk__work_from_matmul(product, &sum, &kernel, &work);
    return backend->submit(device, &work, fail);
}

static inline wk_code submit_kernel(const wk__backend *backend, void *device, int family, const wk__work_args *kernel,
                                    wk__fail *fail)
{
    return backend->submit(device, &(wk__work){.family = family, .args = kernel}, fail);
}

#endif
