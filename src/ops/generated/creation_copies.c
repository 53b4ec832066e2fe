/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/creation.h. Section: moving, converting, copying.
 *
 *     wk_NAME_at             called by the macro wk_NAME, which passes the call site
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/creation: edit those. */
#include "ops/core/entries.h"

/* ---- to ---------------------------------------------------------------------------------------------------------- */

int wk__invoke_to(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_to_at(site, wk__value_tensor(&args[0]), wk__value_device(&args[1])));
}

/* ---- to_dtype ---------------------------------------------------------------------------------------------------- */

int wk__invoke_to_dtype(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_to_dtype_at(site, wk__value_tensor(&args[0]), (wk_dtype)wk__value_int(&args[1], 0)));
}

/* ---- clone ------------------------------------------------------------------------------------------------------- */

int wk__invoke_clone(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_clone_at(site, wk__value_tensor(&args[0])));
}

/* ---- copy_ ------------------------------------------------------------------------------------------------------- */

int wk__invoke_copy_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_copy__at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1])));
}

/* ---- fill_ ------------------------------------------------------------------------------------------------------- */

wk_tensor *wk_fill__f64_at(wk_site site, wk_tensor *x, double value)
{
    return wk__fill_(site, x, wk__float_arg(value));
}

wk_tensor *wk_fill__i64_at(wk_site site, wk_tensor *x, int64_t value)
{
    return wk__fill_(site, x, wk__int_arg(value));
}

int wk__invoke_fill_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk__fill_(site, wk__value_tensor(&args[0]), wk__value_arg(&args[1])));
}
