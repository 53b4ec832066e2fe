/* SPDX-License-Identifier: Apache-2.0 */
/* Detection of forked processes: GPU drivers don't survive fork(), so a child must not call them. Any thread. */
#ifndef WICK_BACKEND_GPU_FORK_GUARD_H
#define WICK_BACKEND_GPU_FORK_GUARD_H

#include "kernel.h"

/* Starts detection for the driver of this dialect. May be called more than once. */
void wk__gpu_install_fork_guard(wk__gpu_dialect driver);
/* Returns true if this process was forked after detection was installed: the driver must not be used any more. */
bool wk__gpu_is_forked_child(wk__gpu_dialect driver);

#endif
