/* SPDX-License-Identifier: Apache-2.0 */
/* Bucket: gradients of neighbouring parameters, packed into one vector that the ranks average.
 *
 *     flat, on the CPU      | g[0] row by row | g[1] | ... | had[0] had[1] ... |
 *
 * had[k] is 1 if this rank has a gradient for parameter k, else 0, and then g[k] is zeros. After averaging, had[k] > 0
 * means that some rank had one. Gradients of f16 and bf16 are summed in f32. */
#ifndef WICK_DIST_BUCKET_H
#define WICK_DIST_BUCKET_H

#include "engine/host_transfer.h"
#include "group.h"

typedef struct wk__bucket {
    wk_tensor *const *parameter; /* [count] on one device, with one dtype of sums; owned by the ddp */
    int64_t count, elements;     /* number of parameters; sum of their elements */
    wk_dtype dtype;              /* dtype of the sums, f32 or f64 */
    char label[32];              /* "bucket 3", for messages */
    int64_t pending;             /* parameters whose gradient has not arrived in this backward */
    wk_tensor *flat;             /* the packed vector, owned from gather to end; NULL: allocation failed */
    wk__host_mapping host_view;  /* host memory of flat, from submit to end */
    wk__dist_ticket ticket;
} wk__bucket;

/* Packs the gradients into flat and flushes the work to the device. On failure the error is recorded, and the bucket
 * must still be submitted, so that no other rank waits for it. */
void wk__bucket_gather(wk__bucket *bucket, wk_site site);
/* Waits until flat is in host memory and submits the all_reduce; or submits the pending error. network: the number of
 * the wk_ddp in its group. */
void wk__bucket_submit(wk__bucket *bucket, wk__dist_group *group, int network, wk_site site);
/* Waits for the all_reduce. Returns false after recording an error. */
bool wk__bucket_wait(wk__bucket *bucket, wk_site site);
/* Writes the mean into the gradients of the parameters that had one on some rank. Returns false after recording an
 * error. */
bool wk__bucket_scatter(const wk__bucket *bucket, wk_site site);
/* Frees flat; leaks it if the transport abandoned the call and may still access it. */
void wk__bucket_end(wk__bucket *bucket);

#endif
