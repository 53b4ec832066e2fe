/* One block of rows: its stages, and its sums as run_rows.h draws them. In a block
 *
 *     lanes are columns   one row; a sum is one tile, lane l its slot l
 *     lanes are rows      as many rows as a block has lanes; a sum is a tile for each slot, lane l the row l
 *
 *         row 0   c0 c1 c2 ...          tile of slot 0:  row 0 row 1 row 2 ...    <- columns 0, L, 2L, ...
 *         row 1   c0 c1 c2 ...          tile of slot 1:  row 0 row 1 row 2 ...    <- columns 1, L + 1, ...
 */
#include <string.h>

#include "run_rows.h"

static const wk__vm_reduction *reduction_of(const wk__rows *job, int k)
{
    const wk__vm_table *table = job->program->vm->table[wk__class_of_register(job, k)];
    return &table->reduce[job->group->ins[k].code - WK__RSUM];
}

static bool has_second_level(const wk__rows *job)
{
    return job->columns > WK__SUM_CHUNK;
}

void wk__row_block_start(wk__row_block *block, const wk__rows *job, wk__worker *worker)
{
    const wk__group *group = job->group;
    const wk__cpu_program *program = job->program;
    const int64_t lanes = program->vm->lanes;
    wk__vm_place *place = worker->state.place;
    block->job = job;
    block->worker = worker;
    block->gathered = 0;
    if (program->lanes_are_rows) wk__worker_take_patches(worker, &job->row_walk);
    for (int k = 0; k < group->nins; k++) {
        int64_t tile = wk__tile_bytes(job, k);
        int code = group->ins[k].code;
        if (code >= WK__RSUM && code <= WK__RMIN) {
            block->sums[k] = wk__worker_take(worker, job->slots * tile * (has_second_level(job) ? 2 : 1));
            place[WK__VM_TOTAL + k] = (wk__vm_place){block->sums[k], 0};
            if (wk__segments_of(job) > 1) {
                block->totals[k] = (wk__total *)(void *)wk__worker_take(worker, job->lanes * (int64_t)sizeof(wk__total));
            }
        }
        if (program->fate[k].kept) {
            int64_t columns = (job->columns + lanes - 1) / lanes * lanes;
            char *row = wk__worker_take(worker, columns * tile / lanes * job->lanes);
            place[WK__VM_HOME + k] = (wk__vm_place){row, job->lanes == 1 ? tile / lanes : tile};
        } else if (program->lanes_are_rows) {
            place[WK__VM_HOME + k] = (wk__vm_place){wk__worker_take(worker, tile), 0};
        }
    }
}

/* ---- rows as lanes ----------------------------------------------------------------------------------------------------------- */

/* Where each row of the block is, for operands that are not simply side by side. */
static void find_lanes(wk__row_block *block, wk__cursor *cursor)
{
    const wk__walk *walk = &block->job->row_walk;
    wk__worker *worker = block->worker;
    block->gathered = 0;
    bool one_run = walk->size[0] - cursor->index[0] >= block->count;
    for (int k = 0; k < walk->noperands; k++) {
        const wk__walk_operand *operand = &walk->operand[k];
        if (!operand->flat && !(one_run && operand->step[0] == operand->size)) block->gathered |= 1u << operand->number;
    }
    for (int64_t lane = 0, take; lane < block->count; lane += take) {
        take = walk->size[0] - cursor->index[0];
        if (take > block->count - lane) take = block->count - lane;
        for (int k = 0; k < walk->noperands; k++) {
            const wk__walk_operand *operand = &walk->operand[k];
            int64_t first = cursor->address.at[operand->number] - block->address.at[operand->number];
            int64_t *offset = worker->offset[operand->number] + lane;
            for (int64_t l = 0; l < take; l++) offset[l] = first + l * operand->step[0];
        }
        wk__cursor_move(cursor, walk, take);
    }
}

/* The columns from..to-1 of all rows of the block, one after the other, in patches. `from` is column 0 of a chunk. */
static void run_columns(wk__row_block *block, int pass, int64_t from, int64_t to)
{
    const wk__rows *job = block->job;
    const wk__walk *walk = &job->column_walk;
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
        for (int k = 0; k < job->group->nins; k++) {
            if (!wk__reduces_in(job, k, pass)) continue;
            int64_t tile = wk__tile_bytes(job, k);
            char *slot_0 = block->sums[k] - (from - from % lanes) * tile;
            block->worker->state.place[WK__VM_TOTAL + k] = (wk__vm_place){slot_0, tile};
        }
        wk__worker_run_patch(block->worker, &job->program->element[pass], job->group, &patch);
        wk__cursor_move(&cursor, walk, patch.columns);
    }
}

