/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels write down when an index is out of range, in the device's memory (wk_raise in prelude.c). */
#ifndef WICK_BACKEND_GPU_FAULT_H
#define WICK_BACKEND_GPU_FAULT_H

#include "backend/backend.h"

typedef struct wk__gpu_fault {
    int32_t raised, lock;
    int64_t tag, index, bound, position; /* of the first in the order of the program */
    int32_t tag_raised[WK__FAULT_TAGS];  /* each place at fault sets its own: by tag */
} wk__gpu_fault;

/* Fills *fail with a fault that is raised: WK_ERR_INDEX. WK_OK: it is not. */
wk_code wk__gpu_fault_report(const wk__gpu_fault *fault, wk__fail *fail);

#endif
