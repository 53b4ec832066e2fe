/* SPDX-License-Identifier: Apache-2.0 */
/* Iteration along the innermost dimension of a space:
 *
 *     long runs     a stretch of the innermost dimension is one call of the VM, which ends in a short block
 *     short runs    a block takes lanes from several runs, gathered into panels
 *
 *         a a a b b b c c c d d d ...      3 per run, 8 lanes:  [a a a b b b c c] [c d d d ... */
#include <string.h>

#include "base/alloc.h"
#include "iter.h"

/* ---- positions --------------------------------------------------------------------------------------------------- */

void wk__cursor_seek(wk__cursor *cursor, const wk__cpu_iter *walk, const wk__addresses *origin, int64_t position)
{
    for (int k = 0; k < walk->noperands; k++) {
        int number = walk->operand[k].number;
        cursor->address.at[number] = origin->at[number];
    }
    int d = 0;
    do { /* there is at least one dimension */
        int64_t index = walk->size[d] > 0 ? position % walk->size[d] : 0;
        position = walk->size[d] > 0 ? position / walk->size[d] : 0;
        cursor->index[d] = index;
        if (index == 0) continue;
        for (int k = 0; k < walk->noperands; k++) {
            cursor->address.at[walk->operand[k].number] += (intptr_t)(index * walk->operand[k].step[d]);
        }
    } while (++d < walk->ndim);
}

static void shift(wk__cursor *cursor, const wk__cpu_iter *walk, int dim, int64_t count)
{
    for (int k = 0; k < walk->noperands; k++) {
        cursor->address.at[walk->operand[k].number] += (intptr_t)(count * walk->operand[k].step[dim]);
    }
}

/* Advances along one dimension, at most to its end, and carries into the next ones. */
static void move(wk__cursor *cursor, const wk__cpu_iter *walk, int dim, int64_t count)
{
    cursor->index[dim] += count;
    shift(cursor, walk, dim, count);
    for (int d = dim; d + 1 < walk->ndim && cursor->index[d] == walk->size[d]; d++) {
        cursor->index[d] = 0;
        shift(cursor, walk, d, -walk->size[d]);
        cursor->index[d + 1]++;
        shift(cursor, walk, d + 1, 1);
    }
}

void wk__cursor_move(wk__cursor *cursor, const wk__cpu_iter *walk, int64_t count)
{
    move(cursor, walk, 0, count);
}

/* ---- workers ----------------------------------------------------------------------------------------------------- */

static wk__vm_scalar cell_of(wk__imm imm, wk_dtype dtype)
{
    wk__vm_scalar cell;
    switch (wk__vm_class_of(dtype)) {
    case WK__VM_F32: cell.f32 = (float)imm.f; break;
    case WK__VM_F64: cell.f64 = imm.f; break;
    case WK__VM_I32: cell.i32 = (int32_t)imm.i; break;
    default: cell.i64 = imm.i;
    }
    return cell;
}

char *wk__worker_alloc(wk__worker *worker, int64_t bytes)
{
    char *memory = worker->scratch_next;
    worker->scratch_next += (bytes + 63) & ~(int64_t)63;
    return memory;
}

bool wk__worker_init(wk__worker *worker, const wk__cpu_program *program, const wk__program *group, int64_t extra,
                     char *room)
{
    const int64_t tile = program->vm->lanes * 8;
    wk__vm_state *s = &worker->state;
    int64_t bytes = program->ntiles * tile + extra;
    worker->program = program;
    worker->heap_scratch = NULL;
    worker->scratch_next = worker->inline_scratch;
    if (bytes > (int64_t)sizeof worker->inline_scratch) {
        if (!room) room = worker->heap_scratch = wk__alloc((size_t)bytes + 64);
        if (!room) return false;
        worker->scratch_next = (char *)(((uintptr_t)room + 63) & ~(uintptr_t)63);
    }
    s->fault = false;
    s->place[WK__VM_GATHERED] = (wk__vm_slot){worker->fetched, 0};
    for (int t = 0; t < program->ntiles; t++) {
        s->place[WK__VM_TILE + t] = (wk__vm_slot){wk__worker_alloc(worker, tile), 0};
    }
    for (int k = 0; k < group->nins; k++) {
        const wk__ins *ins = &group->ins[k];
        if (ins->code == WK__IMM) s->cell[k] = cell_of(group->imm[ins->arg[0]], (wk_dtype)ins->dtype);
    }
    for (int k = 0; k < group->nimms; k++) s->cell[WK__MAX_INS + k].i64 = group->imm[k].i;
    return true;
}

