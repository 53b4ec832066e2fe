/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the OpenCL backend.
 *
 *   any thread                      the device's worker thread (queue.c)
 *   ---------------------------     -------------------------------------------------
 *   lowers work, copies launches    builds missing kernels (gpu/cache/kernel_build.c)
 *   into commands, pushes them  ->  sets arguments, enqueues on an in-order cl_queue
 *   waits only in download, sync    waits for the device if a command requires it
 *
 * Some drivers compute in the thread that enqueues, so each device has a thread, and devices work in parallel. */
#ifndef WICK_BACKEND_OPENCL_DEVICE_H
#define WICK_BACKEND_OPENCL_DEVICE_H

#include "base/alloc.h"
#include "backend/gpu/fault.h"
#include "backend/gpu/fork_guard.h"
#include "backend/gpu/cache/kernel_cache.h"
#include "api.h"

#include <pthread.h>

/* ---- enumerate.c: devices of the machine ------------------------------------------------------------------------- */

typedef struct wk__cl_device_desc {
    cl_device id;
    wk__gpu_device_desc gpu;
    int64_t max_alloc_bytes; /* maximum size of a buffer */
} wk__cl_device_desc;

wk__backend_status wk__cl_status(wk__text *why);
int wk__cl_count(void);
/* Returns NULL and sets *fail if the device doesn't exist. */
const wk__cl_device_desc *wk__cl_device_desc_at(int index, wk__fail *fail);

/* ---- device ------------------------------------------------------------------------------------------------------ */

typedef struct wk__cl_device wk__cl_device;
typedef struct wk__cl_command wk__cl_command;

enum { WK__CL_BATCHES = 2 };

/* ---- poison.c: failed commands and their dependents -------------------------------------------------------------- */

/* First failure of a dependency chain. Reference-counted; embedded in the failed command, which it keeps alive. Worker
 * thread only. */
typedef struct wk__cl_failure wk__cl_failure;
struct wk__cl_failure {
    int refs;
    wk_code code;
    char *message;           /* NULL: out of memory */
    wk__origin *origin;      /* recorder of the work; NULL: unknown */
    wk__cl_command *command; /* command that contains it; NULL: the device */
    wk__cl_failure *next;    /* in the list of unreported failures */
    bool listed, reported;   /* it is in that list; its recorder has been notified */
    /* recorders of skipped in-place work, who would not notice otherwise */
    wk__cl_command *affected, *next_to_notify; /* next_to_notify: the first of these that has not been notified */
};

/* How a command accesses an allocation, which is identified by block and offset. */
enum {
    WK__CL_READS = 1,
    WK__CL_WRITES = 2,      /* overwrites it completely, unless it also reads it */
    WK__CL_RESTORES_OLD = 4 /* in place: if skipped, the allocation has (or gets) the contents of the old memory */
};
typedef struct wk__cl_access {
    cl_mem block, old_block;
    int64_t offset, old_offset, bytes; /* of the old contents */
    int how;
    /* While the allocation is poisoned, because this command failed to write it: */
    wk__cl_failure *cause;
    struct wk__cl_access *next;
    wk__cl_command *command;
} wk__cl_access;

/* Commands that the driver is executing; freed when it has finished them. */
typedef struct wk__cl_batch {
    cl_event end;
    wk__cl_command *commands;
} wk__cl_batch;

struct wk__cl_device {
    const wk__cl_device_desc *card;
    wk__cl_device *next_open;
    cl_context context;
    cl_queue queue;
    cl_mem fault; /* wk__gpu_fault */
    cl_mem scratch;
    int64_t scratch_bytes;
    cl_mem argument_memory; /* of the kernel that is being enqueued, if it has many arguments */

    pthread_t thread;
    pthread_mutex_t lock; /* for the command queue and the members up to `stopping` */
    pthread_cond_t changed;
    wk__cl_command *first, *last;
    int pending;         /* commands not performed yet */
    int64_t staged;      /* bytes of host data in those commands and in the driver's */
    bool is_idle;        /* the worker waits for commands */
    int blocked_pushers; /* threads that wait for space in the queue */
    bool stopping;

    /* Worker thread only: */
    wk__cl_batch batch[WK__CL_BATCHES]; /* [0] is being filled */
    int in_batch;
    wk__cl_access *poisoned;     /* list of poisoned allocations */
    wk__cl_failure *unreported;  /* failures to report to the next waiting calls, oldest first */
    wk__cl_failure *lost;        /* reason why the device is unusable; NULL: it isn't */
    wk__cl_failure lost_failure; /* storage for that, if no command caused it */
    /* State of the current call, a list of commands: */
    bool call_failed; /* a command failed, so the others are skipped */
    bool call_wrote;  /* a launch that writes output has been enqueued */

    wk__gpu_kernel_cache kernel_cache;
    bool compile_only; /* launches are not run, their kernels only become pending */
};

/* ---- queue.c ----------------------------------------------------------------------------------------------------- */

/* Performs a command in the worker thread. A failure is returned to the waiting caller; without one it is
 * asynchronous. */
typedef wk_code wk__cl_perform(wk__cl_device *device, wk__cl_command *command, wk__fail *fail);

typedef struct wk__cl_waiter {
    bool done;
    wk_code code;
    wk__fail *fail;
} wk__cl_waiter;

