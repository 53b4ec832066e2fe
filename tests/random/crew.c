/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that wait for jobs; see crew.h. */
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
    pthread_cond_t given;
} hand;

static hand hands[MOST_THREADS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static _Thread_local int here; /* which thread of the program this is */

static void *work(void *user)
{
    hand *h = user;
    here = (int)(h - hands);
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!h->job) pthread_cond_wait(&h->given, &lock);
        crew_job *job = h->job;
        pthread_mutex_unlock(&lock);
        job(h->user);
        pthread_mutex_lock(&lock);
        h->job = NULL;
        pthread_cond_signal(&done);
    }
    return NULL;
}

/* With the lock held. */
static void give(int thread, crew_job *job, void *user)
{
    hand *h = &hands[thread];
    h->job = job;
    h->user = user;
    if (h->started) {
        pthread_cond_signal(&h->given);
        return;
    }
    pthread_cond_init(&h->given, NULL);
    if (pthread_create(&h->thread, NULL, work, h) != 0) {
        perror("random_programs: a thread could not be started");
        exit(2);
    }
    h->started = true;
}

void crew_run_all(int threads, crew_job *job, void *const user[])
{
    pthread_mutex_lock(&lock);
    for (int k = 1; k < threads; k++)
        if (user[k]) give(k, job, user[k]);
    pthread_mutex_unlock(&lock);
    if (user[0]) job(user[0]);
    pthread_mutex_lock(&lock);
    for (int k = 1; k < threads; k++)
        while (hands[k].job) pthread_cond_wait(&done, &lock);
    pthread_mutex_unlock(&lock);
}

void crew_run(int thread, crew_job *job, void *user)
{
    void *users[MOST_THREADS] = {NULL};
    if (thread == here) {
        job(user);
        return;
    }
    users[thread] = user;
    crew_run_all(thread + 1, job, users);
}
