/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that wait for jobs; see workers.h. */
#include "workers.h"
#include "program.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct worker {
    pthread_t thread, before; /* before: the thread that it has replaced */
    bool started, follows;
    worker_job *job; /* NULL: idle */
    void *user;
    worker_job *rest; /* continuation of the job in the thread that replaces this one; NULL: none */
    void *rest_user;
    pthread_cond_t given;
} worker;

static worker hands[MOST_THREADS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static _Thread_local int here; /* number of this thread in the program */

static void *work(void *user);

static void start(worker *h)
{
    if (pthread_create(&h->thread, NULL, work, h) == 0) return;
    perror("random_programs: a thread could not be started");
    exit(2);
}

/* The caller holds the lock. */
static void replace_thread(worker *h)
{
    h->job = h->rest;
    h->user = h->rest_user;
    h->rest = NULL;
    h->before = h->thread;
    h->follows = true;
    start(h);
}

static void *work(void *user)
{
    worker *h = user;
    here = (int)(h - hands);
    pthread_mutex_lock(&lock);
    const pthread_t before = h->before;
    const bool follows = h->follows;
    pthread_mutex_unlock(&lock);
    if (follows) pthread_join(before, NULL);
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!h->job) pthread_cond_wait(&h->given, &lock);
        worker_job *job = h->job;
        pthread_mutex_unlock(&lock);
        job(h->user);
        pthread_mutex_lock(&lock);
        if (h->rest) break;
        h->job = NULL;
        pthread_cond_signal(&done);
    }
    replace_thread(h);
    pthread_mutex_unlock(&lock);
    return NULL;
}

void workers_replace_thread(worker_job *rest, void *user)
{
    hands[here].rest = rest;
    hands[here].rest_user = user;
}

/* The caller holds the lock. */
static void submit_job(int thread, worker_job *job, void *user)
{
    worker *h = &hands[thread];
    h->job = job;
    h->user = user;
    if (h->started) {
        pthread_cond_signal(&h->given);
        return;
    }
    pthread_cond_init(&h->given, NULL);
    h->started = true;
    start(h);
}

void workers_run_all(int threads, worker_job *job, void *const user[])
{
    pthread_mutex_lock(&lock);
    for (int k = 1; k < threads; k++)
        if (user[k]) submit_job(k, job, user[k]);
    pthread_mutex_unlock(&lock);
    if (user[0]) job(user[0]);
    pthread_mutex_lock(&lock);
    for (int k = 1; k < threads; k++)
        while (hands[k].job) pthread_cond_wait(&done, &lock);
    pthread_mutex_unlock(&lock);
}

void workers_run(int thread, worker_job *job, void *user)
{
    void *users[MOST_THREADS] = {NULL};
    if (thread == here) {
        job(user);
        return;
    }
    users[thread] = user;
    workers_run_all(thread + 1, job, users);
}
