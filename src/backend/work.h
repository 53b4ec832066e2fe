/* SPDX-License-Identifier: Apache-2.0 */
/* Families of work that are neither a group of instructions nor a product: kernels along one dimension. A row says what
 * the engine, the null device and the checks have to know of one; the CPU and the GPU backends have a table each of
 * the code that runs it. Nobody else names a family but the op that records it. */
#ifndef WICK_BACKEND_WORK_H
#define WICK_BACKEND_WORK_H

#include <stdbool.h>
#include <stdint.h>

typedef enum wk__work_id {
    /* 0 target T, 1 index i64, 2 source S: T[.., index, ..] += S[..], in index order on every device. Index and source
     * have the shape of the work, the target has `bound` places along dim. A bad index is a fault, and nothing is
     * written for it. */
    WK__SCATTER_ADD,
    /* 0 out, 1 in: running sum (mode 0) or product (1) along dim, in the class's order from the start. */
    WK__SCAN,
    /* 0 values out, 1 their places in the line (i64) out, 2 in: stable along dim, ascending (mode 0) or descending (1);
     * NaN counts as greatest. */
    WK__SORT,
    WK__WORK_FAMILIES
} wk__work_id;

typedef struct wk__work_family {
    const char *name;    /* in plans, logs and the files of flushes */
    uint8_t nout, nin;   /* operands: outputs first, then inputs */
    uint8_t modes;       /* `mode` is below that */
    uint8_t like;        /* this operand has the dtype of operand 0 */
    int8_t places;       /* this one has positions, i64; -1: none */
    bool adds_to_target; /* operand 0 is read, too, and what is not added to stays; it has its own size along dim */
} wk__work_family;

extern const wk__work_family wk__work_families[WK__WORK_FAMILIES];

/* Is it the number of a family? */
static inline bool wk__work_known(int family)
{
    return family >= 0 && family < WK__WORK_FAMILIES;
}

/* The family of that name, or WK__WORK_FAMILIES. */
int wk__work_named(const char *name);

/* shape is the shape of the work: makes it the one over which operand `operand` is walked. */
void wk__work_space(const wk__work_family *family, int operand, int dim, int64_t bound, int64_t shape[]);

#endif
