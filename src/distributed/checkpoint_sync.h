/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives that checkpoints make among all ranks of the world. */
#ifndef WICK_DISTRIBUTED_CHECKPOINT_SYNC_H
#define WICK_DISTRIBUTED_CHECKPOINT_SYNC_H

#include <stdbool.h>
#include <stdint.h>
#include <wick/core.h>

/* Gathers own[count] of each rank into all[size * count], by rank. Every rank must call it, also with an error pending,
 * which then fails all ranks. Returns false after recording an error. */
bool wk__ranks_all_gather(wk_site site, const char *op, const int64_t *own, int count, int64_t *all);
/* Waits for all ranks. Returns false, with an error recorded, if any of them has an error pending. */
bool wk__ranks_barrier(wk_site site, const char *op);

#endif
