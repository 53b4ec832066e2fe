/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/matmul.h. Section: products.
 *
 *     (wk_NAME)              takes no call site; in parentheses because wk_NAME is also a macro
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/matmul: edit those. */
#include "ops/core/entries.h"

/* ---- matmul ------------------------------------------------------------------------------------------------------ */

wk_tensor *(wk_matmul)(wk_tensor *a, wk_tensor *b)
{
    return wk_matmul_at((wk_site){0}, a, b);
}

int wk__invoke_matmul(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_matmul_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1])));
}

/* ---- mm ---------------------------------------------------------------------------------------------------------- */

wk_tensor *(wk_mm)(wk_tensor *a, wk_tensor *b)
{
    return wk_mm_at((wk_site){0}, a, b);
}

int wk__invoke_mm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_mm_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1])));
}

/* ---- bmm --------------------------------------------------------------------------------------------------------- */

wk_tensor *(wk_bmm)(wk_tensor *a, wk_tensor *b)
{
    return wk_bmm_at((wk_site){0}, a, b);
}

int wk__invoke_bmm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_bmm_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1])));
}

/* ---- mv ---------------------------------------------------------------------------------------------------------- */

wk_tensor *(wk_mv)(wk_tensor *a, wk_tensor *b)
{
    return wk_mv_at((wk_site){0}, a, b);
}

int wk__invoke_mv(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_mv_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1])));
}

/* ---- dot --------------------------------------------------------------------------------------------------------- */

wk_tensor *(wk_dot)(wk_tensor *a, wk_tensor *b)
{
    return wk_dot_at((wk_site){0}, a, b);
}

int wk__invoke_dot(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_dot_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1])));
}

/* ---- outer ------------------------------------------------------------------------------------------------------- */

wk_tensor *(wk_outer)(wk_tensor *a, wk_tensor *b)
{
    return wk_outer_at((wk_site){0}, a, b);
}

int wk__invoke_outer(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_outer_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1])));
}

/* ---- addmm ------------------------------------------------------------------------------------------------------- */

int wk__invoke_addmm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_addmm_options options = {
        .size = sizeof options, .beta = wk__value_option(&args[3]), .alpha = wk__value_option(&args[4])};
    return wk__return_one(out, wk_addmm_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                           wk__value_tensor(&args[2]), &options));
}

/* ---- baddbmm ----------------------------------------------------------------------------------------------------- */

int wk__invoke_baddbmm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_addmm_options options = {
        .size = sizeof options, .beta = wk__value_option(&args[3]), .alpha = wk__value_option(&args[4])};
    return wk__return_one(out, wk_baddbmm_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                             wk__value_tensor(&args[2]), &options));
}

/* ---- linear ------------------------------------------------------------------------------------------------------ */

wk_tensor *(wk_linear)(wk_tensor *x, wk_tensor *weight, wk_tensor *bias)
{
    return wk_linear_at((wk_site){0}, x, weight, bias);
}

int wk__invoke_linear(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(
        out, wk_linear_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), wk__value_tensor(&args[2])));
}

/* ---- einsum ------------------------------------------------------------------------------------------------------ */

int wk__invoke_einsum(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_einsum_at(site, wk__value_text(&args[0], NULL), args[1].tensors,
                                            args[1].kind == WK_VALUE_TENSORS ? args[1].count : 0));
}

/* ---- tensordot --------------------------------------------------------------------------------------------------- */

int wk__invoke_tensordot(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count_a;
    const int64_t *dims_a = wk__value_dims(&args[2], &count_a);
    int count_b;
    const int64_t *dims_b = wk__value_dims(&args[3], &count_b);
    return wk__return_one(out, wk_tensordot_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), dims_a,
                                               count_a, dims_b, count_b));
}

/* ---- kron -------------------------------------------------------------------------------------------------------- */

int wk__invoke_kron(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_kron_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1])));
}

/* ---- cross ------------------------------------------------------------------------------------------------------- */

int wk__invoke_cross(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    if (args[2].kind == WK_VALUE_NONE)
        return wk__return_one(out, wk_cross_first_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1])));
    return wk__return_one(
        out, wk_cross_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), wk__value_int(&args[2], 0)));
}

/* ---- rotary ------------------------------------------------------------------------------------------------------ */

int wk__invoke_rotary(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_rotary_options options = {
        .size = sizeof options, .base = wk__value_option(&args[2]), .interleaved = wk__value_int(&args[3], 0) != 0};
    return wk__return_one(out, wk_rotary_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}
