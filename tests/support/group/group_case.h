/* SPDX-License-Identifier: Apache-2.0 */
/* One group with its memory, run on a device and compared with the plain interpreter. All of the memory is compared,
 * the gaps between strides and a margin around each operand too, so a store to a wrong place is seen.
 *
 * Many cases can be compiled together:  for each: group_case_run;  between gather(on) and gather(off), then again. */
#ifndef WICK_TESTS_SUPPORT_GROUP_CASE_H
#define WICK_TESTS_SUPPORT_GROUP_CASE_H

#include "ir/build.h"
#include "group_reference.h"

/* What operands are filled with. Integers get whole numbers in the same range. */
typedef enum group_fill {
    FILL_ONES,     /* -2 .. 2 */
    FILL_POSITIVE, /* 0.25 .. 4, integers 1 .. 9 */
    FILL_WIDE,     /* all sizes, NaN, infinities, zeros of both signs, denormals; extremes of integers */
    FILL_SUM,      /* whole numbers, -4 .. 4: every order of adding gives the same */
    FILL_PRODUCT,  /* 1 and -1, rarely 3: every order of multiplying does */
    FILL_BITS,     /* i64: any */
    FILL_INDEX     /* i64: see group_case_index */
} group_fill;

typedef struct group_case {
    char name[96];
    wk__program g;             /* the functions of ir_build.h add to it */
    double relative, absolute; /* how far results may be off */
    char *data[WK__MAX_OPERANDS];
    int64_t elements[WK__MAX_OPERANDS];
    wk__memory memory[WK__MAX_OPERANDS];
    wk__fail bad; /* of the last check: what the interpreter says of indices */
} group_case;

/* An empty case over a space. The caller frees it. */
group_case *group_case_new(const char *name, int ndim, const int64_t *shape, int nreduce);
void group_case_free(group_case *c);

/* Adds an operand with memory of its own that holds what the strides reach, and `extra` elements more (for LOADX). */
int group_case_operand(group_case *c, wk_dtype dtype, const int64_t *stride, group_fill fill, int64_t extra);
/* The same, dense; `rows`: one element a row. */
int group_case_dense(group_case *c, wk_dtype dtype, bool rows, group_fill fill);
/* Is this code arithmetic or a comparison that takes the dtype? */
bool group_case_takes(int code, wk_dtype dtype);
/* Stores the code's result of registers a and b; narrow dtypes are cast to after it, as a public op of that
 * dtype does. */
void group_case_arithmetic(group_case *c, int code, wk_dtype dtype, int a, int b);
/* Fills an i64 operand with indices low .. bound - 1. */
void group_case_index(group_case *c, int operand, int64_t low, int64_t bound);
/* Takes what the group has stored so far as the memory's new content when it is run again: nothing is shared. */
void group_case_set(group_case *c, int operand, int64_t element, double value);
/* Where in the operand's memory the element with all coordinates 0 is. */
int64_t group_case_origin(const group_case *c, int operand);

/* Takes device memory, uploads, enqueues. */
wk_code group_case_run(group_case *c, const wk__backend *backend, void *device, wk__fail *fail);
/* Downloads and compares; NULL, or what is wrong (in a static buffer). Gives the device memory back. A fault that the
 * interpreter expects too is no error. */
const char *group_case_check(group_case *c, const wk__backend *backend, void *device);

/* Random numbers of the tests: the same in every run. */
uint64_t group_case_random(void);
void group_case_seed(uint64_t seed);

#endif
