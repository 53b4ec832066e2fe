/* SPDX-License-Identifier: Apache-2.0 */
/* See flush_expression.h. */
#include "flush_expression.h"
#include <string.h>

/* Kinds of an instruction's arguments. */
typedef enum arg_kind { NOTHING, REGISTER, OPERAND, IMMEDIATE, NUMBER } arg_kind;

static arg_kind meaning_of(uint8_t code, int arg)
{
    switch (code) {
    case WK__IMM: return arg == 0 ? IMMEDIATE : NOTHING;
    case WK__LOADX: return arg == 0 ? REGISTER : arg == 1 ? OPERAND : IMMEDIATE;
    case WK__PHILOX: return arg == 0 ? REGISTER : arg == 1 ? IMMEDIATE : NUMBER;
    default: return arg < wk__opcode_arity[code] ? REGISTER : NOTHING;
    }
}

/* ---- capturing --------------------------------------------------------------------------------------------------- */

/* Replaces the op while one record is lowered, and captures what its expression emits. */
typedef struct capture_op {
    wk__op op; /* first member: e->op points to it */
    const wk__op *real;
    const wk__record *record;
    wk__captured_expression *code;
    bool said; /* everything could be represented */
} capture_op;

static arg_kind meaning_of_input(const wk__ref *in)
{
    return in->flags & WK__REF_IMM_INDEX ? IMMEDIATE : in->flags & WK__REF_INDIRECT ? OPERAND : REGISTER;
}

/* Returns -1 - k if the argument is input k; 0 if it is not an input. */
static int input_named(const capture_op *w, const int in[], arg_kind what, int arg)
{
    const wk__record *r = w->record;
    for (int k = 0; k < r->nin; k++)
        if (in[k] == arg && meaning_of_input(&r->ref[r->nout + k]) == what) return -1 - k;
    return 0;
}

typedef struct emit_mark {
    int nins, nimms; /* counts before the expression */
} emit_mark;

static int16_t relative(capture_op *w, const int in[], arg_kind what, int arg, emit_mark from)
{
    if (what == NUMBER || what == NOTHING) return (int16_t)arg;
    if (what == REGISTER && arg >= from.nins) return (int16_t)(arg - from.nins);
    if (what == IMMEDIATE && arg >= from.nimms) return (int16_t)(arg - from.nimms);
    const int input = input_named(w, in, what, arg);
    w->said = w->said && input < 0;
    return (int16_t)input;
}

static int watch(wk__emit *e, const int in[])
{
    capture_op *w = (capture_op *)(uintptr_t)e->op;
    wk__captured_expression *code = w->code;
    const wk__program *g = e->group;
    const emit_mark from = {g->nins, g->nimms};
    e->op = w->real;
    const int result = w->real->expression(e, in);
    e->op = &w->op;
    if (e->full) return result;
    code->nins = g->nins - from.nins;
    code->nimms = g->nimms - from.nimms;
    memcpy(code->imm, g->imm + from.nimms, sizeof *code->imm * (size_t)code->nimms);
    for (int k = 0; k < code->nins; k++) {
        code->ins[k] = g->ins[from.nins + k];
        for (int a = 0; a < 3; a++)
            code->ins[k].arg[a] = relative(w, in, meaning_of(code->ins[k].code, a), code->ins[k].arg[a], from);
    }
    code->result = relative(w, in, REGISTER, result, from);
    return result;
}

bool wk__flush_capture(wk__record *r, wk__lowering *b, wk__captured_expression *code)
{
    memset(code, 0, sizeof *code);
    if (!r->op->expression) return true;
    capture_op w = {.op = *r->op, .real = r->op, .record = r, .code = code, .said = true};
    w.op.expression = watch;
    r->op = &w.op;
    b->record = &r;
    b->records = 1;
    const bool built = wk__lower_group(b) == 1;
    r->ref[0].value->reg = -1;
    r->op = w.real;
    return built && w.said;
}

/* ---- emitting ---------------------------------------------------------------------------------------------------- */

int wk__flush_expression(wk__emit *e, const int in[])
{
    const wk__captured_expression *code = &((const wk__flush_op *)(const void *)e->op)->code;
    wk__program *g = e->group;
    const emit_mark from = {g->nins, g->nimms};
    if (g->nimms + code->nimms > WK__MAX_IMMS) e->full = true;
    if (e->full) return 0;
    memcpy(g->imm + g->nimms, code->imm, sizeof *code->imm * (size_t)code->nimms);
    g->nimms += code->nimms;
    for (int k = 0; k < code->nins; k++) {
        const wk__ins *ins = &code->ins[k];
        int arg[3];
        for (int a = 0; a < 3; a++) {
            const arg_kind what = meaning_of(ins->code, a);
            const bool own = ins->arg[a] >= 0;
            arg[a] = what == NUMBER || what == NOTHING ? ins->arg[a] : own ? ins->arg[a] : in[-1 - ins->arg[a]];
            if (own && what == REGISTER) arg[a] += from.nins;
            if (own && what == IMMEDIATE) arg[a] += from.nimms;
        }
        wk__emit_ins(e, (wk__opcode)ins->code, (wk_dtype)ins->dtype, arg[0], arg[1], arg[2]);
    }
    return code->result >= 0 ? from.nins + code->result : in[-1 - code->result];
}

static bool arg_fits(const wk__captured_expression *code, const wk__ref *in, int nin, arg_kind what, int arg, int place)
{
    if (what == NUMBER || what == NOTHING) return true;
    if (arg < 0) return -1 - arg < nin && meaning_of_input(&in[-1 - arg]) == what;
    return what == REGISTER ? arg < place : what == IMMEDIATE && arg < code->nimms;
}

bool wk__flush_expression_is_valid(const wk__captured_expression *code, const wk__ref *in, int nin)
{
    if (code->nins < 0 || code->nins > WK__MAX_INS || code->nimms < 0 || code->nimms > WK__MAX_IMMS) return false;
    for (int k = 0; k < code->nins; k++) {
        const wk__ins *ins = &code->ins[k];
        const bool known = ins->code < WK__OPCODE_COUNT && ins->code != WK__STORE && ins->code != WK__LOAD;
        if (!known || ins->code >= WK__RSUM || ins->dtype < WK_F32 || ins->dtype >= WK_DTYPE_COUNT) return false;
        for (int a = 0; a < 3; a++)
            if (!arg_fits(code, in, nin, meaning_of(ins->code, a), ins->arg[a], k)) return false;
    }
    return arg_fits(code, in, nin, REGISTER, code->result, code->nins);
}
