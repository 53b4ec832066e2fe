/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory of the processes of one run. A job is a supervisor and the process that runs its programs; job k of n
 * runs programs k, k + n, k + 2 n, ... of the seed, so that each program is run once, whatever the number of jobs. */
#ifndef TESTS_RANDOM_JOBS_H
#define TESTS_RANDOM_JOBS_H

#include "fusion_coverage.h"
#include "oracles.h"
#include <pthread.h>

enum { MOST_SIGNATURES = 4000, MOST_DIGESTS = 1 << 18, MOST_JOBS = 256, KINDS = 8 };

typedef struct job {
    program now; /* the current program */
    int variant; /* of its sizes, on a GPU */
    verdict verdict;
    oracle_counts counts;
    uint64_t next; /* number of its programs that have begun, on this instruction set */
    int64_t alike; /* programs that ran on two instruction sets */
    coverage coverage;
    digest seen[MOST_DIGESTS];
} job;

typedef struct jobs {
    int count;
    pthread_mutex_t lock; /* of reports, and of the following fields */
    bool failed;
    int by_oracle[ORACLES], signatures;
    char signature[MOST_SIGNATURES][256];
    uint64_t by_kind[KINDS]; /* programs per instruction set */
    job job[];
} jobs;

extern jobs *shared_jobs;
extern job *own_job; /* the job of this process */

/* Allocates the shared memory for count jobs; job 0 is this process. Returns false on failure. */
bool jobs_begin(int count);
/* Returns the number of this job's current program among all programs of the run. */
uint64_t jobs_number(uint64_t next);
void jobs_lock(void);
void jobs_unlock(void);
/* Runs work in each job, in separate processes if there are several, and waits; returns false if one fails. */
bool jobs_run(bool (*work)(void));
/* Returns true for the first failure with this signature. The caller holds the lock. */
bool jobs_is_new(const char *signature);
/* Sums the counts of all jobs. */
void jobs_sum(oracle_counts *counts, coverage *coverage, int64_t *alike);

#endif
