/* SPDX-License-Identifier: Apache-2.0 */
/* What must be true of every program. */
#ifndef TESTS_RANDOM_ORACLES_H
#define TESTS_RANDOM_ORACLES_H

#include "executor.h"

typedef enum oracle {
    ORACLE_NOTHING,
    ORACLE_CRASH,       /* it ends the process */
    ORACLE_INVARIANT,   /* in any mode: a failure without a reason, memory written that is not a tensor's, ... */
    ORACLE_DEFAULT,     /* as it usually runs = op by op, WICK_EAGER=1 */
    ORACLE_NOFUSE,      /* WICK_NOFUSE=1 = op by op */
    ORACLE_ORDER,       /* groups in another order = op by op */
    ORACLE_TWO_THREADS, /* = op by op, on one thread */
    ORACLE_MANY_THREADS,
    ORACLE_DIFFERENCES, /* gradients = central differences */
    ORACLE_REFERENCE,   /* each call gives what the row's reference does, and changes nothing but what it writes */
    ORACLE_INDEX,       /* a bad index fails what depends on it and nothing else, in each mode with the same message */
    ORACLE_SIZES,       /* default = op by op in other sizes, one after the other: caches serve several of them */
    ORACLE_GPU,         /* as it usually runs there = op by op there, or on the CPU if its numbers are exact */
    ORACLE_GPU_THREADS, /* the same with threads that work at the same time */
    ORACLE_GPU_INDEX,   /* bad indices there, as above; and no thread hears of those of another one */
    ORACLE_GPU_SIZES,   /* the same there */
    ORACLE_DRIVER,      /* where a call of the driver fails, what is read fails or has the right numbers */
    ORACLE_CPU_KINDS,   /* shapes, dtypes and refusals are those of another kind of CPU */
    ORACLES
} oracle;
extern const char *const oracle_name[ORACLES];
extern const mode mode_sync;

typedef struct verdict {
    oracle oracle; /* the first that was broken */
    char text[400];
} verdict;

/* A program and what it has seen but for its numbers, as hashes. */
typedef struct digest {
    uint64_t number, program, structure;
} digest;

/* Grows the program of a seed and runs it past every oracle but ORACLE_CPU_KINDS, for which it gives a digest. */
void oracles_try(program *p, uint64_t seed, verdict *v, digest *digest);
/* The same on the first device of that kind (ORACLE_GPU and those behind it): a variant of the program of this seed, of
 * other sizes, for which the same kernels do; or one of tensors larger than 2 MB, which may use the second, too. The
 * kind stays that of oracle_broken. */
enum { VARIANT_LARGE = -1 };
void oracles_try_gpu(program *p, uint64_t seed, int variant, int kind, verdict *v);
/* Grows it and says what is left in the end. */
void oracles_generate(program *p, uint64_t seed, bool large);
/* Is this oracle broken by the program? */
bool oracle_broken(program *p, oracle which, verdict *v);
/* Leaves out the steps that are passed over, and says which slots are left in the end. */
void oracles_tidy(program *p);

/* Nothing but int64_t: those of several processes are added up as an array. */
typedef struct oracle_counts {
    int64_t spoiled, programs, calls, backwards, differences, inconclusive, large, referred;
    int64_t resized;         /* run in other sizes, one after the other */
    int64_t ranges, at_once; /* on a GPU: programs of tensors larger than 2 MB, and with threads at the same time */
    int64_t by_calls[64];
} oracle_counts;
extern oracle_counts *counts; /* added to by oracles_try */

/* gradcheck.c: gradients of a program against central differences; `conclusive` says whether they say anything. */
bool gradcheck_fails(program *p, executor *m, verdict *v, bool *conclusive);

/* bad_indices.c: with an index tensor that may reach too far. */
bool index_corrupt(const program *p, program *spoiled);
bool index_disagrees(const program *p, executor *base, executor *other, verdict *v);
/* The same on a device of that kind against the CPU, where nothing is written: what is written in place there keeps its
 * numbers from a bad index on until that is known. */
bool index_disagrees_on_gpu(const program *p, int kind, executor *base, executor *other, verdict *v);
/* Has a call of that run been refused for a bad index? `late`: has a value failed for one? That is what a device found
 * by itself, and until it is known it leaves out what is written in place, which is more or less in each mode (rule
 * 17). */
bool trace_has_bad_index(const executor *m, bool *late);
/* Two runs of a program without gradients that has a bad index, the first op by op. */
bool index_runs_differ(const executor *sync, const executor *other, verdict *v);

/* driver_faults.c: leaves out the steps that write what was there before, and with them the gradients of leaves, which
 * are added up in place. */
void driver_leave_out_writes(program *p);
/* Runs it on a device of that kind, where a call of the driver fails that the program's seed draws. */
bool driver_disagrees(const program *p, int kind, executor *base, executor *other, verdict *v);

/* sizes.c: its most common size in place of which others stand, one after the other, from 0 to 257. */
bool other_sizes_disagree(const program *p, const mode *sync, const mode *usual, executor *base, executor *other,
                          verdict *v);

/* reference.c: runs it op by op and compares every call. */
bool reference_disagrees(program *p, executor *m, verdict *v);

#endif
