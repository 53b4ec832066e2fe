/* SPDX-License-Identifier: Apache-2.0 */
/* Reading elements at computed indices: one record, shared by the ops that do (indexing.c). */
#ifndef WICK_OPS_INDEX_GATHER_H
#define WICK_OPS_INDEX_GATHER_H

#include "ops/core/entries.h"

/* Index space and strides of one such read. */
typedef struct wk__gather_geometry {
    int ndim;                                                          /* the result's dimensions */
    int64_t shape[WK__MAX_DIMS], x[WK__MAX_DIMS], index[WK__MAX_DIMS]; /* strides over the index space */
    int64_t bound, stride;                                             /* size and stride of the indexed dimension */
} wk__gather_geometry;

/* The expression of such an op. in: operand, index, bound and stride as RAW immediates */
int wk__lookup(wk__emit *e, const int in[]);
/* Records the read of in[0] at in[1], i64. op->expression is wk__lookup. NULL on error. */
wk_tensor *wk__record_gather(const wk__op *op, wk_site site, wk_tensor *in[2], const wk__gather_geometry *way);
/* Returns x as a vector; NULL for NULL. */
wk_tensor *wk__as_vector(wk_tensor *x);

#endif
