/* SPDX-License-Identifier: Apache-2.0 */
/* The tail of a product in the product's own kernel: each element goes from the register in which it was summed into
 * the tail's program. Two marks stand among the pieces of a fixed kernel's text, and what is printed there uses
 * variables of the text around it:
 *
 *   wk__gpu_mark_outer  once an item knows which of the outer dimensions' places it works at: `outer`, an expression
 *   wk__gpu_mark_result  for each element of the result:  value      its sum, a T
 *                                                     to         where it is stored, a pointer to STORAGE
 *                                                     i, j       its coordinates in the two inner dimensions
 *                                                     position   an expression: its position in the space
 *
 * A text has two inner dimensions, the last ones, or none. Without a tail the result is stored; with one
 *
 *     const STORAGE stored = STORE(value);     rounded to the result's dtype, as the tail would load it
 *     *to = stored;                            unless the tail alone reads it
 *     ...                                      the instructions; LOAD of operand 0 is LOAD(stored)
 *
 * A text may have four elements at once, side by side in the last dimension (`fours`): value is a VECTOR of them,
 * `count` says how many there are, to, i, j and position are those of the first, and `apart` is the way in memory from
 * one to the next. The result, and operands of the tail that have the four side by side, are loaded and stored at once
 * where the address allows. Where a text without inner dimensions has the outer coordinates out of a position, `inside`
 * says whether the three that follow it differ in the last coordinate alone.
 *
 * Memory: the result is m0, the factors are m1 and m2, and the tail's operands from 1 on are m3 and further. An element
 * has its tail run once, as that may write over what it has read. */
#ifndef WICK_BACKEND_GPU_TAIL_H
#define WICK_BACKEND_GPU_TAIL_H

#include "backend/gpu/kernel.h"

/* Can the kernel of this work carry its tail? False where there is none. */
bool wk__gpu_can_fuse_epilogue(const wk__work *work);

extern const char wk__gpu_mark_outer[], wk__gpu_mark_result[];

/* What the printer has to know of a text that carries tails. */
typedef struct wk__gpu_epilogue_slot {
    int arguments;  /* that it has itself: the tail's follow */
    int inner_dims; /* dimensions, 0 or 2 */
    bool vector4;   /* four elements at once */
    const char *outer, *position;
} wk__gpu_epilogue_slot;

/* What is printed at the marks. */
void wk__gpu_codegen_epilogue_outer(wk__text *text, const wk__gpu_kernel_spec *unit);
void wk__gpu_codegen_epilogue_result(wk__text *text, const wk__gpu_kernel_spec *unit);

/* Adds the tail of a contraction to a launch whose unit has its kernel, its memory and its arguments. `tail` gets the
 * program that the unit then names, and lives as long as the launch. Nothing happens where the work has no tail. */
void wk__gpu_add_epilogue(const wk__work *work, wk__program *tail, wk__gpu_launch *launch);

#endif
