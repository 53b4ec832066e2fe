/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which a flush gives work to several devices, so that all are at work before the host waits for one. */
#ifndef WICK_ENGINE_INTERLEAVE_H
#define WICK_ENGINE_INTERLEAVE_H

#include "engine/op_queue.h"

/* Live records have their groups: these get new numbers where that lets a device begin sooner. Nothing changes where
 * all records are of one device. */
void wk__plan_interleave(wk__op_queue *ring, int32_t groups);

#endif
