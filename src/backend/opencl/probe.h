/* SPDX-License-Identifier: Apache-2.0 */
/* Calls a driver in a child process, because it may crash. */
#ifndef WICK_BACKEND_OPENCL_PROBE_H
#define WICK_BACKEND_OPENCL_PROBE_H

#include <stdbool.h>

/* Returns true if `ask` returns in a child process within this time; the child's output is discarded. Also returns true
 * if no child can be created, because then nothing is known. */
bool wk__cl_probe_survives(void (*ask)(void), int milliseconds);
/* Returns true on machines on which drivers are known to crash when they are called. */
bool wk__cl_needs_probe(void);

#endif
