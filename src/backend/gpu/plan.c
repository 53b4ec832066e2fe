/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a group into launches: chooses the form by shape, fills in the arguments. */
#include "kernel.h"

#include <string.h>

/* Positions and offsets of a space below this are counted in 32 bits, with room for a step past the end. */
static const int64_t narrow_limit = (int64_t)1 << 30;

bool wk__gpu_is_narrow(const wk__group *group)
{
    if (wk__group_rows(group) * wk__group_columns(group) >= narrow_limit) return false;
    for (int k = 0; k < group->noperands; k++) {
        int64_t reach = 0;
        for (int d = 0; d < group->ndim; d++) {
            int64_t stride = group->operand[k].stride[d], step;
            if (group->shape[d] < 2) continue;
            if (!wk__mul_size(stride < 0 ? -stride : stride, group->shape[d] - 1, &step)) return false;
            if (!wk__add_size(reach, step, &reach)) return false;
        }
        if (reach >= narrow_limit) return false;
    }
    return true;
}

/* Do neighbouring rows lie side by side in memory, and columns do not? Then items that take a row each read together.
 */
static bool rows_are_neighbours(const wk__group *group)
{
    int last_kept = group->ndim - group->nreduce - 1, last = group->ndim - 1;
    if (last_kept < 0) return false;
    bool neighbours = false;
    for (int k = 0; k < group->noperands; k++) {
        const int64_t *stride = group->operand[k].stride;
        if (stride[last] == 1) return false;
        neighbours |= stride[last_kept] == 1 && stride[last] != 0;
    }
    return neighbours;
}

/* Work-groups of one row run at different times: a row's value may not be stored over what others of them still load.
 */
static bool row_is_in_place(const wk__group *group, const wk__gpu_schedule *schedule)
{
    for (int k = 0; k < group->nins; k++) {
        if (group->ins[k].code == WK__STORE && !schedule->loop[k]) return wk__group_overwrites(group);
    }
    return false;
}

static wk__gpu_walk walk_of(const wk__gpu_target *target, const wk__group *group, const wk__gpu_schedule *schedule)
{
    int64_t rows = wk__group_rows(group), columns = wk__group_columns(group);
    if (group->nreduce == 0 || columns <= target->short_row || schedule->reductions == 0) return WK__GPU_ITEMS;
    if (rows >= 4096 && rows_are_neighbours(group)) return WK__GPU_ITEMS;
    if (rows <= 64 && columns >= 2 * target->chunk && !row_is_in_place(group, schedule)) return WK__GPU_CHUNKS;
    return WK__GPU_GROUPS;
}

