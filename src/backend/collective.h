/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives: work that the ranks of a team submit together, each its own part, in the same order, with the same mode,
 * dtype, count and reduction. Operands are dense, over a space of one dimension of `count` elements:
 *
 *     mode             in               out
 *     all_reduce       count            count            out[i] = reduction over the ranks of in[i]
 *     reduce_scatter   ranks x count    count            out[i] = reduction over the ranks of in[rank x count + i]
 *     all_gather       count            ranks x count    out[r x count + i] = in[i] of rank r
 *     broadcast        count            count            out[i] = in[i] of the root
 *
 * Names and meanings are those of MPI and NCCL. In and out may be one piece of memory where they are as long, else they
 * have no element in common. */
#ifndef WICK_BACKEND_COLLECTIVE_H
#define WICK_BACKEND_COLLECTIVE_H

#include "work.h"

typedef enum wk__collective {
    WK__ALL_REDUCE,
    WK__REDUCE_SCATTER,
    WK__ALL_GATHER,
    WK__BROADCAST,
    WK__COLLECTIVES
} wk__collective;

extern const char *const wk__collective_name[WK__COLLECTIVES];

typedef struct wk__comm {
    int rank, nranks;
    int root;      /* broadcast */
    int reduction; /* a wk__opcode: WK__RSUM, WK__RPROD, WK__RMAX or WK__RMIN; of the modes that reduce */
    void *handle;  /* the backend's own: how the ranks reach each other */
} wk__comm;

/* Elements of operand 0 (out) or 1 (in), of which the work has `count`. */
int64_t wk__collective_elements(int mode, const wk__comm *team, int operand, int64_t count);
/* NULL, or what is wrong with it but for where its operands are. */
const char *wk__collective_check(const wk__work_args *kernel);

#endif
