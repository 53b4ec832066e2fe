/* SPDX-License-Identifier: Apache-2.0 */
/* Parallel tasks of products and contractions: buffers and failures. */
#include "matmul.h"

#include <pthread.h>

#include "base/pool.h"

typedef struct run {
    const wk__gemm_job *job;
    pthread_mutex_t lock; /* protects the members below */
    wk__gemm_buffers *buffers;
    int64_t failed; /* first failed task in order; job->tasks if none */
    wk__fail fail;
} run;

static void acquire_buffers(run *run, wk__gemm_buffers *buffers[])
{
    pthread_mutex_lock(&run->lock);
    for (int k = 0; k < run->job->nbuffers; k++) {
        buffers[k] = run->buffers;
        run->buffers = buffers[k]->next;
    }
    pthread_mutex_unlock(&run->lock);
}

static void release_buffers(run *run, wk__gemm_buffers *const buffers[])
{
    pthread_mutex_lock(&run->lock);
    for (int k = 0; k < run->job->nbuffers; k++) {
        buffers[k]->next = run->buffers;
        run->buffers = buffers[k];
    }
    pthread_mutex_unlock(&run->lock);
}

/* Keeps the failure of the first task in order, independent of timing. */
static void record_failure(run *run, int64_t task, const wk__fail *fail)
{
    pthread_mutex_lock(&run->lock);
    if (task < run->failed) {
        run->failed = task;
        run->fail = *fail;
    }
    pthread_mutex_unlock(&run->lock);
}

static void run_task(void *user, int64_t task)
{
    run *run = user;
    wk__gemm_buffers *buffers[WK__GEMM_TASK_BUFFERS] = {NULL};
    wk__fail fail = {0};
    if (run->job->nbuffers) acquire_buffers(run, buffers);
    if (run->job->body(run->job->user, task, buffers, &fail) != WK_OK) record_failure(run, task, &fail);
    if (run->job->nbuffers) release_buffers(run, buffers);
}

static bool alloc_buffers(const wk__gemm_job *job, wk__gemm_buffers **buffers)
{
    *buffers = NULL;
    if (!job->nbuffers) return true;
    if (!wk__gemm_buffers_acquire(job->nbuffers * (job->tasks < job->threads ? job->tasks : job->threads), buffers))
        return false;
    if (!job->needs_prologue_buffer || wk__gemm_buffers_add_prologue(*buffers)) return true;
    wk__gemm_buffers_release(*buffers);
    return false;
}

int wk__gemm_threads(double work)
{
    return work < WK__GEMM_SERIAL_FMAS ? 1 : wk__thread_count();
}

wk_code wk__gemm_tasks(const wk__gemm_job *job, wk__fail *fail)
{
    run run = {.job = job, .failed = job->tasks};
    if (!alloc_buffers(job, &run.buffers))
        return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for the buffers of a matrix product");
    pthread_mutex_init(&run.lock, NULL);
    if (job->threads == 1)
        for (int64_t k = 0; k < job->tasks; k++) run_task(&run, k);
    else
        wk__parallel_for(job->tasks, run_task, &run);
    pthread_mutex_destroy(&run.lock);
    wk__gemm_buffers_release(run.buffers);
    if (run.failed == job->tasks) return WK_OK;
    *fail = run.fail;
    return fail->code;
}

/* ---- epilogues --------------------------------------------------------------------------------------------------- */

wk_code wk__gemm_tasks_with_epilogue(const wk__gemm_job *job, const wk__program *epilogue,
                                     const wk__cpu_program **compiled, wk__fail *fail)
{
    *compiled = NULL;
    if (!epilogue) return wk__gemm_tasks(job, fail);
    if (epilogue->nreduce > 0) { /* it may read elements of C from any task */
        const wk_code code = wk__gemm_tasks(job, fail);
        return code ? code : wk__cpu_run(epilogue, fail);
    }
    wk__cpu_program program;
    wk_code code = wk__cpu_program_prepare(&program, epilogue, fail);
    *compiled = &program;
    if (!code) code = wk__gemm_tasks(job, fail);
    *compiled = NULL;
    wk__cpu_program_destroy(&program);
    return code;
}

void wk__epilogue_run_box(void *user, const wk__epilogue_box *box)
{
    wk__epilogue_run *run = user;
    wk__fail other;
    const wk_code code = wk__cpu_program_box(run->program, box->start, box->size, run->first ? &other : run->fail);
    if (!run->first) run->first = code;
}
