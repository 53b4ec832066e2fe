/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of groups that were seen before. */
#ifndef WICK_BACKEND_CPU_RUN_CACHE_H
#define WICK_BACKEND_CPU_RUN_CACHE_H

#include "program_compile.h"

/* How the operands of a group lie over its columns (its whole space when it reduces nothing); a bit each. */
typedef struct wk__cpu_layout {
    int64_t count;       /* columns */
    uint32_t uniform;    /* the same element everywhere */
    uint32_t contiguous; /* row-major, nothing between */
} wk__cpu_layout;

void wk__cpu_layout_init(wk__cpu_layout *layout, const wk__program *group);

/* The program of a group in a style: a cached one, which is valid for ever, compiled if it is new; or *own, compiled,
 * which the caller then destroys, where the style streams or the cache has no slot for it. NULL with *fail filled. A
 * debug build compiles again what it finds in the cache and refuses a difference (WK_ERR_INTERNAL). */
const wk__cpu_program *wk__cpu_program_acquire(wk__cpu_program *own, const wk__program *group,
                                               const wk__cpu_layout *layout, const wk__cpu_style *style,
                                               wk__fail *fail);

#endif
