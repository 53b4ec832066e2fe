/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and validation of collectives; see collective.h. */
#include "collective.h"

const char *const wk__collective_name[WK__COLLECTIVES] = {"all_reduce", "reduce_scatter", "all_gather", "broadcast"};

int64_t wk__collective_elements(int mode, const wk__comm *team, int operand, int64_t count)
{
    const bool longer = (mode == WK__ALL_GATHER && operand == 0) || (mode == WK__REDUCE_SCATTER && operand == 1);
    return longer ? count * team->nranks : count;
}

static bool reduces(int mode)
{
    return mode == WK__ALL_REDUCE || mode == WK__REDUCE_SCATTER;
}

const char *wk__collective_check(const wk__work_args *kernel)
{
    const wk__comm *team = kernel->comm;
    int64_t all;
    if (!team) return "a collective without a team";
    if (kernel->mode < 0 || kernel->mode >= WK__COLLECTIVES) return "a collective that there is not";
    if (team->rank < 0 || team->rank >= team->nranks) return "a rank that its team does not have";
    if (kernel->mode == WK__BROADCAST && (team->root < 0 || team->root >= team->nranks))
        return "a root that its team does not have";
    if (reduces(kernel->mode) && team->reduction != WK__RSUM && team->reduction != WK__RPROD &&
        team->reduction != WK__RMAX && team->reduction != WK__RMIN)
        return "a reduction that no collective has";
    if (kernel->ndim != 1 || kernel->shape[0] < 0) return "a collective over no plain count of elements";
    if (__builtin_mul_overflow(kernel->shape[0], team->nranks, &all)) return "a collective of too many elements";
    for (int k = 0; k < 2; k++)
        if (kernel->operand[k].stride[0] != 1) return "a collective over operands with gaps";
    return kernel->operand[0].dtype == kernel->operand[1].dtype ? NULL : "a collective over two dtypes";
}
