/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of neighbouring parameters as one vector that the ranks average.
 *
 *     flat, on the CPU      | g[0] row by row | g[1] | ... | had[0] had[1] ... |
 *
 * had[k] is 1 where this rank has a gradient of parameter k; one that it has not counts as 0. Averaged, had[k] says
 * whether any rank had one. f16 and bf16 are summed in f32. */
#ifndef WICK_DIST_BUCKET_H
#define WICK_DIST_BUCKET_H

#include "engine/host_transfer.h"
#include "group.h"

typedef struct wk__bucket {
    wk_tensor *const *parameter; /* [count] of one device and one dtype of sums */
    int64_t count, elements;     /* parameters, and their elements */
    wk_dtype dtype;              /* of the sums */
    char label[32];              /* "bucket 3", for messages */
    int64_t pending;             /* parameters whose gradient may still come in this backward */
    wk_tensor *flat;             /* the bucket's own, from gather to scatter; NULL: it could not be made */
    wk__host_mapping host_view;  /* its memory */
    wk__dist_ticket ticket;
} wk__bucket;

/* Begins to bring the gradients together: recorded and given to the device. The ranks do the next step also where this
 * fails (recorded). */
void wk__bucket_gather(wk__bucket *bucket, wk_site site);
/* Waits until they are in host memory and asks for their mean; or carries the error that is pending to the others.
 * `network`: its number in the group. */
void wk__bucket_submit(wk__bucket *bucket, wk__dist_group *group, int network, wk_site site);
/* Waits for the mean. False with the error recorded. */
bool wk__bucket_wait(wk__bucket *bucket, wk_site site);
/* The parameters' gradients become the mean, where any rank had one. False with the error recorded. */
bool wk__bucket_scatter(const wk__bucket *bucket, wk_site site);
/* Lets go of what the round held. */
void wk__bucket_end(wk__bucket *bucket);

#endif
