/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles programs for the register VM: assigns instructions to stages. Stages are compiled from last to first,
 * because later stages determine which values an earlier one must export. */
#include "base/alloc.h"
#include "program_codegen.h"

enum {
    LIGHT = 1, /* instruction costs, to choose between keeping and recomputing a value */
    MEDIUM = 2,
    HEAVY = 8,
    WORTH_KEEPING = 6
};

/* ---- requirements of a stage ------------------------------------------------------------------------------------- */

static int cost_of(const wk__program *group, int k)
{
    static const uint8_t costs[WK__OPCODE_COUNT] = {
        [WK__DIV] = MEDIUM,  [WK__SQRT] = MEDIUM,    [WK__RSQRT] = MEDIUM, [WK__RECIPROCAL] = MEDIUM,
        [WK__CAST] = MEDIUM, [WK__FLOORDIV] = HEAVY, [WK__REM] = HEAVY,    [WK__FMOD] = HEAVY,
        [WK__POW] = HEAVY,   [WK__ATAN2] = HEAVY,    [WK__LOADX] = HEAVY,  [WK__PHILOX] = HEAVY,
        [WK__NDTRI] = HEAVY,
    };
    const wk__ins *ins = &group->ins[k];
    if (ins->code >= WK__EXP && ins->code <= WK__ERF) return HEAVY;
    if (ins->code == WK__LOAD && !wk__is_class_dtype(group->operand[ins->arg[0]].dtype)) return MEDIUM;
    return costs[ins->code] ? costs[ins->code] : LIGHT;
}

/* Returns true if k is computed in the current stage instead of imported from another. */
static bool is_computed_here(const wk__cpu_codegen *e, int k)
{
    const wk__cpu_program *p = e->program;
    int code = e->group->ins[k].code;
    if (code == WK__IMM) return false;
    if (e->is_row_stage) return p->level[k] == 0 && p->pass[k] == e->at && !wk__is_reduction(code);
    return p->level[k] == 1 && !(p->fate[k].kept && p->pass[k] < e->at);
}

static bool is_root(const wk__cpu_codegen *e, int k)
{
    const wk__cpu_program *p = e->program;
    int code = e->group->ins[k].code;
    if (code == WK__STORE) return p->level[k] == !e->is_row_stage && p->pass[k] == e->at;
    if (e->is_row_stage) return p->fate[k].shared && is_computed_here(e, k);
    if (wk__is_reduction(code)) return p->pass[k] == e->at + 1;
    return p->fate[k].kept && p->pass[k] == e->at;
}

/* Returns true if a value of an earlier pass should be kept for this one. */
static bool should_keep(const wk__cpu_codegen *e, int k)
{
    const wk__cpu_program *p = e->program;
    return !e->is_row_stage && p->level[k] == 1 && p->pass[k] < e->at && e->style.keep_values > 0 &&
           e->program->fate[k].cost >= WORTH_KEEPING;
}

static void note_row_work(wk__cpu_codegen *e, int pass)
{
    e->row_work |= (uint64_t)1 << (pass < 63 ? pass : 63);
}

static bool has_row_work(const wk__cpu_codegen *e, int pass)
{
    return e->row_work >> (pass < 63 ? pass : 63) & 1;
}

/* Marks a row-level register that other stages use: its stage must export it. */
static void mark_shared(wk__cpu_codegen *e, int k)
{
    e->program->fate[k].shared = true;
    note_row_work(e, e->program->pass[k]);
}

static void use_register(wk__cpu_codegen *e, int k)
{
    wk__cpu_program *p = e->program;
    e->value[k].remaining_uses++;
    if (should_keep(e, k)) p->fate[k].kept = true;
    if (e->group->ins[k].code == WK__IMM) return;
    if (is_computed_here(e, k)) {
        e->value[k].needed = true;
    } else if (p->level[k] == 0) {
        mark_shared(e, k);
    }
}

static int first_register(const wk__ins *ins)
{
    return ins->code == WK__STORE ? 1 : 0;
}

/* Returns the location of k at the start of the stage: imported values, and loads usable directly as operands. */
static int initial_location(const wk__cpu_codegen *e, int k)
{
    const wk__ins *ins = &e->group->ins[k];
    if (ins->code == WK__IMM) return WK__LOC_SCALAR;
    if (!e->value[k].needed)
        return e->program->level[k] == 0 && !e->style.lanes_are_rows ? WK__LOC_SCALAR : WK__VM_CARRIED + k;
    if (ins->code != WK__LOAD || !wk__is_class_dtype(e->group->operand[ins->arg[0]].dtype)) return WK__LOC_NONE;
    return WK__VM_OPERAND + ins->arg[0];
}

static void note_operands(wk__cpu_stage *stage, const wk__ins *ins)
{
    if (ins->code == WK__LOAD) stage->loads |= 1u << ins->arg[0];
    if (ins->code == WK__LOADX) stage->indexed |= 1u << ins->arg[1];
    if (ins->code == WK__IOTA) stage->indexed |= 1u << WK__VM_POSITION;
    if (ins->code == WK__STORE) stage->stores |= 1u << ins->arg[0];
}

/* Uses follow definitions, so one backward pass suffices. */
static void find_needed(wk__cpu_codegen *e)
{
    const wk__program *group = e->group;
    for (int k = 0; k < group->nins; k++) e->value[k] = (wk__cpu_codegen_value){WK__LOC_NONE, 0, false};
    for (int k = group->nins - 1; k >= 0; k--) {
        const wk__ins *ins = &group->ins[k];
        if (is_root(e, k)) e->value[k].needed = true;
        e->value[k].location = (int16_t)initial_location(e, k);
        if (!e->value[k].needed) continue;
        note_operands(e->stage, ins);
        for (int n = 0; n < wk__opcode_arity[ins->code]; n++) use_register(e, ins->arg[first_register(ins) + n]);
    }
}

