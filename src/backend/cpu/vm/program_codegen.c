/* SPDX-License-Identifier: Apache-2.0 */
/* Code generation for one stage, in a single pass over the program's instructions. Values are computed in the
 * accumulator. A value that is used again, or must be a second operand, is spilled to a tile as late as possible. Loads
 * are lazy: they are emitted when the value is needed, and operands of the class's own dtype are used directly from
 * memory as second operands.
 *
 *     r0 LOAD a   r1 LOAD b   r2 SUB r0 r1   r3 DIV r0 r2   r4 STORE c r3
 *     ->  load a | sub b | div from the left a | store c | end */
#include <string.h>

#include "base/alloc.h"
#include "program_codegen.h"

/* ---- code -------------------------------------------------------------------------------------------------------- */

static bool grow_code(wk__cpu_codegen *e)
{
    wk__cpu_program *p = e->program;
    int capacity = p->capacity * 2;
    wk__vm_ins *code = p->code == p->inline_code ? NULL : p->code;
    code = wk__realloc(code, (size_t)capacity, sizeof *code);
    if (!code) return false;
    if (p->code == p->inline_code) memcpy(code, p->inline_code, sizeof p->inline_code);
    p->code = code;
    p->capacity = capacity;
    return true;
}

wk__vm_ins *wk__cpu_codegen_append(wk__cpu_codegen *e, wk__vm_op *op, int a, int b)
{
    wk__cpu_program *p = e->program;
    if (p->ncode == p->capacity && !grow_code(e)) {
        e->failed = true;
        p->ncode--; /* the code will not run: overwrite the last instruction */
    }
    wk__vm_ins *ins = &p->code[p->ncode++];
    *ins = (wk__vm_ins){.op = op, .a = (int16_t)a, .b = (int16_t)b};
    return ins;
}

static const wk__vm_table *table_of(const wk__cpu_codegen *e, int k)
{
    return e->vm->table[wk__cpu_codegen_class(e, k)];
}

/* ---- locations of values ----------------------------------------------------------------------------------------- */

static int new_tile(wk__cpu_codegen *e)
{
    int word = e->free_tiles[0] ? 0 : 1;
    int tile = __builtin_ctzll(e->free_tiles[word]);
    e->free_tiles[word] &= e->free_tiles[word] - 1;
    tile += word * 64;
    if (tile >= e->program->ntiles) e->program->ntiles = tile + 1;
    return WK__VM_TILE + tile;
}

static void spill(wk__cpu_codegen *e)
{
    int k = e->acc;
    e->value[k].location = (int16_t)new_tile(e);
    wk__cpu_codegen_append(e, table_of(e, k)->store_tile, e->value[k].location, 0);
}

/* Spills the accumulator's value before it is overwritten, if it is still needed. */
static void spill_acc_if_live(wk__cpu_codegen *e)
{
    if (e->acc >= 0 && e->value[e->acc].remaining_uses > 0 && e->value[e->acc].location == WK__LOC_NONE) spill(e);
}

static void bring_to_acc(wk__cpu_codegen *e, int k)
{
    if (e->acc == k) return;
    spill_acc_if_live(e);
    const wk__ins *ins = &e->group->ins[k];
    int place = e->value[k].location;
    if (place == WK__LOC_SCALAR) {
        wk__cpu_codegen_append(e, table_of(e, k)->splat, k, 0);
    } else if (place >= WK__VM_TILE) {
        wk__cpu_codegen_append(e, table_of(e, k)->load_tile, place, 0);
    } else if (ins->code == WK__IOTA) {
        wk__cpu_codegen_append(e, e->vm->generate[WK__VM_IOTA], WK__VM_BASE + WK__VM_POSITION,
                               WK__VM_OFFSETS + WK__VM_POSITION);
    } else {
        wk__cpu_codegen_append(e, e->vm->load[e->group->operand[ins->arg[0]].dtype], WK__VM_OPERAND + ins->arg[0], 0);
    }
    e->acc = k;
}

/* Makes k available as a second operand. */
static void bring_to_place(wk__cpu_codegen *e, int k)
{
    if (e->value[k].location != WK__LOC_NONE) return;
    bring_to_acc(e, k);
    spill(e);
}

static void consume(wk__cpu_codegen *e, int k)
{
    e->value[k].remaining_uses--;
}

