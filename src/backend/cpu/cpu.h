/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interfaces of the CPU backend. */
#ifndef WICK_CPU_CPU_H
#define WICK_CPU_CPU_H

#include "backend/backend.h"

extern const wk__backend wk__cpu_backend;

/* Memory available to this process in bytes: physical memory, or the limit of its control groups. */
typedef struct wk__cpu_memory {
    int64_t total, available;
} wk__cpu_memory;

/* Reads the current figures from /proc and /sys below `root` ("" except in tests). Unknown: total 0, available -1. */
wk__cpu_memory wk__cpu_memory_now(const char *root);
/* Copies the CPU's name from /proc/cpuinfo; "CPU" if unknown. */
void wk__cpu_name(const char *root, char *name, size_t size);

/* Return the utilisation of all CPUs since the last call, 0 to 1; degrees Celsius; watts since the last call. NaN if
 * unknown, and at the first call. */
double wk__cpu_utilisation(void);
double wk__cpu_temperature(void);
double wk__cpu_power(void);

#endif
