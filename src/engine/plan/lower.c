/* SPDX-License-Identifier: Apache-2.0 */
/* Lowers a group of records to a program.
 *
 * Loads are placed at their first use, and all stores at the end, so that an output may take over the memory of an
 * input that dies in this group. Reduced dimensions are moved last. */
#include "ir/scalar.h"
#include "fusion_rules.h"
#include <string.h>

typedef struct builder {
    wk__lowering *b;
    wk__emit emit;
    int ndim;
    uint16_t reduce_mask;
    uint8_t perm[WK__MAX_DIMS];
    const int64_t *shape;       /* of the space, with the records' order of dimensions */
    uint8_t level[WK__MAX_INS]; /* 1: the register varies over the columns of a row */
    int levelled;               /* number of registers with known level */
} builder;

/* ---- levels ------------------------------------------------------------------------------------------------------ */

static bool walks_columns(const wk__program *g, int operand)
{
    return g->nreduce > 0 && wk__operand_varies_by_column(g, &g->operand[operand]);
}

static uint8_t level_of(const builder *w, const wk__ins *ins)
{
    const wk__program *g = &w->b->group;
    if (ins->code == WK__IMM || ins->code >= WK__RSUM) return 0;
    if (ins->code == WK__IOTA) return 1;
    if (ins->code == WK__LOAD) return walks_columns(g, ins->arg[0]);
    if (ins->code == WK__LOADX) return w->level[ins->arg[0]] | walks_columns(g, ins->arg[1]);
    uint8_t level = 0;
    for (int k = 0; k < wk__opcode_arity[ins->code]; k++) level |= w->level[ins->arg[k]];
    return level;
}

/* Converts a register with one value per row to one with a value per column. */
static int broadcast_to_columns(builder *w, int reg)
{
    wk__program *g = &w->b->group;
    for (; w->levelled < g->nins; w->levelled++) w->level[w->levelled] = level_of(w, &g->ins[w->levelled]);
    if (g->nreduce == 0 || w->level[reg]) return reg;
    int position = wk__emit_ins(&w->emit, WK__IOTA, WK_I64, 0, 0, 0);
    int zero = wk__emit_imm(&w->emit, WK_I64, (wk__imm){.i = 0});
    int always = wk__emit_ins(&w->emit, WK__GE, WK_BOOL, position, zero, 0);
    return wk__emit_ins(&w->emit, WK__WHERE, g->ins[reg].dtype, always, reg, reg);
}

/* ---- operands ---------------------------------------------------------------------------------------------------- */

/* Returns the operand for ref k of record r; reuses an existing load of the same elements. */
static int operand_of(builder *w, wk__record *r, int k, bool store)
{
    wk__lowering *b = w->b;
    wk__program *g = &b->group;
    const wk__ref *ref = &r->ref[k];
    int64_t natural[WK__MAX_DIMS];
    wk__operand operand = {.offset = ref->offset, .dtype = ref->dtype, .stored = store};
    wk__map_strides(r, k, w->ndim, w->shape, w->reduce_mask, natural);
    for (int d = 0; d < w->ndim; d++) operand.stride[d] = natural[w->perm[d]];
    for (int o = 0; o < g->noperands && !store; o++)
        if (b->value[o] == ref->value && !g->operand[o].stored && g->operand[o].offset == operand.offset &&
            g->operand[o].dtype == operand.dtype &&
            memcmp(g->operand[o].stride, operand.stride, sizeof operand.stride) == 0)
            return o;
    if (g->noperands == WK__MAX_OPERANDS) {
        w->emit.full = true;
        return 0;
    }
    int place = g->noperands++;
    g->operand[place] = operand;
    b->value[place] = ref->value;
    b->writer[place] = store ? r : NULL;
    b->load_reg[place] = -1;
    return place;
}

static int load_register(builder *w, wk__record *r, int k)
{
    wk__value *value = r->ref[k].value;
    if (value->reg >= 0 && value->group == r->group && value->state == WK__PENDING) return value->reg;
    int operand = operand_of(w, r, k, false);
    if (w->b->load_reg[operand] < 0)
        w->b->load_reg[operand] = (int16_t)wk__emit_ins(&w->emit, WK__LOAD, r->ref[k].dtype, operand, 0, 0);
    return w->b->load_reg[operand];
}

