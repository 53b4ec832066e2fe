/* SPDX-License-Identifier: Apache-2.0 */
/* Execution of one block of rows: its stages, and its reductions in the order of reduce.h. In a block
 *
 *     lanes are columns   one row; a reduction is one tile, with slot l in lane l
 *     lanes are rows      as many rows as lanes; a reduction is one tile per slot, with row l in lane l
 *
 *         row 0   c0 c1 c2 ...          tile of slot 0:  row 0 row 1 row 2 ...    <- columns 0, L, 2L, ...
 *         row 1   c0 c1 c2 ...          tile of slot 1:  row 0 row 1 row 2 ...    <- columns 1, L + 1, ... */
#include <string.h>

#include "reduce.h"

static bool has_second_level(const wk__cpu_reduce_job *job)
{
    return job->columns > WK__SUM_CHUNK;
}

static void start_sums(wk__row_block *block)
{
    const wk__cpu_reduce_job *job = block->job;
    for (int n = 0; n < job->nsums; n++) {
        const wk__cpu_reduce_acc *sum = &job->sum[n];
        block->slots[n] = wk__worker_alloc(block->worker, job->slots * sum->tile * (has_second_level(job) ? 2 : 1));
        block->worker->state.place[WK__VM_ACCUMULATOR + sum->reg] = (wk__vm_slot){block->slots[n], 0};
        if (wk__segments_of(job) == 1) continue;
        int64_t bytes = job->lanes * (int64_t)sizeof(wk__cpu_reduce_total);
        block->totals[n] = (wk__cpu_reduce_total *)(void *)wk__worker_alloc(block->worker, bytes);
    }
}

void wk__row_block_init(wk__row_block *block, const wk__cpu_reduce_job *job, wk__worker *worker)
{
    const wk__program *group = job->group;
    const wk__cpu_program *program = job->program;
    const int64_t lanes = program->vm->lanes;
    wk__vm_slot *place = worker->state.place;
    block->job = job;
    block->worker = worker;
    block->idle = false;
    block->gathered = 0;
    start_sums(block);
    if (program->lanes_are_rows) wk__worker_alloc_patches(worker, &job->row_walk);
    for (int k = 0; k < group->nins; k++) {
        int64_t tile = wk__tile_bytes(job, k);
        if (program->fate[k].kept) {
            int64_t columns = (job->columns + lanes - 1) / lanes * lanes;
            char *row = wk__worker_alloc(worker, columns * tile / lanes * job->lanes);
            place[WK__VM_CARRIED + k] = (wk__vm_slot){row, job->lanes == 1 ? tile / lanes : tile};
        } else if (program->lanes_are_rows) {
            place[WK__VM_CARRIED + k] = (wk__vm_slot){wk__worker_alloc(worker, tile), 0};
        }
    }
}

/* ---- rows as lanes ----------------------------------------------------------------------------------------------- */

/* Computes the lane offsets of the block's rows for operands with non-contiguous lanes. */
static void find_lanes(wk__row_block *block, wk__cursor *cursor)
{
    const wk__cpu_iter *walk = &block->job->row_walk;
    wk__worker *worker = block->worker;
    block->gathered = 0;
    bool one_run = walk->size[0] - cursor->index[0] >= block->count;
    for (int k = 0; k < walk->noperands; k++) {
        const wk__cpu_iter_operand *operand = &walk->operand[k];
        if (!operand->contiguous && !(one_run && operand->step[0] == operand->size))
            block->gathered |= 1u << operand->number;
    }
    for (int64_t lane = 0, take; lane < block->count; lane += take) {
        take = walk->size[0] - cursor->index[0];
        if (take > block->count - lane) take = block->count - lane;
        for (int k = 0; k < walk->noperands; k++) {
            const wk__cpu_iter_operand *operand = &walk->operand[k];
            int64_t first = cursor->address.at[operand->number] - block->address.at[operand->number];
            int64_t *offset = worker->offset[operand->number] + lane;
            for (int64_t l = 0; l < take; l++) offset[l] = first + l * operand->step[0];
        }
        wk__cursor_move(cursor, walk, take);
    }
}

