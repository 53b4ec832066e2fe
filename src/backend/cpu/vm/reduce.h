/* SPDX-License-Identifier: Apache-2.0 */
/* Programs with reductions, and declarations shared by program_run.c and reduce.c. */
#ifndef WICK_BACKEND_CPU_VM_REDUCE_H
#define WICK_BACKEND_CPU_VM_REDUCE_H

#include <stdatomic.h>

#include "iter.h"
#include "program_cache.h"

/* Failures in threads: allocation failure, or the bad index that is first in iteration order, independent of timing. */
typedef struct wk__cpu_failure {
    atomic_bool no_memory;
    bool fault;
    int64_t part, index, bound; /* number of its part of the work, in iteration order; index and bound */
} wk__cpu_failure;

void wk__cpu_failure_init(wk__cpu_failure *trouble);
void wk__cpu_failure_record(wk__cpu_failure *trouble, const wk__worker *worker, int64_t part);
wk_code wk__cpu_failure_report(wk__cpu_failure *trouble, const wk__program *group, wk__fail *fail);

/* Returns the bit mask of operands that should use non-temporal stores. */
uint32_t wk__nontemporal_operands(const wk__program *group);

wk_code wk__cpu_run_rows(const wk__program *group, wk__fail *fail);

/* ---- order of sums -----------------------------------------------------------------------------------------------
 *
 * A reduction over the columns of a row accumulates in an order that depends only on the number of columns and the
 * lanes of a block, L; not on strides, fusion, threads, or whether lanes are columns or rows.
 *
 *     column c belongs to slot c % L; a slot accumulates its columns in order       ->  L values per chunk
 *     the chunks (2048 columns) of a segment are accumulated in order, by slot      ->  L values per segment
 *     the slots of a segment are folded, upper half onto lower, until one is left   ->  one value per segment
 *     the segments (16 chunks) are accumulated in order, f32 in f64                 ->  the result
 *
 * So no f32 value passes through more than about 2048 / L + 16 + log2 L roundings, for any number of columns. */
enum {
    WK__SUM_CHUNK = 2048,
    WK__SUM_SEGMENT = 16 * WK__SUM_CHUNK,
};

/* One reduction of a program. */
typedef struct wk__cpu_reduce_acc {
    int16_t reg;  /* its register */
    uint8_t code; /* opcode */
    wk__vm_class class;
    int64_t tile; /* bytes per tile */
    const wk__vm_reduction *functions;
} wk__cpu_reduce_acc;

/* A program with reductions, ready to run. */
typedef struct wk__cpu_reduce_job {
    const wk__program *group;
    const wk__cpu_program *program;
    int64_t rows, columns;
    int64_t lanes;   /* rows processed simultaneously: 1, or the lanes of a block */
    int64_t blocks;  /* number of blocks of that many rows */
    int64_t slots;   /* tiles per reduction at each level */
    bool short_rows; /* lanes are columns, of one chunk */
    int64_t scratch; /* bytes per worker for accumulators and kept values */
    int64_t blocks_per_task;
    uint32_t flat_columns; /* operands that are contiguous over the columns */
    int nsums;
    wk__cpu_reduce_acc sum[WK__MAX_INS];
    uint8_t first_sum[WK__MAX_INS + 2]; /* pass p accumulates first_sum[p]..first_sum[p + 1] - 1 */
    int16_t condition[WK__MAX_INS + 1]; /* by pass: the row-level bool without which its sums take nothing; -1: none */
    wk__addresses origin;
    wk__cpu_iter row_walk, column_walk;
    wk__cpu_failure trouble;
} wk__cpu_reduce_job;

/* Total over segments: f32 in f64, i32 in i64. */
typedef union wk__cpu_reduce_total {
    double f;
    int64_t i;
} wk__cpu_reduce_total;

/* A block of rows processed by one worker. */
typedef struct wk__row_block {
    const wk__cpu_reduce_job *job;
    wk__worker *worker;
    int64_t row, count;       /* index of the first row; number of rows */
    bool idle;                /* the reductions of the current pass have no input: its columns are skipped */
    uint32_t gathered;        /* operands with non-contiguous lanes; offsets in worker->offset */
    wk__cursor next;          /* first row of the next block */
    wk__addresses address;    /* of the first row */
    char *slots[WK__MAX_INS]; /* per reduction: tiles of slots, first level before second */
    /* per reduction: one total per row, over segments; unset if there is one segment */
    wk__cpu_reduce_total *totals[WK__MAX_INS];
} wk__row_block;

/* Allocates the memory that all blocks of this worker use in turn. */
void wk__row_block_init(wk__row_block *block, const wk__cpu_reduce_job *job, wk__worker *worker);
/* Positions before block `number`, for wk__row_block_next(). */
void wk__row_block_seek(wk__row_block *block, int64_t number);
/* Advances to the next block. */
void wk__row_block_next(wk__row_block *block);
void wk__row_block_run_row(wk__row_block *block, int pass);
/* Runs an element stage over a segment. The results of its reductions are then in slot 0, one lane per row. */
void wk__row_block_run_segment(wk__row_block *block, int pass, int64_t segment);
/* Runs an element stage for a short row and publishes its results. */
void wk__row_block_run_short_row(wk__row_block *block, int pass);
/* Makes the result in slot 0 of reduction n available to later stages. */
void wk__row_block_publish(wk__row_block *block, int n);
/* Runs a pass: its segments, whose totals it publishes, or nothing but identities if the block is idle. */
void wk__row_block_run_pass(wk__row_block *block, int pass);
/* Publishes the identities of the pass's reductions, for a pass without input. */
void wk__row_block_publish_identities(wk__row_block *block, int pass);

/* Returns the scratch of a task's worker in addition to tiles. */
int64_t wk__cpu_reduce_scratch(const wk__cpu_reduce_job *job);
/* Returns the number of blocks that justify using another thread. */
int64_t wk__cpu_reduce_blocks_per_task(const wk__cpu_reduce_job *job);

/* Runs a planned job in batches of rows if that is possible and faster, and sets *code; otherwise returns false. */
bool wk__cpu_reduce_in_batches(wk__cpu_reduce_job *job, const wk__cpu_layout *layout, wk__fail *fail, wk_code *code);

static inline int64_t wk__segments_of(const wk__cpu_reduce_job *job)
{
    int64_t segments = (job->columns + WK__SUM_SEGMENT - 1) / WK__SUM_SEGMENT;
    return segments > 0 ? segments : 1; /* no columns: reductions yield their identity */
}

/* Returns the bytes of a tile of register k. */
static inline int64_t wk__tile_bytes(const wk__cpu_reduce_job *job, int k)
{
    return job->program->vm->lanes * wk__vm_class_size(wk__vm_class_of((wk_dtype)job->group->ins[k].dtype));
}

#endif
