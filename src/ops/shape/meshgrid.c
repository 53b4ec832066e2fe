/* SPDX-License-Identifier: Apache-2.0 */
/* meshgrid, rot90: grids of vectors, and quarter turns. */
#include "ops/core/compose.h"
#include "ops/core/view_geometry.h"

/* ---- meshgrid ---------------------------------------------------------------------------------------------------- */

/* The dimension of the grids along which vector k lies. */
static int dim_of(int k, bool swapped)
{
    return swapped && k < 2 ? 1 - k : k;
}

static bool make_grids(wk_site site, wk_tensor *const *x, int count, bool swapped, wk_tensor **out)
{
    int64_t shape[WK__MAX_DIMS], own[WK__MAX_DIMS];
    for (int k = 0; k < count; k++) {
        const wk__body *body = wk__body_of(x[k]);
        if (body->ndim > 1) {
            wk__op_error(&wk__op_meshgrid, site, WK_ERR_SHAPE, &x[k], "expected vectors, got $a");
            return false;
        }
        shape[dim_of(k, swapped)] = wk__body_numel(body);
    }
    for (int k = 0; k < count; k++) {
        const int along = dim_of(k, swapped);
        for (int d = 0; d < count; d++) own[d] = d == along ? shape[d] : 1;
        if (!(out[k] = wk_expand_at(site, wk_reshape_at(site, x[k], own, count), shape, count))) return false;
    }
    return true;
}

int wk_meshgrid_at(wk_site site, wk_tensor *const *x, int count, wk_tensor **out, const wk_meshgrid_options *options)
{
    static const char *const indexings[] = {"ij", "xy"};
    const wk__op *op = &wk__op_meshgrid;
    wk_meshgrid_options o;
    wk__call_scope c;
    if (!wk__array_check(x, count, site, op->name, "the array of tensors") ||
        !wk__array_check(out, count, site, op->name, "the array for the results"))
        return -1;
    for (int k = 0; k < count; k++) out[k] = NULL;
    if (!wk__options(site, op->name, options, &o)) return -1;
    const int swapped = wk__option_word(site, op->name, ".indexing", indexings, 2, o.indexing);
    if (swapped < 0) return -1;
    if (count < 1 || count > WK__MAX_DIMS) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: expected 1 to %d tensors, got %d", op->name, WK__MAX_DIMS, count);
        return -1;
    }
    if (!wk__inlined_begin(&c, op, site, x, count)) return -1;
    const bool made = make_grids(site, x, count, swapped && count > 1, out);
    wk__call_end(&c, out, made ? count : 0);
    for (int k = 0; k < count && !made; k++) out[k] = NULL;
    return made ? count : -1;
}

static int grids_of(const wk__op *op, wk_site site, const wk_value *args)
{
    (void)op;
    (void)site;
    return args[0].kind == WK_VALUE_TENSORS ? args[0].count : 0;
}

const wk__op wk__op_meshgrid = {
    .result_count = grids_of,
    WK__SIGNATURE_meshgrid,
};

/* ---- rot90 ------------------------------------------------------------------------------------------------------- */

/* from, to: the two dimensions. turns: 0 to 3. */
static wk_tensor *turned(wk_site site, wk_tensor *x, int64_t from, int64_t to, int turns)
{
    const int64_t both[] = {from, to};
    switch (turns) {
    case 1: return wk_transpose_at(site, wk_flip_at(site, x, &to, 1), from, to);
    case 2: return wk_flip_at(site, x, both, 2);
    case 3: return wk_transpose_at(site, wk_flip_at(site, x, &from, 1), from, to);
    default: return wk_clone_at(site, x);
    }
}

wk_tensor *wk_rot90_at(wk_site site, wk_tensor *x, int64_t k, const int64_t *dims, int count)
{
    const wk__op *op = &wk__op_rot90;
    const int64_t first[] = {0, 1};
    if (count < 0) dims = first, count = 2;
    uint16_t mask;
    wk__call_scope c;
    if (!wk__array_check(dims, count, site, op->name, "the list of dimensions") ||
        !wk__inlined_begin(&c, op, site, &x, 1))
        return NULL;
    wk_tensor *out = NULL;
    if (count != 2)
        wk__op_error(op, site, WK_ERR_ARGUMENT, &x, "expected two dimensions of $a, got %d", count);
    else if (wk__body_of(x)->ndim < 2)
        wk__op_error(op, site, WK_ERR_INDEX, &x, "$a has fewer than two dimensions");
    else if (wk__dims_mask(op, site, x, dims, 2, &mask))
        out = turned(site, x, dims[0], dims[1], (int)((k % 4 + 4) % 4));
    return wk__inlined_end(&c, out);
}

const wk__op wk__op_rot90 = {WK__SIGNATURE_rot90};