/* Runs columns from..to-1 of all rows of the block in order, in patches. `from` is the first column of a chunk. */
static void run_columns(wk__row_block *block, int pass, int64_t from, int64_t to)
{
    const wk__cpu_reduce_job *job = block->job;
    const wk__cpu_iter *walk = &job->column_walk;
    const int64_t lanes = job->program->vm->lanes;
    wk__patch patch = {.lanes = block->count, .gathered = block->gathered};
    wk__cursor cursor;
    wk__cursor_seek(&cursor, walk, &block->address, from);
    for (int k = 0; k < walk->noperands; k++) patch.column_step[walk->operand[k].number] = walk->operand[k].step[0];
    for (; from < to; from += patch.columns) {
        int64_t in_run = walk->size[0] - cursor.index[0], in_panel = WK__PATCH_COLUMNS - from % WK__PATCH_COLUMNS;
        patch.first = from;
        patch.columns = to - from < in_run ? to - from : in_run;
        if (patch.columns > in_panel) patch.columns = in_panel;
        patch.address = cursor.address;
        for (int n = 0; n < job->nsums; n++) {
            int64_t tile = job->sum[n].tile;
            intptr_t slot_0 = (intptr_t)block->slots[n] - (intptr_t)((from - from % lanes) * tile);
            block->worker->state.place[WK__VM_ACCUMULATOR + job->sum[n].reg] = (wk__vm_slot){(char *)slot_0, tile};
        }
        wk__worker_run_patch(block->worker, &job->program->element[pass], job->group, &patch);
        wk__cursor_move(&cursor, walk, patch.columns);
    }
}

/* Runs a row stage as a patch with a single column. */
static void run_row_lanes(wk__row_block *block, const wk__cpu_stage *stage)
{
    wk__patch patch = {.lanes = block->count, .columns = 1, .gathered = block->gathered, .address = block->address};
    wk__worker_run_patch(block->worker, stage, block->job->group, &patch);
}

/* ---- stages ------------------------------------------------------------------------------------------------------ */

void wk__row_block_seek(wk__row_block *block, int64_t number)
{
    const wk__cpu_reduce_job *job = block->job;
    wk__cursor_seek(&block->next, &job->row_walk, &job->origin, number * job->lanes);
    block->row = (number - 1) * job->lanes;
}

void wk__row_block_next(wk__row_block *block)
{
    const wk__cpu_reduce_job *job = block->job;
    block->row += job->lanes;
    block->count = job->rows - block->row < job->lanes ? job->rows - block->row : job->lanes;
    for (int k = 0; k < job->row_walk.noperands; k++) {
        const int number = job->row_walk.operand[k].number;
        block->address.at[number] = block->next.address.at[number];
    }
    if (job->program->lanes_are_rows) {
        find_lanes(block, &block->next);
    } else {
        wk__cursor_move(&block->next, &job->row_walk, 1);
    }
}

/* Is the pass's condition there, and 0 in all rows of the block? */
static bool is_idle(const wk__row_block *block, int pass)
{
    const wk__cpu_reduce_job *job = block->job;
    const int condition = pass < job->program->passes ? job->condition[pass] : -1;
    if (condition < 0) return false;
    if (!job->program->lanes_are_rows) return block->worker->state.cell[condition].i32 == 0;
    const int32_t *rows = (const void *)block->worker->state.place[WK__VM_CARRIED + condition].p;
    int32_t any = 0;
    for (int64_t l = 0; l < block->count; l++) any |= rows[l];
    return any == 0;
}

void wk__row_block_run_row(wk__row_block *block, int pass)
{
    const wk__cpu_stage *stage = &block->job->program->row[pass];
    if (stage->start >= 0 && block->job->program->lanes_are_rows)
        run_row_lanes(block, stage);
    else if (stage->start >= 0)
        wk__worker_run_row(block->worker, stage, &block->address);
    block->idle = is_idle(block, pass);
}

/* Programs too large for the caches wait for memory in their first pass over a row and leave it idle in the others, so
 * the second pass prefetches the next row in small steps. */
static void run_with_prefetch(wk__row_block *block, const wk__cpu_stage *stage, int64_t from, int64_t to)
{
    enum { PIECE = 256, LINE = 64 };
    const wk__cpu_reduce_job *job = block->job;
    for (int64_t end; from < to; from = end) {
        end = from + PIECE < to ? from + PIECE : to;
        for (uint32_t left = job->program->element[0].loads; left; left &= left - 1) {
            int number = __builtin_ctz(left), size = wk__vm_size_of(job->group->operand[number].dtype);
            intptr_t next = block->next.address.at[number];
            if (next == block->address.at[number]) continue; /* all rows read the same data */
            for (int64_t at = from * size; at < end * size; at += LINE) {
                __builtin_prefetch((const char *)(next + (intptr_t)at), 0, 2);
            }
        }
        wk__worker_run_flat(block->worker, stage, job->group, &block->address, from, end);
    }
}

