/* From a group to the register VM: which stage computes what, and the code of each stage.
 *
 * A stage is compiled in one walk over the instructions of the group. Values are computed into the accumulator; one that
 * is used again, or has to be a second operand, is spilled to a tile at the last moment. Loads are lazy: nothing is
 * emitted until somebody wants the value, and an operand of the class's own dtype is a second operand as it stands in
 * memory.
 *
 *     r0 LOAD a   r1 LOAD b   r2 SUB r0 r1   r3 MUL r2 r2   r4 STORE c r3
 *     ->  load a | sub b | keep tile 0 | mul tile 0 | store c | end
 *
 * Stages are compiled from the last to the first, because what a stage has to hand on is known from those after it. */
#include <string.h>

#include "../../base/alloc.h"
#include "run_compile.h"

enum {
    NOWHERE = -1, /* in the accumulator if anywhere; a load not emitted yet */
    CELL = -2,    /* in the cell of its own number */

    LIGHT = 1,    /* costs of instructions, to choose between keeping a value and computing it again */
    MEDIUM = 2,
    HEAVY = 8,
    WORTH_KEEPING = 6
};

/* What the stage at hand knows of a register. */
typedef struct value {
    int16_t where; /* place, CELL or NOWHERE */
    uint16_t uses; /* still to come */
    bool needed;   /* the stage computes it */
} value;

typedef struct emitter {
    wk__cpu_program *program;
    const wk__group *group;
    const wk__vm *vm;
    wk__cpu_style style;
    wk__cpu_stage *stage;
    bool is_row_stage;
    int at;                     /* which stage of its kind */
    int acc;                    /* register in the accumulator, -1: none */
    bool failed;                /* no memory for more code */
    uint64_t free_tiles[2];
    uint64_t row_work;          /* row stages that have something to do, a bit each; the last stands for all later ones */
    value value[WK__MAX_INS];   /* by register */
} emitter;

/* ---- code ---------------------------------------------------------------------------------------------------------------- */

static bool more_code(emitter *e)
{
    wk__cpu_program *p = e->program;
    int capacity = p->capacity * 2;
    wk__vm_ins *code = p->code == p->first_code ? NULL : p->code;
    code = wk__realloc(code, (size_t)capacity, sizeof *code);
    if (!code) return false;
    if (p->code == p->first_code) memcpy(code, p->first_code, sizeof p->first_code);
    p->code = code;
    p->capacity = capacity;
    return true;
}

static wk__vm_ins *emit(emitter *e, wk__vm_op *op, int a, int b)
{
    wk__cpu_program *p = e->program;
    if (p->ncode == p->capacity && !more_code(e)) {
        e->failed = true;
        p->ncode--; /* the code is not going to run: the last instruction is written over */
    }
    wk__vm_ins *ins = &p->code[p->ncode++];
    ins->op = op;
    ins->a = (int16_t)a;
    ins->b = (int16_t)b;
    return ins;
}

static wk__vm_class class_of(const emitter *e, int k)
{
    return wk__vm_class_of((wk_dtype)e->group->ins[k].dtype);
}

static const wk__vm_table *table_of(const emitter *e, int k)
{
    return e->vm->table[class_of(e, k)];
}

/* ---- where values are ---------------------------------------------------------------------------------------------------- */

static bool is_own_dtype(int dtype)
{
    return dtype == WK_F32 || dtype == WK_F64 || dtype == WK_I32 || dtype == WK_I64;
}

static int new_tile(emitter *e)
{
    int word = e->free_tiles[0] ? 0 : 1;
    int tile = __builtin_ctzll(e->free_tiles[word]);
    e->free_tiles[word] &= e->free_tiles[word] - 1;
    tile += word * 64;
    if (tile >= e->program->tiles) e->program->tiles = tile + 1;
    return WK__VM_TILE + tile;
}

