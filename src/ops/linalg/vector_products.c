/* SPDX-License-Identifier: Apache-2.0 */
/* kron, cross: products of elements, as calls of other ops. */
#include "base/alloc.h"
#include "ops/core/compose.h"
#include "ops/core/view_geometry.h"
#include <string.h>

/* ---- kron -------------------------------------------------------------------------------------------------------- */

static int64_t size_from_right(const wk__body *body, int ndim, int d)
{
    const int lead = ndim - body->ndim;
    return d < lead ? 1 : body->shape[d - lead];
}

/* Dimensions of sizes m and n become two in each operand, (m, 1) and (1, n), of which sizes 1 are left out. The product
 * of these views has the elements of the result in its order. */
static wk_tensor *kron(wk_site site, wk_tensor *const in[2])
{
    const wk__body *a = wk__body_of(in[0]), *b = wk__body_of(in[1]);
    const int ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
    int64_t left[2 * WK__MAX_DIMS], right[2 * WK__MAX_DIMS], shape[WK__MAX_DIMS];
    int count = 0;
    for (int d = 0; d < ndim; d++) {
        const int64_t m = size_from_right(a, ndim, d), n = size_from_right(b, ndim, d);
        if (m != 1) left[count] = m, right[count++] = 1;
        if (n != 1) left[count] = 1, right[count++] = n;
        if (!wk__mul_size(m, n, &shape[d])) {
            wk__op_error(&wk__op_kron, site, WK_ERR_SHAPE, in,
                         "dimension %d of the product of $a and $b is too large (%lld * %lld)", d, (long long)m,
                         (long long)n);
            return NULL;
        }
    }
    if (count > WK__MAX_DIMS) {
        wk__op_error(&wk__op_kron, site, WK_ERR_SHAPE, in,
                     "$a and $b together have more than %d dimensions of sizes other than 1", WK__MAX_DIMS);
        return NULL;
    }
    wk_tensor *x = wk_reshape_at(site, in[0], left, count), *y = wk_reshape_at(site, in[1], right, count);
    return wk_reshape_at(site, wk_mul(x, y), shape, ndim);
}

wk_tensor *wk_kron_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    wk_tensor *in[2] = {a, b};
    wk__call_scope c;
    if (!wk__inlined_begin(&c, &wk__op_kron, site, in, 2)) return NULL;
    return wk__inlined_end(&c, kron(site, in));
}

const wk__op wk__op_kron = {WK__SIGNATURE_kron};

/* ---- cross ------------------------------------------------------------------------------------------------------- */

/* Component k of a x b along d: a[k + 1] b[k + 2] - a[k + 2] b[k + 1], indices modulo 3. */
static wk_tensor *component(wk_site site, wk_tensor *const in[2], int d, int k)
{
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    return wk_sub(wk_mul(wk_select_at(site, in[0], d, i), wk_select_at(site, in[1], d, j)),
                  wk_mul(wk_select_at(site, in[0], d, j), wk_select_at(site, in[1], d, i)));
}

static wk_tensor *cross(wk_site site, wk_tensor *const in[2], int d)
{
    const wk__op *op = &wk__op_cross;
    const wk__body *a = wk__body_of(in[0]), *b = wk__body_of(in[1]);
    const wk_dtype dtype = wk__promote_types(a->dtype, b->dtype);
    if (a->ndim != b->ndim || a->shape[d] != 3 || b->shape[d] != 3) {
        wk__op_error(op, site, WK_ERR_SHAPE, in,
                     a->ndim != b->ndim ? "$a and $b must have the same number of dimensions"
                                        : "dimension %d of $a and $b must have size 3",
                     d);
        return NULL;
    }
    if (dtype == WK_BOOL) {
        wk__op_error(op, site, WK_ERR_DTYPE, in, "bool is not supported: $a and $b");
        return NULL;
    }
    wk_tensor *wide[2] = {wk__to_opmath(in[0]), wk__to_opmath(in[1])};
    wk_tensor *parts[3];
    for (int k = 0; k < 3; k++)
        if (!(parts[k] = component(site, wide, d, k))) return NULL;
    return wk_to_dtype_at(site, wk_stack_at(site, parts, 3, d), dtype);
}

static wk_tensor *cross_call(wk_site site, wk_tensor *a, wk_tensor *b, const int64_t *dim)
{
    const wk__op *op = &wk__op_cross;
    wk_tensor *in[2] = {a, b}, *out = NULL;
    wk__call_scope c;
    if (!wk__inlined_begin(&c, op, site, in, 2)) return NULL;
    const wk__body *body = wk__body_of(a);
    int d = 0;
    while (!dim && d < body->ndim && body->shape[d] != 3) d++;
    if (dim ? body->ndim == 0 : d == body->ndim)
        wk__op_error(op, site, WK_ERR_SHAPE, in, "no dimension of $a has size 3");
    else if (!dim || wk__resolve_dim(op, site, a, *dim, 0, &d))
        out = cross(site, in, d);
    return wk__inlined_end(&c, out);
}

wk_tensor *wk_cross_at(wk_site site, wk_tensor *a, wk_tensor *b, int64_t dim)
{
    return cross_call(site, a, b, &dim);
}
wk_tensor *wk_cross_first_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    return cross_call(site, a, b, NULL);
}

const wk__op wk__op_cross = {WK__SIGNATURE_cross};
