/* SPDX-License-Identifier: Apache-2.0 */
/* Geometry of views: offset, shape and strides over a storage, and the edits that view ops make to them. */
#ifndef WICK_OPS_CORE_VIEW_GEOMETRY_H
#define WICK_OPS_CORE_VIEW_GEOMETRY_H

#include "entries.h"

/* Geometry of a view, in elements; starts as the geometry of the tensor itself. */
typedef struct wk__geometry {
    int ndim;
    int64_t offset, shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
} wk__geometry;
void wk__geometry_of(const wk__body *body, wk__geometry *g);
/* Removes dimension d; inserts one of this size and stride before d (false, after recording the error, at the limit of
 * dimensions). */
void wk__geometry_drop(wk__geometry *g, int d);
bool wk__geometry_insert(const wk__op *op, wk_site site, wk_tensor *x, wk__geometry *g, int d, int64_t size,
                         int64_t stride);
wk_tensor *wk__make_view_geometry(const wk__op *op, wk_site site, wk_tensor *x, const wk__geometry *g,
                                  const wk__attr *attr);

/* Converts a dimension index, negative from the end, of x with `more` added dimensions. False on error. */
bool wk__resolve_dim(const wk__op *op, wk_site site, wk_tensor *x, int64_t dim, int more, int *d);

/* Converts sizes, at most one of which is -1, to a shape for all elements of x, or for the size of dimension d (d < 0:
 * all elements). False on error. */
bool wk__infer_shape(const wk__op *op, wk_site site, wk_tensor *x, int d, const int64_t *sizes, int count,
                     int64_t *shape);

/* Gradient of ops that only change the shape: reshapes to the operand's shape. */
void wk__reshape_gradient(wk__grad_ctx *g);
/* Returns zeros with the shape of operand 0 and the gradient's dtype. */
wk_tensor *wk__zeros_like_operand(const wk__grad_ctx *g);

#endif
