/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: the groups of a flush are looked at, and run in another order that is as good. */
#ifndef WICK_ENGINE_SHUFFLE_H
#define WICK_ENGINE_SHUFFLE_H

#include "engine/op_queue.h"

/* From now on the groups of each flush run in an order that is drawn from the seed, among those that their operands
 * allow; 0: in that of the program. */
void wk__shuffle_groups(uint64_t seed);
/* Called in each flush, when its live records have their groups. NULL: nobody. */
typedef void wk__fusion_observer(const wk__op_queue *ring, int32_t groups);
void wk__set_fusion_observer(wk__fusion_observer *looker);
/* A flush knows its groups. */
void wk__plan_shuffle(wk__op_queue *ring, int32_t groups);

#endif
