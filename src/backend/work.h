/* SPDX-License-Identifier: Apache-2.0 */
/* Work: everything that a device is asked to compute or move, in families. A row of wk__work_families describes one
 * family for the engine, the null device, logs and checks; each backend has a table of implementations. Otherwise only
 * the op that records a family refers to it.
 *
 *   program        instructions, elementwise and reducing (ir/ir.h)
 *   contraction    sums of products: matrix products, convolutions (contraction.h). A prologue program may compute a
 *                  factor on the fly; an epilogue program may follow
 *   along one      scatter_add, scan and sort process the lines of one dimension
 *   dimension
 *   quantized      products with a matrix of quantised blocks, which stays as it is in memory
 *   norm           gradients of layer norm and rms norm, in one pass over memory
 *   attention      softmax of products, times a third matrix, and its gradient, without the products in memory
 *   transfer       dense bytes to another device; backends have a separate entry for it */
#ifndef WICK_BACKEND_WORK_H
#define WICK_BACKEND_WORK_H

#include "ir/ir.h"

/* The values appear in flush files: append only. */
typedef enum wk__work_id {
    WK__PROGRAM,
    /* Operands: 0 out, 1 and 2 factors. `contraction` describes the sum. */
    WK__CONTRACTION,
    /* Operands: 0 target T, 1 index i64, 2 source S: T[.., index, ..] += S[..], in index order on every device. Index
     * and source have the shape of the work; the target has size `bound` along dim. A bad index is a fault, and nothing
     * is written for it. */
    WK__SCATTER_ADD,
    /* Operands: 0 out, 1 in: running sum (mode 0) or product (1) along dim, in the compute class. Float products are
     * computed from the start; the order of a sum depends on the backend, by shape and device. */
    WK__SCAN,
    /* Operands: 0 values out, 1 their indices in the line (i64) out, 2 in: stable along dim, ascending (mode 0) or
     * descending (1); NaN is greatest. */
    WK__SORT,
    /* Operands: 0 out, 1 in, on another device. */
    WK__TRANSFER,
    /* The space is (batch.., L, S, E, Ev); an operand has stride 0 along dimensions that it does not have. All operands
     * have one dtype, f32 or f64; rows of all but the mask are contiguous. The mode consists of WK__ATTENTION_ bits.
     *
     *   weights   w[l, s] = e^(score[l, s] - lse[l]), score = query key^T + mask, lse[l] = log of the sum of e^score
     *
     * Operands: 0 out (L, Ev) = weights value, 1 lse (L) out; 2 query (L, E), 3 key (S, E), 4 value (S, Ev), 5 mask
     * (L, S), not read without WK__ATTENTION_MASKED. A row whose scores are all -infinite has out 0, lse infinite. */
    WK__ATTENTION,
    /* Operands: 0 d query, 1 d key, 2 d value out; 3 to 6 as 2 to 5 above, 7 gradient of out (L, Ev), 8 lse (L), 9 sum
     * over Ev of out times its gradient (L). */
    WK__ATTENTION_BACKWARD,
    /* The space is (R, O, I, B); an operand has stride 0 along dimensions that it does not have. Operands: 0 out (R, O)
     * f32, row-major; 1 x (R, I) f32 and 2 blocks (O, B) u8, with contiguous rows, those of blocks at even offsets. The
     * mode is the wk_block_format: B bytes of blocks have I elements. out = x blocks^T. */
    WK__QUANTIZED,
    /* The space is (R, C); an operand has stride 0 along a dimension that it does not have. All operands have one
     * dtype, f32 or f64; rows are contiguous. The mode consists of WK__NORM_ bits. Gradients of h weight + bias, where
     * h = (x - mean) factor, and mean and factor are the statistics of a row of x.
     *
     * Operands: 0 dx (R, C), 1 d weight (C) and 2 d bias (C) out, dense; 3 gradient of the result (R, C), 4 x (R, C), 5
     * mean (R), not read without WK__NORM_CENTRED, 6 factor (R), 7 weight (C), not read without WK__NORM_WEIGHTED. */
    WK__NORM_BACKWARD,
    WK__WORK_FAMILIES
} wk__work_id;

/* Modes of attention. Causal: row l sees keys 0 to l. */
enum { WK__ATTENTION_CAUSAL = 1, WK__ATTENTION_MASKED = 2 };
enum { WK__ATTENTION_DIMS = 4 }; /* L, S, E, Ev, the last dimensions of the space */
enum { WK__QUANTIZED_DIMS = 4 }; /* R, O, I, B */
/* Modes of norms. Without a mean: rms_norm, whose gradient has no term for it. */
enum { WK__NORM_CENTRED = 1, WK__NORM_WEIGHTED = 2 };
enum { WK__NORM_DIMS = 2 }; /* R, C */

