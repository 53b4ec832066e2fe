/* SPDX-License-Identifier: Apache-2.0 */
/* Distribution of programs with reductions over threads. Usually threads process different rows; with few rows and many
 * columns they process segments of one row after the other. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "program_cache.h"
#include "reduce.h"

enum {
    NONTEMPORAL = 32768,   /* elements below which all stores are ordinary ones */
    KEEP_BYTES = 256 << 10 /* maximum size of a row of kept values, to stay in L2 */
};

/* ---- accumulating segments --------------------------------------------------------------------------------------- */

static bool is_floating(wk__vm_class class)
{
    return class == WK__VM_F32 || class == WK__VM_F64;
}

static wk__cpu_reduce_total value_in(const char *tile, wk__vm_class class, int64_t lane)
{
    wk__cpu_reduce_total t;
    switch (class) {
    case WK__VM_F32: t.f = (double)((const float *)(const void *)tile)[lane]; break;
    case WK__VM_F64: t.f = ((const double *)(const void *)tile)[lane]; break;
    case WK__VM_I32: t.i = ((const int32_t *)(const void *)tile)[lane]; break;
    default: t.i = ((const int64_t *)(const void *)tile)[lane];
    }
    return t;
}

static void put_value(char *tile, wk__vm_class class, int64_t lane, wk__cpu_reduce_total t)
{
    switch (class) {
    case WK__VM_F32: ((float *)(void *)tile)[lane] = (float)t.f; break;
    case WK__VM_F64: ((double *)(void *)tile)[lane] = t.f; break;
    case WK__VM_I32: ((int32_t *)(void *)tile)[lane] = (int32_t)t.i; break;
    default: ((int64_t *)(void *)tile)[lane] = t.i;
    }
}

static double combine_floating(int code, double a, double b)
{
    switch (code) {
    case WK__RSUM: return a + b;
    case WK__RPROD: return a * b;
    case WK__RMAX: return a > b || a != a || (a == b && signbit(b)) ? a : b; /* zeros are ordered: vector.h */
    default: return a < b || a != a || (a == b && signbit(a)) ? a : b;
    }
}

static int64_t combine_integer(int code, int64_t a, int64_t b)
{
    switch (code) {
    case WK__RSUM: return (int64_t)((uint64_t)a + (uint64_t)b);
    case WK__RPROD: return (int64_t)((uint64_t)a * (uint64_t)b);
    case WK__RMAX: return a > b ? a : b;
    default: return a < b ? a : b;
    }
}

/* Accumulates the result of the next segment in totals[]; the first one initialises them. */
static void add_segment(const wk__cpu_reduce_job *job, const wk__cpu_reduce_acc *sum, wk__cpu_reduce_total totals[],
                        const char *tile, bool first)
{
    for (int64_t l = 0; l < job->lanes; l++) {
        wk__cpu_reduce_total part = value_in(tile, sum->class, l);
        if (first) {
            totals[l] = part;
        } else if (is_floating(sum->class)) {
            totals[l].f = combine_floating(sum->code, totals[l].f, part.f);
        } else {
            totals[l].i = combine_integer(sum->code, totals[l].i, part.i);
        }
    }
}

static void publish_totals(wk__row_block *block, int n)
{
    const wk__cpu_reduce_acc *sum = &block->job->sum[n];
    for (int64_t l = 0; l < block->job->lanes; l++) put_value(block->slots[n], sum->class, l, block->totals[n][l]);
    wk__row_block_publish(block, n);
}

/* ---- parallel over rows ------------------------------------------------------------------------------------------ */

