/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files that make programs: units.c keeps the units, programs.c builds, binaries.c reads and writes files.
 */
#ifndef WICK_BACKEND_OPENCL_PROGRAMS_H
#define WICK_BACKEND_OPENCL_PROGRAMS_H

#include "../gpu/cache.h"
#include "device.h"

/* Where a program has a unit; also what a file says of each. */
typedef struct wk__cl_entry {
    wk__gpu_digest unit;
    int32_t kernel; /* wk_<kernel> is the function's name */
    int32_t which, memory_slots;
    int32_t unused;
} wk__cl_entry;

struct wk__cl_program {
    wk__cl_program *next;
    cl_program program;
    int64_t entries, kernels;
    wk__cl_entry *entry;
    cl_kernel *kernel; /* made when first wanted */
};

/* ---- binaries.c: programs from and to files ---------------------------------------------------------------------- */

/* Adds the program in the file that has the unit of that digest, if there is one that is good. */
void wk__cl_load_file(wk__cl_device *device, int folder, wk__gpu_digest digest);
/* Writes a file with a name for each entry. */
void wk__cl_save_file(int folder, const wk__cl_entry entry[], int count, const char *binary, size_t bytes);

/* ---- units.c ----------------------------------------------------------------------------------------------------- */

/* Adds a program around `built`, which it takes over, with a copy of the entries; NULL when memory is short. */
wk__cl_program *wk__cl_add_program(wk__cl_device *device, cl_program built, const wk__cl_entry *entry, int64_t entries);
/* Gives the unit its function if the program has it. */
bool wk__cl_bind(wk__cl_program *program, wk__cl_unit *unit, const wk__gpu_digest *digest);

#endif
