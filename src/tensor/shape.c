/* SPDX-License-Identifier: Apache-2.0 */
/* Geometry: shapes, strides, broadcasting. */
#include "base/alloc.h"
#include "tensor.h"

int64_t wk__numel(int ndim, const int64_t *shape)
{
    int64_t count = 1;
    for (int d = 0; d < ndim; d++) count *= shape[d];
    return count;
}

void wk__strides_dense(int ndim, const int64_t *shape, int64_t *stride)
{
    int64_t step = 1;
    for (int d = ndim; d-- > 0;) {
        stride[d] = step;
        step *= shape[d] > 0 ? shape[d] : 1;
    }
}

bool wk__body_contiguous(const wk__body *body)
{
    int64_t step = 1;
    for (int d = body->ndim; d-- > 0;) {
        if (body->shape[d] == 0) return true;
        if (body->shape[d] == 1) continue;
        if (body->stride[d] != step) return false;
        step *= body->shape[d];
    }
    return true;
}

/* A size of 0 makes the product 0, but the other sizes must not overflow either, because strides are computed from
 * them. */
bool wk__dense_bytes(int ndim, const int64_t *shape, wk_dtype dtype, int64_t *bytes)
{
    int64_t extent = 1;
    bool empty = false;
    for (int d = 0; d < ndim; d++) {
        if (shape[d] == 0) empty = true;
        if (shape[d] != 0 && !wk__mul_size(extent, shape[d], &extent)) return false;
    }
    if (!wk__mul_size(extent, wk__dtypes[dtype].size, &extent)) return false;
    *bytes = empty ? 0 : extent;
    return true;
}

bool wk__broadcast(int na, const int64_t *a, int nb, const int64_t *b, int *nout, int64_t *out)
{
    int n = na > nb ? na : nb;
    for (int d = 0; d < n; d++) { /* from the left, so that out may alias a if na == n, or b likewise */
        int64_t x = d >= n - na ? a[d - (n - na)] : 1, y = d >= n - nb ? b[d - (n - nb)] : 1;
        if (x != y && x != 1 && y != 1) return false;
        out[d] = x == 1 ? y : x;
    }
    *nout = n;
    return true;
}

void wk__broadcast_strides(const wk__body *body, int ndim, const int64_t *shape, int64_t *stride)
{
    int lead = ndim - body->ndim;
    for (int d = 0; d < lead; d++) stride[d] = 0;
    for (int d = lead; d < ndim; d++)
        stride[d] = body->shape[d - lead] == 1 && shape[d] != 1 ? 0 : body->stride[d - lead];
}

/* Sorted by stride, each dimension must step over the span of the smaller ones. Exact for all views by slicing,
 * permuting and expanding, and for unfold with step < size. */
bool wk__body_overlaps(const wk__body *body)
{
    int order[WK__MAX_DIMS], n = 0;
    for (int d = 0; d < body->ndim; d++) {
        if (body->shape[d] == 0) return false;
        if (body->shape[d] == 1) continue;
        int place = n++;
        while (place > 0 && body->stride[order[place - 1]] > body->stride[d]) {
            order[place] = order[place - 1];
            place--;
        }
        order[place] = d;
    }
    int64_t span = 0; /* offset of the last element reached by the dimensions so far */
    for (int k = 0; k < n; k++) {
        int d = order[k];
        if (body->stride[d] <= span) return true;
        span += (body->shape[d] - 1) * body->stride[d];
    }
    return false;
}

bool wk__wrap_dim(int ndim, int64_t dim, int *out)
{
    int64_t n = ndim > 0 ? ndim : 1;
    if (dim < -n || dim >= n) return false;
    *out = (int)(dim < 0 ? dim + n : dim);
    return true;
}