static void spill(emitter *e)
{
    int k = e->acc;
    e->value[k].where = (int16_t)new_tile(e);
    emit(e, table_of(e, k)->keep, e->value[k].where, 0);
}

/* What is in the accumulator is about to go. */
static void save_acc(emitter *e)
{
    if (e->acc >= 0 && e->value[e->acc].uses > 0 && e->value[e->acc].where == NOWHERE) spill(e);
}

static void bring_to_acc(emitter *e, int k)
{
    if (e->acc == k) return;
    save_acc(e);
    const wk__ins *ins = &e->group->ins[k];
    int place = e->value[k].where;
    if (place == CELL) {
        emit(e, table_of(e, k)->splat, k, 0);
    } else if (place >= WK__VM_TILE) {
        emit(e, table_of(e, k)->get, place, 0);
    } else if (ins->code == WK__IOTA) {
        emit(e, e->vm->source[WK__VM_IOTA], WK__VM_INDEXED + WK__VM_POSITION, WK__VM_OFFSETS + WK__VM_POSITION);
    } else {
        emit(e, e->vm->load[e->group->operand[ins->arg[0]].dtype], WK__VM_OPERAND + ins->arg[0], 0);
    }
    e->acc = k;
}

/* Makes k fit for a second operand. */
static void bring_to_place(emitter *e, int k)
{
    if (e->value[k].where != NOWHERE) return;
    bring_to_acc(e, k);
    spill(e);
}

static void used(emitter *e, int k)
{
    e->value[k].uses--;
}

static void release(emitter *e, int k)
{
    int tile = e->value[k].where - WK__VM_TILE;
    if (e->value[k].uses > 0 || tile < 0 || tile >= WK__MAX_INS) return;
    e->free_tiles[tile / 64] |= (uint64_t)1 << tile % 64;
    e->value[k].where = NOWHERE;
}

/* ---- instructions -------------------------------------------------------------------------------------------------------- */

static void emit_where(emitter *e, int k)
{
    const int16_t *arg = e->group->ins[k].arg;
    bring_to_place(e, arg[1]);
    bring_to_place(e, arg[2]);
    bring_to_acc(e, arg[0]);
    for (int n = 0; n < 3; n++) used(e, arg[n]);
    save_acc(e);
    int cells = (e->value[arg[1]].where == CELL ? 1 : 0) + (e->value[arg[2]].where == CELL ? 2 : 0);
    emit(e, table_of(e, k)->where[cells], cells & 1 ? arg[1] : e->value[arg[1]].where,
         cells & 2 ? arg[2] : e->value[arg[2]].where);
    for (int n = 0; n < 3; n++) release(e, arg[n]);
}

static void emit_cast(emitter *e, int k)
{
    wk_dtype from = (wk_dtype)e->group->ins[e->group->ins[k].arg[0]].dtype, to = (wk_dtype)e->group->ins[k].dtype;
    wk__vm_class source = wk__vm_class_of(from), target = wk__vm_class_of(to);
    if (from == to) return;
    if (to == WK_BOOL) {
        emit(e, e->vm->truth[source], 0, 0);
        return;
    }
    if (source != target) emit(e, e->vm->convert[source][target], 0, 0);
    if (e->vm->narrow[to]) emit(e, e->vm->narrow[to], 0, 0);
}

/* The last half of a unary instruction that is more than one function. */
static void emit_special(emitter *e, int k)
{
    const wk__group *group = e->group;
    const wk__ins *ins = &group->ins[k];
    wk__vm_ins *out;
    switch (ins->code) {
    case WK__CAST: emit_cast(e, k); break;
    case WK__LOADX:
        out = emit(e, e->vm->fetch[group->operand[ins->arg[1]].dtype], WK__VM_INDEXED + ins->arg[1],
                   WK__VM_OFFSETS + ins->arg[1]);
        out->c = (int16_t)(WK__MAX_INS + ins->arg[2]);
        emit(e, e->vm->load[group->operand[ins->arg[1]].dtype], WK__VM_FETCHED, 0);
        break;
    case WK__PHILOX:
        out = emit(e, e->vm->source[WK__VM_PHILOX], 0, 0);
        out->c = (int16_t)(WK__MAX_INS + ins->arg[1]);
        out->bits = ins->arg[2];
        break;
    default: emit(e, e->vm->source[ins->dtype == WK_F64 ? WK__VM_NORMAL64 : WK__VM_NORMAL32], 0, 0);
    }
}

