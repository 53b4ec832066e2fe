/* SPDX-License-Identifier: Apache-2.0 */
/* The instruction sets of this CPU kind, and the one in use. Files in isa/ are compiled once per set. */
#ifndef WICK_BACKEND_CPU_ISA_H
#define WICK_BACKEND_CPU_ISA_H

#include "gemm.h"
#include "vm.h"

typedef struct wk__cpu_isa {
    const char *name; /* "portable", "avx2", "avx512", "neon" */
    const wk__vm *vm;
    const wk__gemm *gemm;
} wk__cpu_isa;

/* The one in use: the best that this CPU and its operating system support, or what WICK_CPU asks for, if that is
 * one of them. Chosen once. */
const wk__cpu_isa *wk__cpu_isa_current(void);
/* The supported ones, best first; NULL past the end. */
const wk__cpu_isa *wk__cpu_isa_at(int index);
/* For tests: uses that one from now on. Not while anything runs. */
void wk__cpu_isa_use(const wk__cpu_isa *isa);

#endif