static void release(wk__cpu_codegen *e, int k)
{
    int tile = e->value[k].location - WK__VM_TILE;
    if (e->value[k].remaining_uses > 0 || tile < 0 || tile >= WK__MAX_INS) return;
    e->free_tiles[tile / 64] |= (uint64_t)1 << tile % 64;
    e->value[k].location = WK__LOC_NONE;
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static void emit_where(wk__cpu_codegen *e, int k)
{
    const int16_t *arg = e->group->ins[k].arg;
    bring_to_place(e, arg[1]);
    bring_to_place(e, arg[2]);
    bring_to_acc(e, arg[0]);
    for (int n = 0; n < 3; n++) consume(e, arg[n]);
    spill_acc_if_live(e);
    int cells =
        (e->value[arg[1]].location == WK__LOC_SCALAR ? 1 : 0) + (e->value[arg[2]].location == WK__LOC_SCALAR ? 2 : 0);
    wk__cpu_codegen_append(e, table_of(e, k)->where[cells], cells & 1 ? arg[1] : e->value[arg[1]].location,
                           cells & 2 ? arg[2] : e->value[arg[2]].location);
    for (int n = 0; n < 3; n++) release(e, arg[n]);
}

static void emit_cast(wk__cpu_codegen *e, int k)
{
    wk_dtype from = (wk_dtype)e->group->ins[e->group->ins[k].arg[0]].dtype, to = (wk_dtype)e->group->ins[k].dtype;
    wk__vm_class source = wk__vm_class_of(from), target = wk__vm_class_of(to);
    if (from == to) return;
    if (to == WK_BOOL) {
        wk__cpu_codegen_append(e, e->vm->to_bool[source], 0, 0);
        return;
    }
    if (source != target) wk__cpu_codegen_append(e, e->vm->convert[source][target], 0, 0);
    if (e->vm->narrow[to]) wk__cpu_codegen_append(e, e->vm->narrow[to], 0, 0);
}

/* Emits a unary instruction, after loading its operand, that is more than one function. */
static void emit_special(wk__cpu_codegen *e, int k)
{
    const wk__program *group = e->group;
    const wk__ins *ins = &group->ins[k];
    wk__vm_ins *out;
    switch (ins->code) {
    case WK__CAST: emit_cast(e, k); break;
    case WK__LOADX:
        out = wk__cpu_codegen_append(e, e->vm->gather[group->operand[ins->arg[1]].dtype], WK__VM_BASE + ins->arg[1],
                                     WK__VM_OFFSETS + ins->arg[1]);
        out->c = (int16_t)(WK__MAX_INS + ins->arg[2]);
        wk__cpu_codegen_append(e, e->vm->load[group->operand[ins->arg[1]].dtype], WK__VM_GATHERED, 0);
        break;
    case WK__PHILOX:
        out = wk__cpu_codegen_append(e, e->vm->generate[WK__VM_PHILOX], 0, 0);
        out->c = (int16_t)(WK__MAX_INS + ins->arg[1]);
        out->bits = ins->arg[2];
        break;
    default: wk__cpu_codegen_append(e, e->vm->generate[ins->dtype == WK_F64 ? WK__VM_NORMAL64 : WK__VM_NORMAL32], 0, 0);
    }
}

/* Emits a unary instruction: the operand is in the accumulator and the result replaces it. op == NULL: a special
 * one. */
static void emit_unary(wk__cpu_codegen *e, int k, wk__vm_op *op)
{
    int a = e->group->ins[k].arg[0];
    bring_to_acc(e, a);
    for (int n = 0; n < wk__opcode_arity[e->group->ins[k].code]; n++) consume(e, a);
    spill_acc_if_live(e);
    if (op) {
        wk__cpu_codegen_append(e, op, 0, 0);
    } else {
        emit_special(e, k);
    }
    release(e, a);
}

/* Returns the opcode with the same result for exchanged operands; -1 if none. ADD is checked separately because its
 * value is 0, which marks missing entries. */
static int commuted_code(int code)
{
    static const uint8_t mirror[WK__OPCODE_COUNT] = {
        [WK__MUL] = WK__MUL, [WK__AND] = WK__AND, [WK__OR] = WK__OR, [WK__XOR] = WK__XOR, [WK__EQ] = WK__EQ,
        [WK__NE] = WK__NE,   [WK__LT] = WK__GT,   [WK__LE] = WK__GE, [WK__GT] = WK__LT,   [WK__GE] = WK__LE,
    };
    if (code == WK__ADD) return WK__ADD;
    return mirror[code] ? mirror[code] : -1;
}

/* Returns true if b should be loaded into the accumulator: it is there already, or would only be loaded to be
 * spilled. */
static bool second_in_acc(const wk__cpu_codegen *e, int a, int b)
{
    if (a == b) return false;
    if (e->value[b].location == WK__LOC_NONE) return e->value[a].location != WK__LOC_NONE || e->acc == a;
    return e->acc == b && e->value[a].location != WK__LOC_NONE;
}

static void emit_binary(wk__cpu_codegen *e, int k)
{
    const wk__ins *ins = &e->group->ins[k];
    int a = ins->arg[0], b = ins->arg[1], code = ins->code;
    if (code == WK__MUL && a == b) {
        emit_unary(e, k, table_of(e, k)->square);
        return;
    }
    wk__vm_op *const(*op)[WK__VM_FORMS] = table_of(e, a)->op;
    int mirror = commuted_code(code);
    bool left = op[code][WK__VM_MEMORY_LEFT] != NULL;
    bool swap = (mirror >= 0 || left) && second_in_acc(e, a, b);
    int first = swap ? b : a, second = swap ? a : b;
    bring_to_place(e, second);
    bring_to_acc(e, first);
    consume(e, a);
    consume(e, b);
    spill_acc_if_live(e);
    bool cell = e->value[second].location == WK__LOC_SCALAR;
    int form = cell ? WK__VM_SCALAR : WK__VM_MEMORY;
    if (swap && left) form = cell ? WK__VM_SCALAR_LEFT : WK__VM_MEMORY_LEFT;
    wk__cpu_codegen_append(e, op[swap && !left ? mirror : code][form], cell ? second : e->value[second].location, 0);
    release(e, a);
    release(e, b);
}

/* Spills live values whose loads are pending from the operand that is about to be stored. */
static void materialize_loads_of(wk__cpu_codegen *e, int target)
{
    const wk__program *group = e->group;
    for (int k = 0; k < group->nins; k++) {
        const wk__ins *ins = &group->ins[k];
        if (ins->code != WK__LOAD || e->value[k].remaining_uses == 0 || !e->value[k].needed) continue;
        if (ins->arg[0] != target) continue;
        if (e->value[k].location >= WK__VM_TILE || e->value[k].location == WK__LOC_SCALAR) continue;
        bring_to_acc(e, k);
        spill(e);
    }
}

static void emit_store(wk__cpu_codegen *e, int k)
{
    const wk__ins *ins = &e->group->ins[k];
    int target = ins->arg[0], a = ins->arg[1], dtype = e->group->operand[target].dtype;
    bring_to_acc(e, a);
    if (e->stage->loads) materialize_loads_of(e, target);
    bring_to_acc(e, a);
    consume(e, a);
    wk__cpu_codegen_append(e, (e->style.nontemporal >> target & 1 ? e->vm->store_nontemporal : e->vm->store)[dtype],
                           WK__VM_OPERAND + target, 0);
    release(e, a);
}

static void emit_reduction(wk__cpu_codegen *e, int k)
{
    int a = e->group->ins[k].arg[0];
    bring_to_acc(e, a);
    consume(e, a);
    const wk__vm_reduction *reduction = &table_of(e, k)->reduce[e->group->ins[k].code - WK__RSUM];
    wk__cpu_codegen_append(e, e->stage->reg_accumulator == k ? reduction->reg_op : reduction->op,
                           WK__VM_ACCUMULATOR + k, 0);
    release(e, a);
}

/* Stores a value for other stages. */
static void export_value(wk__cpu_codegen *e, int k)
{
    bring_to_acc(e, k);
    int place = e->value[k].location;
    bool as_cell = e->is_row_stage && !e->style.lanes_are_rows;
    wk__cpu_codegen_append(e, as_cell ? table_of(e, k)->store_scalar : table_of(e, k)->store_tile,
                           as_cell ? k : WK__VM_CARRIED + k, 0);
    if (place == WK__LOC_NONE) e->value[k].location = (int16_t)(as_cell ? WK__LOC_SCALAR : WK__VM_CARRIED + k);
}

void wk__cpu_codegen_instruction(wk__cpu_codegen *e, int k)
{
    int code = e->group->ins[k].code;
    if (code == WK__STORE) {
        emit_store(e, k);
        return;
    }
    if (wk__is_reduction(code)) {
        emit_reduction(e, k);
        return;
    }
    if (code == WK__WHERE) {
        emit_where(e, k);
        e->acc = k;
    } else if (wk__opcode_arity[code] == 2) {
        emit_binary(e, k);
        e->acc = k;
    } else if (wk__opcode_arity[code] == 1) {
        emit_unary(e, k, table_of(e, k)->op[code][WK__VM_MEMORY]);
        e->acc = k;
    }
    if (e->is_row_stage ? e->program->fate[k].shared : e->program->fate[k].kept) export_value(e, k);
}