/* One operand, in the accumulator; the result replaces it. Without a function the instruction is a special one. */
static void emit_unary(emitter *e, int k, wk__vm_op *op)
{
    int a = e->group->ins[k].arg[0];
    bring_to_acc(e, a);
    for (int n = 0; n < wk__alu_arity[e->group->ins[k].code]; n++) used(e, a);
    save_acc(e);
    if (op) {
        emit(e, op, 0, 0);
    } else {
        emit_special(e, k);
    }
    release(e, a);
}

/* The code that gives the same result with its operands exchanged. ADD stands for none: it is the one code whose number
 * is 0, so it is looked at by itself. */
static int exchanged(int code)
{
    static const uint8_t mirror[WK__ALU_COUNT] = {
        [WK__MUL] = WK__MUL, [WK__AND] = WK__AND, [WK__OR] = WK__OR, [WK__XOR] = WK__XOR, [WK__EQ] = WK__EQ,
        [WK__NE] = WK__NE,   [WK__LT] = WK__GT,   [WK__LE] = WK__GE, [WK__GT] = WK__LT,   [WK__GE] = WK__LE,
    };
    if (code == WK__ADD) return WK__ADD;
    return mirror[code] ? mirror[code] : -1;
}

/* The second operand goes into the accumulator when it is there already, or would only be loaded to be spilled. */
static bool second_in_acc(const emitter *e, int a, int b)
{
    if (a == b) return false;
    if (e->value[b].where == NOWHERE) return e->value[a].where != NOWHERE || e->acc == a;
    return e->acc == b && e->value[a].where != NOWHERE;
}

static void emit_binary(emitter *e, int k)
{
    const wk__ins *ins = &e->group->ins[k];
    int a = ins->arg[0], b = ins->arg[1], code = ins->code;
    if (code == WK__MUL && a == b) {
        emit_unary(e, k, table_of(e, k)->square);
        return;
    }
    wk__vm_op *const(*op)[WK__VM_FORMS] = table_of(e, a)->op;
    int mirror = exchanged(code);
    bool left = op[code][WK__VM_PLACE_LEFT] != NULL;
    bool swap = (mirror >= 0 || left) && second_in_acc(e, a, b);
    int first = swap ? b : a, second = swap ? a : b;
    bring_to_place(e, second);
    bring_to_acc(e, first);
    used(e, a);
    used(e, b);
    save_acc(e);
    bool cell = e->value[second].where == CELL;
    int form = cell ? WK__VM_CELL : WK__VM_PLACE;
    if (swap && left) form = cell ? WK__VM_CELL_LEFT : WK__VM_PLACE_LEFT;
    emit(e, op[swap && !left ? mirror : code][form], cell ? second : e->value[second].where, 0);
    release(e, a);
    release(e, b);
}

/* Values that were to be loaded from what is about to be stored to, and are still wanted, are saved now. */
static void save_loads_of(emitter *e, int target)
{
    const wk__group *group = e->group;
    for (int k = 0; k < group->nins; k++) {
        const wk__ins *ins = &group->ins[k];
        if (ins->code != WK__LOAD || e->value[k].uses == 0 || !e->value[k].needed) continue;
        if (ins->arg[0] != target) continue;
        if (e->value[k].where >= WK__VM_TILE || e->value[k].where == CELL) continue;
        bring_to_acc(e, k);
        spill(e);
    }
}

