/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that prepare batches; see batch_workers.h. */
#include "batch_workers.h"
#include "base/alloc.h"
#include "base/pool.h"
#include <string.h>
#include <unistd.h>

static bool have_threads(const wk__batch_workers *w)
{
    return w->threads > 0 && w->process == getpid();
}

static void *run(void *address)
{
    wk__batch_workers *w = address;
    pthread_mutex_lock(&w->lock);
    while (!w->quit) {
        if (w->next >= w->limit) {
            pthread_cond_wait(&w->job_ready, &w->lock);
            continue;
        }
        const int64_t job = w->next++;
        w->running++;
        pthread_mutex_unlock(&w->lock);
        w->work(w->user, job, false);
        pthread_mutex_lock(&w->lock);
        w->running--;
        w->done[job % w->slots] = true;
        pthread_cond_broadcast(&w->job_done);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

bool wk__batch_workers_init(wk__batch_workers *w, int threads, int64_t slots,
                            void (*work)(void *user, int64_t job, bool in_caller), void *user)
{
    *w = (wk__batch_workers){.work = work, .user = user, .slots = slots, .wanted = threads};
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->job_ready, NULL);
    pthread_cond_init(&w->job_done, NULL);
    w->done = wk__alloc_zero((size_t)slots, sizeof *w->done);
    w->thread = wk__alloc_zero((size_t)threads, sizeof *w->thread);
    return w->done && w->thread;
}

/* Starts the threads unless they were started once; in a child of fork() they are not started again. */
static void start(wk__batch_workers *w)
{
    if (w->process) return;
    w->process = getpid();
    while (w->threads < w->wanted && wk__thread_start(&w->thread[w->threads], run, w)) w->threads++;
}

void wk__batch_workers_begin(wk__batch_workers *w, int64_t jobs)
{
    start(w);
    const bool shared = have_threads(w);
    if (shared) pthread_mutex_lock(&w->lock);
    w->jobs = jobs;
    w->next = 0;
    w->limit = jobs < w->slots ? jobs : w->slots;
    memset(w->done, 0, (size_t)w->slots * sizeof *w->done);
    atomic_store(&w->cancelled, false);
    if (!shared) return;
    pthread_cond_broadcast(&w->job_ready);
    pthread_mutex_unlock(&w->lock);
}

void wk__batch_workers_wait(wk__batch_workers *w, int64_t job)
{
    bool *const done = &w->done[job % w->slots];
    if (!have_threads(w)) {
        if (!*done) w->work(w->user, job, true); /* a thread of the parent may have been running it at the fork */
        *done = true;
        return;
    }
    pthread_mutex_lock(&w->lock);
    while (!*done) pthread_cond_wait(&w->job_done, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

void wk__batch_workers_release(wk__batch_workers *w, int64_t job)
{
    const bool shared = have_threads(w);
    if (shared) pthread_mutex_lock(&w->lock);
    w->done[job % w->slots] = false;
    if (w->limit < w->jobs) w->limit++;
    if (!shared) return;
    pthread_cond_signal(&w->job_ready);
    pthread_mutex_unlock(&w->lock);
}

void wk__batch_workers_cancel(wk__batch_workers *w)
{
    atomic_store(&w->cancelled, true);
    if (!have_threads(w)) return;
    pthread_mutex_lock(&w->lock);
    w->limit = w->next;
    while (w->running > 0) pthread_cond_wait(&w->job_done, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

void wk__batch_workers_free(wk__batch_workers *w)
{
    if (have_threads(w)) {
        wk__batch_workers_cancel(w);
        pthread_mutex_lock(&w->lock);
        w->quit = true;
        pthread_cond_broadcast(&w->job_ready);
        pthread_mutex_unlock(&w->lock);
        for (int k = 0; k < w->threads; k++) pthread_join(w->thread[k], NULL);
    }
    if (w->process == 0 || w->process == getpid()) { /* a lock held by a thread of the parent is never released */
        pthread_cond_destroy(&w->job_done);
        pthread_cond_destroy(&w->job_ready);
        pthread_mutex_destroy(&w->lock);
    }
    wk__free(w->thread);
    wk__free(w->done);
}