/* A number is converted as an element is, but for a limit above all integers, which is the largest one. */
static wk__imm as_class(wk__imm imm, wk_dtype from, wk_dtype class, bool limit)
{
    bool whole = class == WK_I32 || class == WK_I64;
    if (whole && limit && wk__is_float(from) && imm.f >= 0x1p63) return (wk__imm){.i = INT64_MAX};
    if (wk__is_float(from)) return whole ? (wk__imm){.i = wk__double_to_i64(imm.f)} : imm;
    return whole ? imm : (wk__imm){.f = (double)imm.i};
}

/* Converts an integer to the range of a dtype: keeps its low bits or, for limits (`limit`), saturates. */
static int64_t narrowed(int64_t number, wk_dtype dtype, bool limit)
{
    const int64_t most = dtype == WK_U8 ? UINT8_MAX : INT64_MAX >> (64 - 8 * wk_dtype_size(dtype));
    const int64_t least = dtype == WK_U8 ? 0 : -most - 1;
    if (!limit || dtype == WK_BOOL) return wk__scalar_to_i64(&number, dtype);
    return number < least ? least : number > most ? most : number;
}

/* Returns true if an operand must be rounded to the record's dtype before use. Operands of comparisons and integers
 * are: as in PyTorch, an op computes with values that its dtype can represent, although its class has more precision.
 * Other float operands are rounded only with the result. */
static bool is_rounded(const wk__record *r, const wk__ref *ref)
{
    const wk_dtype compute = r->compute;
    if (compute == wk__compute_class(compute) || compute == WK_BOOL || ref->dtype == compute) return false;
    if (ref->flags & WK__REF_OWN_CLASS || wk_dtype_size(ref->dtype) < wk_dtype_size(compute)) return false;
    return !wk__is_float(compute) || r->op->result == WK__RESULT_BOOL;
}

static int number(builder *w, const wk__record *r, const wk__ref *ref, wk_dtype class)
{
    wk__imm imm = as_class(ref->imm, ref->dtype, class, r->op->saturate_scalars);
    if (class == WK_I32) imm.i = narrowed(imm.i, r->compute, r->op->saturate_scalars);
    int reg = wk__emit_imm(&w->emit, class, imm);
    return class == WK_F32 && is_rounded(r, ref) ? wk__emit_cast(&w->emit, r->compute, reg) : reg;
}

