/* SPDX-License-Identifier: Apache-2.0 */
/* Execution of programs (ir/ir.h) on the CPU: compiled for the register VM, run on the thread pool.
 * Threads: any. A prepared program is immutable, so several threads may run its boxes at the same time. */
#ifndef WICK_BACKEND_CPU_VM_PROGRAM_H
#define WICK_BACKEND_CPU_VM_PROGRAM_H

#include "backend/cpu/isa.h"
#include "panel_copy.h"

enum {
    /* Maximum scratch of one worker: tiles, a patch panel per operand, and alignment. */
    WK__CPU_WORKER_BYTES =
        WK__MAX_INS * WK__VM_MAX_TILE + WK__MAX_OPERANDS * (WK__PATCH_COLUMNS * WK__VM_MAX_TILE + 64) + 64
};

/* One VM program: the code that runs per element, or once per row, between two reductions. */
typedef struct wk__cpu_stage {
    int32_t start;           /* first instruction; -1: empty stage */
    int32_t reg_accumulator; /* register of the reduction that stays in vector registers between blocks; -1: none */
    uint32_t loads;          /* bit masks of operands: loaded, stored */
    uint32_t stores;
    uint32_t indexed; /* read by LOADX; WK__VM_POSITION for IOTA */
} wk__cpu_stage;

/* Use of a register outside the stage that computes it. */
typedef struct wk__cpu_reg_info {
    uint8_t cost; /* cost of recomputing it from its loads, if of element level */
    bool kept;    /* element level and used by a later pass: stored in WK__VM_CARRIED + register */
    bool shared;  /* row level and used by another stage: in a scalar, or WK__VM_CARRIED + register */
} wk__cpu_reg_info;

/* A compiled program. Stages alternate:
 *
 *     row[0]  element[0]  row[1]  element[1] ... element[passes - 1]  row[passes]
 *
 * element[p] runs for all columns of a row and accumulates the reductions of pass p; row[p] runs once per row with the
 * values known after p passes. A program without reductions has one pass, its entire space is one row, and row[0]
 * computes the values common to all elements. */
typedef struct wk__cpu_program {
    const wk__program *group; /* set by wk__cpu_program_prepare(): must outlive this */
    const wk__vm *vm;
    bool nontemporal;    /* some stores bypass the caches */
    bool lanes_are_rows; /* lanes of a block are adjacent rows instead of adjacent columns */
    int passes;
    int ntiles; /* scratch tiles used simultaneously */
    int cost;   /* of an element, in simple instructions */
    wk__cpu_stage element[WK__MAX_INS + 1], row[WK__MAX_INS + 1];
    uint8_t level[WK__MAX_INS], pass[WK__MAX_INS]; /* from wk__program_levels() */
    wk__cpu_reg_info fate[WK__MAX_INS];
    int ncode, capacity;
    wk__vm_ins *code;
    wk__vm_ins inline_code[96]; /* initial storage of code */
} wk__cpu_program;

/* Runs a program, on several threads if large. If a LOADX index is out of range, returns WK_ERR_INDEX with index, bound
 * and tag in *fail, after completing everything else. */
wk_code wk__cpu_run(const wk__program *group, wk__fail *fail);
/* Returns the number of elements that justify using another thread. */
static inline int64_t wk__cpu_program_grain(const wk__cpu_program *program)
{
    enum { ELEMENTS = 32768, SIMPLE = 4 /* two loads, an operation and a store */ };
    return (int64_t)ELEMENTS * SIMPLE / (program->cost > SIMPLE ? program->cost : SIMPLE);
}

/* For programs without reductions, run in parts: prepare once, then run boxes of the space from any thread. Requires
 * wk__cpu_program_destroy() even if preparing fails. */
wk_code wk__cpu_program_prepare(wk__cpu_program *program, const wk__program *group, wk__fail *fail);
wk_code wk__cpu_program_box(const wk__cpu_program *program, const int64_t start[], const int64_t size[],
                            wk__fail *fail);
/* Like wk__cpu_program_box(), but the stored operand `operand` starts at `to` for this box, and scratch comes from
 * `scratch`, WK__CPU_WORKER_BYTES bytes, so that it cannot fail for lack of memory. */
typedef struct wk__cpu_output {
    int operand;
    char *to, *scratch;
} wk__cpu_output;
wk_code wk__cpu_program_box_to(const wk__cpu_program *program, const int64_t start[], const int64_t size[],
                               const wk__cpu_output *place, wk__fail *fail);
void wk__cpu_program_destroy(wk__cpu_program *program);

#endif
