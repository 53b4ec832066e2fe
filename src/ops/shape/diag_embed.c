/* SPDX-License-Identifier: Apache-2.0 */
/* trace, diag_embed: the diagonal of matrices, read and written. */
#include "ops/core/compose.h"
#include "ops/core/view_geometry.h"
#include <string.h>

wk_tensor *wk_trace_at(wk_site site, wk_tensor *x)
{
    wk__call_scope c;
    wk_tensor *out = NULL;
    if (!wk__inlined_begin(&c, &wk__op_trace, site, &x, 1)) return NULL;
    if (wk__body_of(x)->ndim == 2)
        out = wk_sum(wk_diagonal_at(site, x, 0, 0, 1));
    else
        wk__op_error(&wk__op_trace, site, WK_ERR_SHAPE, &x, "expected a matrix, got $a");
    return wk__inlined_end(&c, out);
}

const wk__op wk__op_trace = {WK__SIGNATURE_trace};

/* Returns a vector of indices along dimension d of ndim dimensions. */
static wk_tensor *indices_along(wk_site site, wk_tensor *x, int64_t n, int ndim, int d)
{
    int64_t shape[WK__MAX_DIMS];
    for (int k = 0; k < ndim; k++) shape[k] = k == d ? n : 1;
    const wk_tensor_options options = {.size = sizeof options, .device = wk_device_of(x)};
    return wk_reshape_at(site, wk_arange_i64_at(site, n, &options), shape, ndim);
}

/* x, padded to the size of the matrix, lies along its rows if the diagonal is above the main one, along its columns if
 * it is below. */
static wk_tensor *embed(wk_site site, wk_tensor *x, int64_t offset, int row, int column)
{
    const int ndim = wk__body_of(x)->ndim;
    const int64_t n = wk__body_of(x)->shape[ndim - 1], shift = offset < 0 ? -offset : offset;
    const int along = offset < 0 ? column : row, beside = offset < 0 ? row : column;
    int64_t order[WK__MAX_DIMS];
    for (int k = 0, next = 0; k <= ndim; k++) order[k] = k == along ? ndim - 1 : k == beside ? ndim : next++;
    if (shift) x = wk_pad_at(site, x, (const int64_t[]){0, shift}, 2, NULL);
    x = wk_permute_at(site, wk_unsqueeze_at(site, x, -1), order, ndim + 1);
    wk_tensor *i = indices_along(site, x, n + shift, ndim + 1, row),
              *j = indices_along(site, x, n + shift, ndim + 1, column);
    return wk_to_dtype_at(site, wk_where(wk_eq(wk_add(i, offset), j), x, 0), wk_dtype_of(x));
}

wk_tensor *wk_diag_embed_at(wk_site site, wk_tensor *x, int64_t offset, int64_t dim0, int64_t dim1)
{
    const wk__op *op = &wk__op_diag_embed;
    wk__call_scope c;
    wk_tensor *out = NULL, *column_of;
    int row, column;
    if (!wk__inlined_begin(&c, op, site, &x, 1)) return NULL;
    const int ndim = wk__body_of(x)->ndim;
    int64_t size;
    const bool fits = ndim && ndim < WK__MAX_DIMS && offset > -INT64_MAX &&
                      !__builtin_add_overflow(wk__body_of(x)->shape[ndim - 1], offset < 0 ? -offset : offset, &size);
    if (!fits)
        wk__op_error(op, site, WK_ERR_SHAPE, &x, "$a has no diagonals of tensors with at most %d dimensions",
                     WK__MAX_DIMS);
    else if (!wk__resolve_dim(op, site, x, dim0, 1, &row) || !wk__resolve_dim(op, site, x, dim1, 1, &column))
        out = NULL;
    else if (row == column)
        wk__op_error(op, site, WK_ERR_ARGUMENT, &x, "the dimensions of the matrices must differ, got %d twice", row);
    else if ((column_of = wk_unsqueeze_at(site, x, -1)) &&
             wk__check_result_fits(op, site, column_of, (const int64_t[]){size, size}, 2))
        out = embed(site, x, offset, row, column);
    return wk__inlined_end(&c, out);
}

const wk__op wk__op_diag_embed = {WK__SIGNATURE_diag_embed};
