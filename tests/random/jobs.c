/* SPDX-License-Identifier: Apache-2.0 */
/* Several jobs that share a run; see jobs.h. */
#include "jobs.h"
#include "memory.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

jobs *all;
job *common;

bool jobs_begin(int count)
{
    const size_t bytes = sizeof *all + (size_t)count * sizeof *all->job;
    all = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return false;
    pthread_mutexattr_t shared;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&all->lock, &shared);
    pthread_mutexattr_destroy(&shared);
    all->count = count;
    common = all->job;
    return true;
}

uint64_t jobs_number(uint64_t next)
{
    return next * (uint64_t)all->count + (uint64_t)(common - all->job);
}

/* What a job that was ended in the midst of a report has left counts as it is. */
void jobs_lock(void)
{
    if (pthread_mutex_lock(&all->lock) == EOWNERDEAD) pthread_mutex_consistent(&all->lock);
}

void jobs_unlock(void)
{
    pthread_mutex_unlock(&all->lock);
}

bool jobs_run(bool (*work)(void))
{
    pid_t process[MOST_JOBS];
    bool fine = true;
    if (all->count == 1) return work();
    fflush(stdout);
    for (int k = 0; k < all->count; k++) {
        common = &all->job[k];
        process[k] = fork();
        if (process[k] == 0) exit(!work());
        if (process[k] < 0) perror("random: fork");
    }
    common = all->job;
    for (int k = 0; k < all->count; k++) {
        int status = -1;
        while (process[k] > 0 && waitpid(process[k], &status, 0) < 0 && errno == EINTR)
            ;
        fine = fine && status == 0;
    }
    return fine;
}

bool jobs_is_new(const char *signature)
{
    for (int k = 0; k < all->signatures; k++)
        if (strcmp(all->signature[k], signature) == 0) return false;
    if (all->signatures < MOST_SIGNATURES)
        snprintf(all->signature[all->signatures++], sizeof all->signature[0], "%s", signature);
    return true;
}

void jobs_sum(oracle_counts *counts, coverage *coverage, int64_t *alike)
{
    memset(counts, 0, sizeof *counts);
    memset(coverage, 0, sizeof *coverage);
    *alike = 0;
    for (int k = 0; k < all->count; k++) {
        const job *one = &all->job[k];
        const int64_t *from = (const int64_t *)(const void *)&one->counts;
        int64_t *to = (int64_t *)(void *)counts;
        for (size_t n = 0; n < sizeof *counts / sizeof *to; n++) to[n] += from[n];
        coverage_add(coverage, &one->coverage);
        *alike += one->alike;
    }
}
