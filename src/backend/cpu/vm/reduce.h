/* SPDX-License-Identifier: Apache-2.0 */
/* Groups that reduce, and what program_run.c and reduce.c share. */
#ifndef WICK_BACKEND_CPU_RUN_ROWS_H
#define WICK_BACKEND_CPU_RUN_ROWS_H

#include <stdatomic.h>

#include "iter.h"

/* What went wrong in some thread: no memory, or the bad index that comes first in the order of the walk,
 * whoever sees it first. */
typedef struct wk__cpu_failure {
    atomic_bool no_memory;
    bool fault;
    int64_t part, index, bound; /* which part of the work it was in: parts are numbered in the order of the walk */
} wk__cpu_failure;

void wk__cpu_failure_init(wk__cpu_failure *trouble);
void wk__cpu_failure_record(wk__cpu_failure *trouble, const wk__worker *worker, int64_t part);
wk_code wk__cpu_failure_report(wk__cpu_failure *trouble, const wk__program *group, wk__fail *fail);

/* Operands that are best stored past the caches, a bit each. */
uint32_t wk__nontemporal_operands(const wk__program *group);

wk_code wk__cpu_run_rows(const wk__program *group, wk__fail *fail);

/* ---- the sums -------------------------------------------------------------------------------------------------------
 *
 * A reduction over the columns of a row adds up in an order that depends on the number of columns and the lanes of a
 * block, L, alone: not on strides, fusion, threads, or on whether lanes are columns or rows.
 *
 *     column c belongs to slot c % L; a slot adds its columns up in order          ->  L numbers for each chunk
 *     the chunks (of 2048 columns) of a segment are added up in order, by slot     ->  L numbers for each segment
 *     the slots of a segment are folded, upper half onto lower, until one is left  ->  one number for each segment
 *     the segments (of 16 chunks) are added up in order, f32 in f64                ->  the result
 *
 * So no number of f32 goes through more than about 2048 / L + 16 + log2 L roundings however many columns there are. */
enum {
    WK__SUM_CHUNK = 2048,
    WK__SUM_SEGMENT = 16 * WK__SUM_CHUNK,
};

/* One reduction of a group. */
typedef struct wk__cpu_reduce_acc {
    int16_t reg;        /* its register */
    uint8_t code, pass; /* the pass that adds it up */
    wk__vm_class class;
    int64_t tile; /* bytes of a tile */
    const wk__vm_reduction *functions;
} wk__cpu_reduce_acc;

/* A group that reduces, ready to run. */
typedef struct wk__cpu_reduce_job {
    const wk__program *group;
    const wk__cpu_program *program;
    int64_t rows, columns;
    int64_t lanes;   /* rows that run at once: 1, or the lanes of a block */
    int64_t blocks;  /* of so many rows */
    int64_t slots;   /* tiles that a sum takes at each of its levels */
    int64_t scratch; /* bytes a worker needs for sums and kept values */
    int64_t blocks_per_task;
    uint32_t flat_columns; /* operands that are contiguous over the columns */
    int nsums;
    wk__cpu_reduce_acc sum[WK__MAX_INS];
    int16_t condition[WK__MAX_INS + 1]; /* by pass: the row-level bool without which its sums take nothing; -1: none */
    wk__addresses origin;
    wk__cpu_iter row_walk, column_walk;
    wk__cpu_failure trouble;
} wk__cpu_reduce_job;

/* A total over segments: f32 in f64, i32 in i64. */
typedef union wk__cpu_reduce_total {
    double f;
    int64_t i;
} wk__cpu_reduce_total;

/* One block of rows in the hands of one worker. */
typedef struct wk__row_block {
    const wk__cpu_reduce_job *job;
    wk__worker *worker;
    int64_t row, count;       /* the first row of the block, and how many there are */
    bool idle;                /* the sums of the pass at hand take nothing: its columns are left out */
    uint32_t gathered;        /* operands whose lanes do not lie side by side: they are at worker->offset */
    wk__cursor next;          /* the first row of the next block */
    wk__addresses address;    /* of the first row */
    char *slots[WK__MAX_INS]; /* by sum: tiles of slots, first level before second */
    wk__cpu_reduce_total *totals[WK__MAX_INS]; /* by sum, over segments: one a row. If there are several segments */
} wk__row_block;

/* Takes the memory that all blocks of this worker use in turn. */
void wk__row_block_init(wk__row_block *block, const wk__cpu_reduce_job *job, wk__worker *worker);
/* The next one to be moved to is block `number`. */
void wk__row_block_seek(wk__row_block *block, int64_t number);
/* Moves it to the next block. */
void wk__row_block_next(wk__row_block *block);
void wk__row_block_run_row(wk__row_block *block, int pass);
/* Runs an element stage over a segment; the results of its sums are then in slot 0, a lane a row. */
void wk__row_block_run_segment(wk__row_block *block, int pass, int64_t segment);
/* Makes the result in slot 0 of sum n what the stages after its pass read. */
void wk__row_block_publish(wk__row_block *block, int n);
/* The results of the pass's sums where they take nothing. */
void wk__row_block_publish_identities(wk__row_block *block, int pass);

static inline int64_t wk__segments_of(const wk__cpu_reduce_job *job)
{
    int64_t segments = (job->columns + WK__SUM_SEGMENT - 1) / WK__SUM_SEGMENT;
    return segments > 0 ? segments : 1; /* no columns: the sums are what they start with */
}

/* Bytes of a tile of register k. */
static inline int64_t wk__tile_bytes(const wk__cpu_reduce_job *job, int k)
{
    return job->program->vm->lanes * wk__vm_class_size(wk__vm_class_of((wk_dtype)job->group->ins[k].dtype));
}

#endif
