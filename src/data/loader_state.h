/* SPDX-License-Identifier: Apache-2.0 */
/* Where a loader is in its data, so that another process goes on there. */
#ifndef WICK_DATA_POSITION_H
#define WICK_DATA_POSITION_H

#include "tensor/tensor.h"
#include <wick/data.h>

/* The order of an epoch follows from the first three. Of that order, in which all ranks take turns, `taken` samples are
 * behind all of them: sample k of the order is seen by rank (k - from) % world, where `from` is what was taken before
 * this process began the epoch. */
typedef struct wk__loader_state {
    uint64_t seed;
    int64_t shuffle; /* 0 or 1 */
    int64_t samples;
    int64_t epoch; /* the one that runs, or else comes next; counted from 0 */
    int64_t consumed;
    int64_t world; /* of this loader */
} wk__loader_state;

bool wk__loader_check(const wk_loader *loader, wk_site site, const char *op);
/* In the body of a loop the batch at hand counts as taken. */
wk__loader_state wk__loader_get_state(const wk_loader *loader);
/* Can this loader go on from there? If not, what differs is recorded: "op: path: ...". */
bool wk__loader_check_state(const wk_loader *loader, const wk__loader_state *position, wk_site site, const char *op,
                            const char *path);
/* The next loop goes on from there, which fits. */
void wk__loader_set_state(wk_loader *loader, const wk__loader_state *position);

#endif