int64_t wk__cpu_reduce_scratch(const wk__cpu_reduce_job *job)
{
    const wk__cpu_program *program = job->program;
    const int64_t lanes = program->vm->lanes;
    int64_t bytes = program->lanes_are_rows ? wk__patch_bytes(&job->row_walk, lanes) : 0;
    for (int n = 0; n < job->nsums; n++) {
        bytes += job->slots * job->sum[n].tile * 2 + job->lanes * (int64_t)sizeof(wk__cpu_reduce_total) + 64;
    }
    for (int k = 0; k < job->group->nins; k++) {
        int64_t tile = wk__tile_bytes(job, k);
        if (program->fate[k].kept) {
            bytes += (job->columns + lanes) * (tile / lanes) * job->lanes + 64;
        } else if (program->lanes_are_rows) {
            bytes += tile;
        }
    }
    return bytes;
}

void wk__row_block_run_pass(wk__row_block *block, int pass)
{
    const wk__cpu_reduce_job *job = block->job;
    const int first = job->first_sum[pass], end = job->first_sum[pass + 1];
    const int64_t segments = wk__segments_of(job);
    if (block->idle) {
        wk__row_block_publish_identities(block, pass);
        return;
    }
    if (job->short_rows) {
        wk__row_block_run_short_row(block, pass);
        return;
    }
    for (int64_t segment = 0; segment < segments; segment++) {
        wk__row_block_run_segment(block, pass, segment);
        for (int n = first; n < end && segments > 1; n++)
            add_segment(job, &job->sum[n], block->totals[n], block->slots[n], segment == 0);
    }
    for (int n = first; n < end; n++) {
        if (segments > 1) {
            publish_totals(block, n);
        } else {
            wk__row_block_publish(block, n);
        }
    }
}

static void run_task(void *user, int64_t task)
{
    wk__cpu_reduce_job *job = user;
    wk__worker worker;
    wk__row_block block;
    if (!wk__worker_init(&worker, job->program, job->group, job->scratch, NULL)) {
        atomic_store(&job->trouble.no_memory, true);
        return;
    }
    wk__row_block_init(&block, job, &worker);
    int64_t number = task * job->blocks_per_task, end = number + job->blocks_per_task;
    wk__row_block_seek(&block, number);
    for (; number < end && number < job->blocks; number++) {
        wk__row_block_next(&block);
        for (int pass = 0; pass < job->program->passes; pass++) {
            wk__row_block_run_row(&block, pass);
            wk__row_block_run_pass(&block, pass);
        }
        wk__row_block_run_row(&block, job->program->passes);
    }
    if (job->program->nontemporal) job->program->vm->fence();
    wk__cpu_failure_record(&job->trouble, &worker, task);
    wk__worker_destroy(&worker);
}

/* ---- parallel over segments -------------------------------------------------------------------------------------- */

/* One pass over one block of rows, parallel over segments. */
typedef struct split {
    wk__cpu_reduce_job *job;
    const wk__row_block *block; /* the caller's block, with the results of row stages */
    int64_t number;             /* index of the block */
    int pass;
    char *parts;        /* [segment][reduction of the pass]: result tiles */
    int64_t part_bytes; /* per segment */
} split;

/* Returns the iteration index of a part of the block's pass: 0 is its row stage, then come its segments. */
static int64_t part_of(const split *s, int64_t piece)
{
    return (s->number * (s->job->program->passes + 1) + s->pass) * (wk__segments_of(s->job) + 1) + piece;
}

static void copy_row_values(wk__worker *to, const wk__worker *from, const wk__cpu_reduce_job *job)
{
    memcpy(to->state.cell, from->state.cell, sizeof to->state.cell);
    for (int k = 0; k < job->group->nins && job->program->lanes_are_rows; k++) {
        if (!job->program->fate[k].shared) continue;
        memcpy(to->state.place[WK__VM_CARRIED + k].p, from->state.place[WK__VM_CARRIED + k].p,
               (size_t)wk__tile_bytes(job, k));
    }
}

