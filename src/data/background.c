/* SPDX-License-Identifier: Apache-2.0 */
/* Work in the background; see background.h. */
#include "background.h"
#include "../base/pool.h"
#include <unistd.h>

static void *run(void *address)
{
    wk__background *b = address;
    pthread_mutex_lock(&b->lock);
    while (!b->quit) {
        if (!b->busy) {
            pthread_cond_wait(&b->changed, &b->lock);
            continue;
        }
        pthread_mutex_unlock(&b->lock);
        b->work(b->user, b->which);
        pthread_mutex_lock(&b->lock);
        b->busy = false;
        pthread_cond_broadcast(&b->changed);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

static bool start(wk__background *b)
{
    bool started = wk__thread_start(&b->thread, run, b);
    if (started) b->process = getpid();
    return started;
}

void wk__background_begin(wk__background *b, void (*work)(void *user, int64_t which), void *user)
{
    *b = (wk__background){.work = work, .user = user};
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
}

static bool running(const wk__background *b)
{
    return b->process && b->process == getpid();
}

void wk__background_ask(wk__background *b, int64_t which)
{
    if (!running(b) && (b->process || !start(b))) {
        b->work(b->user, which);
        return;
    }
    pthread_mutex_lock(&b->lock);
    b->which = which;
    b->busy = true;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

bool wk__background_busy(wk__background *b)
{
    if (!running(b)) return b->busy;
    pthread_mutex_lock(&b->lock);
    const bool busy = b->busy;
    pthread_mutex_unlock(&b->lock);
    return busy;
}

void wk__background_wait(wk__background *b)
{
    if (!running(b)) {
        if (b->busy) b->work(b->user, b->which); /* asked for before a fork, of a thread that is not here */
        b->busy = false;
        return;
    }
    pthread_mutex_lock(&b->lock);
    while (b->busy) pthread_cond_wait(&b->changed, &b->lock);
    pthread_mutex_unlock(&b->lock);
}

void wk__background_end(wk__background *b)
{
    if (b->process && !running(b)) return; /* the lock may be held for ever */
    if (b->process) {
        wk__background_wait(b);
        pthread_mutex_lock(&b->lock);
        b->quit = true;
        pthread_cond_broadcast(&b->changed);
        pthread_mutex_unlock(&b->lock);
        pthread_join(b->thread, NULL);
    }
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
}
