/* SPDX-License-Identifier: Apache-2.0 */
/* Cache of compiled programs. Thread-safe. */
#ifndef WICK_BACKEND_CPU_VM_PROGRAM_CACHE_H
#define WICK_BACKEND_CPU_VM_PROGRAM_CACHE_H

#include "program_compile.h"

/* Layout of the operands over the columns (the entire space without reductions), as bit masks. */
typedef struct wk__cpu_layout {
    int64_t count;       /* columns */
    uint32_t uniform;    /* the same element for all columns */
    uint32_t contiguous; /* row-major without gaps */
} wk__cpu_layout;

void wk__cpu_layout_init(wk__cpu_layout *layout, const wk__program *group);

/* Returns the compiled program of a group in a style: a cached one, compiled if it is new and valid forever; or *own,
 * which the caller destroys, if the style uses non-temporal stores or the cache is full. Returns NULL and fills *fail
 * on failure. Debug builds compile again on a hit and return WK_ERR_INTERNAL if the programs differ. */
const wk__cpu_program *wk__cpu_program_acquire(wk__cpu_program *own, const wk__program *group,
                                               const wk__cpu_layout *layout, const wk__cpu_style *style,
                                               wk__fail *fail);

#endif