/* One column, that of the rows' own values. */
static void run_row_lanes(wk__row_block *block, const wk__cpu_stage *stage)
{
    wk__patch patch = {.lanes = block->count, .columns = 1, .gathered = block->gathered, .address = block->address};
    wk__worker_run_patch(block->worker, stage, block->job->group, &patch);
}

/* ---- stages -------------------------------------------------------------------------------------------------------------------- */

void wk__row_block_seek(wk__row_block *block, int64_t number)
{
    const wk__rows *job = block->job;
    int64_t row = number * job->lanes;
    wk__cursor cursor;
    wk__cursor_seek(&cursor, &job->row_walk, &job->origin, row);
    block->address = cursor.address;
    block->count = job->rows - row < job->lanes ? job->rows - row : job->lanes;
    if (job->program->lanes_are_rows) find_lanes(block, &cursor);
}

void wk__row_block_run_row(wk__row_block *block, int pass)
{
    const wk__cpu_stage *stage = &block->job->program->row[pass];
    if (stage->start < 0) return;
    if (block->job->program->lanes_are_rows) {
        run_row_lanes(block, stage);
    } else {
        wk__worker_run_row(block->worker, stage, &block->address);
    }
}

static void run_chunk(wk__row_block *block, int pass, int64_t from, int64_t to)
{
    const wk__rows *job = block->job;
    const wk__cpu_stage *stage = &job->program->element[pass];
    if (stage->start < 0) return;
    if (job->program->lanes_are_rows) {
        run_columns(block, pass, from, to);
    } else if (stage->indexed == 0 && (wk__stage_operands(stage) & ~job->flat_columns) == 0) {
        wk__worker_run_flat(block->worker, stage, job->group, &block->address, from, to);
    } else {
        wk__worker_run_elements(block->worker, stage, &job->column_walk, &block->address, from, to, true);
    }
}

/* ---- sums ---------------------------------------------------------------------------------------------------------------------- */

static void start_sum(wk__row_block *block, int k)
{
    const wk__vm_reduction *reduction = reduction_of(block->job, k);
    int64_t tiles = block->job->slots * (has_second_level(block->job) ? 2 : 1);
    for (int64_t t = 0; t < tiles; t++) reduction->start(block->sums[k] + t * wk__tile_bytes(block->job, k));
}

/* Adds a chunk to its segment, and makes ready for the next one. */
static void end_chunk(wk__row_block *block, int k)
{
    const wk__rows *job = block->job;
    const wk__vm_reduction *reduction = reduction_of(job, k);
    int64_t tile = wk__tile_bytes(job, k);
    for (int64_t t = 0; t < job->slots; t++) {
        reduction->merge(block->sums[k] + (job->slots + t) * tile, block->sums[k] + t * tile);
        reduction->start(block->sums[k] + t * tile);
    }
}

/* Folds the slots; those past the last column would add nothing. */
static void end_segment(wk__row_block *block, int k)
{
    const wk__rows *job = block->job;
    const wk__vm_reduction *reduction = reduction_of(job, k);
    int64_t tile = wk__tile_bytes(job, k);
    char *sums = block->sums[k];
    if (has_second_level(job)) memcpy(sums, sums + job->slots * tile, (size_t)(job->slots * tile));
    if (!job->program->lanes_are_rows) {
        reduction->fold(sums);
        return;
    }
    for (int64_t half = job->program->vm->lanes / 2; half > 0; half /= 2) {
        for (int64_t t = 0; t < half && t + half < job->slots; t++) {
            reduction->merge(sums + t * tile, sums + (t + half) * tile);
        }
    }
}

void wk__row_block_run_segment(wk__row_block *block, int pass, int64_t segment)
{
    const wk__rows *job = block->job;
    int64_t from = segment * WK__SUM_SEGMENT, end = from + WK__SUM_SEGMENT;
    if (end > job->columns) end = job->columns;
    for (int k = 0; k < job->group->nins; k++) {
        if (wk__reduces_in(job, k, pass)) start_sum(block, k);
    }
    for (int64_t to; from < end; from = to) {
        to = from + WK__SUM_CHUNK < end ? from + WK__SUM_CHUNK : end;
        run_chunk(block, pass, from, to);
        for (int k = 0; k < job->group->nins && has_second_level(job); k++) {
            if (wk__reduces_in(job, k, pass)) end_chunk(block, k);
        }
    }
    for (int k = 0; k < job->group->nins; k++) {
        if (wk__reduces_in(job, k, pass)) end_segment(block, k);
    }
}

void wk__row_block_publish(wk__row_block *block, int k)
{
    const wk__rows *job = block->job;
    wk__vm_state *s = &block->worker->state;
    if (job->program->lanes_are_rows) {
        memcpy(s->place[WK__VM_HOME + k].p, block->sums[k], (size_t)wk__tile_bytes(job, k));
    } else {
        memcpy(&s->cell[k], block->sums[k], (size_t)wk__vm_class_size(wk__class_of_register(job, k)));
    }
}
