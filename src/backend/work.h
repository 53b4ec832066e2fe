/* SPDX-License-Identifier: Apache-2.0 */
/* Work: all that a device is asked to compute or to move, in families. A row says what the engine, the null device, the
 * logs and the checks have to know of one; a backend has a table of the code that runs it. Nobody else names a family
 * but the op that records it.
 *
 *   program        a group of instructions, elementwise and reducing (../ir/ir.h)
 *   contraction    sums of products: matrix products, convolutions (contraction.h); a program may compute a factor on
 *                  the way, its prologue, and one may follow, its tail
 *   along one      scatter_add, scan and sort walk the lines of one dimension
 *   dimension
 *   transfer       dense bytes to another device; a backend has slots of its own for that
 */
#ifndef WICK_BACKEND_WORK_H
#define WICK_BACKEND_WORK_H

#include "ir/ir.h"

/* The numbers stand in files of flushes: new ones come last. */
typedef enum wk__work_id {
    WK__PROGRAM,
    /* 0 out, 1 and 2 factors; sum: what is summed. */
    WK__CONTRACTION,
    /* 0 target T, 1 index i64, 2 source S: T[.., index, ..] += S[..], in index order on every device. Index and source
     * have the shape of the work, the target has `bound` places along dim. A bad index is a fault, and nothing is
     * written for it. */
    WK__SCATTER_ADD,
    /* 0 out, 1 in: running sum (mode 0) or product (1) along dim, in the class. Floats are multiplied from the start
     * on; what is added to what first is the backend's, by shape and device. */
    WK__SCAN,
    /* 0 values out, 1 their places in the line (i64) out, 2 in: stable along dim, ascending (mode 0) or descending (1);
     * NaN counts as greatest. */
    WK__SORT,
    /* 0 out, 1 in, on another device. */
    WK__TRANSFER,
    WK__WORK_FAMILIES
} wk__work_id;

typedef struct wk__work_family {
    const char *name;     /* in plans and failures */
    const char *log_name; /* of a kernel that runs, in the log; NULL: none does, it is a copy */
    uint8_t nout;         /* operands: outputs first, then inputs; of a program the record says how many */
    uint8_t nin;
    bool is_program;        /* its records are instructions: they share kernels, and may be computed again */
    bool can_have_epilogue; /* programs may follow it in one kernel; it reads its inputs until the last of
                                         them has run */
    bool can_have_prologue; /* and may compute its factors in that kernel, where the backend takes that */
    bool is_contraction;    /* has a wk__contraction */
    bool is_along_dim;      /* works along one dimension: dim, mode and bound say how */
    bool is_transfer;       /* its inputs are on another device */
    bool can_fault;         /* may find a bad index; a record says whether a program may */
    bool accumulates;       /* operand 0 is read, too, and what is not added to stays; it has its own size along dim */
    uint8_t nmodes;         /* `mode` is below that */
    uint8_t same_dtype_operand; /* this operand has the dtype of operand 0; 0: any */
    uint8_t index_operand;      /* this one has positions, i64; 0: none */
} wk__work_family;

extern const wk__work_family wk__work_families[WK__WORK_FAMILIES];

/* Is it the number of a family? */
static inline bool wk__is_work_family(int family)
{
    return family >= 0 && family < WK__WORK_FAMILIES;
}

/* ---- what a backend is given ------------------------------------------------------------------------------------- */

enum {
    WK__WORK_OPERANDS = 3,
    WK__FACTORS = 2 /* of a product: operands 1 and 2 */
};

/* Work that is no program: its family says what dim, mode and bound mean. */
typedef struct wk__work_args {
    int ndim, dim, mode;
    int64_t shape[WK__MAX_DIMS]; /* of the space: of a contraction that of its result */
    int64_t bound;
    wk__operand operand[WK__WORK_OPERANDS];    /* outputs, then inputs */
    const struct wk__contraction *contraction; /* contraction; NULL: none */
    /* Programs over the elements of a factor, whose memory holds nothing and stays so: each stores that operand alone,
     * reduces nothing and looks up no places. NULL: the factor is in memory. A backend without `takes_prologue` is
     * given none. */
    const wk__program *prologue[WK__FACTORS];
    int64_t tag;       /* handed back with a bad index */
    bool elide_result; /* operand 0 is read by the tail alone: it need not be written, and its memory holds nothing
                          later */
} wk__work_args;

typedef struct wk__work {
    int family; /* wk__work_id */
    /* A program; of other families the tail, over their space, whose operand 0 is the result: NULL if there is none. */
    const wk__program *program;
    const wk__work_args *args; /* NULL: a program */
    struct wk__origin *origin; /* whose work it is; see backend.h */
} wk__work;

/* The name of a family, or of a number that is none. */
static inline const char *wk__work_name(int family)
{
    return wk__is_work_family(family) ? wk__work_families[family].name : "unknown work";
}

/* How operands are walked: by their strides over the space and, of a product of matrices, one more; or as a
 * wk__contraction says. */
typedef enum wk__layout { WK__LAYOUT_STRIDES, WK__LAYOUT_CONTRACTION } wk__layout;

/* Is there work of that family whose operands are walked so? */
static inline bool wk__work_has_layout(int family, wk__layout layout)
{
    return wk__is_work_family(family) && (layout == WK__LAYOUT_STRIDES || wk__work_families[family].is_contraction);
}

static inline const wk__work_family *wk__work_family_of(const wk__work *work)
{
    return &wk__work_families[work->family];
}

/* shape is the shape of the work: makes it the one over which operand `operand` is walked. */
void wk__work_operand_shape(const wk__work_family *family, int operand, int dim, int64_t bound, int64_t shape[]);

#endif
