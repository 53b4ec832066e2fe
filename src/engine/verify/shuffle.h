/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: observes the groups of flushes, and runs them in another valid order. */
#ifndef WICK_ENGINE_SHUFFLE_H
#define WICK_ENGINE_SHUFFLE_H

#include "engine/op_queue.h"

/* Sets the seed of a random order of groups, among those that data dependencies permit, for all later flushes; 0:
 * program order. */
void wk__shuffle_groups(uint64_t seed);
/* Sets a function that is called in each flush after fusion; NULL: none. */
typedef void wk__fusion_observer(const wk__op_queue *queue, int32_t groups);
void wk__set_fusion_observer(wk__fusion_observer *looker);
/* Called by each flush after fusion. */
void wk__plan_shuffle(wk__op_queue *queue, int32_t groups);

#endif
