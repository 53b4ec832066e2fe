/* SPDX-License-Identifier: Apache-2.0 */
/* What a child of fork() may do with the library.
 *
 * Of all threads only the one that called fork() goes on in the child, with a copy of all memory. What it needs is
 * whole there if no other thread was at work on it: then the CPU computes, with new threads of the pool. A device with
 * threads or a driver of its own does not come along.
 *
 * A child that may not use the library is told so by each call, and nothing is destroyed there: what a thread of the
 * parent was at work on may be locked for ever. */
#ifndef WICK_BASE_FORK_H
#define WICK_BASE_FORK_H

#include "base/context.h"

/* A thread begins or has ceased to use the library. */
void wk__fork_count_thread(bool begins);
/* A device other than the CPU is used, by this call. The first counts; it need not be told again. */
bool wk__fork_device_unknown(void);
void wk__fork_record_device(const char *device, const char *call, wk_site site);

#endif