static void run_split_task(void *user, int64_t segment)
{
    split *s = user;
    wk__cpu_reduce_job *job = s->job;
    wk__worker worker;
    wk__row_block block;
    if (!wk__worker_init(&worker, job->program, job->group, job->scratch, NULL)) {
        atomic_store(&job->trouble.no_memory, true);
        return;
    }
    wk__row_block_init(&block, job, &worker);
    wk__row_block_seek(&block, s->number);
    wk__row_block_next(&block);
    copy_row_values(&worker, s->block->worker, job);
    wk__row_block_run_segment(&block, s->pass, segment);
    char *part = s->parts + segment * s->part_bytes;
    for (int n = job->first_sum[s->pass]; n < job->first_sum[s->pass + 1]; n++) {
        memcpy(part, block.slots[n], (size_t)job->sum[n].tile);
        part += job->sum[n].tile;
    }
    if (job->program->nontemporal) job->program->vm->fence();
    wk__cpu_failure_record(&job->trouble, &worker, part_of(s, 1 + segment));
    wk__worker_destroy(&worker);
}

static void run_split_pass(split *s, wk__row_block *block)
{
    wk__cpu_reduce_job *job = s->job;
    const int first = job->first_sum[s->pass], end = job->first_sum[s->pass + 1];
    int64_t segments = wk__segments_of(job);
    if (block->idle) {
        wk__row_block_publish_identities(block, s->pass);
        return;
    }
    wk__parallel_for(segments, run_split_task, s);
    for (int64_t segment = 0; segment < segments; segment++) {
        const char *part = s->parts + segment * s->part_bytes;
        for (int n = first; n < end; n++) {
            add_segment(job, &job->sum[n], block->totals[n], part, segment == 0);
            part += job->sum[n].tile;
        }
    }
    for (int n = first; n < end; n++) publish_totals(block, n);
}

/* The caller's state while its segments run: 52 KB, on the heap because together with a segment's it could overflow a
 * small stack. */
typedef struct split_caller {
    wk__worker worker;
    wk__row_block block;
} split_caller;

static void run_blocks(split *s, split_caller *caller)
{
    wk__cpu_reduce_job *job = s->job;
    wk__worker *worker = &caller->worker;
    wk__row_block *block = &caller->block;
    s->block = block;
    wk__row_block_init(block, job, worker);
    wk__row_block_seek(block, 0);
    for (; s->number < job->blocks; s->number++) {
        wk__row_block_next(block);
        for (s->pass = 0; s->pass < job->program->passes; s->pass++) {
            wk__row_block_run_row(block, s->pass);
            wk__cpu_failure_record(&job->trouble, worker, part_of(s, 0));
            run_split_pass(s, block);
        }
        wk__row_block_run_row(block, s->pass);
        wk__cpu_failure_record(&job->trouble, worker, part_of(s, 0));
    }
    wk__worker_destroy(worker);
}

static void run_split(wk__cpu_reduce_job *job)
{
    split s = {.job = job};
    for (int n = 0; n < job->nsums; n++) s.part_bytes += job->sum[n].tile;
    char *room = wk__alloc(sizeof(split_caller) + _Alignof(split_caller));
    split_caller *caller = (void *)(room + (-(uintptr_t)room & (_Alignof(split_caller) - 1)));
    s.parts = wk__alloc((size_t)(wk__segments_of(job) * s.part_bytes));
    if (room && s.parts && wk__worker_init(&caller->worker, job->program, job->group, job->scratch, NULL))
        run_blocks(&s, caller);
    else
        atomic_store(&job->trouble.no_memory, true);
    wk__free(s.parts);
    wk__free(room);
}

/* ---- lanes: columns or rows -------------------------------------------------------------------------------------- */

/* Returns the innermost dimension of first..end-1 with a size other than 1; -1 if none. */
static int innermost(const wk__program *group, int first, int end)
{
    for (int d = end - 1; d >= first; d--) {
        if (group->shape[d] != 1) return d;
    }
    return -1;
}

/* Returns true if lanes of this operand along dimension `dim` must be gathered. */
static bool is_scattered(const wk__operand *operand, int dim)
{
    return dim >= 0 && operand->stride[dim] != 1 && operand->stride[dim] != 0;
}

