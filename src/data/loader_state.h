/* SPDX-License-Identifier: Apache-2.0 */
/* Position of a loader in its data, saved in checkpoints. */
#ifndef WICK_DATA_LOADER_STATE_H
#define WICK_DATA_LOADER_STATE_H

#include "tensor/tensor.h"
#include <wick/data.h>

/* Resumable state of a loader. seed, shuffle, samples and epoch determine the sample order, of which the first
 * `consumed` samples were returned, counted over all ranks. Sample k of the order belongs to rank (k - from) % world,
 * where `from` is `consumed` at the time this process entered the epoch. */
typedef struct wk__loader_state {
    uint64_t seed;
    int64_t shuffle; /* 0 or 1 */
    int64_t samples;
    int64_t epoch; /* running epoch, or the next one; from 0 */
    int64_t consumed;
    int64_t world; /* world size of this loader */
} wk__loader_state;

bool wk__loader_check(const wk_loader *loader, wk_site site, const char *op);
/* Returns the state. In the body of a loop the current batch counts as consumed. */
wk__loader_state wk__loader_get_state(const wk_loader *loader);
/* Returns true if this loader can resume from the state; otherwise records the difference as "op: path: ...". */
bool wk__loader_check_state(const wk_loader *loader, const wk__loader_state *position, wk_site site, const char *op,
                            const char *path);
/* Makes the next loop resume from a state that fits. */
void wk__loader_set_state(wk_loader *loader, const wk__loader_state *position);

#endif
