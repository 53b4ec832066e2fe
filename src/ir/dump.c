/* SPDX-License-Identifier: Apache-2.0 */
/* Programs as text:
 *
 *     space 4 x 8, last 1 reduced
 *     %0 f32 in, offset 0, strides 8 1
 *     %1 f32 out, offset 0, strides 8 1
 *     r0 f32 LOAD %0
 *     r1 f32 RMAX r0
 *     r2 f32 SUB r0 r1
 *     STORE %1 r2 */
#include "base/text.h"
#include "ir.h"

static void add_space(wk__text *text, const wk__program *group)
{
    wk__text_add(text, "space");
    for (int d = 0; d < group->ndim; d++) {
        wk__text_format(text, "%s %lld", d > 0 ? " x" : "", (long long)group->shape[d]);
    }
    if (group->ndim == 0) wk__text_add(text, " of one element");
    if (group->nreduce > 0) wk__text_format(text, ", last %d reduced", group->nreduce);
    wk__text_repeat(text, '\n', 1);
}

static void add_operand(wk__text *text, const wk__program *group, int k)
{
    const wk__operand *operand = &group->operand[k];
    wk__text_format(text, "%%%d %s %s, offset %lld", k, wk_dtype_str((wk_dtype)operand->dtype),
                    operand->stored ? "out" : "in", (long long)operand->offset);
    if (group->ndim > 0) wk__text_add(text, ", strides");
    for (int d = 0; d < group->ndim; d++) wk__text_format(text, " %lld", (long long)operand->stride[d]);
    wk__text_repeat(text, '\n', 1);
}

static void add_imm(wk__text *text, const wk__program *group, const wk__ins *ins)
{
    wk_dtype class = wk__compute_class((wk_dtype)ins->dtype);
    wk__imm imm = group->imm[ins->arg[0]];
    wk__text_repeat(text, ' ', 1);
    if (class == WK_F32 || class == WK_F64) {
        wk__text_double(text, imm.f, 'g', class == WK_F32 ? 9 : 17); /* enough digits to distinguish any two values */
    } else {
        wk__text_format(text, "%lld", (long long)imm.i);
    }
}

static void add_ins(wk__text *text, const wk__program *group, int k)
{
    const wk__ins *ins = &group->ins[k];
    const int16_t *arg = ins->arg;
    if (ins->code == WK__STORE) {
        wk__text_format(text, "STORE %%%d r%d\n", arg[0], arg[1]);
        return;
    }
    wk__text_format(text, "r%d %s %s", k, wk_dtype_str((wk_dtype)ins->dtype), wk__opcode_name[ins->code]);
    for (int a = 0; a < wk__opcode_arity[ins->code]; a++) wk__text_format(text, " r%d", arg[a]);
    if (ins->code == WK__IMM) add_imm(text, group, ins);
    if (ins->code == WK__LOAD) wk__text_format(text, " %%%d", arg[0]);
    if (ins->code == WK__LOADX) {
        wk__text_format(text, " of %%%d, bound %lld, stride %lld", arg[1], (long long)group->imm[arg[2]].i,
                        (long long)group->imm[arg[2] + 1].i);
    }
    if (ins->code == WK__PHILOX) {
        wk__text_format(text, ", key %#llx, %d bits", (unsigned long long)group->imm[arg[1]].i, arg[2]);
    }
    wk__text_repeat(text, '\n', 1);
}

char *wk__program_dump(const wk__program *group)
{
    wk__text text = {0};
    add_space(&text, group);
    for (int k = 0; k < group->noperands; k++) add_operand(&text, group, k);
    for (int k = 0; k < group->nins; k++) add_ins(&text, group, k);
    if (text.failed) wk__text_free(&text);
    return text.data;
}
