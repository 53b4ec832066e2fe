/* SPDX-License-Identifier: Apache-2.0 */
/* Drivers of GPUs do not survive fork(): in the child none of their calls may be made. */
#ifndef WICK_BACKEND_GPU_FORKS_H
#define WICK_BACKEND_GPU_FORKS_H

#include <stdbool.h>

/* From now on; more than once does no harm. */
void wk__gpu_watch_forks(void);
/* Was this process forked from one that watched? Then nothing of a GPU may be touched any more. */
bool wk__gpu_forked(void);

#endif
