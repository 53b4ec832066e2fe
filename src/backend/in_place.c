/* SPDX-License-Identifier: Apache-2.0 */
/* Detection of in-place programs, shared by the engine and all backends so that they agree. */
#include "backend.h"

static bool loads(const wk__program *group, int operand)
{
    for (int k = 0; k < group->nins; k++) {
        const wk__ins *ins = &group->ins[k];
        if ((ins->code == WK__LOAD && ins->arg[0] == operand) || (ins->code == WK__LOADX && ins->arg[1] == operand))
            return true;
    }
    return false;
}

static int64_t first_element(const wk__operand *operand)
{
    return operand->memory->offset / (int64_t)wk_dtype_size((wk_dtype)operand->dtype) + operand->offset;
}

static bool same_element(const wk__operand *a, const wk__operand *b)
{
    return a->memory && b->memory && a->memory->block == b->memory->block &&
           wk_dtype_size((wk_dtype)a->dtype) == wk_dtype_size((wk_dtype)b->dtype) &&
           first_element(a) == first_element(b);
}

bool wk__program_is_in_place(const wk__program *group)
{
    for (int k = 0; k < group->noperands; k++) {
        if (!group->operand[k].stored) continue;
        if (group->operand[k].skip_on_fault) return true;
        for (int j = group->is_epilogue; j < group->noperands; j++) {
            bool same = j == k || same_element(&group->operand[j], &group->operand[k]);
            if (same && loads(group, j)) return true;
        }
    }
    return false;
}
