/* SPDX-License-Identifier: Apache-2.0 */
/* A program with its memory, run on a device and compared with the reference interpreter. The comparison covers all
 * memory, including the gaps between strides and a margin around each operand, so that stores outside the result are
 * detected.
 *
 * To compile many cases at once, call group_case_run for each between gather(on) and gather(off), then again for
 * each. */
#ifndef WICK_TESTS_SUPPORT_GROUP_CASE_H
#define WICK_TESTS_SUPPORT_GROUP_CASE_H

#include "ir/build.h"
#include "group_reference.h"

/* Initial values of operands. Integers get integers of the same range. */
typedef enum group_fill {
    FILL_ONES,     /* -2 .. 2 */
    FILL_POSITIVE, /* 0.25 .. 4, integers 1 .. 9 */
    FILL_WIDE,     /* all magnitudes, NaN, infinities, zeros of both signs, denormals; extreme integers */
    FILL_SUM,      /* integers in [-4, 4]: sums do not depend on their order */
    FILL_PRODUCT,  /* 1 and -1, rarely 3: products do not depend on their order */
    FILL_BITS,     /* i64: any bits */
    FILL_INDEX     /* i64: see group_case_index */
} group_fill;

typedef struct group_case {
    char name[96];
    wk__program g;             /* built with the functions of ir_build.h */
    double relative, absolute; /* tolerances */
    char *data[WK__MAX_OPERANDS];
    int64_t elements[WK__MAX_OPERANDS];
    wk__memory memory[WK__MAX_OPERANDS];
    wk__fail bad; /* of the last check: the index fault that the interpreter reports */
} group_case;

/* Returns an empty case over a space; the caller frees it. */
group_case *group_case_new(const char *name, int ndim, const int64_t *shape, int nreduce);
void group_case_free(group_case *c);

/* Adds an operand with separate memory for all elements that its strides reach and extra more (for LOADX). */
int group_case_operand(group_case *c, wk_dtype dtype, const int64_t *stride, group_fill fill, int64_t extra);
/* The same, dense; with rows, one element per row. */
int group_case_dense(group_case *c, wk_dtype dtype, bool rows, group_fill fill);
/* Returns true if the opcode is arithmetic or a comparison and supports the dtype. */
bool group_case_takes(int code, wk_dtype dtype);
/* Stores the opcode's result for registers a and b; narrow dtypes are cast afterwards, as in a public op of that
 * dtype. */
void group_case_arithmetic(group_case *c, int code, wk_dtype dtype, int a, int b);
/* Fills an i64 operand with indices in [low, bound). */
void group_case_index(group_case *c, int operand, int64_t low, int64_t bound);
/* Sets an element of an operand's memory. */
void group_case_set(group_case *c, int operand, int64_t element, double value);
/* Returns the offset, in elements, of the element with all coordinates 0 in the operand's memory. */
int64_t group_case_origin(const group_case *c, int operand);

/* Allocates device memory, uploads the operands and enqueues the program. */
wk_code group_case_run(group_case *c, const wk__backend *backend, void *device, wk__fail *fail);
/* Downloads, compares and frees the device memory. Returns NULL, or the difference as text in a static buffer. A fault
 * that the interpreter reports too is no error. */
const char *group_case_check(group_case *c, const wk__backend *backend, void *device);

/* Returns the next random number; the sequence is the same in every run. */
uint64_t group_case_random(void);
void group_case_seed(uint64_t seed);

#endif
