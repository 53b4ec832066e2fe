/* SPDX-License-Identifier: Apache-2.0 */
/* Planning of iterators: merging and ordering dimensions, and start addresses of operands. */
#include <stdlib.h>

#include "iter.h"

/* Strides of empty spaces may be arbitrary and are never followed, so they may wrap. */
static int64_t wrapping_mul(int64_t stride, int64_t size)
{
    return (int64_t)((uint64_t)stride * (uint64_t)size);
}

/* Computes row-major strides, which define the position of an element. */
static void position_strides(const wk__program *group, int64_t stride[])
{
    int64_t step = 1;
    for (int d = group->ndim - 1; d >= 0; d--) {
        stride[d] = step;
        step = wrapping_mul(step, group->shape[d]);
    }
}

/* Sorts dimensions by decreasing |stride|, so that the smallest is innermost; stride 0 counts as smallest. */
static void reorder_dims(int dims[], int ndim, const int64_t stride[])
{
    for (int k = 1; k < ndim; k++) {
        int dim = dims[k], to = k;
        int64_t step = llabs(stride[dim]);
        for (; to > 0 && llabs(stride[dims[to - 1]]) < step; to--) dims[to] = dims[to - 1];
        dims[to] = dim;
    }
}

/* Returns true if for every operand the dimension continues the last one contiguously. */
static bool can_merge(const wk__cpu_iter *walk, int64_t *const stride[], int dim)
{
    int last = walk->ndim - 1;
    for (int k = 0; k < walk->noperands; k++) {
        const wk__cpu_iter_operand *operand = &walk->operand[k];
        if (wrapping_mul(stride[k][dim], operand->size) != wrapping_mul(operand->step[last], walk->size[last]))
            return false;
    }
    return true;
}

static void add_dim(wk__cpu_iter *walk, int64_t *const stride[], int dim, int64_t size)
{
    if (walk->ndim > 0 && can_merge(walk, stride, dim)) {
        walk->size[walk->ndim - 1] = wrapping_mul(walk->size[walk->ndim - 1], size);
        return;
    }
    walk->size[walk->ndim] = size;
    for (int k = 0; k < walk->noperands; k++) {
        walk->operand[k].step[walk->ndim] = wrapping_mul(stride[k][dim], walk->operand[k].size);
    }
    walk->ndim++;
}

static bool is_contiguous(const wk__cpu_iter *walk, const wk__cpu_iter_operand *operand)
{
    int64_t step = operand->size;
    for (int d = 0; d < walk->ndim; d++) {
        if (operand->step[d] != step) return false;
        step = wrapping_mul(step, walk->size[d]);
    }
    return true;
}

static void add_operands(wk__cpu_iter *walk, const wk__program *group, uint32_t operands, int64_t *stride[],
                         int64_t position[])
{
    walk->noperands = 0;
    for (; operands; operands &= operands - 1) {
        int number = __builtin_ctz(operands), k = walk->noperands++;
        bool is_position = number == WK__VM_POSITION;
        walk->operand[k].number = (int16_t)number;
        walk->operand[k].size = is_position ? 1 : (int16_t)wk__vm_size_of(group->operand[number].dtype);
        stride[k] = is_position ? position : (int64_t *)group->operand[number].stride;
    }
}

void wk__cpu_iter_init(wk__cpu_iter *walk, const wk__program *group, const int64_t shape[], int first, int end,
                       uint32_t operands, bool reorder)
{
    int64_t position[WK__MAX_DIMS], *stride[WK__VM_OPERANDS];
    int dims[WK__MAX_DIMS], ndim = 0;
    if (operands >> WK__VM_POSITION & 1) position_strides(group, position);
    add_operands(walk, group, operands, stride, position);
    walk->ndim = 0;
    walk->count = 1;
    for (int d = first; d < end; d++) {
        walk->count = wrapping_mul(walk->count, shape[d]);
        if (shape[d] != 1) dims[ndim++] = d;
    }
    for (int k = 0; reorder && k < walk->noperands; k++) {
        int number = walk->operand[k].number;
        if (number == WK__VM_POSITION || !group->operand[number].stored) continue;
        reorder_dims(dims, ndim, stride[k]);
        break;
    }
    for (int d = ndim - 1; d >= 0; d--) add_dim(walk, stride, dims[d], shape[dims[d]]);
    if (ndim == 0) {
        walk->ndim = 1;
        walk->size[0] = 1;
        for (int k = 0; k < walk->noperands; k++) walk->operand[k].step[0] = walk->operand[k].size;
    }
    for (int k = 0; k < walk->noperands; k++) walk->operand[k].contiguous = is_contiguous(walk, &walk->operand[k]);
}

void wk__cpu_iter_origin(wk__addresses *address, const wk__program *group, const int64_t start[], uint32_t operands)
{
    int64_t position[WK__MAX_DIMS];
    for (; operands; operands &= operands - 1) {
        int number = __builtin_ctz(operands);
        bool is_position = number == WK__VM_POSITION;
        if (is_position) position_strides(group, position);
        const wk__operand *operand = is_position ? NULL : &group->operand[number];
        int64_t element = is_position ? 0 : operand->offset;
        const int64_t *stride = is_position ? position : operand->stride;
        for (int d = 0; start && d < group->ndim; d++) element += start[d] * stride[d];
        address->at[number] =
            is_position ? (intptr_t)element
                        : (intptr_t)operand->memory->host + (intptr_t)(element * wk__vm_size_of(operand->dtype));
    }
}
