/* SPDX-License-Identifier: Apache-2.0 */
/* Ops whose expression depends on the position of an element: tril, triu, one_hot. */
#include "ops/core/compose.h"
#include "ops/index/index_check.h"
#include "ops/core/view_geometry.h"
#include <string.h>

static int position(wk__emit *e)
{
    return wk__emit_ins(e, WK__IOTA, WK_I64, 0, 0, 0);
}

/* in: rows, columns, diagonal -> column - row - diagonal, of the last two dimensions */
static int diagonal_offset(wk__emit *e, const int in[])
{
    int place = position(e), row = wk__emit_binary(e, WK__FLOORDIV, place, in[1]);
    int column = wk__emit_binary(e, WK__SUB, place, wk__emit_binary(e, WK__MUL, row, in[1]));
    row = wk__emit_binary(e, WK__REM, row, in[0]);
    return wk__emit_binary(e, WK__SUB, wk__emit_binary(e, WK__SUB, column, row), in[2]);
}

/* Returns x where `keep` is set, else 0, in x's own class; positions and scalars are i64. */
static int keep_where(wk__emit *e, int keep, int x)
{
    const wk_dtype dtype =
        wk__compute_class((wk_dtype)e->group->ins[x].dtype); /* a bool that became an i32 may still be a bool here */
    return wk__emit_ins(e, WK__WHERE, dtype, keep, x, wk__emit_imm(e, dtype, (wk__imm){.i = 0}));
}
static int lower(wk__emit *e, const int in[])
{
    return keep_where(e, wk__emit_compare(e, WK__LE, diagonal_offset(e, in + 1), wk__emit_constant(e, 0)), in[0]);
}
static int upper(wk__emit *e, const int in[])
{
    return keep_where(e, wk__emit_compare(e, WK__GE, diagonal_offset(e, in + 1), wk__emit_constant(e, 0)), in[0]);
}
/* Loads the number once more by a checked index, only to check it (loss/labels.c). in: numbers in memory, number,
 * [-count, 0], count */
static int one_hot_expression(wk__emit *e, const int in[])
{
    int place = wk__emit_binary(e, WK__REM, position(e), in[4]);
    int number = wk__emit_ins(e, WK__LOADX, WK_I64, in[1], in[0], in[2]);
    return wk__emit_cast(e, WK_I64, wk__emit_compare(e, WK__EQ, place, number));
}

/* Records op->expression in i64 of x, seen with these strides and in its own class, and three integers. */
static wk_tensor *record_indexed(const wk__op *op, wk_site site, wk_tensor *x, const wk__geometry *g,
                                 const int64_t number[3])
{
    wk__output_spec m = {WK__PROGRAM, 4, (wk_dtype)wk__body_of(x)->dtype, g->shape, g->ndim, false};
    wk__record *r;
    wk_tensor *out = wk__begin_output_record(op, site, &x, 1, m, &r);
    if (!out) return NULL;
    r->compute = WK_I64;
    wk__record_ref(r, 1, wk__body_of(x), g->stride);
    r->ref[1].flags = WK__REF_OWN_CLASS;
    for (int k = 0; k < 3; k++) wk__record_imm(r, 2 + k, WK_I64, (wk__imm){.i = number[k]}, WK__REF_IMM);
    wk__record_commit(wk__context(), r);
    return out;
}

/* ---- tril, triu -------------------------------------------------------------------------------------------------- */

static wk_tensor *triangle(const wk__op *op, wk_site site, wk_tensor *x, int64_t diagonal)
{
    if (!wk__check_input(op, site, x)) return NULL;
    wk__geometry g;
    wk__geometry_of(wk__body_of(x), &g);
    if (g.ndim < 2) {
        wk__op_error(op, site, WK_ERR_SHAPE, &x, "$a must have at least two dimensions");
        return NULL;
    }
    int64_t rows = g.shape[g.ndim - 2], columns = g.shape[g.ndim - 1];
    diagonal = diagonal > columns ? columns
               : diagonal < -rows ? -rows
                                  : diagonal; /* larger offsets have the same
                                                                                    * result */
    wk_tensor *out = record_indexed(op, site, x, &g, (const int64_t[]){rows, columns, diagonal});
    if (!out || !wk__needs_grad_fn(wk__context(), &x, 1)) return out;
    const wk__attr attr = wk__tril_attr((wk__tril_attributes){.diagonal = diagonal});
    return wk__node_attach(op, site, &x, 1, &out, 1, &attr) ? out : NULL;
}

