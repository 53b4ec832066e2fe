/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of this CPU's family, and the one in use. Files in isa/ are compiled once per instruction set; those in
 * isa/NAME/ once, with options of their own, for CPUs that have more than a set asks for. */
#ifndef WICK_BACKEND_CPU_ISA_H
#define WICK_BACKEND_CPU_ISA_H

#include "backend/cpu/contraction/gemm.h"
#include "backend/cpu/vm/vm.h"

/* One kind of CPU. It makes products of the dtypes in its list itself, others as the next kind does that has them. */
typedef struct wk__cpu_isa {
    const char *name;        /* as WICK_CPU asks for it */
    bool (*supported)(void); /* by this CPU and its operating system */
    const wk__vm *vm;
    const wk__gemm *gemm;
} wk__cpu_isa;

/* The one in use: the best that is supported, or what WICK_CPU asks for, if that is one of them. Chosen once. */
const wk__cpu_isa *wk__cpu_isa_current(void);
/* How it makes products of a dtype. */
const wk__gemm *wk__cpu_gemm(wk_dtype dtype);
/* The supported ones, best first; NULL past the end. */
const wk__cpu_isa *wk__cpu_isa_at(int index);
/* For tests: uses that one from now on. Not while anything runs. */
void wk__cpu_isa_use(const wk__cpu_isa *isa);

#endif