void wk__worker_destroy(wk__worker *worker)
{
    if (worker->heap_scratch) wk__free(worker->heap_scratch);
}

static void run_code(wk__worker *worker, const wk__cpu_stage *stage, int64_t from, int64_t to)
{
    const wk__cpu_program *program = worker->program;
    const wk__vm_ins *code = program->code + stage->start;
    wk__vm_state *s = &worker->state;
    if (stage->reg_accumulator < 0) {
        program->vm->run(code, s, from, to);
    } else {
        program->vm->run_loop(code, s, from, to, s->place[WK__VM_ACCUMULATOR + stage->reg_accumulator].p);
    }
}

void wk__worker_run_row(wk__worker *worker, const wk__cpu_stage *stage, const wk__addresses *row)
{
    wk__vm_slot *place = worker->state.place;
    if (stage->start < 0) return;
    for (uint32_t left = stage->loads | stage->stores; left; left &= left - 1) {
        int number = __builtin_ctz(left);
        place[WK__VM_OPERAND + number] = (wk__vm_slot){(char *)row->at[number], 0};
    }
    for (uint32_t left = stage->indexed; left; left &= left - 1) {
        int number = __builtin_ctz(left);
        worker->offset[number][0] = 0;
        place[WK__VM_BASE + number] = (wk__vm_slot){(char *)row->at[number], 0};
        place[WK__VM_OFFSETS + number] = (wk__vm_slot){(char *)worker->offset[number], 0};
    }
    run_code(worker, stage, 0, 1);
}

void wk__worker_run_flat(wk__worker *worker, const wk__cpu_stage *stage, const wk__program *group,
                         const wk__addresses *origin, int64_t from, int64_t to)
{
    if (stage->start < 0) return;
    for (uint32_t left = stage->loads | stage->stores; left; left &= left - 1) {
        int number = __builtin_ctz(left);
        wk__vm_slot *place = &worker->state.place[WK__VM_OPERAND + number];
        *place = (wk__vm_slot){(char *)origin->at[number], wk__vm_size_of(group->operand[number].dtype)};
    }
    run_code(worker, stage, from, to);
}

/* ---- long runs --------------------------------------------------------------------------------------------------- */

static uint32_t bit(const wk__cpu_iter_operand *operand)
{
    return 1u << operand->number;
}

/* Returns a VM slot for a run that starts at position `from`. Blocks, and kept values, are indexed by position in the
 * space, so the slot's base is the address of position 0, extrapolated along the run. */
static wk__vm_slot slot_along(intptr_t at, int64_t from, int64_t step)
{
    return (wk__vm_slot){(char *)(at - (intptr_t)(from * step)), step};
}

/* Computes lane offsets along a run: l steps for lane l. */
static void find_run_offsets(wk__worker *worker, const wk__cpu_iter_operand *operand)
{
    int64_t *offset = worker->offset[operand->number];
    for (int l = 0; l < worker->program->vm->lanes; l++) offset[l] = l * operand->step[0];
}

static void bind_indexed(wk__worker *worker, const wk__cpu_iter_operand *operand, intptr_t at, int64_t from)
{
    int number = operand->number;
    const int64_t *offset = worker->offset[number];
    find_run_offsets(worker, operand);
    worker->state.place[WK__VM_BASE + number] = slot_along(at, from, operand->step[0]);
    worker->state.place[WK__VM_OFFSETS + number] = (wk__vm_slot){(char *)offset, 0};
}