static void emit_store(emitter *e, int k)
{
    const wk__ins *ins = &e->group->ins[k];
    int target = ins->arg[0], a = ins->arg[1], dtype = e->group->operand[target].dtype;
    bring_to_acc(e, a);
    if (e->stage->loads) save_loads_of(e, target);
    bring_to_acc(e, a);
    used(e, a);
    emit(e, (e->style.stream >> target & 1 ? e->vm->stream : e->vm->store)[dtype], WK__VM_OPERAND + target, 0);
    release(e, a);
}

static bool reduces(int code)
{
    return code >= WK__RSUM && code <= WK__RMIN;
}

static void emit_reduction(emitter *e, int k)
{
    int a = e->group->ins[k].arg[0];
    bring_to_acc(e, a);
    used(e, a);
    const wk__vm_reduction *reduction = &table_of(e, k)->reduce[e->group->ins[k].code - WK__RSUM];
    emit(e, e->stage->held == k ? reduction->held : reduction->op, WK__VM_TOTAL + k, 0);
    release(e, a);
}

/* Hands a value on to other stages. */
static void hand_on(emitter *e, int k)
{
    bring_to_acc(e, k);
    int place = e->value[k].where;
    bool as_cell = e->is_row_stage && !e->style.lanes_are_rows;
    emit(e, as_cell ? table_of(e, k)->put : table_of(e, k)->keep, as_cell ? k : WK__VM_HOME + k, 0);
    if (place == NOWHERE) e->value[k].where = (int16_t)(as_cell ? CELL : WK__VM_HOME + k);
}

static void emit_instruction(emitter *e, int k)
{
    int code = e->group->ins[k].code;
    if (code == WK__STORE) {
        emit_store(e, k);
        return;
    }
    if (reduces(code)) {
        emit_reduction(e, k);
        return;
    }
    if (code == WK__WHERE) {
        emit_where(e, k);
        e->acc = k;
    } else if (wk__alu_arity[code] == 2) {
        emit_binary(e, k);
        e->acc = k;
    } else if (wk__alu_arity[code] == 1) {
        emit_unary(e, k, table_of(e, k)->op[code][WK__VM_PLACE]);
        e->acc = k;
    }
    if (e->is_row_stage ? e->program->fate[k].shared : e->program->fate[k].kept) hand_on(e, k);
}

/* ---- what a stage needs ---------------------------------------------------------------------------------------------------- */

static int cost_of(const wk__group *group, int k)
{
    static const uint8_t costs[WK__ALU_COUNT] = {
        [WK__DIV] = MEDIUM,   [WK__SQRT] = MEDIUM, [WK__RSQRT] = MEDIUM,  [WK__RECIPROCAL] = MEDIUM, [WK__CAST] = MEDIUM,
        [WK__FLOORDIV] = HEAVY, [WK__REM] = HEAVY, [WK__FMOD] = HEAVY,    [WK__POW] = HEAVY,         [WK__ATAN2] = HEAVY,
        [WK__LOADX] = HEAVY,  [WK__PHILOX] = HEAVY, [WK__NDTRI] = HEAVY,
    };
    const wk__ins *ins = &group->ins[k];
    if (ins->code >= WK__EXP && ins->code <= WK__ERF) return HEAVY;
    if (ins->code == WK__LOAD && !is_own_dtype(group->operand[ins->arg[0]].dtype)) return MEDIUM;
    return costs[ins->code] ? costs[ins->code] : LIGHT;
}

/* Is k computed in the stage at hand, rather than found where another one left it? */
static bool is_computed_here(const emitter *e, int k)
{
    const wk__cpu_program *p = e->program;
    int code = e->group->ins[k].code;
    if (code == WK__IMM) return false;
    if (e->is_row_stage) return p->level[k] == 0 && p->pass[k] == e->at && !reduces(code);
    return p->level[k] == 1 && !(p->fate[k].kept && p->pass[k] < e->at);
}

