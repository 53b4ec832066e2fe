/* SPDX-License-Identifier: Apache-2.0 */
/* Emitter of programs; see emit.h. */
#include "emit.h"

int wk__emit_ins(wk__emit *e, wk__opcode code, wk_dtype dtype, int a, int b, int c)
{
    wk__program *group = e->group;
    if (group->nins == WK__MAX_INS) {
        e->full = true;
        return 0;
    }
    wk__ins *ins = &group->ins[group->nins];
    ins->code = (uint8_t)code;
    ins->dtype = (uint8_t)dtype;
    ins->arg[0] = (int16_t)a;
    ins->arg[1] = (int16_t)b;
    ins->arg[2] = (int16_t)c;
    return group->nins++;
}

int wk__emit_imm(wk__emit *e, wk_dtype dtype, wk__imm value)
{
    wk__program *group = e->group;
    if (group->nimms == WK__MAX_IMMS) {
        e->full = true;
        return 0;
    }
    group->imm[group->nimms] = value;
    return wk__emit_ins(e, WK__IMM, dtype, group->nimms++, 0, 0);
}

int wk__emit_constant(wk__emit *e, double value)
{
    bool whole = e->dtype == WK_I32 || e->dtype == WK_I64;
    wk__imm imm;
    if (whole)
        imm.i = (int64_t)value;
    else
        imm.f = value;
    return wk__emit_imm(e, e->dtype, imm);
}