/* Estimates the cost of a block of rows for both choices, in units of one cached lane of one operand: gathering costs
 * five times as much as loading, and each program run as much as some lanes. */
static bool should_vectorize_rows(const wk__cpu_reduce_job *job, uint32_t uniform, int64_t lanes)
{
    const wk__program *group = job->group;
    const double gather = 5, start_of_program = 60, start_of_row = 200;
    int kept = group->ndim - group->nreduce;
    int row_dim = innermost(group, 0, kept), column_dim = innermost(group, kept, group->ndim);
    double rows = (double)(job->rows < lanes ? job->rows : lanes), columns = (double)job->columns;
    double by_rows = 0, by_columns = 0;
    for (int k = 0; k < group->noperands; k++) {
        if (uniform >> k & 1) continue;
        by_rows += is_scattered(&group->operand[k], row_dim) ? gather : 1;
        by_columns += is_scattered(&group->operand[k], column_dim) ? gather : 1;
    }
    by_rows = columns * ((double)lanes * by_rows + start_of_program);
    by_columns =
        rows * (ceil(columns / (double)lanes) * ((double)lanes * by_columns + start_of_program) + start_of_row);
    return by_rows < by_columns;
}

static int64_t keepable_columns(const wk__cpu_reduce_job *job, bool lanes_are_rows, int64_t lanes)
{
    int64_t bytes = 4 * (lanes_are_rows ? lanes : 1);
    return job->columns <= KEEP_BYTES / bytes ? job->columns : 0;
}

/* Returns the operands that any stage uses. */
static uint32_t all_operands(const wk__cpu_program *program)
{
    uint32_t operands = 0;
    for (int p = 0; p < program->passes; p++) operands |= wk__stage_operands(&program->element[p]);
    for (int p = 0; p <= program->passes; p++) operands |= wk__stage_operands(&program->row[p]);
    return operands;
}

/* Returns the initial value of a floating reduction. */
static double identity_of(int code)
{
    return code == WK__RSUM ? 0 : code == WK__RPROD ? 1 : code == WK__RMAX ? -INFINITY : INFINITY;
}

/* wk__program_pass_condition, of a pass that does nothing but make floating reductions which start with what they take
 * where it is 0. */
static int condition_of(const wk__cpu_reduce_job *job, int pass)
{
    const wk__program *group = job->group;
    const wk__cpu_program *program = job->program;
    const int condition = wk__program_pass_condition(group, program->level, program->pass, pass);
    for (int k = 0; k < group->nins && condition >= 0; k++) {
        const wk__ins *ins = &group->ins[k];
        if (program->level[k] && program->pass[k] == pass && (ins->code == WK__STORE || program->fate[k].kept))
            return -1;
        if (ins->code < WK__RSUM || ins->code > WK__RMIN || program->pass[k] != pass + 1) continue;
        const double otherwise = group->imm[group->ins[group->ins[ins->arg[0]].arg[2]].arg[0]].f;
        if (!is_floating(wk__vm_class_of((wk_dtype)ins->dtype)) || otherwise != identity_of(ins->code)) return -1;
    }
    return condition;
}

static void list_sums(wk__cpu_reduce_job *job)
{
    job->nsums = 0;
    for (int pass = 0; pass < job->program->passes; pass++) {
        job->condition[pass] = (int16_t)condition_of(job, pass);
        job->first_sum[pass] = (uint8_t)job->nsums;
        for (int k = 0; k < job->group->nins; k++) {
            const wk__ins *ins = &job->group->ins[k];
            if (ins->code < WK__RSUM || ins->code > WK__RMIN || job->program->pass[k] != pass + 1) continue;
            wk__vm_class class = wk__vm_class_of((wk_dtype)ins->dtype);
            job->sum[job->nsums++] = (wk__cpu_reduce_acc){
                .reg = (int16_t)k,
                .code = ins->code,
                .class = class,
                .tile = wk__tile_bytes(job, k),
                .functions = &job->program->vm->table[class]->reduce[ins->code - WK__RSUM],
            };
        }
    }
    job->first_sum[job->program->passes] = (uint8_t)job->nsums;
}