static bool is_root(const emitter *e, int k)
{
    const wk__cpu_program *p = e->program;
    int code = e->group->ins[k].code;
    if (code == WK__STORE) return p->level[k] == !e->is_row_stage && p->pass[k] == e->at;
    if (e->is_row_stage) return p->fate[k].shared && is_computed_here(e, k);
    if (reduces(code)) return p->pass[k] == e->at + 1;
    return p->fate[k].kept && p->pass[k] == e->at;
}

/* Shall a value of an earlier pass be kept for this one? */
static bool decide_to_keep(const emitter *e, int k)
{
    const wk__cpu_program *p = e->program;
    return !e->is_row_stage && p->level[k] == 1 && p->pass[k] < e->at && e->style.keep_columns > 0 &&
           e->program->fate[k].cost >= WORTH_KEEPING;
}

static void note_row_work(emitter *e, int pass)
{
    e->row_work |= (uint64_t)1 << (pass < 63 ? pass : 63);
}

static bool has_row_work(const emitter *e, int pass)
{
    return e->row_work >> (pass < 63 ? pass : 63) & 1;
}

/* Row level, and wanted elsewhere: the stage that computes it has to hand it on. */
static void share(emitter *e, int k)
{
    e->program->fate[k].shared = true;
    note_row_work(e, e->program->pass[k]);
}

static void use_register(emitter *e, int k)
{
    wk__cpu_program *p = e->program;
    e->value[k].uses++;
    if (decide_to_keep(e, k)) p->fate[k].kept = true;
    if (e->group->ins[k].code == WK__IMM) return;
    if (is_computed_here(e, k)) {
        e->value[k].needed = true;
    } else if (p->level[k] == 0) {
        share(e, k);
    }
}

static int first_register(const wk__ins *ins)
{
    return ins->code == WK__STORE ? 1 : 0;
}

/* Where the stage finds k: what it does not compute, and loads that can be operands as they are. */
static int place_of(const emitter *e, int k)
{
    const wk__ins *ins = &e->group->ins[k];
    if (ins->code == WK__IMM) return CELL;
    if (!e->value[k].needed) return e->program->level[k] == 0 && !e->style.lanes_are_rows ? CELL : WK__VM_HOME + k;
    if (ins->code != WK__LOAD || !is_own_dtype(e->group->operand[ins->arg[0]].dtype)) return NOWHERE;
    return WK__VM_OPERAND + ins->arg[0];
}

static void note_operands(wk__cpu_stage *stage, const wk__ins *ins)
{
    if (ins->code == WK__LOAD) stage->loads |= 1u << ins->arg[0];
    if (ins->code == WK__LOADX) stage->indexed |= 1u << ins->arg[1];
    if (ins->code == WK__IOTA) stage->indexed |= 1u << WK__VM_POSITION;
    if (ins->code == WK__STORE) stage->stores |= 1u << ins->arg[0];
}

/* Users stand behind what they use: one walk backwards. */
static void find_needed(emitter *e)
{
    const wk__group *group = e->group;
    for (int k = 0; k < group->nins; k++) e->value[k] = (value){NOWHERE, 0, false};
    for (int k = group->nins - 1; k >= 0; k--) {
        const wk__ins *ins = &group->ins[k];
        if (is_root(e, k)) e->value[k].needed = true;
        e->value[k].where = (int16_t)place_of(e, k);
        if (!e->value[k].needed) continue;
        note_operands(e->stage, ins);
        for (int n = 0; n < wk__alu_arity[ins->code]; n++) use_register(e, ins->arg[first_register(ins) + n]);
    }
}

static bool is_narrow(const emitter *e, int k)
{
    return wk__vm_class_size(class_of(e, k)) == 4;
}