/* Binds operands that are constant or contiguous along the run; returns those that must be copied block by block. */
static uint32_t bind_run(wk__worker *worker, const wk__cpu_stage *stage, const wk__cpu_iter *walk,
                         const wk__addresses *address, int64_t from, int64_t length)
{
    uint32_t strided = 0;
    int64_t lanes = length < worker->program->vm->lanes ? length : worker->program->vm->lanes;
    for (int k = 0; k < walk->noperands; k++) {
        const wk__cpu_iter_operand *operand = &walk->operand[k];
        int number = operand->number;
        intptr_t at = address->at[number];
        wk__vm_slot *place = &worker->state.place[WK__VM_OPERAND + number];
        if (stage->indexed & bit(operand)) bind_indexed(worker, operand, at, from);
        if (!((stage->loads | stage->stores) & bit(operand))) continue;
        if (operand->step[0] == operand->size) {
            *place = slot_along(at, from, operand->size);
            continue;
        }
        *place = (wk__vm_slot){worker->panel[number], 0};
        if (operand->step[0] == 0 && !(stage->stores & bit(operand))) {
            wk__broadcast_lanes(worker->panel[number], at, lanes, operand->size);
        } else {
            strided |= bit(operand);
        }
    }
    return strided;
}

/* Copies `count` lanes from index i of a run into the panels of these operands, or out of them. */
static void move_run(wk__worker *worker, const wk__cpu_iter *walk, const wk__addresses *address, uint32_t operands,
                     int64_t i, int64_t count, bool fill)
{
    for (int k = 0; k < walk->noperands; k++) {
        const wk__cpu_iter_operand *operand = &walk->operand[k];
        int number = operand->number;
        if (!(operands & bit(operand))) continue;
        const wk__lane_runs one = {.length = count, .step = operand->step[0]};
        wk__copy_runs(worker->panel[number], address->at[number] + (intptr_t)(i * operand->step[0]), &one, count,
                      operand->size, fill);
    }
}

/* Runs a stretch of the innermost dimension that starts at position `from`. */
static void run_along(wk__worker *worker, const wk__cpu_stage *stage, const wk__cpu_iter *walk,
                      const wk__addresses *address, int64_t from, int64_t length)
{
    const int64_t lanes = worker->program->vm->lanes;
    uint32_t strided = bind_run(worker, stage, walk, address, from, length);
    if (!strided) {
        run_code(worker, stage, from, from + length);
        return;
    }
    for (int64_t i = 0; i < length; i += lanes) {
        int64_t count = length - i < lanes ? length - i : lanes;
        move_run(worker, walk, address, strided & stage->loads, i, count, true);
        run_code(worker, stage, from + i, from + i + count);
        move_run(worker, walk, address, strided & stage->stores, i, count, false);
    }
}

/* ---- short runs -------------------------------------------------------------------------------------------------- */

enum { SHORTEST_RUN = 4 /* lanes; offsets of the lanes of shorter runs take less time than copying run by run */ };

/* Lanes of a block, from one dimension or several. */
typedef struct gathered {
    wk__addresses address; /* of lane 0 */
    int64_t first, count;  /* index of lane 0 along dimension 0; lanes */
    bool by_runs;          /* all lanes are in dimensions 0 and 1, and runs are not the shortest */
} gathered;

static bool needs_offsets(const wk__cpu_stage *stage, const wk__cpu_iter_operand *operand, bool by_runs)
{
    return (stage->indexed & bit(operand)) || (!by_runs && !operand->contiguous);
}

/* Computes offsets of lanes that all lie in dimensions 0 and 1. */
static void find_offsets_in_plane(wk__worker *worker, const wk__cpu_stage *stage, const wk__cpu_iter *walk,
                                  wk__cursor *cursor, int64_t count, bool by_runs)
{
    const int64_t length = walk->size[0], first = cursor->index[0], last = first + count;
    for (int k = 0; k < walk->noperands; k++) {
        const wk__cpu_iter_operand *operand = &walk->operand[k];
        if (!needs_offsets(stage, operand, by_runs)) continue;
        int64_t *offset = worker->offset[operand->number], at = 0, step = operand->step[0];
        const int64_t jump = operand->step[1] - (length - 1) * step;
        for (int64_t l = 0, left = length - first; l < count; l++) {
            offset[l] = at;
            at += --left > 0 ? step : jump;
            if (left == 0) left = length;
        }
    }
    move(cursor, walk, 0, last % length - first);
    move(cursor, walk, 1, last / length);
}

