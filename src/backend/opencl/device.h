/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the OpenCL backend.
 *
 *   any thread                      the device's own thread (queue.c)
 *   ---------------------------     -------------------------------------------------
 *   plans launches, copies them     builds what is not built yet (gpu/kernel_build.c)
 *   into commands, pushes       ->  sets arguments, enqueues on an in-order cl queue
 *   waits only for download, sync   waits for the device where a command says so
 *
 * Some drivers compute in the thread that enqueues: with a thread of its own each device works while others do. */
#ifndef WICK_BACKEND_OPENCL_DEVICE_H
#define WICK_BACKEND_OPENCL_DEVICE_H

#include "base/alloc.h"
#include "backend/gpu/fault.h"
#include "backend/gpu/fork_guard.h"
#include "backend/gpu/cache/kernel_cache.h"
#include "api.h"

#include <pthread.h>

/* ---- enumerate.c: the devices of the machine --------------------------------------------------------------------- */

typedef struct wk__cl_device_desc {
    cl_device id;
    wk__gpu_device_desc gpu;
    int64_t max_alloc_bytes; /* bytes of one buffer */
} wk__cl_device_desc;

wk__backend_status wk__cl_status(wk__text *why);
int wk__cl_count(void);
/* NULL and *fail when there is no such device. */
const wk__cl_device_desc *wk__cl_device_desc_at(int index, wk__fail *fail);

/* ---- a device that is open --------------------------------------------------------------------------------------- */

typedef struct wk__cl_device wk__cl_device;
typedef struct wk__cl_command wk__cl_command;

enum { WK__CL_BATCHES = 2 };

/* ---- poison.c: what could not be done, and what depends on it ---------------------------------------------------- */

/* Why something could not be done: the first cause, however long the chain. It is part of the command that failed. */
typedef struct wk__cl_failure wk__cl_failure;
struct wk__cl_failure {
    int refs;
    wk_code code;
    char *message;           /* NULL: there was no memory for them */
    wk__origin *origin;      /* whose work it was; NULL: not known */
    wk__cl_command *command; /* that it is part of; NULL: of the device */
    wk__cl_failure *next;    /* that is to be told */
    bool listed, reported;   /* is in that list; whoever it happened to has been told */
    /* others whose work in place was left out: nobody would notice */
    wk__cl_command *affected, *next_to_notify; /* waiting: the first of them who has not been told */
};

/* What a command does with a piece of memory, which its start tells apart from others. */
enum {
    WK__CL_READS = 1,
    WK__CL_WRITES = 2,      /* all of it, unless it reads it, too */
    WK__CL_RESTORES_OLD = 4 /* in place: when it is left out, the piece has (or gets) the numbers of `old` */
};
typedef struct wk__cl_access {
    cl_mem block, old_block;
    int64_t offset, old_offset, bytes; /* of the old numbers */
    int how;
    /* while the piece is lost, as this command was to write it */
    wk__cl_failure *cause;
    struct wk__cl_access *next;
    wk__cl_command *command;
} wk__cl_access;

/* Commands that the driver works on: freed when it is through with them. */
typedef struct wk__cl_batch {
    cl_event end;
    wk__cl_command *commands;
} wk__cl_batch;

struct wk__cl_device {
    const wk__cl_device_desc *card;
    wk__cl_device *next_open;
    cl_context context;
    cl_queue queue;
    cl_mem fault; /* a wk__gpu_fault */
    cl_mem scratch;
    int64_t scratch_bytes;
    cl_mem argument_memory; /* of the kernel that is being enqueued, when its arguments are many */

    pthread_t thread;
    pthread_mutex_t lock; /* of the queue of commands, up to `stopping` */
    pthread_cond_t changed;
    wk__cl_command *first, *last;
    int pending;         /* commands not yet performed */
    int64_t staged;      /* bytes of host data that those and the ones with the driver hold */
    bool is_idle;        /* the thread waits for commands */
    int blocked_pushers; /* threads that wait for room */
    bool stopping;

    /* only the device's thread touches these */
    wk__cl_batch batch[WK__CL_BATCHES]; /* [0] is being filled */
    int in_batch;
    wk__cl_access *poisoned;     /* pieces of memory that hold nothing good */
    wk__cl_failure *unreported;  /* what the next that wait are to be told, oldest first */
    wk__cl_failure *lost;        /* why the device does nothing any more */
    wk__cl_failure lost_failure; /* that, when no command was at fault */
    /* of the call that is being worked on: */
    bool call_failed; /* it has failed: the rest of it is left out */
    bool call_wrote;  /* it has launched what writes */

    wk__gpu_kernel_cache units;
    bool compile_only; /* launches are not run, their units only wait to be built */
};

/* ---- queue.c ----------------------------------------------------------------------------------------------------- */

