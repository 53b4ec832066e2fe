/* SPDX-License-Identifier: Apache-2.0 */
/* Prologues: what computes a factor of a contraction, and nothing else, goes ahead of it into its group, where it is
 * computed on the way (wk__work_args.prologue). Whether a backend takes what has been built is known only then; what it
 * does not take runs as a group of its own (execute.c).
 *
 *     before     group 0: y = to_f32(w) * scale        group 1: z = x @ y, relu(z)
 *     after      group 1: y = to_f32(w) * scale | z = x @ y | relu(z)           y needs no memory */
#ifndef WICK_ENGINE_PROLOGUE_H
#define WICK_ENGINE_PROLOGUE_H

#include "engine/op_queue.h"

/* Live records have their groups: some move. */
void wk__plan_prologues(wk__op_queue *ring);
/* For tests: from now on factors of that many bytes are asked about; -1: of as many as their backend wants. */
void wk__set_prologue_min_bytes(int64_t bytes);

/* How many records of a group are there for a factor of the product behind them; 0: it begins with the product, or has
 * none. */
int wk__prologue_length(wk__record *const record[], int records);
/* What the records of a prologue compute. */
static inline wk__value *wk__prologue_factor(const wk__lowering *ahead)
{
    return ahead->record[ahead->records - 1]->ref[0].value;
}

#endif
