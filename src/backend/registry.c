/* SPDX-License-Identifier: Apache-2.0 */
/* The backends of this build. */
#include "backend.h"

extern const wk__backend wk__cuda_backend, wk__opencl_backend, wk__cpu_backend, wk__null_backend;

/* A card that both CUDA and OpenCL see counts as CUDA's, so that one stands first. */
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
