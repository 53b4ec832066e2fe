/* SPDX-License-Identifier: Apache-2.0 */
/* Epilogue of a contraction, fused into its kernel: each element's value is passed from the register with its sum to
 * the epilogue's instructions. A template's text contains two marks, which are replaced by code that uses the
 * template's variables:
 *
 *   wk__gpu_mark_outer   once an item has computed its outer index: `outer`, an expression
 *   wk__gpu_mark_result  for each element of the result:  value      its sum, a T
 *                                                         to         its address, a pointer to STORAGE
 *                                                         i, j       its indices in the two inner dimensions
 *                                                         position   expression: its position in the space
 *
 * A template has two inner dimensions, the last ones, or none. Without an epilogue the result is stored; with one
 *
 *     const STORAGE stored = STORE(value);     rounded to the result's dtype, as the epilogue would load it
 *     *to = stored;                            unless only the epilogue reads it
 *     ...                                      the instructions; LOAD of operand 0 is LOAD(stored)
 *
 * A template may process four elements at a time, adjacent in the last dimension (`vector4`): value is a VECTOR of
 * them, `count` is their number; to, i, j and position are those of the first, and `apart` is the stride in memory. The
 * result and contiguous operands of the epilogue are loaded and stored as vectors if aligned. If a template without
 * inner dimensions computes the outer coordinates from a position, `inside` is true if the next three elements differ
 * only in the last coordinate.
 *
 * Buffers: m0 is the result, m1 and m2 are the factors, m3 and up are operands of the epilogue from 1 on. The epilogue
 * must run only once per element, because it may overwrite its inputs. */
#ifndef WICK_BACKEND_GPU_CODEGEN_CODEGEN_EPILOGUE_H
#define WICK_BACKEND_GPU_CODEGEN_CODEGEN_EPILOGUE_H

#include "backend/gpu/kernel.h"

/* Returns true if the work has an epilogue that can be fused into its kernel. */
bool wk__gpu_can_fuse_epilogue(const wk__work *work);

extern const char wk__gpu_mark_outer[], wk__gpu_mark_result[];

/* Properties of a template that can include an epilogue. */
typedef struct wk__gpu_epilogue_slot {
    int arguments;  /* number of the template's own arguments; those of the epilogue follow */
    int inner_dims; /* number of inner dimensions, 0 or 2 */
    bool vector4;   /* processes four elements at a time */
    const char *outer, *position;
} wk__gpu_epilogue_slot;

/* Append the code for the marks. */
void wk__gpu_codegen_epilogue_outer(wk__text *text, const wk__gpu_kernel_spec *spec);
void wk__gpu_codegen_epilogue_result(wk__text *text, const wk__gpu_kernel_spec *spec);

/* Adds the epilogue of a contraction to a launch whose kernel, buffers and arguments are set. Fills `tail` with the
 * program that the launch then refers to; it must live as long as the launch. No effect if the work has no epilogue. */
void wk__gpu_add_epilogue(const wk__work *work, wk__program *tail, wk__gpu_launch *launch);

#endif