static int input(builder *w, wk__record *r, int k)
{
    const wk__ref *ref = &r->ref[k];
    wk__program *g = &w->b->group;
    if (ref->flags & WK__REF_IMM_INDEX) {
        if (g->nimms == WK__MAX_IMMS) w->emit.full = true;
        if (w->emit.full) return 0;
        g->imm[g->nimms] = ref->imm;
        return g->nimms++;
    }
    if (ref->flags & WK__REF_INDIRECT) {
        w->b->indirect = true;
        return operand_of(w, r, k, false);
    }
    wk_dtype class = wk__compute_class(r->compute);
    if (!ref->value) return number(w, r, ref, class);
    int reg = load_register(w, r, k);
    if (!(ref->flags & WK__REF_OWN_CLASS) && wk__compute_class(ref->dtype) != class)
        reg = wk__emit_cast(&w->emit, class, reg);
    return is_rounded(r, ref) ? wk__emit_cast(&w->emit, r->compute, reg) : reg;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* Emits the expression of a record and returns its result register; fills in[] with the arguments. */
static int result_of(builder *w, wk__record *r, int in[])
{
    memset(in, 0, sizeof *in * WK__MAX_OPERANDS);
    for (int k = 0; k < r->nin; k++) in[k] = input(w, r, r->nout + k);
    w->emit.compute = (wk_dtype)r->compute;
    w->emit.dtype = wk__compute_class(r->compute);
    if (w->emit.full) return 0;
    w->emit.op = r->op;
    int reg = r->op->expression ? r->op->expression(&w->emit, in) : in[0];
    if (!wk__record_reduces(r)) return reg;
    wk_dtype class = r->op->expression ? wk__compute_class(r->ref[0].dtype) : w->emit.dtype;
    return wk__emit_ins(&w->emit, r->op->reduction, class, broadcast_to_columns(w, reg), 0, 0);
}

/* Returns true if the expression gets the register of this operand itself rather than a CAST of it. */
static bool is_passed_unchanged(const wk__record *r, const wk__ref *ref)
{
    if (!ref->value || ref->flags & WK__REF_INDIRECT) return false;
    const bool same_class = wk__compute_class((wk_dtype)ref->dtype) == wk__compute_class((wk_dtype)r->compute);
    return (ref->flags & WK__REF_OWN_CLASS || same_class) && !is_rounded(r, ref);
}

/* Returns the dtype of an expression's result. If the result is an operand, that is its tensor's dtype; its register
 * may have a narrower dtype of the class: a bool converted to i32 is in a bool register if the group computed it, but
 * in an i32 register if it was loaded. Emitted instructions must not depend on this, so that a record has the same
 * instructions in every group (plan_check_values.c). */
static wk_dtype dtype_of_result(const builder *w, wk__record *r, const int in[], int reg)
{
    for (int k = 0; k < r->nin; k++) {
        const wk__ref *ref = wk__record_in(r, k);
        if (in[k] == reg && is_passed_unchanged(r, ref)) return (wk_dtype)ref->dtype;
    }
    return (wk_dtype)w->b->group.ins[reg].dtype;
}

static void add_record(builder *w, wk__record *r)
{
    int in[WK__MAX_OPERANDS];
    int reg = result_of(w, r, in);
    const wk_dtype want = r->ref[0].dtype;
    if (!w->emit.full) {
        const wk_dtype have = dtype_of_result(w, r, in, reg);
        if (have != want && (wk__compute_class(want) != want || wk__compute_class(have) != want))
            reg = wk__emit_cast(&w->emit, want, reg);
    }
    r->ref[0].value->reg = (int16_t)reg;
}

static void add_product(builder *w, wk__record *r)
{
    int operand = operand_of(w, r, 0, false);
    r->ref[0].value->reg = w->b->load_reg[operand] =
        (int16_t)wk__emit_ins(&w->emit, WK__LOAD, r->ref[0].dtype, operand, 0, 0);
}

static void add_store(builder *w, wk__record *r)
{
    int operand = operand_of(w, r, 0, true);
    int reg = r->ref[0].value->reg;
    if (w->emit.full) return;
    if (walks_columns(&w->b->group, operand)) reg = broadcast_to_columns(w, reg);
    wk__emit_ins(&w->emit, WK__STORE, r->ref[0].dtype, operand, reg, 0);
}

/* Reductions of one group all have the same kind of layout (fusion_rules.c). */
static bool reduces_across(const wk__lowering *b)
{
    for (int k = 0; k < b->records; k++)
        if (wk__record_reduces(b->record[k])) return wk__is_outer_reduction(b->record[k]);
    return false;
}

static void start(builder *w, wk__lowering *b)
{
    wk__record *first = b->record[0];
    memset(w, 0, offsetof(builder, level));
    w->levelled = 0;
    w->b = b;
    w->ndim = first->ndim;
    w->shape = wk__record_shape(first);
    for (int k = 0; k < b->records; k++) w->reduce_mask |= b->record[k]->reduce_mask;
    wk__program *g = &b->group;
    g->nins = g->noperands = g->nimms = 0;
    g->ndim = w->ndim;
    g->nreduce = __builtin_popcount(w->reduce_mask);
    g->tag = -1;
    g->outer_reduction = reduces_across(b);
    g->is_epilogue = wk__record_family(first)->can_have_epilogue;
    int place = 0;
    for (int reduced = 0; reduced < 2; reduced++)
        for (int d = 0; d < w->ndim; d++)
            if ((w->reduce_mask >> d & 1) == reduced) {
                w->perm[place] = (uint8_t)d;
                g->shape[place++] = w->shape[d];
            }
    b->indirect = false;
    w->emit.group = g;
}

/* A later part of a split group may have rows without the reduction that computes them; such rows and columns are two
 * different spaces. */
static bool shares_space(const builder *w, wk__record *r)
{
    return wk__same_shape(r->ndim, wk__record_shape(r), w->ndim, w->shape) ||
           (w->reduce_mask && !wk__record_reduces(r));
}

int wk__lower_group(wk__lowering *b)
{
    builder w;
    start(&w, b);
    int stores = 0;
    for (int k = 0; k < b->records; k++) {
        wk__record *r = b->record[k];
        if (!shares_space(&w, r)) return k;
        if (wk__record_family(r)->can_have_epilogue)
            add_product(&w, r);
        else
            add_record(&w, r);
        stores += wk__will_be_stored(r->ref[0].value);
        /* each store may need an operand, five instructions and an immediate (broadcast_to_columns) */
        if (w.emit.full || b->group.nins + 5 * stores > WK__MAX_INS || b->group.nimms + stores > WK__MAX_IMMS ||
            b->group.noperands + stores > WK__MAX_OPERANDS)
            return k;
    }
    for (int k = 0; k < b->records; k++) {
        wk__record *r = b->record[k];
        if (wk__will_be_stored(r->ref[0].value) && wk__record_family(r)->is_program) add_store(&w, r);
    }
    return b->records;
}
