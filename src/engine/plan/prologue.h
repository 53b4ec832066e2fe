/* SPDX-License-Identifier: Apache-2.0 */
/* Prologues: records that compute a factor of a contraction, and nothing else, move into its group, ahead of it; the
 * backend computes the factor inside the contraction's kernel (wk__work_args.prologue). If the backend doesn't support
 * the prologue, which is only known once it is built, it runs as a separate group (execute.c).
 *
 *     before     group 0: y = to_f32(w) * scale        group 1: z = x @ y, relu(z)
 *     after      group 1: y = to_f32(w) * scale | z = x @ y | relu(z)           y needs no memory */
#ifndef WICK_ENGINE_PROLOGUE_H
#define WICK_ENGINE_PROLOGUE_H

#include "engine/op_queue.h"

/* Moves records of prologues to the groups of their contractions. */
void wk__plan_prologues(wk__op_queue *queue);
/* For tests: sets the minimum size in bytes of factors to consider; -1: the backend's default. */
void wk__set_prologue_min_bytes(int64_t bytes);

/* Returns the number of records of a group's prologue, which precede the contraction; 0 if there is no prologue or no
 * contraction. */
int wk__prologue_length(wk__record *const record[], int records);
/* Returns the factor that a prologue computes. */
static inline wk__value *wk__prologue_factor(const wk__lowering *ahead)
{
    return ahead->record[ahead->records - 1]->ref[0].value;
}

#endif
