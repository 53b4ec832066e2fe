/* SPDX-License-Identifier: Apache-2.0 */
/* The printer of groups, between its files: instruction.c writes one instruction, print.c the walk around them, tail.c
 * those that follow a product. */
#ifndef WICK_BACKEND_GPU_PRINT_H
#define WICK_BACKEND_GPU_PRINT_H

#include "kernel.h"

typedef struct wk__gpu_printer {
    wk__text *text;
    const wk__group *group;
    wk__gpu_form form;
    wk__gpu_layout layout;
    wk__gpu_schedule schedule;
    int kept;  /* first dimensions, whose part of a place stands in ok: not reduced, or of a tail the outer ones */
    bool tail; /* of a product, as tail.h says */
} wk__gpu_printer;

/* Appends coordinates first..end-1 out of a position among their places, the last runs fastest. */
void wk__gpu_print_coordinates(wk__gpu_printer *p, int first, int end, const char *position);
/* Appends pointers to where each operand starts, and ok, the place of this row in it. */
void wk__gpu_print_operands(wk__gpu_printer *p);
/* Appends instruction k (no reduction) as a statement. */
void wk__gpu_print_instruction(wk__gpu_printer *p, int k);

#endif