static bool is_narrow(const wk__cpu_codegen *e, int k)
{
    return wk__vm_class_size(wk__cpu_codegen_class(e, k)) == 4;
}

/* Returns true if the stage leaves 4 of the 8 vector registers free. */
static bool is_narrow_stage(const wk__cpu_codegen *e)
{
    for (int k = 0; k < e->group->nins; k++) {
        const wk__ins *ins = &e->group->ins[k];
        if (!e->value[k].needed) continue;
        if (ins->code != WK__STORE && !is_narrow(e, k)) return false;
        for (int n = 0; n < wk__opcode_arity[ins->code]; n++) {
            if (!is_narrow(e, ins->arg[first_register(ins) + n])) return false;
        }
    }
    return true;
}

/* Returns the reduction to accumulate in the free registers: the first one. With rows as lanes there is an accumulator
 * per slot: too many. */
static int choose_reg_accumulator(const wk__cpu_codegen *e)
{
    if (e->is_row_stage || e->style.lanes_are_rows || !is_narrow_stage(e)) return -1;
    for (int k = 0; k < e->group->nins; k++) {
        if (e->value[k].needed && wk__is_reduction(e->group->ins[k].code)) return k;
    }
    return -1;
}

/* Replaces a stage that only reduces a load by a single instruction that loops over the row. */
static void fuse_load_reduce(wk__cpu_codegen *e, const wk__cpu_stage *stage)
{
    const wk__cpu_program *p = e->program;
    if (stage->reg_accumulator < 0 || p->ncode - stage->start != 2) return;
    const wk__ins *sum = &e->group->ins[stage->reg_accumulator];
    const wk__vm_reduction *reduction =
        &e->vm->table[wk__cpu_codegen_class(e, stage->reg_accumulator)]->reduce[sum->code - WK__RSUM];
    wk__vm_ins *code = &p->code[stage->start];
    if (code[0].op != e->vm->load[wk__compute_class((wk_dtype)sum->dtype)] || code[1].op != reduction->reg_op) return;
    code[0].op = reduction->reg_row_op;
    e->program->ncode--;
}

static void compile_stage(wk__cpu_codegen *e, wk__cpu_stage *stage, bool is_row_stage, int at)
{
    int start = e->program->ncode;
    *stage = (wk__cpu_stage){.start = -1, .reg_accumulator = -1};
    e->stage = stage;
    e->is_row_stage = is_row_stage;
    e->at = at;
    e->acc = -1;
    e->free_tiles[0] = e->free_tiles[1] = ~(uint64_t)0;
    find_needed(e);
    stage->reg_accumulator = e->group->nreduce > 0 ? choose_reg_accumulator(e) : -1;
    for (int k = 0; k < e->group->nins; k++) {
        if (e->value[k].needed) wk__cpu_codegen_instruction(e, k);
    }
    if (e->program->ncode == start) return;
    stage->start = start;
    fuse_load_reduce(e, stage);
    wk__cpu_codegen_append(e, stage->reg_accumulator >= 0 ? e->vm->loop : e->vm->end, 0, 0);
}

/* ---- compilation ------------------------------------------------------------------------------------------------- */

/* Counts the passes and computes the cost of each value. */
static void compute_costs(wk__cpu_codegen *e)
{
    const wk__program *group = e->group;
    wk__cpu_program *p = e->program;
    p->passes = 1;
    p->cost = 0;
    for (int k = 0; k < group->nins; k++) {
        const wk__ins *ins = &group->ins[k];
        int cost = cost_of(group, k), pass = p->pass[k];
        p->cost += ins->code == WK__IMM ? 0 : cost;
        for (int n = 0; n < wk__opcode_arity[ins->code]; n++) {
            int r = ins->arg[first_register(ins) + n];
            if (p->level[r] == 1) cost += p->fate[r].cost;
        }
        p->fate[k] = (wk__cpu_reg_info){.cost = (uint8_t)(cost < 255 ? cost : 255)};
        if (ins->code == WK__STORE && p->level[k] == 1) pass++;
        if (ins->code == WK__STORE && p->level[k] == 0) note_row_work(e, pass);
        if ((ins->code == WK__STORE || wk__is_reduction(ins->code)) && pass > p->passes) p->passes = pass;
    }
}

wk_code wk__cpu_compile(wk__cpu_program *program, const wk__program *group, const wk__cpu_style *style, wk__fail *fail)
{
    wk__cpu_codegen e;
    e.program = program;
    e.group = group;
    e.vm = program->vm = wk__cpu_isa_current()->vm;
    e.style = *style;
    e.failed = false;
    program->nontemporal = style->nontemporal != 0;
    program->lanes_are_rows = style->lanes_are_rows;
    program->ntiles = 0;
    program->code = program->inline_code;
    program->ncode = 0;
    program->capacity = sizeof program->inline_code / sizeof *program->inline_code;
    e.row_work = 0;
    wk__program_levels(group, program->level, program->pass);
    compute_costs(&e);
    for (int p = program->passes; p >= 0; p--) {
        if (p < program->passes) compile_stage(&e, &program->element[p], false, p);
        program->row[p] = (wk__cpu_stage){.start = -1};
        if (has_row_work(&e, p)) compile_stage(&e, &program->row[p], true, p);
    }
    if (e.failed) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for a kernel");
    return WK_OK;
}

void wk__cpu_program_destroy(wk__cpu_program *program)
{
    if (program->code != program->inline_code) wk__free(program->code);
}
