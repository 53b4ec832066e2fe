/* SPDX-License-Identifier: Apache-2.0 */
/* A network on several devices of this process.
 *
 *     forward      mirrored.c            splits the batch, runs the model once for each device, gathers
 *     copies       mirrored_replicas.c   of parameters and buffers, and whose turn it is to be behind their handles
 *     figures      mirrored_profiler.c   how fast the devices are, what a step's time goes into
 */
#ifndef WICK_DIST_MIRRORED_H
#define WICK_DIST_MIRRORED_H

#include "nn/module.h"
#include "device_broadcast.h"
#include <wick/parallel.h>

/* What a device has of a parameter or buffer that lives elsewhere. */
typedef struct wk__replica_copy {
    wk_tensor *tensor;       /* held; NULL: nothing yet */
    uint32_t source_version; /* storage->assigned of what it is a copy of, */
    uint32_t own_version;    /* and its own when it was made: in-place calls in forward may have changed it since */
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
    int order[WK_MIRRORED_DEVICES]; /* in which replicas are recorded: accelerators first, as they work meanwhile */
    wk_device output;               /* kind 0: where the input was */
    wk_mirrored_buffers buffers;
    bool balance;
    double weight[WK_MIRRORED_DEVICES]; /* shares of a batch */
    wk__mirrored_tensor *model_tensors; /* each once; the model's tensors only ever become more */
    int64_t count, capacity;
    int64_t module_items;   /* in the model's modules when that list was made */
    wk__replica_copy *copy; /* [count][n] */
    atomic_bool running;    /* forward, in some thread */
    wk__step_profiler *profiler;
} wk__mirrored;

/* ---- forward: one call of it ------------------------------------------------------------------------------------- */

typedef struct wk__replica {
    wk_tensor **in, **out; /* [inputs], [outputs] */
    int count;             /* of out */
} wk__replica;

/* All that a call has at hand; its guard lets go of it. */
typedef struct wk__mirrored_forward {
    wk__mirrored *m;
    wk_context *context;
    int64_t share[WK_MIRRORED_DEVICES]; /* samples; 0: the device is idle */
    int first, active;                  /* the first that is not; how many are not */
    wk_tensor **replica_tensor;         /* [count][n] what is behind the handles while replica k runs; NULL:
                                                 nothing */
    uint32_t *start_version;            /* [count][n] their versions before */
    int bound;                          /* the replica whose stand-ins are behind the handles, -1 none */
    wk_device saved_device;             /* the default device meanwhile, to be put back */
    wk__replica replica[WK_MIRRORED_DEVICES];
    wk_tensor **tensors; /* memory of the replicas' lists */
} wk__mirrored_forward;

/* mirrored_replicas.c. The model's tensors are listed; copies that are not up to date are made anew, all of them before
 * any is waited for, and stand-ins for the active devices are made of them. False with the error recorded. */
bool wk__mirrored_collect(wk_site site, wk__mirrored *m, wk_module *model);
bool wk__mirrored_refresh(wk__mirrored_forward *t);
/* The stand-ins of replica k are put behind the handles, or taken away again (-1). */
void wk__mirrored_bind(wk__mirrored_forward *t, int k);
/* What became of buffers, when all replicas have run. */
bool wk__mirrored_update_buffers(wk__mirrored_forward *t);
void wk__mirrored_drop_copies(wk__mirrored *m); /* all copies go */

/* mirrored_profiler.c. A few steps are measured: what has no effect in the others. */
wk__step_profiler *wk__step_profiler_new(void); /* NULL when memory is short */
void wk__step_profiler_free(wk__mirrored *m);
/* A forward begins, the shares are known. `trains`: gradients are wanted. */
void wk__step_profiler_begin(wk__mirrored_forward *t, bool trains);
/* A part of it has been recorded: it is run and waited for. */
typedef enum wk__step_phase { WK__PHASE_COPY, WK__PHASE_COMPUTE } wk__step_phase;
void wk__step_profiler_end_phase(wk__mirrored_forward *t, wk__step_phase which);
/* Replica k has been recorded. */
void wk__step_profiler_end_replica(wk__mirrored_forward *t, int k);
/* Is this step measured? Then no copy may go beside computing, as its time would count as that. */
bool wk__step_profiler_is_active(const wk__mirrored_forward *t);
/* `out`, one of the outputs of x's broadcast, has its node. */
void wk__step_profiler_watch(wk__mirrored_forward *t, const wk_tensor *x, wk_tensor *out);
/* Bytes that a device gets from another one. */
void wk__step_profiler_add_copied(wk__mirrored *m, int64_t bytes);
void wk__step_profiler_stats(const wk__mirrored *m, wk_mirrored_stats *stats);

#endif
