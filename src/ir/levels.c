/* SPDX-License-Identifier: Apache-2.0 */
/* Which registers belong to a whole row and which to one element, and in which pass over the row each is there. */
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

/* A later pass may load again what an earlier one has loaded. So memory that the group also loads is written in the
 * last pass only. */
static void delay_stores(const wk__program *group, uint8_t pass[])
{
    uint8_t last = 0;
    for (int k = 0; k < group->nins; k++) {
        if (pass[k] > last) last = pass[k];
    }
    for (int s = 0; s < group->nins; s++) {
        if (group->ins[s].code != WK__STORE) continue;
        int target = group->ins[s].arg[0];
        for (int k = 0; k < s; k++) {
            int source = group->ins[k].arg[0];
            if (group->ins[k].code != WK__LOAD) continue;
            const wk__memory *memory = group->operand[target].memory;
            if (source == target || (memory && group->operand[source].memory == memory)) pass[s] = last;
        }
    }
}

void wk__program_levels(const wk__program *group, uint8_t level[], uint8_t pass[])
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
            first++; /* the pass that adds up has to be over */
        }
        level[k] = element;
        pass[k] = first;
    }
    if (rows) delay_stores(group, pass);
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
