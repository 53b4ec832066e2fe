/* SPDX-License-Identifier: Apache-2.0 */
/* Group programs on the CPU. */
#ifndef WICK_BACKEND_CPU_RUN_H
#define WICK_BACKEND_CPU_RUN_H

#include "backend/cpu/isa.h"
#include "panel_copy.h"

enum {
    /* What one worker may need at most: tiles, a panel of a patch for each operand, and the way to the next line. */
    WK__CPU_WORKER_BYTES =
        WK__MAX_INS * WK__VM_MAX_TILE + WK__MAX_OPERANDS * (WK__PATCH_COLUMNS * WK__VM_MAX_TILE + 64) + 64
};

/* One VM program: what runs over all elements, or once a row, between two reductions. */
typedef struct wk__cpu_stage {
    int32_t start;           /* first instruction, -1: nothing to do */
    int32_t reg_accumulator; /* register of the reduction that stays in vector registers from block to block, -1:
                                  none */
    uint32_t loads;          /* operands that it reads, stores ..., a bit each */
    uint32_t stores;
    uint32_t indexed; /* that LOADX reads; WK__VM_POSITION for IOTA */
} wk__cpu_stage;

/* What becomes of a register outside the stage that computes it. */
typedef struct wk__cpu_reg_info {
    uint8_t cost; /* of computing it from its loads, if it is of element level */
    bool kept;    /* element level, and a later pass wants it: written to HOME + register */
    bool shared;  /* row level, and another stage wants it: a cell, or HOME + register */
} wk__cpu_reg_info;

/* A compiled group. Stages take turns:
 *
 *     row[0]  element[0]  row[1]  element[1] ... element[passes - 1]  row[passes]
 *
 * element[p] runs for all columns of a row and adds up the reductions of pass p, row[p] once a row with all that is
 * known after p passes. A group that reduces nothing has one pass, its whole space is one row, and row[0] holds what is
 * the same everywhere. */
typedef struct wk__cpu_program {
    const wk__program *group; /* of wk__cpu_program_prepare: has to outlive the program */
    const wk__vm *vm;
    bool nontemporal;    /* some stores go past the caches */
    bool lanes_are_rows; /* the lanes of a block are neighbouring rows, not neighbouring columns */
    int passes;
    int ntiles; /* scratch places in use at once */
    wk__cpu_stage element[WK__MAX_INS + 1], row[WK__MAX_INS + 1];
    uint8_t level[WK__MAX_INS], pass[WK__MAX_INS]; /* as wk__program_levels gives them */
    wk__cpu_reg_info fate[WK__MAX_INS];
    int ncode, capacity;
    wk__vm_ins *code;
    wk__vm_ins inline_code[96]; /* code, until it grows */
} wk__cpu_program;

/* Runs the whole group, on several threads when it is large. WK_ERR_INDEX with index, bound and tag in *fail when a
 * LOADX was out of range; everything else is done all the same. */
wk_code wk__cpu_run(const wk__program *group, wk__fail *fail);

/* For groups that reduce nothing, run piece by piece: prepare once, then any number of boxes of the group's space, from
 * any thread. The program has to be ended even when preparing fails. */
wk_code wk__cpu_program_prepare(wk__cpu_program *program, const wk__program *group, wk__fail *fail);
wk_code wk__cpu_program_box(const wk__cpu_program *program, const int64_t start[], const int64_t size[],
                            wk__fail *fail);
/* The same, but that operand `operand`, which the group stores, begins at `to` for the box, and that what is needed to
 * run it is taken from `room`, WK__CPU_WORKER_BYTES bytes: it cannot run out of memory. */
typedef struct wk__cpu_output {
    int operand;
    char *to, *scratch;
} wk__cpu_output;
wk_code wk__cpu_program_box_to(const wk__cpu_program *program, const int64_t start[], const int64_t size[],
                               const wk__cpu_output *place, wk__fail *fail);
void wk__cpu_program_destroy(wk__cpu_program *program);

#endif
