/* SPDX-License-Identifier: Apache-2.0 */
/* Compilation of programs for the register VM. */
#ifndef WICK_BACKEND_CPU_VM_PROGRAM_COMPILE_H
#define WICK_BACKEND_CPU_VM_PROGRAM_COMPILE_H

#include "program.h"

/* Compilation options. */
typedef struct wk__cpu_style {
    bool lanes_are_rows;
    uint32_t nontemporal; /* bit mask of operands stored with non-temporal stores */
    int64_t keep_values;  /* number of columns whose values may be kept between passes; 0: recompute them */
} wk__cpu_style;

/* Compiles for the instruction set in use. On failure (out of memory) *fail is set; wk__cpu_program_destroy() is
 * required in any case. */
wk_code wk__cpu_compile(wk__cpu_program *program, const wk__program *group, const wk__cpu_style *style, wk__fail *fail);

#endif