typedef struct wk__work_family {
    const char *name;     /* in plans and failures */
    const char *log_name; /* of a kernel, in the log; NULL: it is a copy without a kernel */
    uint8_t nout;         /* operands: outputs first, then inputs; the record of a program has its own numbers */
    uint8_t nin;
    bool is_program;        /* records are instructions, which share kernels and may be recomputed */
    bool can_have_epilogue; /* programs may follow in the same kernel; inputs are read until the last of them has run */
    bool can_have_prologue; /* programs may compute factors in the same kernel, if the backend supports that */
    bool is_contraction;    /* has a wk__contraction */
    bool is_along_dim;      /* works along one dimension, given by dim, mode and bound */
    bool is_attention;      /* works on matrices of rows, keys and columns, as described above */
    bool is_quantized;      /* works on blocks, as described above */
    bool is_norm;           /* works on rows, as described above */
    bool is_sparse_space;   /* operands have stride 0 along dimensions of the space that they do not have */
    bool is_transfer;       /* inputs are on another device */
    bool can_fault;         /* may find a bad index; for programs the record decides */
    /* operand 0 is also read, and elements without contributions remain; it has its own size along dim */
    bool accumulates;
    uint8_t nmodes;             /* `mode` is less than this; 0: no modes */
    uint8_t same_dtype_operand; /* operand with the dtype of operand 0; 0: any */
    uint8_t index_operand;      /* operand with i64 indices; 0: none */
} wk__work_family;

extern const wk__work_family wk__work_families[WK__WORK_FAMILIES];

/* Returns true if `family` is valid. */
static inline bool wk__is_work_family(int family)
{
    return family >= 0 && family < WK__WORK_FAMILIES;
}

/* ---- arguments of submit ----------------------------------------------------------------------------------------- */

enum {
    WK__WORK_OPERANDS = 10,
    WK__LINE_OPERANDS = 3, /* of work along one dimension */
    WK__SUM_OPERANDS = 3,  /* of contractions */
    WK__FACTORS = 2        /* of a product: operands 1 and 2 */
};

/* Arguments of work other than programs; the family defines dim, mode and bound. */
typedef struct wk__work_args {
    int ndim, dim, mode;
    int64_t shape[WK__MAX_DIMS]; /* of the space; for a contraction, of its result */
    int64_t bound;
    wk__operand operand[WK__WORK_OPERANDS];    /* outputs, then inputs */
    const struct wk__contraction *contraction; /* contractions; else NULL */
    /* Programs that compute a factor, whose memory stays undefined: each stores only that operand, without reductions
     * or LOADX. NULL: the factor is in memory. Only for backends with `can_fuse_prologue`. */
    const wk__program *prologue[WK__FACTORS];
    int64_t tag; /* returned with a bad index */
    /* only the epilogue reads operand 0: it need not be stored, and its memory is undefined afterwards */
    bool elide_result;
} wk__work_args;

typedef struct wk__work {
    int family; /* wk__work_id */
    /* A program; for other families the epilogue, over their space, with the result as operand 0, or NULL. */
    const wk__program *program;
    const wk__work_args *args; /* NULL for programs */
    struct wk__origin *origin; /* recorder of the work; see backend.h */
} wk__work;

/* Returns the name of a family, also for an invalid one. */
static inline const char *wk__work_name(int family)
{
    return wk__is_work_family(family) ? wk__work_families[family].name : "unknown work";
}

/* Addressing of operands: by strides over the space and, for a matrix product, one summed index; or by a
 * wk__contraction. */
typedef enum wk__layout { WK__LAYOUT_STRIDES, WK__LAYOUT_CONTRACTION } wk__layout;

/* Returns true if work of this family can have that layout. */
static inline bool wk__work_has_layout(int family, wk__layout layout)
{
    return wk__is_work_family(family) && (layout == WK__LAYOUT_STRIDES || wk__work_families[family].is_contraction);
}

static inline const wk__work_family *wk__work_family_of(const wk__work *work)
{
    return &wk__work_families[work->family];
}

/* Converts the shape of the work to the shape of operand `operand`. */
void wk__work_operand_shape(const wk__work_family *family, int operand, int dim, int64_t bound, int64_t shape[]);

/* Returns NULL, or a static description of what is invalid in work of a family other than transfers: a malformed
 * program, mismatched dtypes, an operand that reaches beyond its memory. Executes nothing. */
const char *wk__work_check(const wk__work *work);

#endif
