/* SPDX-License-Identifier: Apache-2.0 */
/* Coalesces the iteration space. Every program passes here before it runs, including tiny ones, so this is a single
 * in-place pass over the dimensions:
 *
 *     shape    [8, 1, 4, 16 | 1, 32]                    [32, 16 | 32]
 *     strides  [64, 64, 16, 1 | 9, 0]        ->         [16, 1 | 0]
 *                 size 1: dropped; 8 and 4: merged; "|" is the border to the reduced dimensions */
#include "ir.h"

/* Returns true if in every operand the stride of `outer` is the span of `inner`. */
static bool can_merge_dims(const wk__program *group, int outer, int inner)
{
    for (int k = 0; k < group->noperands; k++) {
        const int64_t *stride = group->operand[k].stride;
        int64_t span; /* span of `inner` */
        if (__builtin_mul_overflow(stride[inner], group->shape[inner], &span) || stride[outer] != span) return false;
    }
    return true;
}

static void copy_dim(wk__program *group, int to, int from, int64_t size)
{
    group->shape[to] = size;
    for (int k = 0; k < group->noperands; k++) {
        group->operand[k].stride[to] = group->operand[k].stride[from];
    }
}

/* Flattens the dimensions first..end-1 and writes them from index `to` on; returns the new end. */
static int flatten(wk__program *group, int first, int end, int to)
{
    int begin = to;
    for (int d = first; d < end; d++) {
        int64_t merged;
        if (group->shape[d] == 1) continue;
        if (to > begin && can_merge_dims(group, to - 1, d) &&
            !__builtin_mul_overflow(group->shape[to - 1], group->shape[d], &merged)) {
            copy_dim(group, to - 1, d, merged);
        } else {
            if (to != d) copy_dim(group, to, d, group->shape[d]);
            to++;
        }
    }
    return to;
}

void wk__program_coalesce_outer(wk__program *group, int dims)
{
    int end = flatten(group, 0, dims, 0);
    for (int d = dims; d < group->ndim; d++) copy_dim(group, end++, d, group->shape[d]);
    group->ndim = end;
}

void wk__program_coalesce(wk__program *group)
{
    int border = group->ndim - group->nreduce;
    int kept = flatten(group, 0, border, 0);
    int end = kept;
    if (group->nreduce > 0) {
        end = flatten(group, border, group->ndim, kept);
        if (end == kept) { /* one column: a program with reductions keeps one reduced dimension */
            group->shape[end] = 1;
            for (int k = 0; k < group->noperands; k++) group->operand[k].stride[end] = 0;
            end++;
        }
    }
    group->nreduce = end - kept;
    group->ndim = end;
}
