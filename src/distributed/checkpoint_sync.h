/* SPDX-License-Identifier: Apache-2.0 */
/* What the ranks of the world tell each other about a checkpoint. */
#ifndef WICK_DIST_RANKS_H
#define WICK_DIST_RANKS_H

#include <stdbool.h>
#include <stdint.h>
#include <wick/core.h>

/* All ranks call it, each with `count` numbers; all[rank * count + k] are number k of each. Also while an error is
 * pending: then it fails in all ranks. False with the error recorded. */
bool wk__ranks_all_gather(wk_site site, const char *op, const int64_t *own, int count, int64_t *all);
/* All ranks call it: false, with an error recorded, if one of them has an error pending. */
bool wk__ranks_barrier(wk_site site, const char *op);

#endif
