/* SPDX-License-Identifier: Apache-2.0 */
/* The printer of groups, between its files: codegen.c writes where a row or an element is, codegen_rows.c the passes
 * over a row, codegen_reduce.c what becomes of its sums, codegen_instruction.c one instruction, codegen_epilogue.c
 * those that follow a product. */
#ifndef WICK_BACKEND_GPU_PRINT_H
#define WICK_BACKEND_GPU_PRINT_H

#include "backend/gpu/kernel.h"

/* Where the value of an instruction is, when its statement is written. Arrays are those of an item, [e] for its e-th
 * column or element. */
typedef enum wk__gpu_source {
    WK__GPU_COMPUTED, /* nowhere: its statement makes it */
    WK__GPU_LOADED,   /* a LOAD: lk.at[e], as it was in memory */
    WK__GPU_KEPT      /* kk[e] */
} wk__gpu_source;

typedef struct wk__gpu_codegen {
    wk__text *text;
    const wk__program *group;
    wk__gpu_kernel_config form;
    wk__gpu_layout layout;
    wk__gpu_schedule schedule;
    int kept; /* first dimensions, whose part of a place stands in ok: not reduced, or of a tail the outer ones */
    bool is_epilogue;            /* of a product, as codegen_epilogue.h says */
    uint8_t source[WK__MAX_INS]; /* wk__gpu_source */
} wk__gpu_codegen;

/* Appends coordinates first..end-1 out of a position among their places, the last runs fastest. */
void wk__gpu_codegen_coordinates(wk__gpu_codegen *p, int first, int end, const char *position);
/* Appends pointers to where each operand starts, and ok, the place of this row in it. */
void wk__gpu_codegen_operands(wk__gpu_codegen *p);
/* Appends instruction k (no reduction) as a statement. */
void wk__gpu_codegen_instruction(wk__gpu_codegen *p, int k);
/* Appends the place of an operand's element relative to its pointer; `loop`: with the part of the columns. */
void wk__gpu_codegen_offset(wk__gpu_codegen *p, int operand, bool loop);

/* Does the operand of this LOAD or STORE lie side by side for the elements of an item? */
bool wk__gpu_is_vector(const wk__gpu_codegen *p, int k);

/* Appends the passes over a row, with all values and stores (codegen_rows.c). */
void wk__gpu_codegen_rows(wk__gpu_codegen *p);
/* Text: the number of the item among those that share its row, and how many these are. */
const char *wk__gpu_row_item(const wk__gpu_codegen *p);
const char *wk__gpu_row_items(const wk__gpu_codegen *p);
/* Appends the head of the block with the loop of a pass: under its condition (wk__program_pass_condition), if it has
 * one and is alone in needing the loop. */
void wk__gpu_codegen_condition(wk__gpu_codegen *p, int pass, bool alone);
/* Is instruction k a reduction that the loop of this pass makes? */
bool wk__gpu_reduces_in(const wk__gpu_codegen *p, int k, int pass);

/* codegen_reduce.c: local memory for the reductions; sums before the loop, in it, and every 128 columns; behind the
 * loop; and where a row is in chunks, what all chunks found in an earlier pass. */
void wk__gpu_codegen_local_memory(wk__gpu_codegen *p);
void wk__gpu_codegen_accumulators(wk__gpu_codegen *p, int pass);
void wk__gpu_codegen_accumulate(wk__gpu_codegen *p, int pass);
void wk__gpu_codegen_flush_partial(wk__gpu_codegen *p, int pass);
void wk__gpu_codegen_reduce_results(wk__gpu_codegen *p, int pass);
void wk__gpu_codegen_combine_chunks(wk__gpu_codegen *p, int pass);

#endif
