/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that work one at a time; see crew.h. */
#include "crew.h"
#include "program.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct hand {
    pthread_t thread;
    bool started;
    crew_job *job; /* NULL: it waits for one */
    void *user;
} hand;

static hand hands[MOST_THREADS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *work(void *user)
{
    hand *h = user;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!h->job) pthread_cond_wait(&changed, &lock);
        crew_job *job = h->job;
        pthread_mutex_unlock(&lock);
        job(h->user);
        pthread_mutex_lock(&lock);
        h->job = NULL;
        pthread_cond_broadcast(&changed);
    }
    return NULL;
}

void crew_run(int thread, crew_job *job, void *user)
{
    hand *h = &hands[thread];
    if (thread == 0) {
        job(user);
        return;
    }
    pthread_mutex_lock(&lock);
    if (!h->started && pthread_create(&h->thread, NULL, work, h) != 0) {
        perror("random_programs: a thread could not be started");
        exit(2);
    }
    h->started = true;
    h->job = job;
    h->user = user;
    pthread_cond_broadcast(&changed);
    while (h->job) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}
