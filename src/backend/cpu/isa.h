/* SPDX-License-Identifier: Apache-2.0 */
/* Instruction sets of this CPU's family, and the one in use. Files in isa/ are compiled once per set; those in
 * isa/NAME/ once, with extra options, for CPUs with features beyond a set. */
#ifndef WICK_BACKEND_CPU_ISA_H
#define WICK_BACKEND_CPU_ISA_H

#include "backend/cpu/attention/passes.h"
#include "backend/cpu/contraction/gemm.h"
#include "backend/cpu/norm/rows.h"
#include "backend/cpu/quantized/dots.h"
#include "backend/cpu/scan.h"
#include "backend/cpu/vm/vm.h"

/* One instruction set. Dtypes missing in `gemm` use the kernels of the next entry that has them. */
typedef struct wk__cpu_isa {
    const char *name;        /* value of WICK_CPU */
    bool (*supported)(void); /* by this CPU and its operating system */
    const wk__vm *vm;
    const wk__gemm *gemm;
    wk__scan_adjacent *const *scan;               /* one per dtype; NULL if missing */
    const wk__attention_passes *const *attention; /* likewise: f32 and f64 */
    wk__quantized_run *const *quantized;          /* one per format of blocks */
    const wk__quantized_digits *digits;           /* products with such blocks in integers; NULL if missing */
    wk__norm_backward_rows *const *norm;          /* one per dtype: f32 and f64 */
} wk__cpu_isa;

/* Returns the set in use: that of WICK_CPU if supported, else the best supported one. Constant after the first call. */
const wk__cpu_isa *wk__cpu_isa_current(void);
/* Returns the GEMM kernels for a dtype. */
const wk__gemm *wk__cpu_gemm(wk_dtype dtype);
/* Returns the supported sets, best first; NULL past the end. */
const wk__cpu_isa *wk__cpu_isa_at(int index);
/* For tests: switches to another set. Must not run concurrently with kernels. */
void wk__cpu_isa_use(const wk__cpu_isa *isa);

#endif
