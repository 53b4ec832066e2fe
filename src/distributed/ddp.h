/* SPDX-License-Identifier: Apache-2.0 */
/* Distributed data parallel training: what stands behind wk_ddp.
 *
 *     backward          ... layer 9 | layer 8 | layer 7 | ...                  end
 *     gradients come        g[18]..     g[16]..   g[14]..
 *     communication         | bucket 0, 1 MiB | bucket 1, 25 MiB | ...   wait  | mean
 *
 * Buckets hold the parameters in reverse order of registration, which is about the order in which gradients come, and
 * are asked for in the order of their numbers, in every rank the same: one that is complete waits for those before it.
 * Every rank asks for every bucket once in each backward that synchronises, also when it has failed, so that none waits
 * for another in vain. */
#ifndef WICK_DIST_DDP_H
#define WICK_DIST_DDP_H

#include "nn/tensor_list.h"
#include "bucket.h"

typedef struct wk__ddp wk__ddp;

/* A parameter and its place, for its hook. */
typedef struct wk__ddp_parameter {
    wk__ddp *ddp;
    int64_t bucket;
    bool ready; /* in this backward */
} wk__ddp_parameter;

struct wk__ddp {
    atomic_int refs;          /* the module and the hooks */
    atomic_bool module_freed; /* the module has gone: hooks do nothing, and go */
    wk_dist_group *handle;    /* held; NULL: all ranks */
    wk__dist_group *group;
    int id;                /* among the group's, the same in all ranks: buckets of another are not taken for its own */
    wk_tensor **parameter; /* [count] in the order of the buckets; the module's */
    wk__ddp_parameter *hook_data; /* [count] of them */
    int64_t count;
    wk__bucket *bucket;
    int64_t buckets;
    wk_context *_Atomic active_thread; /* the thread whose backward synchronises, NULL: none does */
    int64_t gathered, submitted;       /* buckets that have been begun, and those that the ranks know of */
    int64_t steps;                     /* such backwards so far */
};

/* The parameters of the list in buckets of at most `most` bytes, the first of at most `first`. False with the error
 * recorded. */
bool wk__ddp_make_buckets(wk__ddp *ddp, const wk__tensor_list *list, double first, double most, wk_site site);
/* Hooks on all of them. False with the error recorded. */
bool wk__ddp_add_hooks(wk__ddp *ddp, wk_site site);
/* A hook on a tensor that the network gave, so that a backward in which none of its parameters takes part is one,
 * too. */
bool wk__ddp_hook_output(wk__ddp *ddp, wk_tensor *x, wk_site site);
void wk__ddp_drop(wk__ddp *ddp);

#endif
