/* SPDX-License-Identifier: Apache-2.0 */
/* What the processes of one run have in common: memory that is shared between them. A job is a supervisor and the
 * process that runs its programs; job k of n has the programs k, k + n, k + 2 n, ... of the seed, so each program is
 * run once however many jobs there are. */
#ifndef TESTS_RANDOM_JOBS_H
#define TESTS_RANDOM_JOBS_H

#include "fusion_coverage.h"
#include "oracles.h"
#include <pthread.h>

enum { MOST_SIGNATURES = 4000, MOST_DIGESTS = 1 << 18, MOST_JOBS = 256, KINDS = 8 };

typedef struct job {
    program now; /* that it is at */
    int variant; /* of its sizes, on a GPU */
    verdict verdict;
    oracle_counts counts;
    uint64_t next; /* how many of its programs have begun, on this kind of CPU */
    int64_t alike; /* programs that two kinds of CPU have run */
    coverage coverage;
    digest seen[MOST_DIGESTS];
} job;

typedef struct jobs {
    int count;
    pthread_mutex_t lock; /* of the reports, and of what follows */
    bool failed;
    int by_oracle[ORACLES], signatures;
    char signature[MOST_SIGNATURES][256];
    uint64_t by_kind[KINDS]; /* programs that a kind of CPU has run */
    job job[];
} jobs;

extern jobs *shared_jobs;
extern job *own_job; /* the one that this process belongs to */

/* Makes room for so many; job 0 is this process's. False without memory. */
bool jobs_begin(int count);
/* The number, among all programs of the run, of the one that this job is at. */
uint64_t jobs_number(uint64_t next);
void jobs_lock(void);
void jobs_unlock(void);
/* Runs `work` in each job, in processes of their own where there are several, and waits; false when one says so. */
bool jobs_run(bool (*work)(void));
/* Is this the first failure of its kind? With the lock held. */
bool jobs_is_new(const char *signature);
/* What all have run, for a last word. */
void jobs_sum(oracle_counts *counts, coverage *coverage, int64_t *alike);

#endif
