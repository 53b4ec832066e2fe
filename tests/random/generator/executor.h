/* SPDX-License-Identifier: Apache-2.0 */
/* Carries a program out, step by step, in one of the library's modes, and notes all that a program can see: what each
 * step that fails says, the numbers that it reads, and in the end the numbers of all that is left. */
#ifndef TESTS_RANDOM_MACHINE_H
#define TESTS_RANDOM_MACHINE_H

#include "workers.h"
#include "program.h"
#include "op_entries.h"

/* How the library runs it. */
typedef struct mode {
    const char *name;
    bool sync, nofuse;
    int threads;
    bool prologues;  /* products compute factors on the way, however small they are */
    uint64_t order;  /* groups of a flush run in an order drawn from this; 0: in their own */
    int gpu;         /* on the first device of this kind, WK_OPENCL or WK_CUDA, and where a step says so (card) on the
                     * second; 0: on the CPU */
    bool serialized; /* threads that could work at the same time take turns instead */
} mode;

typedef struct slot {
    wk_tensor *tensor; /* NULL: nothing, or nothing any more */
    int16_t scope;     /* place of its scope among the guards of its thread, -1: of none */
    uint8_t retains, thread;
    bool leaf;   /* it gathers gradients */
    bool second; /* it lies on the second card */
} slot;

/* What a note is about; the bytes of the tensor follow it. */
typedef struct trace_entry {
    int16_t step, slot; /* -1 at the end of the program; -1 for none */
    uint8_t what, code, dtype, ndim;
    bool requires_grad;
    uint32_t said; /* of a bad index: a hash of the message */
    int64_t shape[8], bytes;
} trace_entry;
enum { NOTE_FAILED, NOTE_READ, NOTE_LEFT, NOTE_GRADIENT, NOTE_HOOK, NOTE_GUARD, NOTE_SHARED, NOTE_CONTEXTS };

enum { MOST_GUARDS = 24, MOST_LENT = 8, LENT_GUARD = 64 };

/* What a thread of the program has open, the innermost last. */
typedef struct guards {
    int count;
    wk_guard outer; /* a scope around all, for what is kept in the outermost */
    struct {
        wk_guard token;
        int16_t number; /* of the program, -1 for the scope around all */
        bool scope;
    } guard[MOST_GUARDS];
} guards;

typedef struct executor {
    program *program;
    const mode *mode;
    slot *slot;     /* [MOST_SLOTS] */
    guards *thread; /* [MOST_THREADS] */
    struct {
        char *memory;
        size_t bytes, room;
        int16_t slot;
    } borrowed[MOST_LENT];
    int contexts;          /* of functions that were there in the beginning: what a failed program has left */
    int lents, now;        /* the step that runs */
    int here;              /* which thread, or slot, it is about at the beginning and at the end */
    bool done;             /* the last step was not passed over */
    int given;             /* results of the last call, those without a slot too */
    wk_code code;          /* of the last step */
    bool has_failed_value; /* a value could not be computed; op by op this is known at the call, else later */
    double epsilon;        /* of the leaves' numbers, along a direction drawn from nudge_seed */
    uint32_t nudge_seed;
    const bool *nudged; /* slots of the leaves that are moved */
    bool forward_only;  /* without wk_backward */
    char *notes;
    size_t used, room;
    worker_job *rest; /* of the thread that runs, once it has taken the place of one that has ended */
    void *rest_user;
    slot own_slot[MOST_SLOTS];
    guards own_thread[MOST_THREADS];
    bool passed[MOST_STEPS]; /* over, as an operand was missing */
    bool empty[MOST_SLOTS];  /* given as a tensor without elements */
} executor;

/* Ready for the first step, in this mode. The program stays the caller's; it may grow between steps. */
void executor_begin(executor *m, program *p, const mode *mode);
/* Carries out step k, in its thread. False when it was passed over, because an operand was missing. After a
 * STEP_THREAD_RESTART that was not, that thread calls executor_restart_thread and returns. */
bool executor_step(executor *m, int k);
/* Another thread goes on with rest(user), with a scope of its own around what it does. */
void executor_restart_thread(executor *m, int thread, worker_job *rest, void *user);
/* All of them, one after the other. */
void executor_run_steps(executor *m);
/* Notes what is left. */
void executor_observe_end(executor *m);
/* Ends everything. */
void executor_end(executor *m);
/* All of it. */
void executor_run(executor *m, program *p, const mode *mode);
void executor_free(executor *m);

/* The numbers of a tensor as its dtype's bytes, NaNs all alike; the code of wk_read. `to` has room for them. */
wk_code executor_read(wk_tensor *x, void *to);
size_t tensor_bytes(const wk_tensor *x);
/* The same as double, NaN where it cannot be read. */
double executor_read_element(wk_tensor *x, int64_t k);
/* How far a leaf's element moves in the direction of this seed, in [-1, 1]. */
double perturb_direction(uint32_t seed, int slot, int64_t k);
/* What STEP_MAKE puts at place k. */
double made_number(const step *s, int64_t k);
/* The device of the mode's kind that a step names, in a mode with a GPU. */
wk_device executor_device(const executor *m, const step *s);
/* The innermost scope of a thread among its guards. */
int machine_scope(const executor *m, int thread);

#endif
