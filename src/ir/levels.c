/* SPDX-License-Identifier: Apache-2.0 */
/* Computes levels and passes of a program's registers; see wk__program_levels(). */
#include <string.h>

#include "ir.h"

bool wk__operand_varies_by_column(const wk__program *group, const wk__operand *operand)
{
    for (int d = group->nreduce > 0 ? group->ndim - group->nreduce : 0; d < group->ndim; d++)
        if (operand->stride[d] != 0 && group->shape[d] != 1) return true;
    return false;
}

static bool reduces(int code)
{
    return code >= WK__RSUM && code <= WK__RMIN;
}

uint32_t wk__program_overwritten(const wk__program *group)
{
    uint32_t loaded = 0, overwritten = 0;
    for (int k = 0; k < group->nins; k++)
        if (group->ins[k].code == WK__LOAD) loaded |= (uint32_t)1 << group->ins[k].arg[0];
    for (int k = 0; k < group->nins; k++) {
        if (group->ins[k].code != WK__STORE) continue;
        const int target = group->ins[k].arg[0];
        const wk__memory *memory = group->operand[target].memory;
        bool shared = loaded >> target & 1;
        for (int o = 0; o < group->noperands && memory; o++)
            shared |= (loaded >> o & 1) && group->operand[o].memory == memory;
        overwritten |= (uint32_t)shared << target;
    }
    return overwritten;
}

/* Moves stores to memory that the program also loads to the last pass, because a later pass may load it again. */
static void delay_stores(const wk__program *group, uint8_t pass[])
{
    const uint32_t overwritten = wk__program_overwritten(group);
    uint8_t last = 0;
    for (int k = 0; k < group->nins; k++) {
        if (pass[k] > last) last = pass[k];
    }
    for (int k = 0; k < group->nins; k++)
        if (group->ins[k].code == WK__STORE && overwritten >> group->ins[k].arg[0] & 1) pass[k] = last;
}

void wk__program_levels_by_structure(const wk__program *group, uint8_t level[], uint8_t pass[])
{
    bool rows = group->nreduce > 0;
    for (int k = 0; k < group->nins; k++) {
        const wk__ins *ins = &group->ins[k];
        const int16_t *registers = ins->code == WK__STORE ? ins->arg + 1 : ins->arg;
        uint8_t first = 0;
        bool element = ins->code == WK__IOTA;
        for (int a = 0; a < wk__opcode_arity[ins->code]; a++) {
            int r = registers[a];
            element |= level[r];
            if (pass[r] > first) first = pass[r];
        }
        if (ins->code == WK__LOAD) element |= wk__operand_varies_by_column(group, &group->operand[ins->arg[0]]);
        if (ins->code == WK__LOADX) element |= wk__operand_varies_by_column(group, &group->operand[ins->arg[1]]);
        if (ins->code == WK__STORE && !rows) element = true;
        if (reduces(ins->code) && rows) {
            element = false;
            first++; /* available after the pass that accumulates it */
        }
        level[k] = element;
        pass[k] = first;
    }
}

void wk__program_levels(const wk__program *group, uint8_t level[], uint8_t pass[])
{
    wk__program_levels_by_structure(group, level, pass);
    if (group->nreduce > 0) delay_stores(group, pass);
}

int wk__program_pass_condition(const wk__program *group, const uint8_t level[], const uint8_t pass[], int number)
{
    int condition = -1;
    for (int k = 0; k < group->nins; k++) {
        if (!reduces(group->ins[k].code) || pass[k] != number + 1) continue;
        const wk__ins *taken = &group->ins[group->ins[k].arg[0]];
        if (taken->code != WK__WHERE || level[taken->arg[0]] || group->ins[taken->arg[0]].code == WK__IMM ||
            group->ins[taken->arg[2]].code != WK__IMM || (condition >= 0 && condition != taken->arg[0]))
            return -1;
        condition = taken->arg[0];
    }
    return condition;
}
