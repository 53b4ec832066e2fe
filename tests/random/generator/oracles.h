/* SPDX-License-Identifier: Apache-2.0 */
/* Properties that every program must have. */
#ifndef TESTS_RANDOM_ORACLES_H
#define TESTS_RANDOM_ORACLES_H

#include "executor.h"

typedef enum oracle {
    ORACLE_NOTHING,
    ORACLE_CRASH,       /* the process crashed */
    ORACLE_INVARIANT,   /* in any mode: a failure without a reason, a write outside a tensor, ... */
    ORACLE_DEFAULT,     /* default mode = op by op (WICK_EAGER=1) */
    ORACLE_NOFUSE,      /* WICK_NOFUSE=1 = op by op */
    ORACLE_ORDER,       /* groups in another order = op by op */
    ORACLE_TWO_THREADS, /* two threads = op by op on one thread */
    ORACLE_MANY_THREADS,
    ORACLE_DIFFERENCES, /* gradients = central differences */
    ORACLE_REFERENCE,   /* each call equals the op's reference, and changes only what it writes */
    ORACLE_INDEX,       /* a bad index fails exactly the dependent values, with the same message in each mode */
    ORACLE_SIZES,       /* default = op by op in other sizes, one after the other, so that caches are reused */
    ORACLE_GPU,         /* default = op by op on the GPU, or on the CPU if values are exact */
    ORACLE_GPU_THREADS, /* the same with concurrent threads */
    ORACLE_GPU_INDEX,   /* bad indices on the GPU, as above; and no thread reports another one's */
    ORACLE_GPU_SIZES,   /* other sizes on the GPU */
    ORACLE_DRIVER,      /* if a driver call fails, each read fails or has the correct values */
    ORACLE_CPU_KINDS,   /* shapes, dtypes and rejections are equal on two instruction sets */
    ORACLES
} oracle;
extern const char *const oracle_name[ORACLES];
extern const mode mode_sync;

typedef struct verdict {
    oracle oracle; /* the first one violated */
    char text[400];
} verdict;

/* Hashes of a program and of its trace without values. */
typedef struct digest {
    uint64_t number, program, structure;
} digest;

/* Generates the program of a seed and checks every oracle except ORACLE_CPU_KINDS, for which it returns a digest. */
void oracles_try(program *p, uint64_t seed, verdict *v, digest *digest);
/* The same for ORACLE_GPU and the following ones, on the first device of that kind: a variant of the program in other
 * sizes, which uses the same kernels; or one with tensors larger than 2 MB, which may use the second device as well.
 * The kind also applies to later calls of oracle_broken. */
enum { VARIANT_LARGE = -1 };
void oracles_try_gpu(program *p, uint64_t seed, int variant, int kind, verdict *v);
/* Generates a program and sets which slots remain at the end. */
void oracles_generate(program *p, uint64_t seed, bool large);
/* Returns true if the program violates this oracle. */
bool oracle_broken(program *p, oracle which, verdict *v);
/* Removes the steps that are skipped, and sets which slots remain at the end. */
void oracles_tidy(program *p);

/* Only int64_t members: the structs of several processes are added as arrays. */
typedef struct oracle_counts {
    int64_t spoiled, programs, calls, backwards, differences, inconclusive, large, referred;
    int64_t resized;         /* run in other sizes, one after the other */
    int64_t ranges, at_once; /* on a GPU: programs with tensors larger than 2 MB, and with concurrent threads */
    int64_t by_calls[64];
} oracle_counts;
extern oracle_counts *counts; /* updated by oracles_try */

/* gradcheck.c: compares the gradients of a program with central differences; *conclusive: whether they are
 * meaningful. */
bool gradcheck_fails(program *p, executor *m, verdict *v, bool *conclusive);

/* bad_indices.c: copies the program with an index tensor that may contain indices out of range. */
bool index_corrupt(const program *p, program *spoiled);
bool index_disagrees(const program *p, executor *base, executor *other, verdict *v);
/* Compares a run on a device of that kind with the CPU, for programs without in-place writes: on a device, in-place
 * writes after a bad index are skipped until it is reported. */
bool index_disagrees_on_gpu(const program *p, int kind, executor *base, executor *other, verdict *v);
/* Returns true if the run has rejected a call for a bad index. *late: a value failed for one, which was detected on the
 * device; until it is reported, in-place writes are skipped, how many depends on the mode
 * (docs/contributing/invariants.md). */
bool trace_has_bad_index(const executor *m, bool *late);
/* Compares two runs of a program without gradients that has a bad index, the first one op by op. */
bool index_runs_differ(const executor *sync, const executor *other, verdict *v);

/* driver_faults.c: removes the steps that write in place, and with them the gradients of leaves, which are accumulated
 * in place. */
void driver_leave_out_writes(program *p);
/* Runs the program on a device of that kind with one failing driver call, drawn from the program's seed. */
bool driver_disagrees(const program *p, int kind, executor *base, executor *other, verdict *v);

/* sizes.c: replaces its most common size by others from 0 to 257, one after the other. */
bool other_sizes_disagree(const program *p, const mode *sync, const mode *usual, executor *base, executor *other,
                          verdict *v);

/* reference.c: runs it op by op and compares every call. */
bool reference_disagrees(program *p, executor *m, verdict *v);

#endif
