/* SPDX-License-Identifier: Apache-2.0 */
/* Fused prologues; see gemm_prologue.h. */
#include "gemm_prologue.h"

#include <string.h>

enum {
    STEPS = 4096, /* maximum steps of the sum per run; short runs cost more than the computation */
};
_Static_assert(STEPS >= WK__GEMM_VECTOR_BYTES / sizeof(float), "a run has at least one block of the sum");

/* ---- planning ---------------------------------------------------------------------------------------------------- */

/* Returns the only operand that the program stores; -1 if there are several or its layout differs from `b`. */
static int stored_operand(const wk__program *group, const wk__operand *b)
{
    int stored = -1;
    for (int o = 0; o < group->noperands; o++) {
        const wk__operand *operand = &group->operand[o];
        if (!operand->stored) continue;
        if (stored >= 0 || operand->memory != b->memory || operand->offset != b->offset || operand->dtype != b->dtype)
            return -1;
        stored = o;
    }
    return stored;
}

bool wk__gemm_b_program_init(wk__gemm_plan *plan, const wk__operand *b, const wk__program *group)
{
    wk__gemm_b_program *before = &plan->b_program;
    const int stored = stored_operand(group, b);
    if (stored < 0 || group->nreduce > 0 || plan->batches != 1 || plan->b_step != 1 || plan->k == 0) return false;
    *before = (wk__gemm_b_program){.group = group, .stored = stored, .along = -1, .across = -1};
    const int64_t *stride = group->operand[stored].stride;
    /* each matches one dimension at most, because no two elements share an address */
    for (int d = 0; d < group->ndim; d++) {
        if (group->shape[d] == 1) continue;
        if (stride[d] == 1 && group->shape[d] == plan->k)
            before->along = d;
        else if (stride[d] == plan->b_column && group->shape[d] == plan->n)
            before->across = d;
        else
            return false;
    }
    return before->along >= 0 && before->across >= 0;
}

void wk__gemm_b_program_layout(wk__gemm_plan *plan)
{
    wk__gemm_b_program *before = &plan->b_program;
    before->steps = plan->k <= STEPS ? plan->k : STEPS / plan->k_block * plan->k_block;
    plan->b_column = before->steps + WK__GEMM_GAP / plan->size;
    before->columns =
        WK__GEMM_BUFFER_PROLOGUE / (plan->b_column * plan->size) / plan->class->columns * plan->class->columns;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

wk_code wk__gemm_prologue_prepare(wk__gemm_prologue *prologue, const wk__gemm_plan *plan, wk__fail *fail)
{
    const wk__gemm_b_program *before = &plan->b_program;
    prologue->group = *before->group;
    prologue->group.operand[before->stored].stride[before->across] = plan->b_column;
    return wk__cpu_program_prepare(&prologue->program, &prologue->group, fail);
}

wk_code wk__gemm_prologue_run(const wk__gemm_plan *plan, const wk__gemm_macrotile *macrotile, int64_t l, char *buffer,
                              wk__fail *fail)
{
    const wk__gemm_b_program *before = &plan->b_program;
    int64_t start[WK__MAX_DIMS] = {0}, size[WK__MAX_DIMS];
    for (int d = 0; d < before->group->ndim; d++) size[d] = 1;
    start[before->along] = l;
    size[before->along] = plan->k - l < before->steps ? plan->k - l : before->steps;
    start[before->across] = macrotile->column;
    size[before->across] = macrotile->column_end - macrotile->column;
    const wk__cpu_output place = {before->stored, buffer, buffer + WK__GEMM_BUFFER_PROLOGUE};
    return wk__cpu_program_box_to(&plan->prologue->program, start, size, &place, fail);
}

void wk__gemm_prologue_end(wk__gemm_prologue *prologue)
{
    wk__cpu_program_destroy(&prologue->program);
}
