/* SPDX-License-Identifier: Apache-2.0 */
/* Backends of this build. */
#include "backend.h"

extern const wk__backend wk__cuda_backend, wk__opencl_backend, wk__cpu_backend, wk__null_backend;

/* CUDA precedes OpenCL, so that a card with both drivers counts as a CUDA device. */
const wk__backend *const wk__backends[] = {
    &wk__cuda_backend, &wk__opencl_backend, &wk__cpu_backend, &wk__null_backend, NULL,
};

const wk__backend *wk__backend_of(int kind)
{
    for (const wk__backend *const *backend = wk__backends; *backend; backend++) {
        if ((*backend)->kind == kind) return *backend;
    }
    return NULL;
}
