/* SPDX-License-Identifier: Apache-2.0 */
/* Rows in batches. A row stage computes one value per row, but an instruction costs as much for one lane as for all. So
 * the stages that follow the last pass over every row run once per batch, with rows as lanes:
 *
 *     head, row by row      row[0]  element[0]  row[1]  element[1]     lanes are columns, values of a row are scalars
 *     tail, per batch       row[2]  element[2]  row[3]                 lanes are rows, values of a row are in tiles
 *
 * A pass of the tail has a condition (wk__program_pass_condition). Its element stage runs only for rows in which that
 * is not 0, one by one as in the head. The program is compiled for both kinds of lanes. */
#include <string.h>

#include "base/pool.h"
#include "program_cache.h"
#include "reduce.h"

enum {
    BATCH_ELEMENTS = 65536, /* of a batch, unless its rows are long */
    MIN_BATCH = 8,          /* rows for which the stages of a batch take less time than those of each row */
    MAX_COLUMNS = 16384     /* of longer rows, the row stages are negligible */
};

typedef struct batches {
    wk__cpu_reduce_job *rows; /* lanes are columns */
    wk__cpu_reduce_job batch; /* lanes are rows; blocks are batches, whose row stages alone are used */
    int head;                 /* passes of the head */
    int ncarried;
    int16_t carried[WK__MAX_INS]; /* values of the head that the tail uses */
} batches;

/* ---- values of a row --------------------------------------------------------------------------------------------- */

static void scalar_to_lane(wk__vm_state *s, const wk__program *group, int k, int64_t lane)
{
    char *tile = s->place[WK__VM_CARRIED + k].p;
    if (wk__vm_class_size(wk__vm_class_of((wk_dtype)group->ins[k].dtype)) == 4) {
        memcpy(tile + 4 * lane, &s->cell[k], 4);
    } else {
        memcpy(tile + 8 * lane, &s->cell[k], 8);
    }
}

static void lane_to_scalar(wk__vm_state *s, const wk__program *group, int k, int64_t lane)
{
    const int size = wk__vm_class_size(wk__vm_class_of((wk_dtype)group->ins[k].dtype));
    memcpy(&s->cell[k], s->place[WK__VM_CARRIED + k].p + size * lane, (size_t)size);
}

/* Returns true if k is a value per row that is known before pass `pass` and used by another stage than its own. */
static bool is_known(const wk__cpu_reduce_job *job, int k, int pass)
{
    const wk__cpu_program *p = job->program;
    return p->level[k] == 0 && p->fate[k].shared && p->pass[k] <= pass;
}

static int first_register(const wk__ins *ins)
{
    return ins->code == WK__STORE ? 1 : 0;
}

/* Lists the known values of the head that any stage but its row stages uses. */
static void list_carried(batches *b)
{
    const wk__program *group = b->rows->group;
    const wk__cpu_program *p = b->rows->program;
    bool used[WK__MAX_INS] = {false};
    for (int k = 0; k < group->nins; k++) {
        const wk__ins *ins = &group->ins[k];
        const bool in_head =
            p->level[k] == 0 && p->pass[k] < b->head && !(ins->code >= WK__RSUM && ins->code <= WK__RMIN);
        for (int n = 0; n < wk__opcode_arity[ins->code] && !in_head; n++)
            used[ins->arg[first_register(ins) + n]] = true;
    }
    b->ncarried = 0;
    for (int k = 0; k < group->nins; k++) {
        const bool reduction = group->ins[k].code >= WK__RSUM && group->ins[k].code <= WK__RMIN;
        if (used[k] && is_known(b->rows, k, reduction ? b->head : b->head - 1)) b->carried[b->ncarried++] = (int16_t)k;
    }
}

/* ---- execution --------------------------------------------------------------------------------------------------- */

static void run_head(const batches *b, wk__row_block *row, int64_t first, int64_t count)
{
    wk__vm_state *s = &row->worker->state;
    row->worker->program = b->rows->program;
    wk__row_block_seek(row, first);
    for (int64_t lane = 0; lane < count; lane++) {
        wk__row_block_next(row);
        for (int pass = 0; pass < b->head; pass++) {
            wk__row_block_run_row(row, pass);
            wk__row_block_run_pass(row, pass);
        }
        for (int n = 0; n < b->ncarried; n++) scalar_to_lane(s, b->rows->group, b->carried[n], lane);
    }
}

/* Runs a pass of the tail for the rows of the batch in which its condition is not 0. */
static void run_chosen_rows(const batches *b, wk__row_block *row, const wk__row_block *batch, int pass)
{
    const wk__cpu_reduce_job *job = b->rows;
    wk__vm_state *s = &row->worker->state;
    const int32_t *chosen = (const void *)s->place[WK__VM_CARRIED + job->condition[pass]].p;
    row->worker->program = job->program;
    row->idle = false;
    for (int64_t lane = 0; lane < batch->count; lane++) {
        if (chosen[lane] == 0) continue;
        wk__row_block_seek(row, batch->row + lane);
        wk__row_block_next(row);
        for (int k = 0; k < job->group->nins; k++) {
            if (is_known(job, k, pass)) lane_to_scalar(s, job->group, k, lane);
        }
        wk__row_block_run_pass(row, pass);
        for (int n = job->first_sum[pass]; n < job->first_sum[pass + 1]; n++)
            scalar_to_lane(s, job->group, job->sum[n].reg, lane);
    }
}

