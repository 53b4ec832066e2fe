/* SPDX-License-Identifier: Apache-2.0 */
/* quantized: rows of blocks are distributed over threads; a thread computes the products of all rows of x with each of
 * its rows, so that blocks are read once. */
#include "backend/cpu/along_dim.h"
#include "backend/cpu/isa.h"
#include "base/integers.h"
#include "base/pool.h"

enum {
    SERIAL_MAX = 32 * 1024, /* products of a task; with fewer one thread is faster than two */
    TASKS_PER_THREAD = 4    /* balances threads of different speed */
};

typedef struct job {
    wk__quantized_dots *dots;
    wk__quantized_row first;           /* the first row of blocks */
    int64_t rows, row_bytes, per_task; /* of blocks */
} job;

static void run_task(void *user, int64_t task)
{
    const job *j = user;
    const int64_t end = wk__min_i64((task + 1) * j->per_task, j->rows);
    for (int64_t k = task * j->per_task; k < end; k++) {
        wk__quantized_row row = j->first;
        row.blocks += k * j->row_bytes;
        row.out += k;
        j->dots(&row);
    }
}

wk_code wk__cpu_quantized(const wk__work *work, wk__fail *fail)
{
    enum { R, O, I, B };
    const wk__work_args *args = work->args;
    const wk__operand *operand = args->operand;
    const int64_t products = wk__max_i64(args->shape[R] * args->shape[I], 1);
    (void)fail;
    const wk__block_format *format = &wk__block_formats[args->mode];
    job j = {.dots = wk__cpu_isa_current()->quantized[args->mode],
             .first = {.format = format,
                       .blocks = (const uint8_t *)wk__operand_data(&operand[2]),
                       .count = args->shape[I] / format->elements,
                       .x = (const float *)(const void *)wk__operand_data(&operand[1]),
                       .out = (float *)(void *)wk__operand_data(&operand[0]),
                       .x_row = operand[1].stride[R],
                       .out_row = operand[0].stride[R],
                       .rows = (int)args->shape[R]},
             .rows = args->shape[O],
             .row_bytes = operand[2].stride[O]};
    if (j.rows == 0 || args->shape[R] == 0) return WK_OK;
    const int64_t tasks = (int64_t)TASKS_PER_THREAD * wk__thread_count();
    j.per_task = wk__max_i64(wk__chunk_count(j.rows, tasks), wk__chunk_count(SERIAL_MAX, products));
    wk__parallel_for(wk__chunk_count(j.rows, j.per_task), run_task, &j);
    return WK_OK;
}