/* Does the work in the device's thread. A failure goes to the waiting caller, else it is late. */
typedef wk_code wk__cl_perform(wk__cl_device *device, wk__cl_command *command, wk__fail *fail);

typedef struct wk__cl_waiter {
    bool done;
    wk_code code;
    wk__fail *fail;
} wk__cl_waiter;

/* Begins every command; what follows it is the performer's business. */
struct wk__cl_command {
    wk__cl_command *next;
    wk__cl_perform *perform;
    wk__cl_waiter *waiter;
    int64_t staged; /* bytes that count against the queue's limit */
    bool paused; /* who pushed it does not count its requests for memory (base/alloc.h): nor does the device's thread */
    bool in_flight; /* the driver still reads from the command when it has been performed */
    /* of those that nobody waits for: */
    wk__origin *origin;
    wk__cl_access *use; /* in the command's own memory */
    int uses;
    int refcount;            /* reasons why it is kept: a piece that is lost by it, its cause, its place among
                              listeners */
    bool first;              /* of its call */
    bool writes;             /* to those pieces, not to scratch memory only */
    bool partially_launched; /* it failed when it had begun to write */
    bool always;             /* performed whatever has failed: others wait for it */
    bool from_peer;          /* it failed as another device had nothing for it */
    wk__cl_failure cause;    /* why it could not be done, if this was the first that could not */
    wk__cl_command *next_listener;
};

wk_code wk__cl_worker_start(wk__cl_device *device, wk__fail *fail);
/* Performs what is queued, then ends the thread; once. */
void wk__cl_worker_stop(wk__cl_device *device);
/* Waits until all is done and the thread is at rest. */
void wk__cl_drain(wk__cl_device *device);
/* Takes the command over, also on failure, or the commands of one call, a list: they stand together in the queue.
 * What a call leaves in scratch memory and in the device's flags is then its own, however many threads push. Waits
 * while the queue is full. */
wk_code wk__cl_push(wk__cl_device *device, wk__cl_command *command, wk__fail *fail);
/* The same, and waits until it was performed; the command may live on the caller's stack. */
wk_code wk__cl_push_and_wait(wk__cl_device *device, wk__cl_command *command, wk__fail *fail);
/* A zeroed command of `size` bytes, NULL and *fail when memory is short. */
void *wk__cl_command_new(size_t size, wk__cl_perform *perform, wk__fail *fail);
void wk__cl_command_free(wk__cl_command *command);
void wk__cl_commands_free(wk__cl_command *commands); /* a list */
/* Waits, and reports the fault word: WK_ERR_INDEX, else WK_OK. The device's thread. */
wk_code wk__cl_check_faults(wk__cl_device *device, wk__fail *fail);
wk_code wk__cl_fail_set(wk__fail *fail, cl_int error, const char *what);
/* Waits for all that the driver has. The device's thread. */
void wk__cl_finish(wk__cl_device *device);

/* poison.c. Performs a command that nobody waits for, unless what it reads is lost; then what it was to write is lost,
 * too. True: the command says so from now on, and is not to be freed. The device's thread, as for all of these. */
bool wk__cl_perform_async(wk__cl_device *device, wk__cl_command *command);
/* Fills in a use of a piece, by a command that is not performed yet. */
void wk__cl_access_init(wk__cl_command *command, wk__cl_access *use, int how, const wk__memory *piece,
                        const wk__memory *old);
/* Why the piece holds nothing good, NULL: it does. */
wk__cl_failure *wk__cl_poison_of(const wk__cl_device *device, cl_mem block, int64_t offset);
/* The piece is written anew. */
void wk__cl_unpoison(wk__cl_device *device, cl_mem block, int64_t offset);
/* The block is given back. */
void wk__cl_forget_block(wk__cl_device *device, cl_mem block);
/* The device answers no more. */
void wk__cl_set_device_lost(wk__cl_device *device, const wk__fail *fail);
/* Fills *fail with the cause, which is told with that. */
wk_code wk__cl_report(wk__cl_device *device, wk__cl_failure *cause, wk__fail *fail);
/* The same of the oldest that nobody has been told of; WK_OK: there is none. */
wk_code wk__cl_report_next(wk__cl_device *device, wk__fail *fail);
/* Fills *fail with the cause and whose work it was, which are told elsewhere. A command that fails with that
 * passes them on. */
void wk__cl_failure_copy(const wk__cl_failure *cause, wk__fail *fail);
/* When the thread has ended. */
void wk__cl_poison_destroy(wk__cl_device *device);

/* ---- compiler.c -------------------------------------------------------------------------------------------------- */

/* `device` is a wk__cl_device. */
extern const wk__gpu_compiler wk__cl_compiler;

/* ---- launch.c, memory.c, events.c -------------------------------------------------------------------------------- */

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
