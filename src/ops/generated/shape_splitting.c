/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/shape.h. Section: splitting: several views of one tensor.
 *
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/shape: edit those. */
#include "ops/core/entries.h"

/* ---- chunk ------------------------------------------------------------------------------------------------------- */

int wk__invoke_chunk(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__chunk(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0), wk__value_int(&args[2], 0), out);
}

/* ---- split ------------------------------------------------------------------------------------------------------- */

int wk__invoke_split(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk_split_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0), wk__value_int(&args[2], 0), out);
}

/* ---- split_with_sizes -------------------------------------------------------------------------------------------- */

int wk__invoke_split_with_sizes(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *sizes = wk__value_dims(&args[1], &count);
    return wk_split_with_sizes_at(site, wk__value_tensor(&args[0]), sizes, count, wk__value_int(&args[2], 0), out);
}

/* ---- unbind ------------------------------------------------------------------------------------------------------ */

int wk__invoke_unbind(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk_unbind_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0), out);
}
