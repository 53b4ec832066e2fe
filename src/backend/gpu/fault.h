/* SPDX-License-Identifier: Apache-2.0 */
/* Fault record that kernels write to device memory if an index is out of range (wk_raise in codegen/prelude.c). */
#ifndef WICK_BACKEND_GPU_FAULT_H
#define WICK_BACKEND_GPU_FAULT_H

#include "backend/backend.h"

typedef struct wk__gpu_fault {
    int32_t raised, lock;
    int64_t tag, index, bound, position; /* of the first fault in program order */
    int32_t tag_raised[WK__FAULT_TAGS];  /* by tag: set by each LOADX or kernel that found a bad index */
} wk__gpu_fault;

/* If a fault was raised, fills in *fail and returns WK_ERR_INDEX; otherwise returns WK_OK. */
wk_code wk__gpu_fault_report(const wk__gpu_fault *fault, wk__fail *fail);

#endif
