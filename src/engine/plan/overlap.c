/* SPDX-License-Identifier: Apache-2.0 */
/* Overlap of two views of the same memory:
 *
 *     spans disjoint       [a a a a . . . .]     [. . . . . b b b]      never
 *     same shape, strides  [a a . . a a . .]     [. . b b . . b b]      elements i and j coincide if the sum over d of
 *                                                                       (i - j)[d] x stride[d] is b's offset - a's
 *                                                                       offset; |(i - j)[d]| < shape[d]
 *     otherwise            assumed to overlap */
#include "overlap.h"

enum { MAX_STEPS = 4 }; /* maximum candidates per dimension; more only if strides overlap */

/* First and last byte of a view; size of an element in bytes. */
typedef struct span {
    int64_t low, high, size;
    bool empty;
} span;

static span span_of(wk__record *r, int k)
{
    const int64_t *shape = wk__record_shape(r), *stride = wk__record_stride(r, k);
    int64_t low = r->ref[k].offset, high = low;
    span s = {.size = (int64_t)wk_dtype_size((wk_dtype)r->ref[k].dtype)};
    for (int d = 0; d < r->ndim; d++) {
        s.empty = s.empty || shape[d] == 0;
        if (shape[d] < 2) continue;
        const int64_t reach = (shape[d] - 1) * stride[d];
        if (reach < 0) low += reach;
        if (reach > 0) high += reach;
    }
    s.low = low * s.size;
    s.high = (high + 1) * s.size - 1;
    return s;
}

/* Dimensions with more than one element, by decreasing stride. rest[d]: reach of the dimensions after d, in
 * elements. */
typedef struct lattice {
    int ndim;
    int64_t stride[WK__MAX_DIMS], shape[WK__MAX_DIMS], rest[WK__MAX_DIMS];
} lattice;

static lattice lattice_of(wk__record *r, int k)
{
    const int64_t *shape = wk__record_shape(r), *stride = wk__record_stride(r, k);
    lattice l = {.ndim = 0};
    for (int d = 0; d < r->ndim; d++) {
        const int64_t step = stride[d] < 0 ? -stride[d] : stride[d];
        if (shape[d] < 2 || step == 0) continue;
        int to = l.ndim++;
        for (; to > 0 && l.stride[to - 1] < step; to--) {
            l.stride[to] = l.stride[to - 1];
            l.shape[to] = l.shape[to - 1];
        }
        l.stride[to] = step;
        l.shape[to] = shape[d];
    }
    int64_t reach = 0;
    for (int d = l.ndim; d-- > 0; reach += l.stride[d] * (l.shape[d] - 1)) l.rest[d] = reach;
    return l;
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Returns true if `delta` is a sum of n[k] x stride[k] over the dimensions k >= d, with |n[k]| < shape[k]. */
static bool reaches(const lattice *l, int d, int64_t delta)
{
    if (d == l->ndim) return delta == 0;
    const int64_t most = l->shape[d] - 1;
    int64_t from = -floor_divide(l->rest[d] - delta, l->stride[d]), to = floor_divide(l->rest[d] + delta, l->stride[d]);
    if (from < -most) from = -most;
    if (to > most) to = most;
    if (to - from >= MAX_STEPS) return true;
    for (int64_t n = from; n <= to; n++)
        if (reaches(l, d + 1, delta - n * l->stride[d])) return true;
    return false;
}

static bool same_steps(wk__record *r, int k, wk__record *s, int j)
{
    const int64_t *shape = wk__record_shape(r), *a = wk__record_stride(r, k), *b = wk__record_stride(s, j);
    bool same = wk__same_shape(r->ndim, shape, s->ndim, wk__record_shape(s));
    for (int d = 0; d < r->ndim && same; d++) same = shape[d] < 2 || a[d] == b[d];
    return same;
}

bool wk__refs_overlap(wk__record *r, int k, wk__record *s, int j)
{
    const span a = span_of(r, k), b = span_of(s, j);
    if (a.empty || b.empty || a.high < b.low || b.high < a.low) return false;
    if (a.size != b.size || !same_steps(r, k, s, j)) return true;
    const lattice l = lattice_of(r, k);
    return reaches(&l, 0, s->ref[j].offset - r->ref[k].offset);
}