/* Positions at batch `number`. The worker's offsets then are those of its rows. */
static void enter_batch(const batches *b, wk__row_block *batch, int64_t number)
{
    batch->worker->program = b->batch.program;
    wk__row_block_seek(batch, number);
    wk__row_block_next(batch);
}

static void run_tail(const batches *b, wk__row_block *row, wk__row_block *batch, int64_t number)
{
    const int passes = b->batch.program->passes;
    enter_batch(b, batch, number);
    for (int pass = b->head; pass < passes; pass++) {
        wk__row_block_run_row(batch, pass);
        wk__row_block_publish_identities(batch, pass);
        if (batch->idle) continue;
        run_chosen_rows(b, row, batch, pass);
        enter_batch(b, batch, number);
    }
    wk__row_block_run_row(batch, passes);
}

static void run_task(void *user, int64_t task)
{
    const batches *b = user;
    wk__cpu_reduce_job *job = b->rows;
    const wk__cpu_program *most_tiles =
        job->program->ntiles > b->batch.program->ntiles ? job->program : b->batch.program;
    wk__worker worker;
    wk__row_block row, batch;
    if (!wk__worker_init(&worker, most_tiles, job->group, job->scratch + b->batch.scratch, NULL)) {
        atomic_store(&job->trouble.no_memory, true);
        return;
    }
    wk__row_block_init(&batch, &b->batch, &worker);
    wk__row_block_init(&row, job, &worker); /* last: the accumulators are its */
    const int64_t size = b->batch.lanes, first = task * b->batch.blocks_per_task,
                  end = first + b->batch.blocks_per_task;
    for (int64_t number = first; number < end && number < b->batch.blocks; number++) {
        const int64_t left = job->rows - number * size;
        run_head(b, &row, number * size, left < size ? left : size);
        run_tail(b, &row, &batch, number);
    }
    if (job->program->nontemporal) job->program->vm->fence();
    wk__cpu_failure_record(&job->trouble, &worker, task);
    wk__worker_destroy(&worker);
}

/* ---- planning ---------------------------------------------------------------------------------------------------- */

/* Returns the number of passes up to the last one without a condition. */
static int passes_of_head(const wk__cpu_reduce_job *job)
{
    int head = job->program->passes;
    while (head > 0 && job->condition[head - 1] >= 0) head--;
    return head;
}

/* Returns false if stages of the tail could read a bad index, because the first one in the order of rows is reported,
 * or if a value of each column is kept from one pass to another. */
static bool has_simple_tail(const wk__cpu_reduce_job *job, int head)
{
    const wk__cpu_program *p = job->program;
    for (int pass = head; pass <= p->passes; pass++) {
        if (p->row[pass].indexed || (pass < p->passes && p->element[pass].indexed)) return false;
    }
    for (int k = 0; k < job->group->nins; k++) {
        if (p->fate[k].kept) return false;
    }
    return true;
}

/* Returns the rows of a batch; less than MIN_BATCH if batches do not pay. */
static int64_t batch_size(const wk__cpu_reduce_job *job)
{
    const int64_t lanes = job->program->vm->lanes, shared = job->rows / (2 * (int64_t)wk__thread_count());
    if (job->columns > MAX_COLUMNS || job->columns == 0) return 0;
    int64_t size = BATCH_ELEMENTS / job->columns;
    if (size < MIN_BATCH) size = MIN_BATCH;
    if (size > lanes) size = lanes;
    return size < shared ? size : shared;
}

bool wk__cpu_reduce_in_batches(wk__cpu_reduce_job *job, const wk__cpu_layout *layout, wk__fail *fail, wk_code *code)
{
    const int64_t size = batch_size(job);
    if (size < MIN_BATCH || job->program->lanes_are_rows) return false;
    const int head = passes_of_head(job);
    if (!has_simple_tail(job, head)) return false;
    batches b = {.rows = job, .batch = *job, .head = head};
    wk__cpu_program own;
    const wk__cpu_style style = {.lanes_are_rows = true};
    b.batch.program = wk__cpu_program_acquire(&own, job->group, layout, &style, fail);
    if (!b.batch.program && fail->code == WK_ERR_MEMORY) return false; /* rows need no second program */
    *code = b.batch.program ? WK_OK : fail->code;
    if (!b.batch.program) return true;
    b.batch.slots = 1;
    b.batch.short_rows = false;
    b.batch.lanes = size;
    b.batch.blocks = (job->rows + size - 1) / size;
    b.batch.scratch = wk__cpu_reduce_scratch(&b.batch);
    b.batch.blocks_per_task = wk__cpu_reduce_blocks_per_task(&b.batch);
    list_carried(&b);
    wk__parallel_for((b.batch.blocks + b.batch.blocks_per_task - 1) / b.batch.blocks_per_task, run_task, &b);
    if (b.batch.program == &own) wk__cpu_program_destroy(&own);
    return true;
}
