/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a program step by step in one of the library's modes, and records everything that a program can observe:
 * error codes and messages, values that it reads, and at the end the contents of all remaining tensors. */
#ifndef TESTS_RANDOM_EXECUTOR_H
#define TESTS_RANDOM_EXECUTOR_H

#include "workers.h"
#include "program.h"
#include "op_entries.h"

/* Execution mode of the library. */
typedef struct mode {
    const char *name;
    bool sync, nofuse;
    int threads;
    bool prologues; /* products use prologues, however small they are */
    uint64_t order; /* seed of a random order of the groups in a flush; 0: normal order */
    /* kind of the device, WK_OPENCL or WK_CUDA: its first one, and the second one for steps with `card`; 0: CPU */
    int gpu;
    bool serialized; /* concurrent threads take turns instead */
} mode;

typedef struct slot {
    wk_tensor *tensor; /* NULL: not created, or freed */
    int16_t scope;     /* index of its scope in the guards of its thread; -1: none */
    uint8_t retains, thread;
    bool leaf;   /* accumulates gradients */
    bool second; /* on the second card */
} slot;

/* An entry of the trace, followed by the bytes of its tensor, if any. */
typedef struct trace_entry {
    int16_t step, slot; /* step: -1 at the end of the program; slot: -1 for none */
    uint8_t what, code, dtype, ndim;
    bool requires_grad;
    uint32_t said; /* for a bad index: a hash of the message */
    int64_t shape[8], bytes;
} trace_entry;
enum { NOTE_FAILED, NOTE_READ, NOTE_LEFT, NOTE_GRADIENT, NOTE_HOOK, NOTE_GUARD, NOTE_SHARED, NOTE_CONTEXTS };

enum { MOST_GUARDS = 24, MOST_LENT = 8, LENT_GUARD = 64 };

/* The open guards of a thread, the innermost last. */
typedef struct guards {
    int count;
    wk_guard outer; /* the outermost scope, which owns tensors kept beyond the program's scopes */
    struct {
        wk_guard token;
        int16_t number; /* number in the program; -1: the outermost scope */
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
    int contexts;          /* contexts of functions at the start, left by a failed program */
    int lents, now;        /* now: the running step */
    int here;              /* thread or slot that is begun or observed */
    bool done;             /* the last step was not skipped */
    int given;             /* number of results of the last call, including those without a slot */
    wk_code code;          /* of the last step */
    bool has_failed_value; /* a value failed; op by op at the call, otherwise possibly later */
    double epsilon;        /* step of the leaves' elements in a random direction given by nudge_seed */
    uint32_t nudge_seed;
    const bool *nudged; /* slots of the leaves that are moved */
    bool forward_only;  /* skips wk_backward */
    char *notes;
    size_t used, room;
    worker_job *rest; /* continues a thread that has replaced an ended one */
    void *rest_user;
    slot own_slot[MOST_SLOTS];
    guards own_thread[MOST_THREADS];
    bool passed[MOST_STEPS]; /* steps that were skipped because an operand was missing */
    bool empty[MOST_SLOTS];  /* slots created as tensors without elements */
} executor;

/* Limits the memory of a device to the bytes that are live now, as gradient cycles of earlier programs are never freed,
 * plus those that one program may use. A call that needs more is refused. executor_unlimit_memory restores the
 * default. */
void executor_limit_memory(wk_device device);
void executor_unlimit_memory(wk_device device);
/* Prepares the first step in this mode. The caller owns the program, which may grow between steps. */
void executor_begin(executor *m, program *p, const mode *mode);
/* Executes step k in its thread. Returns false if it was skipped because an operand is missing. After a
 * STEP_THREAD_RESTART that was executed, its thread calls executor_restart_thread and returns. */
bool executor_step(executor *m, int k);
/* Continues a replaced thread with rest(user), in a new outermost scope. */
void executor_restart_thread(executor *m, int thread, worker_job *rest, void *user);
/* Executes all steps in order. */
void executor_run_steps(executor *m);
/* Records the remaining tensors. */
void executor_observe_end(executor *m);
/* Closes all guards and frees everything that the program created. */
void executor_end(executor *m);
/* Runs a program from begin to end. */
void executor_run(executor *m, program *p, const mode *mode);
void executor_free(executor *m);

/* Reads a tensor's elements in its dtype, with all NaN made equal; returns the code of wk_read. `to` must have room for
 * them. */
wk_code executor_read(wk_tensor *x, void *to);
size_t tensor_bytes(const wk_tensor *x);
/* Returns an element as a double; NaN if it cannot be read. */
double executor_read_element(wk_tensor *x, int64_t k);
/* Returns the component, in [-1, 1], of an element of a leaf in the random direction of this seed. */
double perturb_direction(uint32_t seed, int slot, int64_t k);
/* Returns element k of a STEP_MAKE. */
double made_number(const step *s, int64_t k);
/* Returns the device that a step names, in a mode with a GPU. */
wk_device executor_device(const executor *m, const step *s);
/* Returns the index of the innermost scope among a thread's guards. */
int machine_scope(const executor *m, int thread);

#endif
