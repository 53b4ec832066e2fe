/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a loader. loader.c makes it, loader_state.c saves and sets its position, epoch.c determines the order of
 * the samples and runs the loop.
 *
 * Threads: the thread of the loop owns it. The threads of `workers` read members that are constant during an epoch,
 * and write the slots of their jobs. */
#ifndef WICK_DATA_LOADER_BODY_H
#define WICK_DATA_LOADER_BODY_H

#include "batch.h"
#include "batch_workers.h"
#include "sampler.h"

typedef struct wk__loader {
    wk__dataset *data; /* held */
    wk_loader_options options;
    wk_site made;    /* the call that made the loader */
    int64_t batches; /* batches of a complete epoch */
    int64_t epoch;   /* running epoch, or the next one */
    /* samples of it consumed before this process entered it: 0, unless resumed from a checkpoint */
    int64_t epoch_start;
    int64_t rank_samples;     /* samples of this rank in the rest of the epoch */
    int64_t batches_left;     /* batches in the rest of the epoch */
    int64_t batch_index_base; /* index of the first of them: batches before epoch_start, in the current batch size */
    wk__sampler sampler;
    bool user_code;          /* preparing a batch calls functions of the user */
    int64_t *rank_positions; /* [rank_samples of a complete epoch] positions in epoch_order of this rank's samples */
    int64_t *epoch_order;    /* [sampler.count] sample indices of the epoch, over all ranks */
    wk__batch_workers workers;
    wk__batch_data *slot;       /* [workers.slots] batches that are being prepared */
    wk_context *caller_context; /* context for functions of the user in the loop's thread; created on demand */
    /* state of the open loop */
    bool open;
    wk_site site;
    wk_loader *handle; /* reference held during the loop */
    uint64_t epoch_token, batch_token;
    int64_t next;
    wk_batch batch;
} wk__loader;

struct wk_loader {
    wk__handle handle;
};

/* Returns the body; NULL after recording an error if the handle is not a loader's. */
wk__loader *wk__loader_of(const wk_loader *handle, wk_site site, const char *op);
/* Computes rank_samples for `samples` samples over all ranks, and returns the number of batches of a rank. */
int64_t wk__loader_divide(wk__loader *l, int64_t samples);
/* Prepares batch `job` of the rest of the epoch: the function of `workers`. */
void wk__loader_prepare(void *loader, int64_t job, bool in_caller);

static inline int64_t wk__ceil_div(int64_t number, int64_t size)
{
    return number / size + (number % size != 0);
}

#endif
