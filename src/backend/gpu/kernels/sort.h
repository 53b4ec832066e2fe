/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting by keys in local memory; the alternative to merging (sort.c). An element is converted to an unsigned key with
 * the required order (NaN greatest, -0 equal to 0; descending: all bits inverted). Keys and positions are sorted, and
 * values are fetched by position, so NaN and -0 are preserved. Positions are 32 bits. */
#ifndef WICK_BACKEND_GPU_SORT_H
#define WICK_BACKEND_GPU_SORT_H

#include "backend/gpu/lower.h"
#include "along_dim.h"

#include "base/integers.h"

/* Source: KEY, the type of keys; KEY_AT(j), the key of element j of the line; EACH, elements per item; TILE, elements
 * per work-group. The second undefines these names. */
extern const char wk__gpu_sort_keys[], wk__gpu_end_of_sort_keys[];
/* Returns TILE for the target. */
static inline int64_t wk__gpu_sort_tile(const wk__gpu_target *target, uint8_t dtype)
{
    return (int64_t)target->group_size * (wk_dtype_size((wk_dtype)dtype) == 8 ? 4 : 8);
}

/* These emit a launch that wk__gpu_fill_along_dim() has filled in for three operands. */
/* sort_bitonic.c: lines of at most one tile. */
wk_code wk__gpu_lower_sort_bitonic(const wk__gpu_target *target, wk__gpu_launch *launch, wk__gpu_launch_fn *emit,
                                   void *user, wk__fail *fail);
/* sort_radix.c: longer lines. */
wk_code wk__gpu_lower_sort_radix(const wk__gpu_target *target, wk__gpu_launch *launch, wk__gpu_launch_fn *emit,
                                 void *user, wk__fail *fail);

#endif
