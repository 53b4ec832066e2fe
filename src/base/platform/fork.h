/* SPDX-License-Identifier: Apache-2.0 */
/* Use of the library in a child of fork().
 *
 * Only the thread that called fork() exists in the child, with a copy of all memory. The child may use the library if
 * no other thread of the parent did and no device other than the CPU was open: the CPU computes there, with new pool
 * threads. Devices with threads or drivers do not survive a fork.
 *
 * In any other child each call records an error and nothing is destroyed, since locks may be held by threads that no
 * longer exist. */
#ifndef WICK_BASE_FORK_H
#define WICK_BASE_FORK_H

#include "base/context.h"

/* Counts a thread that starts or stops using the library. */
void wk__fork_count_thread(bool begins);
/* wk__fork_record_device() records the first use of a device other than the CPU, for messages;
 * wk__fork_device_unknown() returns true until then. */
bool wk__fork_device_unknown(void);
void wk__fork_record_device(const char *device, const char *call, wk_site site);

#endif
