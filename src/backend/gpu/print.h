/* SPDX-License-Identifier: Apache-2.0 */
/* The printer of groups, between its files: print.c writes where a row or an element is, print_rows.c the passes over a
 * row, print_reduce.c what becomes of its sums, instruction.c one instruction, tail.c those that follow a product. */
#ifndef WICK_BACKEND_GPU_PRINT_H
#define WICK_BACKEND_GPU_PRINT_H

#include "kernel.h"

/* Where the value of an instruction is, when its statement is written. Arrays are those of an item, [e] for its e-th
 * column or element. */
typedef enum wk__gpu_source {
    WK__GPU_COMPUTED, /* nowhere: its statement makes it */
    WK__GPU_LOADED,   /* a LOAD: lk.at[e], as it was in memory */
    WK__GPU_KEPT      /* kk[e] */
} wk__gpu_source;

typedef struct wk__gpu_printer {
    wk__text *text;
    const wk__group *group;
    wk__gpu_form form;
    wk__gpu_layout layout;
    wk__gpu_schedule schedule;
    int kept;  /* first dimensions, whose part of a place stands in ok: not reduced, or of a tail the outer ones */
    bool tail; /* of a product, as tail.h says */
    uint8_t source[WK__MAX_INS]; /* wk__gpu_source */
} wk__gpu_printer;

/* Appends coordinates first..end-1 out of a position among their places, the last runs fastest. */
void wk__gpu_print_coordinates(wk__gpu_printer *p, int first, int end, const char *position);
/* Appends pointers to where each operand starts, and ok, the place of this row in it. */
void wk__gpu_print_operands(wk__gpu_printer *p);
/* Appends instruction k (no reduction) as a statement. */
void wk__gpu_print_instruction(wk__gpu_printer *p, int k);
/* Appends the place of an operand's element relative to its pointer; `loop`: with the part of the columns. */
void wk__gpu_print_place(wk__gpu_printer *p, int operand, bool loop);

/* Does the operand of this LOAD or STORE lie side by side for the elements of an item? */
bool wk__gpu_is_vector(const wk__gpu_printer *p, int k);

/* Appends the passes over a row, with all values and stores (print_rows.c). */
void wk__gpu_print_rows(wk__gpu_printer *p);
/* Text: the number of the item among those that share its row, and how many these are. */
const char *wk__gpu_member(const wk__gpu_printer *p);
const char *wk__gpu_members(const wk__gpu_printer *p);
/* Is instruction k a reduction that the loop of this pass makes? */
bool wk__gpu_reduces_in(const wk__gpu_printer *p, int k, int pass);

/* print_reduce.c: local memory for the reductions; sums before the loop, in it, and every 128 columns; behind the loop;
 * and where a row is in chunks, what all chunks found in an earlier pass. */
void wk__gpu_print_local_memory(wk__gpu_printer *p);
void wk__gpu_print_accumulators(wk__gpu_printer *p, int pass);
void wk__gpu_print_accumulate(wk__gpu_printer *p, int pass);
void wk__gpu_print_runs(wk__gpu_printer *p, int pass);
void wk__gpu_print_results(wk__gpu_printer *p, int pass);
void wk__gpu_print_gathered(wk__gpu_printer *p, int pass);

#endif
