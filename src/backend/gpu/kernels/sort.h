/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to sort by keys in local memory, beside merging (sort.c). An element becomes an unsigned number
 * that sorts as it should (NaN greatest, -0 equal to 0, descending: all bits turned over); numbers and positions are
 * sorted, and values are fetched by position, so NaN and -0 arrive as they were. Positions take 32 bits. */
#ifndef WICK_BACKEND_GPU_SORT_H
#define WICK_BACKEND_GPU_SORT_H

#include "backend/gpu/lower.h"
#include "along_dim.h"

#include "base/integers.h"

/* Text: KEY, the type of such a number; KEY_AT(j), that of element j of the line. EACH, elements that an item works at,
 * and TILE, those of a work-group. Then the end of these names. */
extern const char wk__gpu_sort_keys[], wk__gpu_end_of_sort_keys[];
/* TILE, for the target. */
static inline int64_t wk__gpu_sort_tile(const wk__gpu_target *target, uint8_t dtype)
{
    return (int64_t)target->group_size * (wk_dtype_size((wk_dtype)dtype) == 8 ? 4 : 8);
}

/* Each goes on with the launch that wk__gpu_fill_along_dim has filled in for three operands. */
/* sort_bitonic.c: lines of a tile at most. */
wk_code wk__gpu_lower_sort_bitonic(const wk__gpu_target *target, wk__gpu_launch *launch, wk__gpu_launch_fn *emit,
                                   void *user, wk__fail *fail);
/* sort_radix.c: any others. */
wk_code wk__gpu_lower_sort_radix(const wk__gpu_target *target, wk__gpu_launch *launch, wk__gpu_launch_fn *emit,
                                 void *user, wk__fail *fail);

#endif
