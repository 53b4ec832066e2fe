/* SPDX-License-Identifier: Apache-2.0 */
/* The printer of groups, between its two files: instruction.c writes one instruction, print.c the walk around them. */
#ifndef WICK_BACKEND_GPU_PRINT_H
#define WICK_BACKEND_GPU_PRINT_H

#include "kernel.h"

typedef struct wk__gpu_printer {
    wk__text *text;
    const wk__group *group;
    wk__gpu_form form;
    wk__gpu_layout layout;
    wk__gpu_schedule schedule;
    int kept; /* dimensions that are not reduced */
} wk__gpu_printer;

/* Appends instruction k (no reduction) as a statement. */
void wk__gpu_print_instruction(wk__gpu_printer *p, int k);

#endif
