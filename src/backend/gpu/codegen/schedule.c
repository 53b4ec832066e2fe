/* SPDX-License-Identifier: Apache-2.0 */
/* Instruction schedule and argument layout of a program; used by lowering and by code generation. */
#include "backend/gpu/kernel.h"

#include <string.h>

bool wk__gpu_is_reduction(int code)
{
    return code == WK__RSUM || code == WK__RPROD || code == WK__RMAX || code == WK__RMIN;
}

bool wk__gpu_has_instruction(const wk__program *group, int code)
{
    for (int k = 0; k < group->nins; k++) {
        if (group->ins[k].code == code) return true;
    }
    return false;
}

int64_t wk__gpu_first_element(const wk__operand *operand)
{
    return operand->memory->offset / (int64_t)wk_dtype_size((wk_dtype)operand->dtype) + operand->offset;
}

void wk__gpu_layout_of(const wk__program *group, int first, wk__gpu_layout *layout)
{
    memset(layout, 0xff, sizeof *layout);
    int next = first;
    layout->shape = next;
    next += group->ndim;
    if (group->nreduce > 0) layout->columns = next++;
    layout->chunks = next++;
    layout->tag = next++;
    for (int k = 0; k < group->noperands; k++) {
        layout->offset[k] = next++;
        for (int d = 0; d < group->ndim; d++) {
            int64_t stride = group->operand[k].stride[d];
            if (stride != 0 && stride != 1) layout->stride[k][d] = next++;
        }
    }
    for (int k = 0; k < group->nins; k++) {
        int code = group->ins[k].code;
        if (code != WK__IMM && code != WK__PHILOX && code != WK__LOADX) continue;
        layout->value[k] = next;
        next += code == WK__LOADX ? 2 : 1;
    }
    layout->count = next;
}

void wk__gpu_schedule_of(const wk__program *group, wk__gpu_schedule *schedule)
{
    uint8_t level[WK__MAX_INS];
    memset(schedule, 0, sizeof *schedule);
    if (group->nreduce == 0) {
        memset(schedule->in_loop, true, sizeof schedule->in_loop);
        schedule->passes = 1;
        return;
    }
    wk__program_levels_by_structure(group, level, schedule->pass);
    for (int k = 0; k < group->nins; k++) {
        bool reduction = wk__gpu_is_reduction(group->ins[k].code);
        schedule->in_loop[k] = level[k] != 0;
        schedule->reductions += reduction;
        int loops = reduction ? schedule->pass[k] : schedule->in_loop[k] ? schedule->pass[k] + 1 : 0;
        if (loops > schedule->passes) schedule->passes = loops;
    }
    /* All values are stored in the last pass, because the memory may be read until then. So it does not matter which
     * operands share memory, and the source follows from the structure. */
    for (int k = 0; k < group->nins; k++) {
        if (group->ins[k].code == WK__STORE && schedule->in_loop[k])
            schedule->pass[k] = (uint8_t)(schedule->passes - 1);
    }
}

int wk__gpu_last_pass(const wk__program *group, const wk__gpu_schedule *schedule)
{
    for (int k = 0; k < group->nins; k++) {
        if (wk__gpu_is_reduction(group->ins[k].code) && schedule->pass[k] == schedule->passes) return schedule->passes;
    }
    return schedule->passes > 0 ? schedule->passes - 1 : 0;
}
