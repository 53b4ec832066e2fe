/* SPDX-License-Identifier: Apache-2.0 */
/* Lowers programs to launches: chooses the kernel config by shape, and fills in the arguments. */
#include "kernel.h"

#include "base/integers.h"

#include <string.h>

/* Positions and offsets below this limit are 32 bits; one step beyond the end still fits. */
static const int64_t narrow_limit = (int64_t)1 << 30;

enum {
    MAX_WARP_COLUMNS = 32, /* maximum columns per item of a warp; longer rows get a work-group each */
    MAX_VECTOR_WIDTH = 8,  /* elements */
    MIN_STRIP_ROWS = 8     /* adjacent rows; with fewer, too many items of a strip are unused */
};

bool wk__gpu_fits_index32(const wk__program *group)
{
    if (wk__program_rows(group) * wk__program_columns(group) >= narrow_limit) return false;
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

/* Returns true if a row's value is stored over inputs of the row, which isn't possible in chunks, because their
 * work-groups run at different times. The engine never submits such programs (reuse.c: a reduction overwrites none of
 * its inputs); otherwise the order of a sum would depend on the location of its result. */
static bool stores_over_row_inputs(const wk__program *group, const wk__gpu_schedule *schedule)
{
    for (int k = 0; k < group->nins; k++) {
        if (group->ins[k].code == WK__STORE && !schedule->in_loop[k]) return wk__program_is_in_place(group);
    }
    return false;
}

/* Returns the columns of a chunk. A strip's chunk contains the columns of all its rows. */
static int64_t chunk_of(const wk__gpu_target *target, uint8_t walk)
{
    return walk == WK__GPU_STRIP_PER_GROUP ? target->chunk_columns / (WK__GPU_STRIP / 4) : target->chunk_columns;
}

static wk__gpu_row_mapping choose_mapping(const wk__gpu_target *target, const wk__program *group,
                                          const wk__gpu_schedule *schedule)
{
    enum { LEAST_GROUP = 16 }; /* items; COMBINE_GROUP of OpenCL reads that many partial results */
    int64_t rows = wk__program_rows(group), columns = wk__program_columns(group);
    if (target->group_size < LEAST_GROUP) return WK__GPU_ROW_PER_ITEM;
    if (group->nreduce == 0 || columns <= target->item_row_max || schedule->reductions == 0)
        return WK__GPU_ROW_PER_ITEM;
    if (group->outer_reduction) { /* with one row per item, adjacent items load adjacent elements */
        if (rows >= target->item_rows_min) return WK__GPU_ROW_PER_ITEM;
        if (target->local_memory && rows >= MIN_STRIP_ROWS && target->group_size >= 2 * WK__GPU_STRIP)
            return WK__GPU_STRIP_PER_GROUP;
    }
    if (target->warp_size > 0 && columns <= target->warp_size * MAX_WARP_COLUMNS) return WK__GPU_ROW_PER_WARP;
    return WK__GPU_ROW_PER_GROUP;
}

/* Returns true if there are too few rows to occupy the device, and they are long enough to split. */
static bool is_chunked(const wk__gpu_target *target, const wk__program *group, const wk__gpu_schedule *schedule,
                       uint8_t walk)
{
    if (walk != WK__GPU_ROW_PER_GROUP && walk != WK__GPU_STRIP_PER_GROUP) return false;
    const int64_t per_group = walk == WK__GPU_STRIP_PER_GROUP ? WK__GPU_STRIP : 1;
    const int64_t groups = wk__chunk_count(wk__program_rows(group), per_group);
    return groups <= target->chunk_rows_max && wk__program_columns(group) >= 2 * chunk_of(target, walk) &&
           !stores_over_row_inputs(group, schedule);
}

/* Keeps columns in registers between passes if there are few enough per item. Their number is rounded up to a power of
 * two, so that one kernel serves many lengths. */
static void choose_ahead(const wk__gpu_target *target, const wk__program *group, const wk__gpu_schedule *schedule,
                         wk__gpu_kernel_config *form)
{
    if (form->mapping == WK__GPU_ROW_PER_ITEM) return;
    form->loads_ahead = (uint8_t)target->loads_ahead;
    if (form->mapping == WK__GPU_STRIP_PER_GROUP || form->chunked || schedule->passes < 2) return;
    const int64_t items = form->mapping == WK__GPU_ROW_PER_WARP ? target->warp_size : target->group_size;
    const int64_t columns = wk__chunk_count(wk__program_columns(group), items);
    if (columns > target->max_reg_cached) return;
    form->reg_cached = true;
    for (form->loads_ahead = 1; form->loads_ahead < columns;) form->loads_ahead = (uint8_t)(2 * form->loads_ahead);
}

/* Returns the elements per item: a full vector of the widest dtype, if all contiguous operands are aligned to it and
 * the last dimension is a multiple of it. */
static uint8_t width_of(const wk__gpu_target *target, const wk__program *group)
{
    const int last = group->ndim - 1;
    int64_t widest = 0;
    if (group->nreduce > 0 || last < 0) return 1;
    for (int k = 0; k < group->noperands; k++) {
        const int64_t size = (int64_t)wk_dtype_size((wk_dtype)group->operand[k].dtype);
        if (group->operand[k].stride[last] == 1 && size > widest) widest = size;
    }
    if (widest == 0 || widest > target->vector_bytes) return 1;
    const int64_t width = wk__min_i64(target->vector_bytes / widest, MAX_VECTOR_WIDTH);
    if (group->shape[last] % width != 0) return 1;
    for (int k = 0; k < group->noperands; k++) {
        const wk__operand *operand = &group->operand[k];
        if (operand->stride[last] != 1) continue;
        if (wk__gpu_first_element(operand) % width != 0) return 1;
        for (int d = 0; d < last; d++)
            if (group->shape[d] > 1 && operand->stride[d] % width != 0) return 1;
    }
    return (uint8_t)width;
}

static int64_t immediate_bits(const wk__program *group, const wk__ins *ins)
{
    wk__imm imm = group->imm[ins->arg[0]];
    if (wk__compute_class((wk_dtype)ins->dtype) != WK_F32) return imm.i;
    float value = (float)imm.f;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void wk__gpu_fill_program(const wk__program *group, const wk__gpu_layout *layout, int64_t *argument)
{
    for (int d = 0; d < group->ndim; d++) argument[layout->shape + d] = group->shape[d];
    if (layout->columns >= 0) argument[layout->columns] = wk__program_columns(group);
    argument[layout->tag] = group->tag;
    for (int k = 0; k < group->noperands; k++) {
        argument[layout->offset[k]] = wk__gpu_first_element(&group->operand[k]);
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

static void fill_arguments(const wk__program *group, int64_t chunks, wk__gpu_launch *launch)
{
    wk__gpu_layout layout;
    wk__gpu_layout_of(group, WK__GPU_ROWS + 1, &layout);
    launch->spec.narguments = layout.count;
    launch->argument[0] = 0;
    launch->argument[WK__GPU_ROWS] = wk__program_rows(group);
    launch->argument[layout.chunks] = chunks;
    wk__gpu_fill_program(group, &layout, launch->argument);
}

/* Returns true if this pass stores outputs of the program. */
static bool pass_writes(const wk__program *group, const wk__gpu_schedule *schedule, int pass, int last)
{
    bool writes = false;
    for (int k = 0; k < group->nins; k++)
        writes |= group->ins[k].code == WK__STORE && (schedule->in_loop[k] ? schedule->pass[k] == pass : pass == last);
    return writes;
}

static wk_code emit_chunks(const wk__program *group, const wk__gpu_schedule *schedule, int64_t chunks,
                           wk__gpu_launch *launch, wk__gpu_launch_fn *emit, void *user, wk__fail *fail)
{
    launch->scratch = 8 * schedule->reductions * wk__program_rows(group) * chunks;
    launch->spec.nmemory++;
    int last = wk__gpu_last_pass(group, schedule);
    for (int pass = 0; pass <= last; pass++) {
        launch->spec.config.pass = (uint8_t)pass;
        launch->writes = pass_writes(group, schedule, pass, last);
        wk_code code = emit(user, launch, fail);
        if (code != WK_OK) return code;
    }
    return WK_OK;
}

bool wk__gpu_uses_doubles(const wk__program *group)
{
    for (int k = 0; k < group->nins; k++) {
        if (group->ins[k].code != WK__STORE && group->ins[k].dtype == WK_F64) return true;
    }
    return false;
}

/* Returns the launch's count: items if rows are assigned to items or warps, otherwise work-groups. */
static int64_t count_of(const wk__gpu_target *target, const wk__program *group, const wk__gpu_kernel_config *form,
                        int64_t chunks)
{
    const int64_t rows = wk__program_rows(group);
    switch (form->mapping) {
    case WK__GPU_ROW_PER_ITEM: return rows / form->vector_width;
    case WK__GPU_ROW_PER_WARP: return rows * target->warp_size;
    case WK__GPU_STRIP_PER_GROUP: return wk__chunk_count(rows, WK__GPU_STRIP) * chunks;
    default: return rows * chunks;
    }
}

static wk_code lower_collapsed(const wk__gpu_target *target, const wk__program *group, wk__gpu_launch_fn *emit,
                               void *user, wk__fail *fail)
{
    wk__gpu_launch launch = {.spec = {.group = group, .nmemory = group->noperands}, .writes = true};
    wk__gpu_schedule schedule;
    wk__gpu_schedule_of(group, &schedule);
    wk__gpu_kernel_config *form = &launch.spec.config;
    form->mapping = (uint8_t)choose_mapping(target, group, &schedule);
    form->index32 = wk__gpu_fits_index32(group);
    form->chunked = is_chunked(target, group, &schedule, form->mapping);
    form->vector_width = 1;
    launch.spec.per_group = form->mapping == WK__GPU_STRIP_PER_GROUP || form->mapping == WK__GPU_ROW_PER_GROUP;
    const int64_t length = chunk_of(target, form->mapping);
    const int64_t chunks =
        form->chunked ? wk__min_i64(wk__chunk_count(wk__program_columns(group), length), target->max_chunks) : 1;
    fill_arguments(group, chunks, &launch);
    for (int k = 0; k < group->noperands; k++) launch.block[k] = group->operand[k].memory->block;

    const bool in_place = wk__program_is_in_place(group);
    if (in_place && wk__gpu_has_instruction(group, WK__LOADX)) {
        wk__gpu_launch check = launch;
        check.spec.config.check_only = true;
        check.spec.config.chunked = false;
        check.count = count_of(target, group, &check.spec.config, 1);
        check.writes = false;
        wk_code code = emit(user, &check, fail);
        if (code != WK_OK) return code;
    }
    form->skip_on_fault = in_place;
    form->vector_width = width_of(target, group);
    choose_ahead(target, group, &schedule, form);
    launch.count = count_of(target, group, form, chunks);
    if (form->chunked) return emit_chunks(group, &schedule, chunks, &launch, emit, user, fail);
    return emit(user, &launch, fail);
}

wk_code wk__gpu_fail_no_f64(wk__fail *fail)
{
    return wk__fail_set(fail, WK_ERR_UNSUPPORTED, "this device does not support f64; use f32, or another device");
}

wk_code wk__gpu_lower_program(const wk__gpu_target *target, const wk__program *group, wk__gpu_launch_fn *emit,
                              void *user, wk__fail *fail)
{
    if (!target->has_f64 && wk__gpu_uses_doubles(group)) return wk__gpu_fail_no_f64(fail);
    wk__program collapsed = *group;
    wk__program_coalesce(&collapsed);
    if (wk__program_rows(&collapsed) == 0 || (collapsed.nreduce == 0 && wk__program_columns(&collapsed) == 0))
        return WK_OK;
    return lower_collapsed(target, &collapsed, emit, user, fail);
}

/* ---- kernel specs ------------------------------------------------------------------------------------------------ */

static uint64_t form_word(const wk__gpu_kernel_spec *spec)
{
    const wk__gpu_kernel_config *form = &spec->config;
    return (uint64_t)form->mapping | (uint64_t)form->pass << 8 | (uint64_t)form->index32 << 16 |
           (uint64_t)form->check_only << 17 | (uint64_t)form->skip_on_fault << 18 | (uint64_t)form->elide_result << 19 |
           (uint64_t)form->reg_cached << 20 | (uint64_t)form->chunked << 21 | (uint64_t)spec->dtype << 24 |
           (uint64_t)form->vector_width << 32 | (uint64_t)form->loads_ahead << 40 | (uint64_t)form->block_format << 48;
}

/* The kernel's parameters, and how it is launched. */
static uint64_t call_word(const wk__gpu_kernel_spec *spec)
{
    return (uint64_t)spec->nmemory | (uint64_t)spec->narguments << 16 | (uint64_t)spec->per_group << 48;
}

uint64_t wk__gpu_kernel_spec_hash(const wk__gpu_kernel_spec *spec)
{
    const uint64_t structure = spec->group ? wk__program_hash(spec->group) : 0;
    const uint64_t form = (form_word(spec) ^ call_word(spec) << 13) * 0xbf58476d1ce4e5b9u;
    return (structure ^ (uint64_t)(uintptr_t)spec->source_template ^ form) * 0x9e3779b97f4a7c15u;
}

bool wk__gpu_kernel_spec_equal(const wk__gpu_kernel_spec *a, const wk__gpu_kernel_spec *b)
{
    if (form_word(a) != form_word(b) || call_word(a) != call_word(b)) return false;
    if (a->source_template != b->source_template || !a->group != !b->group) return false;
    return a->group == NULL || wk__program_same_structure(a->group, b->group);
}

unsigned wk__gpu_prelude_flags(const wk__gpu_kernel_spec *spec)
{
    unsigned needs = 0;
    if (spec->source_template != NULL)
        needs = spec->source_template->needs | (spec->dtype == WK_F64 ? WK__GPU_NEEDS_F64 : 0);
    for (int k = 0; spec->group != NULL && k < spec->group->nins; k++) {
        const wk__ins *ins = &spec->group->ins[k];
        bool wide = ins->code != WK__STORE && ins->dtype == WK_F64;
        if (wide) needs |= WK__GPU_NEEDS_F64;
        if (ins->code == WK__NDTRI) needs |= wide ? WK__GPU_NEEDS_NDTRI64 : WK__GPU_NEEDS_NDTRI32;
    }
    return needs;
}