wk_tensor *wk_tril_at(wk_site site, wk_tensor *x, int64_t diagonal)
{
    return triangle(&wk__op_tril, site, x, diagonal);
}
wk_tensor *wk_triu_at(wk_site site, wk_tensor *x, int64_t diagonal)
{
    return triangle(&wk__op_triu, site, x, diagonal);
}

static void triangle_gradient(wk__grad_ctx *g)
{
    g->in[0] = triangle(g->node->op, (wk_site){0}, g->out[0], wk__tril_attributes_of(g->attr).diagonal);
}

const wk__op wk__op_tril = {
    .expression = lower,
    .uses_position = true,
    .gradient = triangle_gradient,
    WK__SIGNATURE_tril,
};
const wk__op wk__op_triu = {
    .expression = upper,
    .uses_position = true,
    .gradient = triangle_gradient,
    WK__SIGNATURE_triu,
};

/* ---- one_hot ----------------------------------------------------------------------------------------------------- */

static wk_tensor *record_one_hot(wk_site site, wk_tensor *x, const wk__geometry *g, int64_t n)
{
    wk__record *r;
    wk_tensor *out = wk__begin_output_record(&wk__op_one_hot, site, &x, 1,
                                             (wk__output_spec){WK__PROGRAM, 5, WK_I64, g->shape, g->ndim, false}, &r);
    if (!out) return NULL;
    wk__record_ref(r, 1, wk__body_of(x), g->stride);
    wk__record_mark_indirect(r, 1);
    wk__record_ref(r, 2, wk__body_of(x), g->stride);
    wk__record_imm(r, 3, WK_I64, (wk__imm){.i = -n}, WK__REF_IMM | WK__REF_IMM_INDEX);
    wk__record_imm(r, 4, WK_I64, (wk__imm){.i = 0}, WK__REF_IMM | WK__REF_IMM_INDEX);
    wk__record_imm(r, 5, WK_I64, (wk__imm){.i = n}, WK__REF_IMM);
    wk__record_commit(wk__context(), r);
    return out;
}

/* Returns one more than the largest element of x; waits for x. */
static bool count_classes(wk_site site, wk_tensor *x, int64_t *n)
{
    if (wk__body_numel(wk__body_of(x)) == 0) {
        wk__op_error(&wk__op_one_hot, site, WK_ERR_SHAPE, &x,
                     "$a is empty, so the number of classes cannot be inferred; pass n");
        return false;
    }
    wk__compose c;
    if (!wk__compose_begin(&c, &wk__op_one_hot, site, &x, 1)) return false;
    wk_tensor *index = wk__to_i64_index(&wk__op_one_hot, site, x, INT64_MAX, &x);
    wk_tensor *most = index ? wk_amax_at(site, index, NULL, -1, NULL) : NULL;
    bool known = most && wk_read_at(site, most, n, sizeof *n) == WK_OK;
    wk__compose_end(&c, NULL, NULL);
    if (known && *n < 0) {
        wk__op_error(&wk__op_one_hot, site, WK_ERR_INDEX, &x, "class %lld is out of range: classes start at 0",
                     (long long)*n);
        return false;
    }
    *n += known && *n < INT64_MAX;
    return known;
}

wk_tensor *wk_one_hot_at(wk_site site, wk_tensor *x, int64_t n)
{
    const wk__op *op = &wk__op_one_hot;
    wk__geometry g;
    const bool counted = n == -1;
    if (!wk__check_input(op, site, x) || (counted && !count_classes(site, x, &n))) return NULL;
    if (n < 1) {
        wk__op_error(op, site, WK_ERR_ARGUMENT, &x,
                     "n must be at least 1, or -1 for the largest class plus 1, got %lld", (long long)n);
        return NULL;
    }
    if (!(x = wk__to_i64_index(op, site, x, -n, &x))) return NULL;
    wk__geometry_of(wk__body_of(x), &g);
    if (!wk__geometry_insert(op, site, x, &g, g.ndim, n, 0)) return NULL;
    int64_t bytes;
    if (wk__dense_bytes(g.ndim, g.shape, WK_I64, &bytes)) return record_one_hot(site, x, &g, n);
    wk__op_error(op, site, WK_ERR_SHAPE, &x, "%lld classes of 8 bytes for each element of $a exceed 2^63 bytes; %s",
                 (long long)n,
                 counted ? "n was inferred from the largest element; pass n"
                         : "pass a smaller n, or -1 for the largest class plus 1");
    return NULL;
}

const wk__op wk__op_one_hot = {
    .expression = one_hot_expression,
    .uses_position = true,
    .nonnegative_index = true,
    WK__SIGNATURE_one_hot,
};