/* Does the stage leave 4 of the 8 vectors alone? */
static bool is_narrow_stage(const emitter *e)
{
    for (int k = 0; k < e->group->nins; k++) {
        const wk__ins *ins = &e->group->ins[k];
        if (!e->value[k].needed) continue;
        if (ins->code != WK__STORE && !is_narrow(e, k)) return false;
        for (int n = 0; n < wk__alu_arity[ins->code]; n++) {
            if (!is_narrow(e, ins->arg[first_register(ins) + n])) return false;
        }
    }
    return true;
}

/* The first reduction is held in the registers that are free then. Rows as lanes have a sum for each slot: too many. */
static int find_held(const emitter *e)
{
    if (e->is_row_stage || e->style.lanes_are_rows || !is_narrow_stage(e)) return -1;
    for (int k = 0; k < e->group->nins; k++) {
        if (e->value[k].needed && reduces(e->group->ins[k].code)) return k;
    }
    return -1;
}

static void compile_stage(emitter *e, wk__cpu_stage *stage, bool is_row_stage, int at)
{
    int start = e->program->ncode;
    *stage = (wk__cpu_stage){.start = -1, .held = -1};
    e->stage = stage;
    e->is_row_stage = is_row_stage;
    e->at = at;
    e->acc = -1;
    e->free_tiles[0] = e->free_tiles[1] = ~(uint64_t)0;
    find_needed(e);
    stage->held = e->group->nreduce > 0 ? find_held(e) : -1;
    for (int k = 0; k < e->group->nins; k++) {
        if (e->value[k].needed) emit_instruction(e, k);
    }
    if (e->program->ncode == start) return;
    stage->start = start;
    emit(e, stage->held >= 0 ? e->vm->again : e->vm->end, 0, 0);
}

/* ---- the whole ---------------------------------------------------------------------------------------------------------------- */

/* Counts the passes and what each value costs. */
static void survey(emitter *e)
{
    const wk__group *group = e->group;
    wk__cpu_program *p = e->program;
    p->passes = 1;
    for (int k = 0; k < group->nins; k++) {
        const wk__ins *ins = &group->ins[k];
        int cost = cost_of(group, k), pass = p->pass[k];
        for (int n = 0; n < wk__alu_arity[ins->code]; n++) {
            int r = ins->arg[first_register(ins) + n];
            if (p->level[r] == 1) cost += p->fate[r].cost;
        }
        p->fate[k] = (wk__cpu_fate){.cost = (uint8_t)(cost < 255 ? cost : 255)};
        if (ins->code == WK__STORE && p->level[k] == 1) pass++;
        if (ins->code == WK__STORE && p->level[k] == 0) note_row_work(e, pass);
        if ((ins->code == WK__STORE || reduces(ins->code)) && pass > p->passes) p->passes = pass;
    }
}

wk_code wk__cpu_compile(wk__cpu_program *program, const wk__group *group, const wk__cpu_style *style, wk__fail *fail)
{
    emitter e;
    e.program = program;
    e.group = group;
    e.vm = program->vm = wk__cpu_isa_current()->vm;
    e.style = *style;
    e.failed = false;
    program->streams = style->stream != 0;
    program->lanes_are_rows = style->lanes_are_rows;
    program->tiles = 0;
    program->code = program->first_code;
    program->ncode = 0;
    program->capacity = sizeof program->first_code / sizeof *program->first_code;
    e.row_work = 0;
    wk__group_levels(group, program->level, program->pass);
    survey(&e);
    for (int p = program->passes; p >= 0; p--) {
        if (p < program->passes) compile_stage(&e, &program->element[p], false, p);
        program->row[p] = (wk__cpu_stage){.start = -1};
        if (has_row_work(&e, p)) compile_stage(&e, &program->row[p], true, p);
    }
    if (e.failed) return wk__fail_set(fail, WK_ERR_MEMORY, "out of memory while preparing a kernel");
    return WK_OK;
}

void wk__cpu_program_end(wk__cpu_program *program)
{
    if (program->code != program->first_code) wk__free(program->code);
}
