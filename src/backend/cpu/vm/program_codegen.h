/* SPDX-License-Identifier: Apache-2.0 */
/* Code generation for one stage: interface between program_compile.c, which decides, and program_codegen.c, which
 * emits. */
#ifndef WICK_BACKEND_CPU_VM_PROGRAM_CODEGEN_H
#define WICK_BACKEND_CPU_VM_PROGRAM_CODEGEN_H

#include "program_compile.h"

enum {
    WK__LOC_NONE = -1,  /* in the accumulator if anywhere; a load not emitted yet */
    WK__LOC_SCALAR = -2 /* in the scalar of its register */
};

/* State of a register in the current stage. */
typedef struct wk__cpu_codegen_value {
    int16_t location;        /* VM slot, WK__LOC_SCALAR or WK__LOC_NONE */
    uint16_t remaining_uses; /* uses not emitted yet */
    bool needed;             /* computed by this stage */
} wk__cpu_codegen_value;

typedef struct wk__cpu_codegen {
    wk__cpu_program *program;
    const wk__program *group;
    const wk__vm *vm;
    wk__cpu_style style;
    wk__cpu_stage *stage;
    bool is_row_stage;
    int at;      /* index of the stage among its kind */
    int acc;     /* register in the accumulator; -1: none */
    bool failed; /* allocation failure */
    uint64_t free_tiles[2];
    uint64_t row_work;                        /* bit mask of non-empty row stages; the last bit covers all later ones */
    wk__cpu_codegen_value value[WK__MAX_INS]; /* by register */
} wk__cpu_codegen;

/* Emits instruction k with the moves that its operands need. */
void wk__cpu_codegen_instruction(wk__cpu_codegen *e, int k);
/* Appends a VM instruction. */
wk__vm_ins *wk__cpu_codegen_append(wk__cpu_codegen *e, wk__vm_op *op, int a, int b);

static inline wk__vm_class wk__cpu_codegen_class(const wk__cpu_codegen *e, int k)
{
    return wk__vm_class_of((wk_dtype)e->group->ins[k].dtype);
}

/* Returns true for dtypes equal to their class, which can be second operands directly in memory. */
static inline bool wk__is_class_dtype(int dtype)
{
    return dtype == WK_F32 || dtype == WK_F64 || dtype == WK_I32 || dtype == WK_I64;
}

static inline bool wk__is_reduction(int code)
{
    return code >= WK__RSUM && code <= WK__RMIN;
}

#endif
