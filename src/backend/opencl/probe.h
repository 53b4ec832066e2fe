/* SPDX-License-Identifier: Apache-2.0 */
/* Asking a driver in a process that may be lost. */
#ifndef WICK_BACKEND_OPENCL_TRIAL_H
#define WICK_BACKEND_OPENCL_TRIAL_H

#include <stdbool.h>

/* Does a child of this process come back from `ask` within so many milliseconds? What it prints is lost. True, too,
 * where there can be no child: then nothing is known. */
bool wk__cl_probe_survives(void (*ask)(void), int milliseconds);
/* Is this a machine where drivers are known to end the process that asks them? */
bool wk__cl_needs_probe(void);

#endif
