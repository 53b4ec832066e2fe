/* SPDX-License-Identifier: Apache-2.0 */
/* norm_backward: gradients of layer norm and rms norm. Blocks of BLOCK rows are independent of each other; their sums
 * over the rows are added up in the order of the blocks, so results do not depend on the number of threads. */
#include "rows.h"

#include "backend/cpu/along_dim.h"
#include "backend/cpu/isa.h"
#include "base/alloc.h"
#include "base/integers.h"
#include "base/pool.h"

enum {
    BLOCK = 32,           /* rows */
    TASK_ELEMENTS = 32768 /* that justify using another thread */
};
enum { D_X, D_WEIGHT, D_BIAS, GRADIENT, X, MEAN, FACTOR, WEIGHT };

typedef struct norm_job {
    const wk__work_args *args;
    wk__norm_backward_rows *run;
    int64_t size, rows, columns; /* bytes of an element; of the work */
    int64_t blocks, blocks_per_task;
    char *sums; /* [blocks][2][columns]: of the gradients of weight and bias */
} norm_job;

/* Returns the address of row `row` of an operand. */
static char *row_of(const norm_job *job, int operand, int64_t row)
{
    const wk__operand *o = &job->args->operand[operand];
    return wk__operand_data(o) + row * o->stride[0] * job->size;
}

static void run_block(const norm_job *job, int64_t block)
{
    const wk__work_args *args = job->args;
    const int64_t first = block * BLOCK, bytes = job->columns * job->size;
    char *sums = job->sums + 2 * block * bytes;
    job->run(&(wk__norm_rows){.rows = wk__min_i64(job->rows - first, BLOCK),
                              .columns = job->columns,
                              .grad = row_of(job, GRADIENT, first),
                              .x = row_of(job, X, first),
                              .grad_row = args->operand[GRADIENT].stride[0],
                              .x_row = args->operand[X].stride[0],
                              .mean = args->mode & WK__NORM_CENTRED ? row_of(job, MEAN, first) : NULL,
                              .factor = row_of(job, FACTOR, first),
                              .weight = args->mode & WK__NORM_WEIGHTED ? row_of(job, WEIGHT, 0) : NULL,
                              .dx = row_of(job, D_X, first),
                              .d_weight = sums,
                              .d_bias = sums + bytes});
}

static void run_task(void *user, int64_t task)
{
    const norm_job *job = user;
    const int64_t first = task * job->blocks_per_task;
    for (int64_t block = first; block < first + job->blocks_per_task && block < job->blocks; block++)
        run_block(job, block);
}

/* Adds up the sums of the blocks, in f64, for one of the two gradients. */
static void add_blocks(const norm_job *job, int which, char *out)
{
    enum { PIECE = 256 };
    double total[PIECE];
    for (int64_t c = 0; c < job->columns; c += PIECE) {
        const int64_t count = wk__min_i64(job->columns - c, PIECE);
        for (int64_t k = 0; k < count; k++) total[k] = 0;
        for (int64_t block = 0; block < job->blocks; block++) {
            const void *part = job->sums + ((2 * block + which) * job->columns + c) * job->size;
            for (int64_t k = 0; k < count; k++)
                total[k] += job->size == 4 ? (double)((const float *)part)[k] : ((const double *)part)[k];
        }
        void *to = out + c * job->size;
        for (int64_t k = 0; k < count; k++) {
            if (job->size == 4)
                ((float *)to)[k] = (float)total[k];
            else
                ((double *)to)[k] = total[k];
        }
    }
}

wk_code wk__cpu_norm_backward(const wk__work *work, wk__fail *fail)
{
    const wk__work_args *args = work->args;
    const wk_dtype dtype = (wk_dtype)args->operand[0].dtype;
    norm_job job = {.args = args,
                    .run = wk__cpu_isa_current()->norm[dtype],
                    .size = (int64_t)wk_dtype_size(dtype),
                    .rows = args->shape[0],
                    .columns = args->shape[1]};
    int64_t bytes;
    job.blocks = wk__chunk_count(job.rows, BLOCK);
    job.blocks_per_task = TASK_ELEMENTS / (BLOCK * job.columns + 1) + 1;
    if (wk__mul_size(2 * job.blocks, job.columns * job.size, &bytes)) job.sums = wk__alloc((size_t)bytes + 1);
    if (!job.sums) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for the gradients of a norm");
    wk__parallel_for(wk__chunk_count(job.blocks, job.blocks_per_task), run_task, &job);
    add_blocks(&job, 0, wk__operand_data(&args->operand[D_WEIGHT]));
    add_blocks(&job, 1, wk__operand_data(&args->operand[D_BIAS]));
    wk__free(job.sums);
    return WK_OK;
}