static void plan_walks(wk__cpu_reduce_job *job)
{
    const wk__program *group = job->group;
    int kept = group->ndim - group->nreduce;
    uint32_t operands = all_operands(job->program);
    wk__cpu_iter_init(&job->row_walk, group, group->shape, 0, kept, operands, false);
    wk__cpu_iter_init(&job->column_walk, group, group->shape, kept, group->ndim, operands, false);
    wk__cpu_iter_origin(&job->origin, group, NULL, operands);
    job->flat_columns = 0;
    for (int k = 0; k < job->column_walk.noperands; k++) {
        const wk__cpu_iter_operand *operand = &job->column_walk.operand[k];
        if (operand->contiguous) job->flat_columns |= 1u << operand->number;
    }
}

int64_t wk__cpu_reduce_blocks_per_task(const wk__cpu_reduce_job *job)
{
    const int64_t elements = job->lanes * (job->columns > 0 ? job->columns : 1);
    const int64_t task = wk__cpu_program_grain(job->program);
    return elements < task ? task / elements : 1;
}

static wk_code run_planned(wk__cpu_reduce_job *job, const wk__cpu_layout *layout, bool split_columns, wk__fail *fail)
{
    wk_code code = WK_OK;
    const int64_t lanes = job->program->vm->lanes;
    job->lanes = job->program->lanes_are_rows ? lanes : 1;
    job->blocks = (job->rows + job->lanes - 1) / job->lanes;
    job->slots = !job->program->lanes_are_rows ? 1 : job->columns < lanes ? job->columns : lanes;
    if (job->slots == 0) job->slots = 1;
    job->short_rows = !job->program->lanes_are_rows && job->columns <= WK__SUM_CHUNK;
    list_sums(job);
    plan_walks(job);
    job->scratch = wk__cpu_reduce_scratch(job);
    if (split_columns) {
        run_split(job);
        return code;
    }
    if (wk__cpu_reduce_in_batches(job, layout, fail, &code)) return code;
    job->blocks_per_task = wk__cpu_reduce_blocks_per_task(job);
    wk__parallel_for((job->blocks + job->blocks_per_task - 1) / job->blocks_per_task, run_task, job);
    return code;
}

wk_code wk__cpu_run_rows(const wk__program *group, wk__fail *fail)
{
    const int64_t lanes = wk__cpu_isa_current()->vm->lanes;
    wk__cpu_program own;
    wk__cpu_layout layout;
    wk__cpu_reduce_job job;
    job.group = group;
    wk__cpu_layout_init(&layout, group);
    job.rows = wk__program_rows(group);
    job.columns = layout.count;
    if (job.rows == 0) return WK_OK;
    bool lanes_are_rows = should_vectorize_rows(&job, layout.uniform, lanes);
    int64_t blocks = lanes_are_rows ? (job.rows + lanes - 1) / lanes : job.rows;
    bool split_columns =
        job.columns > WK__SUM_SEGMENT && wk__thread_count() > 1 && blocks < 4 * (int64_t)wk__thread_count();
    wk__cpu_style style = {.lanes_are_rows = lanes_are_rows,
                           .keep_values = split_columns ? 0 : keepable_columns(&job, lanes_are_rows, lanes),
                           .nontemporal = job.rows * job.columns < NONTEMPORAL ? 0 : wk__nontemporal_operands(group)};
    job.program = wk__cpu_program_acquire(&own, group, &layout, &style, fail);
    if (!job.program) return fail->code;
    wk__cpu_failure_init(&job.trouble);
    wk_code code = run_planned(&job, &layout, split_columns, fail);
    if (code == WK_OK) code = wk__cpu_failure_report(&job.trouble, group, fail);
    if (job.program == &own) wk__cpu_program_destroy(&own);
    return code;
}