static int64_t immediate_bits(const wk__group *group, const wk__ins *ins)
{
    wk__imm imm = group->imm[ins->arg[0]];
    if (wk__class_of((wk_dtype)ins->dtype) != WK_F32) return imm.i;
    float value = (float)imm.f;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void wk__gpu_fill_group(const wk__group *group, const wk__gpu_layout *layout, int64_t *argument)
{
    for (int d = 0; d < group->ndim; d++) argument[layout->shape + d] = group->shape[d];
    if (layout->columns >= 0) argument[layout->columns] = wk__group_columns(group);
    argument[layout->tag] = group->tag;
    for (int k = 0; k < group->noperands; k++) {
        argument[layout->offset[k]] = wk__gpu_start(&group->operand[k]);
        for (int d = 0; d < group->ndim; d++) {
            if (layout->stride[k][d] >= 0) argument[layout->stride[k][d]] = group->operand[k].stride[d];
        }
    }
    for (int k = 0; k < group->nins; k++) {
        const wk__ins *ins = &group->ins[k];
        int at = layout->value[k];
        if (ins->code == WK__IMM) argument[at] = immediate_bits(group, ins);
        if (ins->code == WK__PHILOX) argument[at] = group->imm[ins->arg[1]].i;
        if (ins->code == WK__LOADX) {
            argument[at] = group->imm[ins->arg[2]].i;
            argument[at + 1] = group->imm[ins->arg[2] + 1].i;
        }
    }
}

static void fill_arguments(const wk__group *group, int64_t chunks, wk__gpu_launch *launch)
{
    wk__gpu_layout layout;
    wk__gpu_layout_of(group, WK__GPU_ROWS + 1, &layout);
    launch->unit.narguments = layout.count;
    launch->argument[0] = 0;
    launch->argument[WK__GPU_ROWS] = wk__group_rows(group);
    launch->argument[layout.chunks] = chunks;
    wk__gpu_fill_group(group, &layout, launch->argument);
}

/* Does this pass store anything of the group's? */
static bool pass_writes(const wk__group *group, const wk__gpu_schedule *schedule, int pass, int last)
{
    bool writes = false;
    for (int k = 0; k < group->nins; k++)
        writes |= group->ins[k].code == WK__STORE && (schedule->loop[k] ? schedule->pass[k] == pass : pass == last);
    return writes;
}

static wk_code emit_chunks(const wk__group *group, const wk__gpu_schedule *schedule, int64_t chunks,
                           wk__gpu_launch *launch, wk__gpu_emit *emit, void *user, wk__fail *fail)
{
    int64_t rows = wk__group_rows(group);
    launch->count = rows * chunks;
    launch->scratch = 8 * schedule->reductions * rows * chunks;
    launch->unit.nmemory++;
    int last = wk__gpu_last_pass(group, schedule);
    for (int pass = 0; pass <= last; pass++) {
        launch->unit.form.pass = (uint8_t)pass;
        launch->writes = pass_writes(group, schedule, pass, last);
        wk_code code = emit(user, launch, fail);
        if (code != WK_OK) return code;
    }
    return WK_OK;
}

bool wk__gpu_uses_doubles(const wk__group *group)
{
    for (int k = 0; k < group->nins; k++) {
        if (group->ins[k].code != WK__STORE && group->ins[k].dtype == WK_F64) return true;
    }
    return false;
}

static wk_code plan_collapsed(const wk__gpu_target *target, const wk__group *group, wk__gpu_emit *emit, void *user,
                              wk__fail *fail)
{
    wk__gpu_launch launch = {.unit = {.group = group, .nmemory = group->noperands}, .writes = true};
    wk__gpu_schedule schedule;
    wk__gpu_schedule_of(group, &schedule);
    int64_t columns = wk__group_columns(group), chunks = (columns + target->chunk - 1) / target->chunk;
    if (chunks > target->local) chunks = target->local;
    fill_arguments(group, chunks, &launch);
    for (int k = 0; k < group->noperands; k++) launch.block[k] = group->operand[k].memory->block;

    launch.unit.form.walk = (uint8_t)walk_of(target, group, &schedule);
    launch.unit.form.narrow = wk__gpu_is_narrow(group);
    launch.count = wk__group_rows(group);
    launch.unit.by_group = launch.unit.form.walk != WK__GPU_ITEMS;
    bool in_place = wk__group_overwrites(group);
    if (in_place && wk__gpu_has(group, WK__LOADX)) {
        wk__gpu_launch check = launch;
        check.unit.form.check = true;
        check.writes = false;
        if (check.unit.form.walk == WK__GPU_CHUNKS) check.unit.form.walk = WK__GPU_GROUPS;
        wk_code code = emit(user, &check, fail);
        if (code != WK_OK) return code;
    }
    launch.unit.form.guarded = in_place;
    if (launch.unit.form.walk == WK__GPU_CHUNKS)
        return emit_chunks(group, &schedule, chunks, &launch, emit, user, fail);
    return emit(user, &launch, fail);
}

wk_code wk__gpu_no_f64(wk__fail *fail)
{
    return wk__fail_set(fail, WK_ERR_UNSUPPORTED, "this device does not compute in f64: use f32, or another device");
}

wk_code wk__gpu_plan_group(const wk__gpu_target *target, const wk__group *group, wk__gpu_emit *emit, void *user,
                           wk__fail *fail)
{
    if (!target->has_f64 && wk__gpu_uses_doubles(group)) return wk__gpu_no_f64(fail);
    wk__group collapsed = *group;
    wk__group_collapse(&collapsed);
    if (wk__group_rows(&collapsed) == 0 || (collapsed.nreduce == 0 && wk__group_columns(&collapsed) == 0)) return WK_OK;
    return plan_collapsed(target, &collapsed, emit, user, fail);
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

static uint64_t form_word(const wk__gpu_unit *unit)
{
    return (uint64_t)unit->form.walk | (uint64_t)unit->form.pass << 8 | (uint64_t)unit->form.narrow << 16 |
           (uint64_t)unit->form.check << 17 | (uint64_t)unit->form.guarded << 18 | (uint64_t)unit->form.passes << 19 |
           (uint64_t)unit->dtype << 24;
}

uint64_t wk__gpu_unit_key(const wk__gpu_unit *unit)
{
    const uint64_t structure = unit->group ? wk__group_key(unit->group) : 0;
    return (structure ^ (uint64_t)(uintptr_t)unit->fixed ^ form_word(unit)) * 0x9e3779b97f4a7c15u;
}

bool wk__gpu_unit_same(const wk__gpu_unit *a, const wk__gpu_unit *b)
{
    if (form_word(a) != form_word(b) || a->fixed != b->fixed || !a->group != !b->group) return false;
    return a->group == NULL || wk__group_same(a->group, b->group);
}

unsigned wk__gpu_needs(const wk__gpu_unit *unit)
{
    unsigned needs = 0;
    if (unit->fixed != NULL) needs = unit->fixed->needs | (unit->dtype == WK_F64 ? WK__GPU_NEEDS_F64 : 0);
    for (int k = 0; unit->group != NULL && k < unit->group->nins; k++) {
        const wk__ins *ins = &unit->group->ins[k];
        bool wide = ins->code != WK__STORE && ins->dtype == WK_F64;
        if (wide) needs |= WK__GPU_NEEDS_F64;
        if (ins->code == WK__NDTRI) needs |= wide ? WK__GPU_NEEDS_NDTRI64 : WK__GPU_NEEDS_NDTRI32;
    }
    return needs;
}
