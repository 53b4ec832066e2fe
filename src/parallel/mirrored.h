/* SPDX-License-Identifier: Apache-2.0 */
/* wk_mirrored: one network on several devices of this process.
 *
 *     forward      mirrored.c            splits the batch, runs the model once per device, gathers the results
 *     replicas     mirrored_replicas.c   copies of parameters and buffers, and binding them to the model's handles
 *     profiling    mirrored_profiler.c   speed of the devices, breakdown of a step's time
 *
 * Forward runs in one thread at a time (wk__mirrored.running).
 */
#ifndef WICK_DIST_MIRRORED_H
#define WICK_DIST_MIRRORED_H

#include "nn/module.h"
#include "device_broadcast.h"
#include <wick/parallel.h>

/* Copy on one device of a parameter or buffer that is stored on another. */
typedef struct wk__replica_copy {
    wk_tensor *tensor;       /* reference held; NULL: not copied yet */
    uint32_t source_version; /* version of the source when it was copied */
    uint32_t own_version;    /* version of the copy at that time; in-place ops in forward may have changed it since */
} wk__replica_copy;

/* A parameter or buffer of the model. */
typedef struct wk__mirrored_tensor {
    wk_tensor *tensor;
    bool buffer;
} wk__mirrored_tensor;

typedef struct wk__step_profiler wk__step_profiler;

typedef struct wk__mirrored {
    int n;
    wk__device *device[WK_MIRRORED_DEVICES];
    int order
        [WK_MIRRORED_DEVICES]; /* recording order of replicas: accelerators first, since they work asynchronously */
    wk_device output;          /* device of the results; kind 0: that of the input */
    wk_mirrored_buffers buffers;
    bool balance;
    double weight[WK_MIRRORED_DEVICES]; /* share of the batch of each device */
    wk__mirrored_tensor *model_tensors; /* each tensor once; the list only grows */
    int64_t count, capacity;
    int64_t module_items;   /* entries of the model's modules when the list was made */
    wk__replica_copy *copy; /* [count][n] */
    atomic_bool running;    /* forward is running in some thread */
    wk__step_profiler *profiler;
} wk__mirrored;

/* ---- forward: one call of it ------------------------------------------------------------------------------------- */

typedef struct wk__replica {
    wk_tensor **in, **out; /* [inputs], [outputs] */
    int count;             /* number of results in out */
} wk__replica;

/* State of one forward call. Freed by a guard in the caller's scope, which also unbinds replica tensors and restores
 * the default device. */
typedef struct wk__mirrored_forward {
    wk__mirrored *m;
    wk_context *context;
    int64_t share[WK_MIRRORED_DEVICES]; /* samples per device; 0: idle */
    int first, active;                  /* first device that is not idle; number of those */
    wk_tensor **replica_tensor;         /* [count][n] what is behind the handles while replica k runs; NULL:
                                                 nothing */
    uint32_t *start_version;            /* [count][n] versions of the replica tensors before forward */
    int bound;                          /* replica whose tensors the handles currently refer to; -1: none */
    wk_device saved_device;             /* default device before the call, to be restored */
    wk__replica replica[WK_MIRRORED_DEVICES];
    wk_tensor **tensors; /* storage of the replicas' input and result lists */
} wk__mirrored_forward;

/* mirrored_replicas.c. Lists the model's tensors, starts copies of all that are out of date before waiting for any, and
 * makes the replica tensors of the active devices. Returns false after recording an error. */
bool wk__mirrored_collect(wk_site site, wk__mirrored *m, wk_module *model);
bool wk__mirrored_refresh(wk__mirrored_forward *t);
/* Binds the tensors of replica k to the handles of the model; -1: unbinds. */
void wk__mirrored_bind(wk__mirrored_forward *t, int k);
/* Merges the buffers that forward has changed, after all replicas have run. */
bool wk__mirrored_update_buffers(wk__mirrored_forward *t);
void wk__mirrored_drop_copies(wk__mirrored *m); /* frees all copies */

/* mirrored_profiler.c. Measures a few steps; the functions are no-ops in the others. */
wk__step_profiler *wk__step_profiler_new(void); /* NULL on allocation failure */
void wk__step_profiler_free(wk__mirrored *m);
/* Starts a forward; the shares are set. trains: gradients are recorded. */
void wk__step_profiler_begin(wk__mirrored_forward *t, bool trains);
/* Ends a part of the step: flushes it and waits for the devices. */
typedef enum wk__step_phase { WK__PHASE_COPY, WK__PHASE_COMPUTE } wk__step_phase;
void wk__step_profiler_end_phase(wk__mirrored_forward *t, wk__step_phase which);
/* Notes that replica k is recorded. */
void wk__step_profiler_end_replica(wk__mirrored_forward *t, int k);
/* Returns true if this step is measured. Copies must then not overlap with computation, which would include their
 * time. */
bool wk__step_profiler_is_active(const wk__mirrored_forward *t);
/* Observes the broadcast node of out, an output of the broadcast of x. */
void wk__step_profiler_watch(wk__mirrored_forward *t, const wk_tensor *x, wk_tensor *out);
/* Counts bytes copied between devices. */
void wk__step_profiler_add_copied(wk__mirrored *m, int64_t bytes);
void wk__step_profiler_stats(const wk__mirrored *m, wk_mirrored_stats *stats);

#endif
