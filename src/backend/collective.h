/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives: work that all ranks of a team submit, each its own part, in the same order and with the same mode,
 * dtype, count and reduction. Operands are dense, over a one-dimensional space of `count` elements:
 *
 *     mode             in               out
 *     all_reduce       count            count            out[i] = reduction over the ranks of in[i]
 *     reduce_scatter   ranks x count    count            out[i] = reduction over the ranks of in[rank x count + i]
 *     all_gather       count            ranks x count    out[r x count + i] = in[i] of rank r
 *     broadcast        count            count            out[i] = in[i] of the root
 *
 * Names and semantics are those of MPI and NCCL. In and out may be the same memory if they have the same length;
 * otherwise they must not overlap. */
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
    int root;      /* broadcast only */
    int reduction; /* modes that reduce: the opcode WK__RSUM, WK__RPROD, WK__RMAX or WK__RMIN */
    void *handle;  /* the backend's communicator */
} wk__comm;

/* Returns the number of elements of operand 0 (out) or 1 (in) for work of `count` elements. */
int64_t wk__collective_elements(int mode, const wk__comm *team, int operand, int64_t count);
/* Returns NULL, or a description of what is invalid; does not check the operands' memory. */
const char *wk__collective_check(const wk__work_args *kernel);

#endif
