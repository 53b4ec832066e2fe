/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the code generator for programs: codegen.c addresses rows and elements, codegen_rows.c the passes over a
 * row, codegen_reduce.c reductions, codegen_instruction.c single instructions, codegen_epilogue.c epilogues of
 * contractions. */
#ifndef WICK_BACKEND_GPU_CODEGEN_CODEGEN_H
#define WICK_BACKEND_GPU_CODEGEN_CODEGEN_H

#include "backend/gpu/kernel.h"

/* Source of an instruction's value. Arrays are private to an item; [e] is its e-th column or element. */
typedef enum wk__gpu_source {
    WK__GPU_COMPUTED, /* computed by its statement */
    WK__GPU_LOADED,   /* a LOAD: in lk.at[e], in storage format */
    WK__GPU_KEPT      /* in kk[e] */
} wk__gpu_source;

typedef struct wk__gpu_codegen {
    wk__text *text;
    const wk__program *group;
    wk__gpu_kernel_config form;
    wk__gpu_layout layout;
    wk__gpu_schedule schedule;
    /* number of leading dimensions whose offset is in ok: those not reduced or, in an epilogue, the outer ones */
    int kept;
    bool is_epilogue;            /* epilogue of a contraction (codegen_epilogue.h) */
    uint8_t source[WK__MAX_INS]; /* wk__gpu_source */
} wk__gpu_codegen;

/* Appends the coordinates of dimensions first..end-1 for a position; the last dimension varies fastest. */
void wk__gpu_codegen_coordinates(wk__gpu_codegen *p, int first, int end, const char *position);
/* Appends a pointer to the start of each operand, and ok, the offset of this row in it. */
void wk__gpu_codegen_operands(wk__gpu_codegen *p);
/* Appends a statement for instruction k, which is not a reduction. */
void wk__gpu_codegen_instruction(wk__gpu_codegen *p, int k);
/* Appends the offset of an operand's element from its pointer; `loop`: including the column's offset. */
void wk__gpu_codegen_offset(wk__gpu_codegen *p, int operand, bool loop);

/* Returns true if the operand of this LOAD or STORE is contiguous over the elements of an item. */
bool wk__gpu_is_vector(const wk__gpu_codegen *p, int k);

/* Appends the passes over a row, with all values and stores (codegen_rows.c). */
void wk__gpu_codegen_rows(wk__gpu_codegen *p);
/* Expressions: index of the item among those that share its row, and their number. */
const char *wk__gpu_row_item(const wk__gpu_codegen *p);
const char *wk__gpu_row_items(const wk__gpu_codegen *p);
/* Appends the head of the block with the loop of a pass; under the pass's condition (wk__program_pass_condition()) if
 * it has one and nothing else needs the loop (alone). */
void wk__gpu_codegen_condition(wk__gpu_codegen *p, int pass, bool alone);
/* Returns true if instruction k is a reduction that is computed in this pass. */
bool wk__gpu_reduces_in(const wk__gpu_codegen *p, int k, int pass);

/* codegen_reduce.c: local memory; accumulators before the loop; accumulation in the loop; moving partial sums every 128
 * columns; results after the loop; and for chunked rows, the combined results of all chunks from an earlier pass. */
void wk__gpu_codegen_local_memory(wk__gpu_codegen *p);
void wk__gpu_codegen_accumulators(wk__gpu_codegen *p, int pass);
void wk__gpu_codegen_accumulate(wk__gpu_codegen *p, int pass);
void wk__gpu_codegen_flush_partial(wk__gpu_codegen *p, int pass);
void wk__gpu_codegen_reduce_results(wk__gpu_codegen *p, int pass);
void wk__gpu_codegen_combine_chunks(wk__gpu_codegen *p, int pass);

#endif
