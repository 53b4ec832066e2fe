/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of view ops share. */
#ifndef WICK_OPS_VIEWS_H
#define WICK_OPS_VIEWS_H

#include "entries.h"

/* How a view sees the storage; begins as the tensor itself sees it. */
typedef struct wk__geometry {
    int ndim;
    int64_t offset, shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
} wk__geometry;
void wk__geometry_of(const wk__body *body, wk__geometry *g);
/* Dimension d goes; or a new one of this size and stride comes before d (false at the limit, with the error
 * recorded). */
void wk__geometry_drop(wk__geometry *g, int d);
bool wk__geometry_insert(const wk__op *op, wk_site site, wk_tensor *x, wk__geometry *g, int d, int64_t size,
                         int64_t stride);
wk_tensor *wk__make_view_geometry(const wk__op *op, wk_site site, wk_tensor *x, const wk__geometry *g,
                                  const wk__attr *attr);

/* A dimension by its number, negative ones from the end, of x with `more` new ones. False with the error recorded. */
bool wk__resolve_dim(const wk__op *op, wk_site site, wk_tensor *x, int64_t dim, int more, int *d);

/* Sizes, of which one may be -1, as a shape for all elements of x, or for the places of dimension d (d < 0: all
 * elements). False with the error recorded. */
bool wk__infer_shape(const wk__op *op, wk_site site, wk_tensor *x, int d, const int64_t *sizes, int count,
                     int64_t *shape);

/* A gradient whose operand had the same elements in another shape. */
void wk__reshape_gradient(wk__grad_ctx *g);
/* Zeros like operand 0, in the dtype of the gradient. */
wk_tensor *wk__zeros_like_operand(const wk__grad_ctx *g);

#endif
