/* SPDX-License-Identifier: Apache-2.0 */
/* Background worker; see background_worker.h. */
#include "background_worker.h"
#include "base/pool.h"
#include <unistd.h>

static void *run(void *address)
{
    wk__background_worker *b = address;
    pthread_mutex_lock(&b->lock);
    while (!b->quit) {
        if (!b->busy) {
            pthread_cond_wait(&b->changed, &b->lock);
            continue;
        }
        pthread_mutex_unlock(&b->lock);
        b->work(b->user, b->job);
        pthread_mutex_lock(&b->lock);
        b->busy = false;
        pthread_cond_broadcast(&b->changed);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

static bool start(wk__background_worker *b)
{
    bool started = wk__thread_start(&b->thread, run, b);
    if (started) b->process = getpid();
    return started;
}

void wk__background_worker_init(wk__background_worker *b, void (*work)(void *user, int64_t which), void *user)
{
    *b = (wk__background_worker){.work = work, .user = user};
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
}

static bool running(const wk__background_worker *b)
{
    return b->process && b->process == getpid();
}

void wk__background_worker_submit(wk__background_worker *b, int64_t which)
{
    if (!running(b) && (b->process || !start(b))) {
        b->work(b->user, which);
        return;
    }
    pthread_mutex_lock(&b->lock);
    b->job = which;
    b->busy = true;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

bool wk__background_worker_is_busy(wk__background_worker *b)
{
    if (!running(b)) return b->busy;
    pthread_mutex_lock(&b->lock);
    const bool busy = b->busy;
    pthread_mutex_unlock(&b->lock);
    return busy;
}

void wk__background_worker_wait(wk__background_worker *b)
{
    if (!running(b)) {
        if (b->busy) b->work(b->user, b->job); /* submitted before fork(): the thread does not exist in this process */
        b->busy = false;
        return;
    }
    pthread_mutex_lock(&b->lock);
    while (b->busy) pthread_cond_wait(&b->changed, &b->lock);
    pthread_mutex_unlock(&b->lock);
}

void wk__background_worker_stop(wk__background_worker *b)
{
    if (b->process && !running(b)) return; /* a lock held by a thread of the parent is never released */
    if (b->process) {
        wk__background_worker_wait(b);
        pthread_mutex_lock(&b->lock);
        b->quit = true;
        pthread_cond_broadcast(&b->changed);
        pthread_mutex_unlock(&b->lock);
        pthread_join(b->thread, NULL);
    }
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
}