/* First member of every command; the other members belong to its perform function. */
struct wk__cl_command {
    wk__cl_command *next;
    wk__cl_perform *perform;
    wk__cl_waiter *waiter;
    int64_t staged; /* bytes that count towards the queue's limit */
    /* the pusher's allocations are untracked (base/alloc.h), so the worker's for this command are as well */
    bool paused;
    bool in_flight; /* the driver still reads from the command after it was performed */
    /* Only for commands without a waiter: */
    wk__origin *origin;
    wk__cl_access *use; /* in the command's own allocation */
    int uses;
    /* number of references from poisoned allocations, from its cause, and from lists of affected commands */
    int refcount;
    bool first;              /* first command of its call */
    bool writes;             /* writes these allocations, not only scratch memory */
    bool partially_launched; /* it failed after a part of its launch was enqueued */
    bool always;             /* performed even after failures, because others wait for it */
    bool from_peer;          /* it failed because another device had nothing to send */
    wk__cl_failure cause;    /* the failure, if this is the first failed command of its chain */
    wk__cl_command *next_listener;
};

wk_code wk__cl_worker_start(wk__cl_device *device, wk__fail *fail);
/* Performs the queued commands, then ends the thread; idempotent. */
void wk__cl_worker_stop(wk__cl_device *device);
/* Waits until all commands are complete and the thread is idle. */
void wk__cl_drain(wk__cl_device *device);
/* Pushes a command or the commands of one call, a list, which stay together in the queue, so that scratch memory and
 * the device's flags belong to one call at a time. Takes ownership, also on failure. Waits while the queue is full. */
wk_code wk__cl_push(wk__cl_device *device, wk__cl_command *command, wk__fail *fail);
/* The same for one command, and waits until it was performed; the command may be on the caller's stack. */
wk_code wk__cl_push_and_wait(wk__cl_device *device, wk__cl_command *command, wk__fail *fail);
/* Allocates a zeroed command of `size` bytes; NULL and *fail on failure. */
void *wk__cl_command_new(size_t size, wk__cl_perform *perform, wk__fail *fail);
void wk__cl_command_free(wk__cl_command *command);
void wk__cl_commands_free(wk__cl_command *commands); /* frees a list */
/* Waits for the device and reports the fault record: WK_ERR_INDEX or WK_OK. Worker thread only. */
wk_code wk__cl_check_faults(wk__cl_device *device, wk__fail *fail);
wk_code wk__cl_fail_set(wk__fail *fail, cl_int error, const char *what);
/* Waits for everything that the driver is executing. Worker thread only. */
void wk__cl_finish(wk__cl_device *device);

/* poison.c; worker thread only. Performs a command without a waiter. If an allocation that it reads is poisoned, it is
 * skipped, and its outputs are poisoned as well. Returns true if the command now represents poisoned memory and must
 * not be freed. */
bool wk__cl_perform_async(wk__cl_device *device, wk__cl_command *command);
/* Initialises an access of a command that has not been performed. */
void wk__cl_access_init(wk__cl_command *command, wk__cl_access *use, int how, const wk__memory *piece,
                        const wk__memory *old);
/* Returns why the allocation is poisoned; NULL if it isn't. */
wk__cl_failure *wk__cl_poison_of(const wk__cl_device *device, cl_mem block, int64_t offset);
/* Clears poison after the allocation was overwritten. */
void wk__cl_unpoison(wk__cl_device *device, cl_mem block, int64_t offset);
/* Clears poison of all allocations in a block that is freed. */
void wk__cl_forget_block(wk__cl_device *device, cl_mem block);
/* Marks the device as lost. */
void wk__cl_set_device_lost(wk__cl_device *device, const wk__fail *fail);
/* Fills *fail with the cause, and marks it as reported. */
wk_code wk__cl_report(wk__cl_device *device, wk__cl_failure *cause, wk__fail *fail);
/* The same for the oldest unreported failure; WK_OK if there is none. */
wk_code wk__cl_report_next(wk__cl_device *device, wk__fail *fail);
/* Fills *fail with the cause and its origin, to be reported elsewhere: a command that fails with it passes them on. */
void wk__cl_failure_copy(const wk__cl_failure *cause, wk__fail *fail);
/* Called after the worker has ended. */
void wk__cl_poison_destroy(wk__cl_device *device);

/* ---- compiler.c -------------------------------------------------------------------------------------------------- */

/* `device` is a wk__cl_device. */
extern const wk__gpu_compiler wk__cl_compiler;

/* ---- entries of the backend table: launch.c, memory.c, events.c -------------------------------------------------- */

bool wk__cl_supports(void *user, int family, wk_dtype dtype, wk__layout layout);
wk_code wk__cl_submit(void *user, const wk__work *work, wk__fail *fail);
wk_code wk__cl_compile_only(void *user, bool on, wk__fail *fail);

wk_code wk__cl_block_alloc(void *user, int64_t bytes, wk__memory *block, wk__fail *fail);
void wk__cl_block_free(void *user, wk__memory *block);
wk_code wk__cl_upload(void *user, const wk__memory *to, int64_t offset, const void *from, int64_t bytes,
                      wk__fail *fail);
wk_code wk__cl_copy(void *user, const wk__memory *to, int64_t to_offset, const wk__memory *from, int64_t from_offset,
                    int64_t bytes, wk__fail *fail);
wk_code wk__cl_download(void *user, void *to, const wk__memory *from, int64_t offset, int64_t bytes, wk__fail *fail);
wk_code wk__cl_sync(void *user, wk__fail *fail);
wk_code wk__cl_event_record(void *user, void **event, wk__fail *fail);
wk_code wk__cl_event_wait(void *user, void *event, wk__fail *fail);
wk_code wk__cl_transfer(void *to_device, const wk__memory *to, void *from_device, const wk__memory *from,
                        int64_t from_offset, int64_t bytes, wk__fail *fail);

#endif
