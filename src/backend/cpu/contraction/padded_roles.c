/* SPDX-License-Identifier: Apache-2.0 */
/* Roles of indices; see padded_roles.h. */
#include "padded_roles.h"

/* Classifies the result indices: positions, on which A must not depend, a row, and batches. */
static bool analyze_result(wk__padded_roles *roles, const wk__padded *b)
{
    const wk__work_args *kernel = b->kernel;
    for (int i = 0; i < kernel->ndim; i++) {
        if (kernel->shape[i] == 1) continue;
        const bool of_a = wk__index_moves(kernel, b->a, i);
        if (wk__padded_depends_on(b, i)) {
            if (of_a) return false;
        } else if (of_a && !wk__index_moves(kernel, b->b, i) && roles->row < 0) {
            roles->row = i;
            roles->rows = kernel->shape[i];
        } else {
            wk__padded_add(kernel, &roles->batch, i);
        }
    }
    return true;
}

/* Classifies the summed indices: channels, then taps, so that a block of the sum is a range of channels. */
static bool analyze_sum(wk__padded *b)
{
    const wk__work_args *kernel = b->kernel;
    bool taps = false;
    for (int i = kernel->ndim; i < kernel->ndim + kernel->contraction->nsummed; i++) {
        if (wk__index_extent(kernel, i) == 1) continue;
        const bool tap = wk__padded_depends_on(b, i);
        if (tap ? wk__index_moves(kernel, b->b, i) : taps) return false;
        taps = tap;
        if (!tap) wk__padded_add(kernel, &b->channels, i);
    }
    return true;
}

bool wk__padded_roles_init(wk__padded_roles *roles, wk__padded *b, const wk__work_args *kernel, int factor,
                           int64_t most)
{
    const int last = wk__padded_contiguous_index(kernel, factor, false);
    *roles = (wk__padded_roles){
        .row = -1, .rows = 1, .steps = wk__contraction_k(kernel->contraction), .batch = {.places = 1}};
    return last >= 0 && wk__padded_init(b, kernel, factor, false, last, most) && analyze_result(roles, b) &&
           analyze_sum(b);
}

void wk__padded_roles_pack_a(wk__padded_roles *roles, const wk__padded *b)
{
    const wk__work_args *kernel = b->kernel;
    const wk__operand *a = &kernel->operand[b->a];
    const int64_t size = (int64_t)wk_dtype_size((wk_dtype)a->dtype);
    wk__im2col *g = &roles->a;
    *g = (wk__im2col){.start = a->memory->host ? a->memory->host + a->offset * size : NULL, .size = size};
    for (int k = 0; k < roles->batch.count; k++) {
        const int i = roles->batch.index[k];
        wk__im2col_add_index(&g->batch, &(wk__im2col_index){kernel->shape[i], a->stride[i], {0}}, 0);
    }
    g->lines.index[g->lines.count++] =
        (wk__im2col_index){roles->rows, roles->row >= 0 ? a->stride[roles->row] : 0, {0}};
    for (int i = kernel->ndim; i < kernel->ndim + kernel->contraction->nsummed; i++) {
        const int64_t extent = wk__index_extent(kernel, i);
        if (extent > 1)
            wk__im2col_add_index(&g->steps, &(wk__im2col_index){extent, wk__index_stride(kernel, b->a, i), {0}}, 0);
    }
    if (g->steps.count == 0) g->steps.index[g->steps.count++] = (wk__im2col_index){.extent = 1};
}
