/* SPDX-License-Identifier: Apache-2.0 */
/* Drivers of GPUs do not survive fork(): in the child none of their calls may be made. */
#ifndef WICK_BACKEND_GPU_FORKS_H
#define WICK_BACKEND_GPU_FORKS_H

#include "kernel.h"

/* From now on, for the driver of that dialect; more than once does no harm. */
void wk__gpu_install_fork_guard(wk__gpu_dialect driver);
/* Was this process forked from one that watched for it? Then nothing of that driver may be touched any more. */
bool wk__gpu_is_forked_child(wk__gpu_dialect driver);

#endif