static void run_chunk(wk__row_block *block, int pass, int64_t from, int64_t to)
{
    const wk__cpu_reduce_job *job = block->job;
    const wk__cpu_stage *stage = &job->program->element[pass];
    if (stage->start < 0) return;
    if (job->program->lanes_are_rows) {
        run_columns(block, pass, from, to);
    } else if (stage->indexed || (wk__stage_operands(stage) & ~job->flat_columns)) {
        wk__worker_run_elements(block->worker, stage, &job->column_walk, &block->address, from, to, true);
    } else if (job->program->nontemporal && pass == 1) {
        run_with_prefetch(block, stage, from, to);
    } else {
        wk__worker_run_flat(block->worker, stage, job->group, &block->address, from, to);
    }
}

/* ---- reductions -------------------------------------------------------------------------------------------------- */

static void start_sum(wk__row_block *block, int n)
{
    const wk__cpu_reduce_acc *sum = &block->job->sum[n];
    int64_t tiles = block->job->slots * (has_second_level(block->job) ? 2 : 1);
    for (int64_t t = 0; t < tiles; t++) sum->functions->set_identity(block->slots[n] + t * sum->tile);
}

/* Accumulates a chunk into its segment and resets the chunk. */
static void end_chunk(wk__row_block *block, int n)
{
    const wk__cpu_reduce_acc *sum = &block->job->sum[n];
    const int64_t slots = block->job->slots;
    for (int64_t t = 0; t < slots; t++) {
        char *slot = block->slots[n] + t * sum->tile;
        sum->functions->merge(slot + slots * sum->tile, slot);
        sum->functions->set_identity(slot);
    }
}

/* Folds the slots, except those past the last column, which are identities. */
static void end_segment(wk__row_block *block, int n)
{
    const wk__cpu_reduce_job *job = block->job;
    const wk__cpu_reduce_acc *sum = &job->sum[n];
    char *slots = block->slots[n];
    if (has_second_level(job)) memcpy(slots, slots + job->slots * sum->tile, (size_t)(job->slots * sum->tile));
    if (!job->program->lanes_are_rows) {
        sum->functions->fold(slots);
        return;
    }
    for (int64_t half = job->program->vm->lanes / 2; half > 0; half /= 2) {
        for (int64_t t = 0; t < half && t + half < job->slots; t++) {
            sum->functions->merge(slots + t * sum->tile, slots + (t + half) * sum->tile);
        }
    }
}

void wk__row_block_run_segment(wk__row_block *block, int pass, int64_t segment)
{
    const wk__cpu_reduce_job *job = block->job;
    const int first = job->first_sum[pass], last = job->first_sum[pass + 1];
    int64_t from = segment * WK__SUM_SEGMENT, end = from + WK__SUM_SEGMENT;
    if (end > job->columns) end = job->columns;
    for (int n = first; n < last; n++) start_sum(block, n);
    for (int64_t to; from < end; from = to) {
        to = from + WK__SUM_CHUNK < end ? from + WK__SUM_CHUNK : end;
        run_chunk(block, pass, from, to);
        for (int n = first; n < last && has_second_level(job); n++) end_chunk(block, n);
    }
    for (int n = first; n < last; n++) end_segment(block, n);
}

void wk__row_block_publish_identities(wk__row_block *block, int pass)
{
    const wk__cpu_reduce_job *job = block->job;
    for (int n = job->first_sum[pass]; n < job->first_sum[pass + 1]; n++) {
        job->sum[n].functions->set_identity(block->slots[n]);
        wk__row_block_publish(block, n);
    }
}

static void publish_scalar(wk__vm_state *s, const wk__cpu_reduce_acc *sum, const char *tile)
{
    if (wk__vm_class_size(sum->class) == 4) {
        memcpy(&s->cell[sum->reg], tile, 4);
    } else {
        memcpy(&s->cell[sum->reg], tile, 8);
    }
}

void wk__row_block_run_short_row(wk__row_block *block, int pass)
{
    const wk__cpu_reduce_job *job = block->job;
    const wk__cpu_reduce_acc *first = &job->sum[job->first_sum[pass]], *end = &job->sum[job->first_sum[pass + 1]];
    char **slots = &block->slots[job->first_sum[pass]];
    for (const wk__cpu_reduce_acc *sum = first; sum < end; sum++) sum->functions->set_identity(slots[sum - first]);
    run_chunk(block, pass, 0, job->columns);
    for (const wk__cpu_reduce_acc *sum = first; sum < end; sum++) {
        sum->functions->fold(slots[sum - first]);
        publish_scalar(&block->worker->state, sum, slots[sum - first]);
    }
}

void wk__row_block_publish(wk__row_block *block, int n)
{
    const wk__cpu_reduce_acc *sum = &block->job->sum[n];
    wk__vm_state *s = &block->worker->state;
    if (block->job->program->lanes_are_rows) {
        memcpy(s->place[WK__VM_CARRIED + sum->reg].p, block->slots[n], (size_t)sum->tile);
    } else {
        publish_scalar(s, sum, block->slots[n]);
    }
}
