/* SPDX-License-Identifier: Apache-2.0 */
/* Order of a flush's groups across devices: starts work on all devices before the host waits for one of them. */
#ifndef WICK_ENGINE_INTERLEAVE_H
#define WICK_ENGINE_INTERLEAVE_H

#include "engine/op_queue.h"

/* Reorders the groups of a flush if that lets a device start earlier: changes the group indices of live records. No
 * effect if all records are for one device. */
void wk__plan_interleave(wk__op_queue *queue, int32_t groups);

#endif
