/* SPDX-License-Identifier: Apache-2.0 */
/* Distributed data parallel training: the implementation of wk_ddp.
 *
 *     backward          ... layer 9 | layer 8 | layer 7 | ...                  end
 *     gradients ready       g[18]..     g[16]..   g[14]..
 *     communication         | bucket 0, 1 MiB | bucket 1, 25 MiB | ...   wait  | mean
 *
 * Buckets hold the parameters in reverse order of registration, roughly the order in which gradients become ready. All
 * ranks submit buckets in the order of their numbers; a complete bucket waits for those before it. In each backward
 * that synchronizes, every rank submits every bucket exactly once, even after an error, so that no rank waits for
 * ever. */
#ifndef WICK_DIST_DDP_H
#define WICK_DIST_DDP_H

#include "nn/tensor_list.h"
#include "bucket.h"

typedef struct wk__ddp wk__ddp;

/* User data of the hook of one parameter. */
typedef struct wk__ddp_parameter {
    wk__ddp *ddp;
    int64_t bucket;
    bool ready; /* its gradient has arrived in this backward */
} wk__ddp_parameter;

struct wk__ddp {
    atomic_int refs;          /* held by the module and by each hook */
    atomic_bool module_freed; /* the module is destroyed: hooks do nothing and are removed */
    wk_dist_group *handle;    /* reference held; NULL: all ranks */
    wk__dist_group *group;
    int id;                /* number within the group, the same on all ranks; distinguishes buckets of several wk_ddp */
    wk_tensor **parameter; /* [count] in bucket order; owned by the module */
    wk__ddp_parameter *hook_data; /* [count] */
    int64_t count;
    wk__bucket *bucket;
    int64_t buckets;
    wk_context *_Atomic active_thread; /* context whose backward is synchronizing; NULL: none */
    int64_t gathered, submitted;       /* buckets packed, and buckets submitted, in this backward */
    int64_t steps;                     /* synchronizing backwards so far */
};

/* Assigns the parameters that require grad to buckets of at most `most` bytes, the first of at most `first`. Returns
 * false after recording an error. */
bool wk__ddp_make_buckets(wk__ddp *ddp, const wk__tensor_list *list, double first, double most, wk_site site);
/* Registers a hook on each parameter. Returns false after recording an error. */
bool wk__ddp_add_hooks(wk__ddp *ddp, wk_site site);
/* Registers a hook on an output of the network, so that a backward that reaches no parameter synchronizes as well. */
bool wk__ddp_hook_output(wk__ddp *ddp, wk_tensor *x, wk_site site);
void wk__ddp_drop(wk__ddp *ddp);

#endif
