/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the CPU backend, to each other. */
#ifndef WICK_CPU_CPU_H
#define WICK_CPU_CPU_H

#include "backend/backend.h"

extern const wk__backend wk__cpu_backend;

/* Memory of the machine in bytes as this process may use it: the physical one, or what a control group allows. */
typedef struct wk__cpu_memory {
    int64_t total, available;
} wk__cpu_memory;

/* Reads it anew, below `root` ("" but in tests): /proc and /sys. What cannot be read is 0 (total) or -1 (available). */
wk__cpu_memory wk__cpu_memory_now(const char *root);
/* The CPU's name from /proc/cpuinfo, "CPU" when there is none. */
void wk__cpu_name(const char *root, char *name, size_t size);

/* Share of all CPUs' time that was busy since the last call, 0 to 1; degrees Celsius; watts since the last call. NaN:
 * not known, and at the first call. */
double wk__cpu_utilisation(void);
double wk__cpu_temperature(void);
double wk__cpu_power(void);

#endif
