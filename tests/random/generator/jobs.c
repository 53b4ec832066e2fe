/* SPDX-License-Identifier: Apache-2.0 */
/* Implements jobs.h. */
#include "jobs.h"
#include "xalloc.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

jobs *shared_jobs;
job *own_job;

bool jobs_begin(int count)
{
    const size_t bytes = sizeof *shared_jobs + (size_t)count * sizeof *shared_jobs->job;
    shared_jobs = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared_jobs == MAP_FAILED) return false;
    pthread_mutexattr_t shared;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&shared_jobs->lock, &shared);
    pthread_mutexattr_destroy(&shared);
    shared_jobs->count = count;
    own_job = shared_jobs->job;
    return true;
}

uint64_t jobs_number(uint64_t next)
{
    return next * (uint64_t)shared_jobs->count + (uint64_t)(own_job - shared_jobs->job);
}

/* A job may have been killed while it held the lock; the state it left is used as it is. */
void jobs_lock(void)
{
    if (pthread_mutex_lock(&shared_jobs->lock) == EOWNERDEAD) pthread_mutex_consistent(&shared_jobs->lock);
}

void jobs_unlock(void)
{
    pthread_mutex_unlock(&shared_jobs->lock);
}

bool jobs_run(bool (*work)(void))
{
    pid_t process[MOST_JOBS];
    bool fine = true;
    if (shared_jobs->count == 1) return work();
    fflush(stdout);
    for (int k = 0; k < shared_jobs->count; k++) {
        own_job = &shared_jobs->job[k];
        process[k] = fork();
        if (process[k] == 0) exit(!work());
        if (process[k] < 0) perror("random: fork");
    }
    own_job = shared_jobs->job;
    for (int k = 0; k < shared_jobs->count; k++) {
        int status = -1;
        while (process[k] > 0 && waitpid(process[k], &status, 0) < 0 && errno == EINTR)
            ;
        fine = fine && status == 0;
    }
    return fine;
}

bool jobs_is_new(const char *signature)
{
    for (int k = 0; k < shared_jobs->signatures; k++)
        if (strcmp(shared_jobs->signature[k], signature) == 0) return false;
    if (shared_jobs->signatures < MOST_SIGNATURES)
        snprintf(shared_jobs->signature[shared_jobs->signatures++], sizeof shared_jobs->signature[0], "%s", signature);
    return true;
}

void jobs_sum(oracle_counts *counts, coverage *coverage, int64_t *alike)
{
    memset(counts, 0, sizeof *counts);
    memset(coverage, 0, sizeof *coverage);
    *alike = 0;
    for (int k = 0; k < shared_jobs->count; k++) {
        const job *one = &shared_jobs->job[k];
        const int64_t *from = (const int64_t *)(const void *)&one->counts;
        int64_t *to = (int64_t *)(void *)counts;
        for (size_t n = 0; n < sizeof *counts / sizeof *to; n++) to[n] += from[n];
        coverage_add(coverage, &one->coverage);
        *alike += one->alike;
    }
}
