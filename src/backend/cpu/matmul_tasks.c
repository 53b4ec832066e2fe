/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of a contraction that work in buffers of products. */
#include "matmul.h"

#include <pthread.h>

#include "../../base/pool.h"

enum { THREADS_WORK = 256 * 1024 /* multiplications below which one thread is faster than two */ };

typedef struct job {
    wk__gemm_task *body;
    void *user;
    int each;
    pthread_mutex_t lock; /* of the list */
    wk__gemm_space *spaces;
} job;

static void run_task(void *user, int64_t number)
{
    job *job = user;
    wk__gemm_space *space[WK__GEMM_TASK_SPACES];
    pthread_mutex_lock(&job->lock);
    for (int k = 0; k < job->each; k++) {
        space[k] = job->spaces;
        job->spaces = space[k]->next;
    }
    pthread_mutex_unlock(&job->lock);
    job->body(job->user, number, space);
    pthread_mutex_lock(&job->lock);
    for (int k = 0; k < job->each; k++) {
        space[k]->next = job->spaces;
        job->spaces = space[k];
    }
    pthread_mutex_unlock(&job->lock);
}

wk_code wk__gemm_tasks(int64_t tasks, double work, int each, wk__gemm_task *body, void *user, wk__fail *fail)
{
    const int threads = work < THREADS_WORK ? 1 : wk__threads();
    job job = {.body = body, .user = user, .each = each};
    if (!wk__gemm_spaces_take(each * (tasks < threads ? tasks : threads), &job.spaces))
        return wk__fail_set(fail, WK_ERR_MEMORY, "no memory for the buffers of a product");
    pthread_mutex_init(&job.lock, NULL);
    if (threads == 1)
        for (int64_t k = 0; k < tasks; k++) run_task(&job, k);
    else
        wk__parallel(tasks, run_task, &job);
    pthread_mutex_destroy(&job.lock);
    wk__gemm_spaces_give(job.spaces);
    return WK_OK;
}
