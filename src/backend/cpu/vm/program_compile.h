/* SPDX-License-Identifier: Apache-2.0 */
/* From a group to the register VM. */
#ifndef WICK_BACKEND_CPU_RUN_COMPILE_H
#define WICK_BACKEND_CPU_RUN_COMPILE_H

#include "program.h"

/* How a group is to be run. */
typedef struct wk__cpu_style {
    bool lanes_are_rows;
    uint32_t nontemporal; /* operands to store past the caches, a bit each */
    int64_t keep_values;  /* values of so many columns may be kept between passes; 0: compute them again */
} wk__cpu_style;

/* Compiles the group for the instruction set in use. The program has to be ended even when this fails (short of memory,
 * with *fail filled). */
wk_code wk__cpu_compile(wk__cpu_program *program, const wk__program *group, const wk__cpu_style *style, wk__fail *fail);

#endif
