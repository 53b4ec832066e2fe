/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/reduce.h. Section: along one dimension.
 *
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/reduce: edit those. */
#include "ops/core/entries.h"

/* ---- softmax ----------------------------------------------------------------------------------------------------- */

int wk__invoke_softmax(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_softmax_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0)));
}

/* ---- softmin ----------------------------------------------------------------------------------------------------- */

int wk__invoke_softmin(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_softmin_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0)));
}

/* ---- log_softmax ------------------------------------------------------------------------------------------------- */

int wk__invoke_log_softmax(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_log_softmax_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0)));
}

/* ---- cumsum ------------------------------------------------------------------------------------------------------ */

int wk__invoke_cumsum(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_cumsum_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0)));
}

/* ---- cumprod ----------------------------------------------------------------------------------------------------- */

int wk__invoke_cumprod(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_cumprod_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0)));
}

/* ---- sort -------------------------------------------------------------------------------------------------------- */

int wk__invoke_sort(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk_sort_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], -1), wk__value_int(&args[2], 0) != 0,
                      &out[0], &out[1]) == WK_OK
               ? 2
               : -1;
}

/* ---- argsort ----------------------------------------------------------------------------------------------------- */

int wk__invoke_argsort(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_argsort_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], -1),
                                             wk__value_int(&args[2], 0) != 0));
}

/* ---- topk -------------------------------------------------------------------------------------------------------- */

int wk__invoke_topk(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk_topk_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0), wk__value_int(&args[2], -1),
                      wk__value_int(&args[3], 1) != 0, &out[0], &out[1]) == WK_OK
               ? 2
               : -1;
}

/* ---- kthvalue ---------------------------------------------------------------------------------------------------- */

int wk__invoke_kthvalue(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk_kthvalue_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0), wk__value_int(&args[2], -1),
                          wk__value_int(&args[3], 0) != 0, &out[0], &out[1]) == WK_OK
               ? 2
               : -1;
}

/* ---- median ------------------------------------------------------------------------------------------------------ */

int wk__invoke_median(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    if (args[1].kind == WK_VALUE_NONE) return wk__return_one(out, wk_median_at(site, wk__value_tensor(&args[0])));
    return wk__median_dim(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0), wk__value_int(&args[2], 0) != 0,
                          &out[0], &out[1]) == WK_OK
               ? 2
               : -1;
}

/* ---- cummax ------------------------------------------------------------------------------------------------------ */

int wk__invoke_cummax(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk_cummax_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0), &out[0], &out[1]) == WK_OK ? 2
                                                                                                                 : -1;
}

/* ---- cummin ------------------------------------------------------------------------------------------------------ */

int wk__invoke_cummin(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk_cummin_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0), &out[0], &out[1]) == WK_OK ? 2
                                                                                                                 : -1;
}

/* ---- logcumsumexp ------------------------------------------------------------------------------------------------ */

int wk__invoke_logcumsumexp(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_logcumsumexp_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0)));
}