/* Computes offsets of arbitrary lanes. */
static void find_offsets(wk__worker *worker, const wk__cpu_stage *stage, const wk__cpu_iter *walk, wk__cursor *cursor,
                         int64_t count)
{
    const wk__addresses first = cursor->address;
    for (int64_t lane = 0, take; lane < count; lane += take) {
        take = walk->size[0] - cursor->index[0];
        if (take > count - lane) take = count - lane;
        for (int k = 0; k < walk->noperands; k++) {
            const wk__cpu_iter_operand *operand = &walk->operand[k];
            if (!needs_offsets(stage, operand, false)) continue;
            int64_t from_first = cursor->address.at[operand->number] - first.at[operand->number];
            int64_t *offset = worker->offset[operand->number] + lane;
            for (int64_t l = 0; l < take; l++) offset[l] = from_first + l * operand->step[0];
        }
        wk__cursor_move(cursor, walk, take);
    }
}

/* Copies the lanes of these operands that are not contiguous into their panels, or out of them. */
static void move_gathered(wk__worker *worker, const wk__cpu_iter *walk, const gathered *block, uint32_t operands,
                          bool fill)
{
    for (int k = 0; k < walk->noperands; k++) {
        const wk__cpu_iter_operand *operand = &walk->operand[k];
        const int number = operand->number;
        if (operand->contiguous || !(operands & bit(operand))) continue;
        if (block->by_runs) {
            const wk__lane_runs runs = {walk->size[0], block->first, operand->step[0], operand->step[1]};
            wk__copy_runs(worker->panel[number], block->address.at[number], &runs, block->count, operand->size, fill);
        } else {
            wk__copy_lanes(worker->panel[number], block->address.at[number], worker->offset[number], block->count,
                           operand->size, fill);
        }
    }
}

/* Runs the block at position `from`, whose lanes come from several runs, and advances the cursor past it. */
static void run_gathered(wk__worker *worker, const wk__cpu_stage *stage, const wk__cpu_iter *walk, wk__cursor *cursor,
                         int64_t from, int64_t count)
{
    const bool plane = (walk->size[1] - cursor->index[1]) * walk->size[0] - cursor->index[0] >= count;
    const gathered block = {cursor->address, cursor->index[0], count, plane && walk->size[0] >= SHORTEST_RUN};
    if (plane) {
        find_offsets_in_plane(worker, stage, walk, cursor, count, block.by_runs);
    } else {
        find_offsets(worker, stage, walk, cursor, count);
    }
    wk__vm_slot *place = worker->state.place;
    for (int k = 0; k < walk->noperands; k++) {
        const wk__cpu_iter_operand *operand = &walk->operand[k];
        const int number = operand->number;
        char *at = (char *)block.address.at[number], *offset = (char *)worker->offset[number];
        place[WK__VM_OPERAND + number] = (wk__vm_slot){operand->contiguous ? at : worker->panel[number], 0};
        place[WK__VM_BASE + number] = (wk__vm_slot){at, 0};
        place[WK__VM_OFFSETS + number] = (wk__vm_slot){offset, 0};
    }
    move_gathered(worker, walk, &block, stage->loads, true);
    run_code(worker, stage, from, from + count);
    move_gathered(worker, walk, &block, stage->stores, false);
}

void wk__worker_run_elements(wk__worker *worker, const wk__cpu_stage *stage, const wk__cpu_iter *walk,
                             const wk__addresses *origin, int64_t from, int64_t to, bool whole_blocks)
{
    const int64_t lanes = worker->program->vm->lanes;
    if (stage->start < 0) return;
    wk__cursor cursor;
    wk__cursor_seek(&cursor, walk, origin, from);
    bool many_runs = walk->ndim > 1, short_runs = many_runs && walk->size[0] < lanes / 2;
    whole_blocks = whole_blocks && many_runs;
    while (from < to) {
        int64_t run = walk->size[0] - cursor.index[0], length = run < to - from ? run : to - from;
        bool across = short_runs;
        if (whole_blocks && length < to - from) {
            across = length < lanes;
            if (!across) length -= length % lanes;
        }
        if (across) {
            length = to - from < lanes ? to - from : lanes;
            run_gathered(worker, stage, walk, &cursor, from, length);
        } else {
            run_along(worker, stage, walk, &cursor.address, from, length);
            wk__cursor_move(&cursor, walk, length);
        }
        from += length;
    }
}
